//! Base64 text that is decoded only on demand.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bytes of a file as base64 text, kept as the sender wrote them.
///
/// Both alphabets are read, padded or not; what is written is the standard alphabet with padding
/// (ProtoJSON; specification 1.0 §5.5). Text that is not base64 is passed on unchanged, and only
/// [`Base64::decode`] fails on it: an agent that merely forwards a file need not pay for decoding it.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Base64(String);

impl Base64 {
    /// Encodes `bytes`.
    pub fn encode(bytes: impl AsRef<[u8]>) -> Self {
        Self(ENGINE.encode(bytes))
    }

    /// Wraps text that is already base64, in either alphabet.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(standard(text.into()))
    }

    /// Returns the text, in the standard alphabet with padding.
    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// Returns the decoded bytes. Errors: the text is not base64.
    pub fn decode(&self) -> Result<Vec<u8>, InvalidBase64> {
        ENGINE
            .decode(&self.0)
            .map_err(|error| InvalidBase64(error.to_string()))
    }
}

/// The text of a file's bytes is not base64.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not base64: {0}")]
pub struct InvalidBase64(String);

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Rewrites the URL alphabet, missing padding and line breaks; text that is not base64 stays as it is.
fn standard(mut text: String) -> String {
    if text.contains(|letter: char| letter.is_ascii_whitespace()) {
        // Lines of MIME (RFC 2045 §6.8).
        text.retain(|letter| !letter.is_ascii_whitespace());
    }
    let symbols = text.trim_end_matches('=').len();
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    if symbols % 4 == 1 || !text.as_bytes()[..symbols].iter().all(legal) {
        return text;
    }
    if text.contains(['-', '_']) {
        text = text.replace('-', "+").replace('_', "/");
    }
    text.truncate(symbols);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from_text)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Base64 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Base64".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, written: &str, decoded: Option<&[u8]>) {
        let base64 = Base64::from_text(text);
        assert_eq!(base64.as_text(), written);
        assert_eq!(base64.decode().ok().as_deref(), decoded);
    }

    #[test]
    fn every_alphabet_is_read_and_standard_is_written() {
        check("+/8=", "+/8=", Some(&[0xfb, 0xff]));
        check("-_8", "+/8=", Some(&[0xfb, 0xff]));
        check("-_8=", "+/8=", Some(&[0xfb, 0xff]));
        check("aGk", "aGk=", Some(b"hi"));
        check("", "", Some(b""));
    }

    #[test]
    fn text_that_is_not_base64_stays_as_it_is() {
        check("<base64-encoded-content>", "<base64-encoded-content>", None);
        check("iVBOR...", "iVBOR...", None);
        check("aaaaa", "aaaaa", None);
    }
}
