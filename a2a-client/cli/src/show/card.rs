//! Output of agent cards.

use a2a_client::SignatureForm;
use a2a_types::{AgentCard, SecurityRequirement, SecurityScheme};

use super::{Screen, bold, dim, line, text};
use crate::exit::Failure;

/// Prints the abilities and interfaces of an agent.
pub(crate) fn card(screen: &Screen, card: &AgentCard) -> Result<(), Failure> {
    if screen.json {
        return screen.value(card);
    }
    screen.line(&format!(
        "{} {}",
        bold(&line(&card.name)),
        dim(&line(&card.version))
    ))?;
    screen.line(&text(&card.description))?;
    if let Some(provider) = &card.provider {
        let (name, url) = (line(&provider.organization), line(&provider.url));
        screen.line(&format!("by {name} {}", dim(&url)))?;
    }
    screen.line("")?;
    screen.line(&bold("interfaces"))?;
    for interface in &card.supported_interfaces {
        let version = line(&interface.protocol_version);
        let binding = line(&interface.protocol_binding);
        let spoken = match interface.protocol_version() {
            Some(_) if a2a_client::Binding::of(interface).is_some() => "",
            _ => "  (not supported by this client)",
        };
        screen.line(&format!(
            "  {version:4} {binding:10} {}{spoken}",
            line(&interface.url)
        ))?;
    }
    let capabilities = &card.capabilities;
    let can = [
        ("streams", capabilities.streaming),
        ("webhooks", capabilities.push_notifications),
        ("an extended card", capabilities.extended_agent_card),
    ];
    let can = can.iter().filter(|(_, offered)| *offered == Some(true));
    let can: Vec<_> = can.map(|(name, _)| *name).collect();
    if !can.is_empty() {
        screen.line(&format!("{}  {}", bold("offers"), can.join(", ")))?;
    }
    for extension in &capabilities.extensions {
        screen.line(&format!("  extension {}", line(&extension.uri)))?;
    }
    if !card.security_schemes.is_empty() {
        screen.line(&bold("authentication"))?;
        for (name, scheme) in &card.security_schemes {
            screen.line(&format!(
                "  {}: {}",
                line(name),
                line(&authentication(scheme))
            ))?;
        }
        let alternatives = card.security_requirements.iter().map(requirement);
        let alternatives: Vec<_> = alternatives.collect();
        let needed = match alternatives.is_empty() {
            true => "none of them".to_owned(),
            false => alternatives.join(", or "),
        };
        screen.line(&format!("  needed: {}", line(&needed)))?;
    }
    screen.line(&bold("skills"))?;
    for skill in &card.skills {
        screen.line(&format!(
            "  {}  {}",
            bold(&line(&skill.name)),
            line(&skill.description)
        ))?;
        for example in &skill.examples {
            screen.line(&dim(&format!("    “{}”", line(example))))?;
        }
    }
    Ok(())
}

/// Prints the signature that verified a card.
pub(crate) fn signature(
    screen: &Screen,
    key: &str,
    algorithm: &str,
    form: SignatureForm,
) -> Result<(), Failure> {
    let (key, algorithm) = (line(key), line(algorithm));
    screen.line(&format!(
        "{}  by the key {key} ({algorithm}): {form}",
        bold("signed")
    ))
}

/// Describes schemes that are needed together, by their names.
fn requirement(requirement: &SecurityRequirement) -> String {
    if requirement.schemes.is_empty() {
        return "nothing".to_owned();
    }
    let schemes = requirement
        .schemes
        .iter()
        .map(|(name, scopes)| match scopes.list.as_slice() {
            [] => name.clone(),
            scopes => format!("{name} (scopes {})", scopes.join(" ")),
        });
    schemes.collect::<Vec<_>>().join(" and ")
}

fn authentication(scheme: &SecurityScheme) -> String {
    match scheme {
        SecurityScheme::ApiKeySecurityScheme(key) => {
            format!("API key in the {} `{}` (--api-key)", key.location, key.name)
        }
        SecurityScheme::HttpAuthSecurityScheme(http) => {
            match http.scheme.to_ascii_lowercase().as_str() {
                "basic" => "a name and password (--basic)".to_owned(),
                "bearer" => "a bearer token (--bearer)".to_owned(),
                other => format!("HTTP authentication `{other}`"),
            }
        }
        SecurityScheme::OAuth2SecurityScheme(_) => {
            "OAuth 2.0 (--oauth-client, --bearer)".to_owned()
        }
        SecurityScheme::OpenIdConnectSecurityScheme(oidc) => {
            format!(
                "OpenID Connect at {} (--oauth-client, --bearer)",
                oidc.open_id_connect_url
            )
        }
        SecurityScheme::MtlsSecurityScheme(_) => "a certificate (--cert, --key)".to_owned(),
        _ => "a scheme that this client does not know".to_owned(),
    }
}
