//! An agent as the page shows it.

use a2a_client::{Binding, HttpTransport};
use a2a_types::{AgentCard, AgentInterface};
use serde_json::{Value, json};

use super::registry::ConnectedAgent;
use super::settings::Settings;

/// Returns an agent as JSON: how it is called, and what its card offers.
pub(super) fn summary(agent: &ConnectedAgent) -> Value {
    let ConnectedAgent {
        id,
        settings,
        client,
        ..
    } = agent;
    let found = client.card();
    let has_card = found.is_some();
    let card = found.unwrap_or_default();
    let (version, binding) = called_by(&card, settings);
    let capabilities = &card.capabilities;
    let interfaces = card.supported_interfaces.iter().map(|interface| {
        json!({
            "url": interface.url,
            "binding": interface.protocol_binding,
            "version": interface.protocol_version,
        })
    });
    let extensions = capabilities.extensions.iter().map(|extension| {
        json!({
            "uri": extension.uri,
            "required": extension.required,
            "description": extension.description,
        })
    });
    json!({
        "id": id,
        "url": settings.url,
        "name": if has_card { &card.name } else { &settings.url },
        "description": card.description,
        "version": version,
        "binding": binding,
        "tenant": settings.tenant,
        "interfaces": interfaces.collect::<Value>(),
        "capabilities": {
            "streaming": capabilities.streaming,
            "pushNotifications": capabilities.push_notifications,
            "extendedCard": capabilities.extended_agent_card,
        },
        "skills": card.skills,
        "inputModes": card.default_input_modes,
        "outputModes": card.default_output_modes,
        "extensions": extensions.collect::<Value>(),
        "hasCard": has_card,
        "hasSecret": settings.has_secrets(),
        "settings": settings.without_secrets(),
    })
}

/// Returns version and binding of the interface that is called: the first that is spoken and wanted.
fn called_by(
    card: &AgentCard,
    settings: &Settings,
) -> (Option<&'static str>, Option<&'static str>) {
    let is_called = |interface: &&AgentInterface| {
        let version =
            settings.version.is_none() || settings.version == interface.protocol_version();
        let binding = settings.binding.is_none() || settings.binding == Binding::of(interface);
        version && binding && matches!(HttpTransport::to(interface), Some(Ok(_)))
    };
    let interface = card.supported_interfaces.iter().find(is_called);
    let (version, binding) = match interface {
        Some(interface) => (interface.protocol_version(), Binding::of(interface)),
        None => (
            settings.version,
            settings.binding.or(Some(Binding::JsonRpc)),
        ),
    };
    (version.map(|it| it.version()), binding.map(Binding::as_str))
}
