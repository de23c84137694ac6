//! Bodies that are not of this protocol, for error messages.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

/// Returns the beginning of a body for an error message.
pub(super) fn shown(headers: &HeaderMap, body: &[u8]) -> String {
    const MAX_CHARACTERS: usize = 200;
    if body.is_empty() {
        return "no body".to_owned();
    }
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map_or("a body of no type", str::trim);
    if let Some(title) = title(headers, body) {
        return format!("{media_type} with the title {title:?}");
    }
    // A character has four bytes at most.
    let body = body.get(..4 * MAX_CHARACTERS).unwrap_or(body);
    let text = String::from_utf8_lossy(body);
    let text: String = text.chars().take(MAX_CHARACTERS).collect();
    format!("{media_type} {text:?}")
}

/// Returns the title of a page.
fn title(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    const MAX_HEAD: usize = 16 << 10;
    let page = is_html(headers).then(|| body.get(..MAX_HEAD).unwrap_or(body))?;
    let page = String::from_utf8_lossy(page);
    let (_, rest) = page.split_once("<title")?;
    let (title, _) = rest.split_once('>')?.1.split_once('<')?;
    Some(title.trim().chars().take(100).collect())
}

pub(super) fn is_html(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    content_type.is_some_and(|text| text.starts_with(b"text/html"))
}
