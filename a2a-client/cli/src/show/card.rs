//! Output of agent cards.

use a2a_types::{AgentCard, SecurityRequirement, SecurityScheme};

use super::Screen;
use crate::failure::Failure;

/// Prints the abilities and interfaces of an agent.
pub(crate) fn card(screen: &Screen, card: &AgentCard) -> Result<(), Failure> {
    screen.field("Name", &card.name)?;
    screen.field("Version", &card.version)?;
    screen.field("Description", &card.description)?;
    if let Some(provider) = &card.provider {
        let text = format!("{}, {}", provider.organization, provider.url);
        screen.field("Provider", &text)?;
    }
    for interface in &card.supported_interfaces {
        let (binding, version) = (&interface.protocol_binding, &interface.protocol_version);
        let spoken = match interface.protocol_version() {
            Some(_) if a2a_client::Binding::of(interface).is_some() => "",
            _ => " (not spoken by this program)",
        };
        let tenant = interface.tenant.as_deref();
        let tenant = tenant.map_or(String::new(), |tenant| format!(" tenant {tenant}"));
        let text = format!("{binding} {version} {}{tenant}{spoken}", interface.url);
        screen.field("Interface", &text)?;
    }
    let capabilities = &card.capabilities;
    let can = [
        ("streaming", capabilities.streaming),
        ("push notifications", capabilities.push_notifications),
        ("extended card", capabilities.extended_agent_card),
    ];
    let can = can.iter().filter(|(_, offered)| *offered == Some(true));
    let can: Vec<_> = can.map(|(name, _)| *name).collect();
    let can = if can.is_empty() {
        "none".to_owned()
    } else {
        can.join(", ")
    };
    screen.field("Capabilities", &can)?;
    for extension in &capabilities.extensions {
        let required = if extension.required {
            " (required)"
        } else {
            ""
        };
        screen.field("Extension", &format!("{}{required}", extension.uri))?;
    }
    for (name, scheme) in &card.security_schemes {
        screen.field(
            "Security scheme",
            &format!("{name}, {}", authentication(scheme)),
        )?;
    }
    if !card.security_schemes.is_empty() {
        let alternatives: Vec<_> = card.security_requirements.iter().map(requirement).collect();
        let needed = match alternatives.is_empty() {
            true => "none of the schemes".to_owned(),
            false => alternatives.join(", or "),
        };
        screen.field("Required", &needed)?;
    }
    for skill in &card.skills {
        screen.field("Skill", &format!("{}, {}", skill.name, skill.description))?;
        for example in &skill.examples {
            screen.field("Example", example)?;
        }
    }
    Ok(())
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
                "basic" => "name and password (--basic)".to_owned(),
                "bearer" => "bearer token (--bearer)".to_owned(),
                other => format!("HTTP authentication `{other}`"),
            }
        }
        SecurityScheme::OAuth2SecurityScheme(_) => {
            "OAuth 2.0 (a2a auth login, --bearer)".to_owned()
        }
        SecurityScheme::OpenIdConnectSecurityScheme(oidc) => format!(
            "OpenID Connect at {} (a2a auth login, --bearer)",
            oidc.open_id_connect_url
        ),
        SecurityScheme::MtlsSecurityScheme(_) => "client certificate (--cert, --key)".to_owned(),
        _ => "a scheme that this program does not know".to_owned(),
    }
}
