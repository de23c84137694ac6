//! Credentials of a connected agent, for the suite.

use std::time::Duration;

use a2a_conformance::agent::Options;
use a2a_conformance::record::Redaction;
use a2a_types::TaskId;
use http::HeaderValue;
use tokio::time::timeout;

use crate::agents::ConnectedAgent;
use crate::wire::{ExchangeLog, MASK};

/// Adds the credentials to the options of a run, as they go over the wire: only the connection knows how the card
/// wants them, and has their tokens. Returns what hides them in the results.
pub(super) async fn add(
    options: &mut Options,
    agent: &ConnectedAgent,
    log: &ExchangeLog,
) -> Redaction {
    let mut redaction = Redaction::default();
    if !agent.settings.has_secrets() && agent.settings.oauth_device.is_none() {
        return redaction;
    }
    // The answer does not matter: the request has the credentials.
    let asked = agent.client.get_task(TaskId::random(), None);
    let _ = timeout(MAX_WAIT, asked).await;
    let Some(sent) = log.latest_of(&agent.id) else {
        return redaction;
    };
    for (name, value) in &sent.request.headers {
        if !value.is_sensitive() {
            continue;
        }
        let text = String::from_utf8_lossy(value.as_bytes());
        let secret = text.split_once(' ').map_or(&*text, |(_, secret)| secret);
        redaction = redaction.header(name.as_str()).secret(secret);
        options.headers.insert(name.clone(), value.clone());
    }
    let pairs = |url: &str| -> Vec<String> {
        let query = url.split_once('?').map_or("", |(_, query)| query);
        query.split('&').map(str::to_owned).collect()
    };
    // The suite calls the URLs of the card with their own parameters.
    let card = agent.client.card();
    let interfaces = card.iter().flat_map(|card| &card.supported_interfaces);
    let urls = interfaces.map(|interface| interface.url.as_str());
    let own: Vec<_> = urls
        .chain([agent.settings.url.as_str()])
        .flat_map(pairs)
        .collect();
    let shown = pairs(&sent.request.shown_url);
    for (pair, shown) in pairs(&sent.request.url).iter().zip(shown) {
        if let Some((name, secret)) = pair.split_once('=')
            && shown.ends_with(MASK)
            && pair != &shown
            && !own.contains(pair)
            && let Ok(value) = HeaderValue::from_str(secret)
        {
            redaction = redaction.secret(secret);
            options.query.push((name.to_owned(), value));
        }
    }
    redaction
}

/// Time for a request with the credentials; a user may have to enter a code for them.
const MAX_WAIT: Duration = Duration::from_secs(120);
