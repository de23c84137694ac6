//! Media types that a caller accepts, compared with those that the agent produces.

use a2a_types::{AgentCard, Error as A2aError, ErrorKind, SendMessageConfiguration};

/// Returns an error if the caller accepts nothing that the agent produces, if both name media types.
pub(crate) fn check_output_modes(
    card: &AgentCard,
    configuration: &SendMessageConfiguration,
) -> Result<(), A2aError> {
    let accepted = &configuration.accepted_output_modes;
    let of_skills = card.skills.iter().flat_map(|skill| &skill.output_modes);
    let mut offered = card.default_output_modes.iter().chain(of_skills).peekable();
    if accepted.is_empty() || offered.peek().is_none() {
        return Ok(());
    }
    match offered.any(|offer| accepted.iter().any(|accept| covers(accept, offer))) {
        true => Ok(()),
        false => Err(ErrorKind::ContentTypeNotSupported.into()),
    }
}

/// Returns whether an accepted media type covers an offered one. 0.1 has `text` for `text/plain`.
fn covers(accepted: &str, offered: &str) -> bool {
    let full = |mode: &str| match mode.trim().to_ascii_lowercase() {
        mode if mode == "text" => "text/plain".to_owned(),
        mode => mode,
    };
    let (accepted, offered) = (full(accepted), full(offered));
    match accepted.strip_suffix("/*") {
        Some("*") => true,
        Some(kind) => offered.split('/').next() == Some(kind),
        None => accepted == offered,
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn media_types() {
        assert!(covers("text", "text/plain"));
        assert!(covers("text/plain", "text"));
        assert!(covers("*/*", "image/png"));
        assert!(covers("image/*", "image/png"));
        assert!(!covers("image/*", "text/plain"));
        assert!(!covers("application/json", "text/plain"));
    }
}
