//! Authentication schemes of webhooks: a list before 1.0, a name since.

/// Returns the first scheme of a push notification config that our sender supports, else the first.
pub(crate) fn first_scheme(schemes: Vec<String>) -> String {
    let performable = |scheme: &&String| {
        ["bearer", "basic", "jwt"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    };
    let chosen = schemes.iter().find(performable).or(schemes.first());
    chosen.cloned().unwrap_or_default()
}

/// Returns the schemes of a push notification config: none for an empty name.
pub(crate) fn schemes(scheme: String) -> Vec<String> {
    if scheme.is_empty() {
        Vec::new()
    } else {
        vec![scheme]
    }
}
