//! Redaction of secrets in the query of a URL.

use http::request::Parts as Head;

use super::secret::Secret;

/// Returns the URL of a request with `***` in place of the API key that a card puts in the query; for a
/// [`WireObserver`](crate::WireObserver) that records the wire.
pub fn shown_url(head: &Head) -> String {
    let url = head.uri.to_string();
    let (Some(SecretPairs(hidden)), Some((place, query))) =
        (head.extensions.get(), url.split_once('?'))
    else {
        return url;
    };
    let is_hidden = |pair: &str| hidden.iter().any(|secret| secret.expose() == pair);
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_hidden(pair) => format!("{name}=***"),
        _ => pair.to_owned(),
    });
    let shown: Vec<_> = shown.collect();
    format!("{place}?{}", shown.join("&"))
}

/// Marks this `name=value` in the query of a request as secret.
pub(super) fn hide(head: &mut Head, pair: &Secret) {
    let SecretPairs(hidden) = head.extensions.get_or_insert_default();
    hidden.push(pair.clone());
}

#[derive(Clone, Default)]
struct SecretPairs(Vec<Secret>);
