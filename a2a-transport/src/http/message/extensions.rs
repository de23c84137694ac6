//! Headers that request and confirm extensions. Specification 1.0 §4.6, 0.2 topic "Extensions".

use a2a_types::ProtocolVersion;
use http::Response;
use http::header::{HeaderMap, HeaderName, HeaderValue};

/// Name of the header in 1.0.
static NAME: HeaderName = HeaderName::from_static("a2a-extensions");
/// Name of the header in 0.2 and 0.3.
static OLD_NAME: HeaderName = HeaderName::from_static("x-a2a-extensions");

/// Returns whether a header requests extensions, in either spelling.
pub(crate) fn is_named(name: &HeaderName) -> bool {
    *name == NAME || *name == OLD_NAME
}

/// Returns the extensions that it lists, by URI.
pub(crate) fn listed(value: &HeaderValue) -> impl Iterator<Item = String> {
    let uris = value.to_str().unwrap_or_default().split(',').map(str::trim);
    uris.filter(|uri| !uri.is_empty()).map(str::to_owned)
}

/// Lists the active extensions for the caller, in its own spelling.
pub(crate) fn echo<B>(
    active: &[String],
    protocol_version: ProtocolVersion,
    response: &mut Response<B>,
) {
    ask(active, protocol_version, response.headers_mut());
}

/// Lists extensions in the spelling of a protocol version.
pub(crate) fn ask(uris: &[String], protocol_version: ProtocolVersion, headers: &mut HeaderMap) {
    if uris.is_empty() {
        return;
    }
    // A URI that does not fit into a header cannot be requested.
    if let Ok(value) = HeaderValue::from_str(&uris.join(", ")) {
        let name = HeaderName::from_static(protocol_version.extensions_header());
        headers.insert(name, value);
    }
}
