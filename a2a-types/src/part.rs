//! A piece of content: text, a file, or data.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::proto::{exactly_one, present, unless_empty};
use crate::{Base64, Object};

/// A piece of a message or of an artifact. Specification 1.0 §4.1.6.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(try_from = "PartFields")]
pub struct Part {
    /// The content.
    pub content: Content,
    /// The media type of the content, like `image/png`.
    pub media_type: Option<String>,
    /// A name for the content, when it is a file.
    pub filename: Option<String>,
    /// Custom key-value metadata.
    pub metadata: Option<Object>,
}

/// Content of a part: exactly one of these.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// The bytes of a file, inline.
    Raw(Base64),
    /// URL at which a file can be fetched.
    Url(String),
    /// Any JSON value. Whole numbers stay exact to 64 bits.
    Data(Value),
}

impl Part {
    /// Returns a part of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(text.into()).into()
    }

    /// Returns a part of structured data.
    pub fn data(data: impl Into<Value>) -> Self {
        Content::Data(data.into()).into()
    }

    /// Returns a file part with its bytes.
    pub fn bytes(bytes: impl AsRef<[u8]>, media_type: impl Into<String>) -> Self {
        Self {
            media_type: Some(media_type.into()),
            ..Content::Raw(Base64::encode(bytes)).into()
        }
    }

    /// Returns a file part that is to be fetched from `url`.
    pub fn url(url: impl Into<String>) -> Self {
        Content::Url(url.into()).into()
    }

    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a data part.
    pub fn as_data(&self) -> Option<&Value> {
        match &self.content {
            Content::Data(data) => Some(data),
            _ => None,
        }
    }
}

impl From<Content> for Part {
    fn from(content: Content) -> Self {
        Self {
            content,
            media_type: None,
            filename: None,
            metadata: None,
        }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Part", 4)?;
        match &self.content {
            Content::Text(text) => members.serialize_field("text", text)?,
            Content::Raw(raw) => members.serialize_field("raw", raw)?,
            Content::Url(url) => members.serialize_field("url", url)?,
            Content::Data(data) => members.serialize_field("data", data)?,
        }
        if let Some(metadata) = &self.metadata {
            members.serialize_field("metadata", metadata)?;
        }
        if let Some(filename) = &self.filename {
            members.serialize_field("filename", filename)?;
        }
        if let Some(media_type) = &self.media_type {
            members.serialize_field("mediaType", media_type)?;
        }
        members.end()
    }
}

exactly_one! {
    /// A piece of a message or of an artifact: exactly one of `text`, `raw`, `url`, `data`, and its
    /// attributes. Specification 1.0 §4.1.6.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    PartFields => Part, "a part needs exactly one of `text`, `raw`, `url`, `data`" {
        text: String => Content::Text,
        raw: Base64 => Content::Raw,
        url: String => Content::Url,
        #[serde(default, deserialize_with = "present")]
        data: Value => Content::Data,
    } beside {
        metadata: Option<Object>,
        #[serde(default, deserialize_with = "unless_empty")]
        filename: Option<String>,
        #[serde(default, alias = "media_type", deserialize_with = "unless_empty")]
        media_type: Option<String>,
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Part {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Part".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        use serde_json::json;
        let mut schema = PartFields::json_schema(generator);
        let contents = ["text", "raw", "url", "data"].map(|one| json!({ "required": [one] }));
        schema.insert("oneOf".to_owned(), json!(contents));
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Result<Part, &str>) {
        let read = serde_json::from_str::<Part>(json);
        match expected {
            Ok(part) => {
                assert_eq!(serde_json::to_string(&part).unwrap(), json);
                assert_eq!(read.unwrap(), part);
            }
            Err(text) => assert!(read.unwrap_err().to_string().contains(text), "{json}"),
        }
    }

    #[test]
    fn part_has_exactly_one_content() {
        check(r#"{"text":""}"#, Ok(Part::text("")));
        check(r#"{"data":null}"#, Ok(Part::data(Value::Null)));
        check(
            r#"{"data":[18446744073709551615,-9223372036854775808]}"#,
            Ok(Part::data(serde_json::json!([u64::MAX, i64::MIN]))),
        );
        check(
            r#"{"raw":"aGk=","mediaType":"text/plain"}"#,
            Ok(Part::bytes("hi", "text/plain")),
        );
        check(r#"{}"#, Err("exactly one"));
        check(r#"{"text":"a","url":"b"}"#, Err("exactly one"));
    }
}
