//! What of a URL is not shown.

use http::request::Parts as Head;

use super::secret::Secret;

/// The URL of a request as people may see it: with `***` for the key that a card wants in the query. For
/// a [`Tap`](crate::Tap), which is told what goes over the wire.
pub fn shown_url(head: &Head) -> String {
    let url = head.uri.to_string();
    let (Some(Hidden(hidden)), Some((place, query))) = (head.extensions.get(), url.split_once('?'))
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

/// Remembers that this `name=value` in the query of a request is secret.
pub(super) fn hide(head: &mut Head, pair: &Secret) {
    let Hidden(hidden) = head.extensions.get_or_insert_default();
    hidden.push(pair.clone());
}

#[derive(Clone, Default)]
struct Hidden(Vec<Secret>);
