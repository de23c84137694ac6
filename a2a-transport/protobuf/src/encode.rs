//! JSON to Protocol Buffers.

use std::fmt;
use std::ops::Range;

use a2a_types::Timestamp;
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::invalid_message::InvalidMessage;
use crate::schema::{Field, Kind, MessageType, Rule};
use crate::well_known::{self, ANY, MAX_SECONDS};

pub(crate) fn to_protobuf(
    message_type: &'static MessageType,
    json: &[u8],
) -> Result<Vec<u8>, InvalidMessage> {
    let mut message = Vec::with_capacity(json.len());
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let writer = Writer {
        kind: Kind::Message(message_type),
        out: &mut message,
    };
    let written = writer.deserialize(&mut deserializer);
    let ended = written.and_then(|_| deserializer.end());
    ended.map_err(|error| InvalidMessage::new(error.to_string()))?;
    Ok(message)
}

/// Writes a JSON value as the content of a field, without tag and length. Returns whether it is something else than
/// the default value.
struct Writer<'o> {
    kind: Kind,
    out: &'o mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        match self.kind {
            Kind::Bool => {
                let value = bool::deserialize(deserializer)?;
                write_varint(u64::from(value), self.out);
                Ok(value)
            }
            Kind::Int32 => {
                let value = i32::deserialize(deserializer)?;
                write_varint(i64::from(value).cast_unsigned(), self.out);
                Ok(value != 0)
            }
            Kind::Text => {
                let text = Text::deserialize(deserializer)?;
                self.out.extend_from_slice(text.0.as_bytes());
                Ok(!text.0.is_empty())
            }
            Kind::Bytes => {
                let text = Text::deserialize(deserializer)?;
                let is_url_safe = text.0.contains(['-', '_']);
                let engine = if is_url_safe { &URL_SAFE_BYTES } else { &BYTES };
                let before = self.out.len();
                let decoded = engine.decode_vec(text.0.as_bytes(), self.out);
                decoded.map_err(|_| D::Error::custom("expected Base64"))?;
                Ok(self.out.len() > before)
            }
            Kind::Enum(names) => deserializer.deserialize_any(EnumWriter {
                names,
                out: self.out,
            }),
            Kind::Any => {
                let any = <&RawValue>::deserialize(deserializer)?;
                write_any(any, self.out).map_err(D::Error::custom)?;
                Ok(true)
            }
            Kind::Duration => {
                let text = Text::deserialize(deserializer)?;
                let Some((seconds, nanos)) = duration(&text.0) else {
                    return Err(D::Error::custom(format!(
                        "expected a duration of at most {MAX_SECONDS} seconds, like `1.500s`"
                    )));
                };
                write_seconds(seconds, nanos, self.out);
                Ok(true)
            }
            Kind::Timestamp => {
                let time = Timestamp::deserialize(deserializer)?;
                write_timestamp(time, self.out);
                Ok(true)
            }
            Kind::Message(message_type) => deserializer.deserialize_map(MessageWriter {
                message_type,
                out: self.out,
            }),
            Kind::Struct => deserializer.deserialize_map(StructWriter { out: self.out }),
            Kind::List => deserializer.deserialize_seq(ListWriter { out: self.out }),
            Kind::Value => deserializer.deserialize_any(ValueWriter { out: self.out }),
        }
    }
}

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BYTES: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL_SAFE_BYTES: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Text, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] std::borrow::Cow<'t, str>);

struct EnumWriter<'o> {
    names: &'static [(i32, &'static str)],
    out: &'o mut Vec<u8>,
}

impl Visitor<'_> for EnumWriter<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name or the number of a value")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        let Some((number, _)) = self.names.iter().find(|(_, of)| *of == name) else {
            let known: Vec<_> = self.names.iter().map(|(_, name)| *name).collect();
            return Err(E::custom(format!(
                "unknown value `{name}`: expected {}",
                known.join(", ")
            )));
        };
        self.visit_i64(i64::from(*number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<bool, E> {
        write_varint(number.cast_unsigned(), self.out);
        Ok(number != 0)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<bool, E> {
        write_varint(number, self.out);
        Ok(number != 0)
    }
}

struct MessageWriter<'o> {
    message_type: &'static MessageType,
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for MessageWriter<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object: {}", self.message_type.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        let begin = self.out.len();
        let mut written: Vec<(u32, Range<usize>)> = Vec::new();
        let fields = self.message_type.fields;
        while let Some(name) = members.next_key::<Text<'_>>()? {
            let is_named = |field: &&Field| field.name == name.0 || field.proto_name == name.0;
            let Some(field) = fields.iter().find(is_named) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            let from = self.out.len();
            members.next_value_seed(FieldWriter {
                field,
                out: self.out,
            })?;
            written.push((field.number, from..self.out.len()));
        }
        // Other implementations write the lowest number first.
        if !written.is_sorted_by_key(|(number, _)| *number) {
            written.sort_by_key(|(number, _)| *number);
            let content = self.out.split_off(begin);
            for (_, range) in written {
                let range = range.start - begin..range.end - begin;
                self.out.extend_from_slice(&content[range]);
            }
        }
        Ok(true)
    }
}

/// Writes a JSON value as a field: with tag and length, as often as it occurs.
struct FieldWriter<'o> {
    field: &'static Field,
    out: &'o mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for FieldWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // An absent member is spelled `null`, too; a Value that is null is a value.
        match self.field.kind {
            Kind::Value if !matches!(self.field.rule, Rule::Repeated | Rule::Map) => {
                self.visit_some(deserializer)
            }
            _ => deserializer.deserialize_option(self),
        }
    }
}

impl<'de> Visitor<'de> for FieldWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the member `{}`", self.field.name)
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { field, out } = self;
        let located = |error: D::Error| D::Error::custom(format!("{}: {error}", field.name));
        match field.rule {
            Rule::Repeated => {
                let number = field.number;
                let kind = field.kind;
                let elements = Elements { number, kind, out };
                deserializer.deserialize_seq(elements).map_err(located)
            }
            Rule::Map => {
                let entries = Entries {
                    number: field.number,
                    kind: field.kind,
                    out,
                };
                deserializer.deserialize_map(entries).map_err(located)
            }
            Rule::Implicit | Rule::Explicit | Rule::OneOf(_) => {
                let begin = out.len();
                let kind = field.kind;
                let differs = write_tagged(field.number, kind, out, |out| {
                    Writer { kind, out }.deserialize(deserializer)
                });
                if !differs.map_err(located)? && field.rule == Rule::Implicit {
                    out.truncate(begin);
                }
                Ok(())
            }
        }
    }
}

/// Writes a repeated field.
struct Elements<'o> {
    number: u32,
    kind: Kind,
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self { number, kind, out } = self;
        loop {
            let begin = out.len();
            let written = write_tagged(number, kind, out, |out| {
                elements.next_element_seed(Writer { kind, out })
            });
            if written?.is_none() {
                out.truncate(begin);
                return Ok(());
            }
        }
    }
}

/// Writes a map as its entries, each a message of key and value.
struct Entries<'o> {
    number: u32,
    kind: Kind,
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { number, kind, out } = self;
        while let Some(key) = entries.next_key::<Text<'_>>()? {
            write_tag(number, LENGTH, out);
            write_with_length(out, |out| {
                if !key.0.is_empty() {
                    write_tag(1, LENGTH, out);
                    write_varint(key.0.len() as u64, out);
                    out.extend_from_slice(key.0.as_bytes());
                }
                let begin = out.len();
                let differs = write_tagged(2, kind, out, |out| {
                    entries.next_value_seed(Writer { kind, out })
                })?;
                if !differs {
                    out.truncate(begin);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Writes a `google.protobuf.Struct`.
struct StructWriter<'o> {
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for StructWriter<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<bool, A::Error> {
        let entries_writer = Entries {
            number: 1,
            kind: Kind::Value,
            out: self.out,
        };
        entries_writer.visit_map(entries)?;
        Ok(true)
    }
}

/// Writes a `google.protobuf.ListValue`.
struct ListWriter<'o> {
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for ListWriter<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<bool, A::Error> {
        let elements_writer = Elements {
            number: 1,
            kind: Kind::Value,
            out: self.out,
        };
        elements_writer.visit_seq(elements)?;
        Ok(true)
    }
}

/// Writes a `google.protobuf.Value`, whose fields are null 1, number 2, text 3, bool 4, struct 5 and list 6.
struct ValueWriter<'o> {
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for ValueWriter<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        write_tag(1, VARINT, self.out);
        write_varint(0, self.out);
        Ok(true)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<bool, E> {
        write_tag(2, FIXED64, self.out);
        self.out.extend_from_slice(&number.to_le_bytes());
        Ok(true)
    }

    #[expect(clippy::cast_precision_loss, reason = "the type has doubles only")]
    fn visit_i64<E: Error>(self, number: i64) -> Result<bool, E> {
        self.visit_f64(number as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "the type has doubles only")]
    fn visit_u64<E: Error>(self, number: u64) -> Result<bool, E> {
        self.visit_f64(number as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        write_tag(3, LENGTH, self.out);
        write_varint(text.len() as u64, self.out);
        self.out.extend_from_slice(text.as_bytes());
        Ok(true)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        write_tag(4, VARINT, self.out);
        write_varint(u64::from(value), self.out);
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<bool, A::Error> {
        write_tag(5, LENGTH, self.out);
        write_with_length(self.out, |out| StructWriter { out }.visit_map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<bool, A::Error> {
        write_tag(6, LENGTH, self.out);
        write_with_length(self.out, |out| ListWriter { out }.visit_seq(elements))
    }
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

/// Writes a value behind its tag, and behind its length if its kind has one.
fn write_tagged<T, E>(
    number: u32,
    kind: Kind,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<T, E>,
) -> Result<T, E> {
    match kind {
        Kind::Bool | Kind::Int32 | Kind::Enum(_) => {
            write_tag(number, VARINT, out);
            write(out)
        }
        _ => {
            write_tag(number, LENGTH, out);
            write_with_length(out, write)
        }
    }
}

/// Writes what has its length before it.
fn write_with_length<T, E>(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<T, E>,
) -> Result<T, E> {
    let begin = out.len();
    // Most are shorter than 128 bytes, whose length is one byte.
    out.push(0);
    let written = write(out)?;
    let length = out.len() - begin - 1;
    match u8::try_from(length) {
        Ok(short @ ..0x80) => out[begin] = short,
        _ => {
            let mut prefix = Vec::new();
            write_varint(length as u64, &mut prefix);
            out.splice(begin..=begin, prefix);
        }
    }
    Ok(written)
}

fn write_tag(number: u32, wire_type: u32, out: &mut Vec<u8>) {
    write_varint(u64::from(number << 3 | wire_type), out);
}

fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

fn write_timestamp(time: Timestamp, out: &mut Vec<u8>) {
    let millis = time.as_millis();
    let nanos = millis.rem_euclid(1000) * 1_000_000;
    write_seconds(millis.div_euclid(1000), nanos, out);
}

/// Writes the fields of a Timestamp or a Duration.
fn write_seconds(seconds: i64, nanos: i64, out: &mut Vec<u8>) {
    for (number, value) in [(1, seconds), (2, nanos)] {
        if value != 0 {
            write_tag(number, VARINT, out);
            write_varint(value.cast_unsigned(), out);
        }
    }
}

/// Returns the seconds and nanoseconds of a duration like `-1.5s`.
fn duration(text: &str) -> Option<(i64, i64)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let text = text.strip_suffix('s')?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text),
    };
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !is_number(seconds) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let seconds: u64 = seconds.parse().ok().filter(|it| *it <= MAX_SECONDS)?;
    let nanos: i64 = format!("{fraction:0<9}").parse().ok()?;
    Some((sign * seconds.cast_signed(), sign * nanos))
}

/// Writes a `google.protobuf.Any`, whose type may follow the members of its message.
fn write_any(any: &RawValue, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let AnyHead { url, other } = any.deserialize_map(AnyVisitor)?;
    let Some(message_type) = well_known::any_type(&url) else {
        if let Some(other) = other {
            return Err(Error::custom(format!(
                "the type `{url}` is unknown: expected `value` with its bytes, found `{other}`"
            )));
        }
        let kind = Kind::Message(&ANY);
        Writer { kind, out }.deserialize(any)?;
        return Ok(());
    };
    write_tag(1, LENGTH, out);
    write_varint(url.len() as u64, out);
    out.extend_from_slice(url.as_bytes());
    let begin = out.len();
    write_tag(2, LENGTH, out);
    let content = out.len();
    let kind = Kind::Message(message_type);
    write_with_length(out, |out| Writer { kind, out }.deserialize(any))?;
    // Without content: its length is all that is there.
    if out.len() == content + 1 {
        out.truncate(begin);
    }
    Ok(())
}

/// Type of an Any, and a member that an unknown one does not have.
struct AnyHead {
    url: String,
    other: Option<String>,
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = AnyHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a member `@type`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<AnyHead, A::Error> {
        let (mut url, mut other) = (None, None);
        while let Some(name) = members.next_key::<Text<'_>>()? {
            match &*name.0 {
                "@type" => {
                    let text = members.next_value::<Text<'_>>()?;
                    if url.replace(text.0.into_owned()).is_some() {
                        return Err(A::Error::duplicate_field("@type"));
                    }
                }
                name => {
                    members.next_value::<IgnoredAny>()?;
                    if name != "value" && other.is_none() {
                        other = Some(name.to_owned());
                    }
                }
            }
        }
        let url = url.unwrap_or_default();
        Ok(AnyHead { url, other })
    }
}
