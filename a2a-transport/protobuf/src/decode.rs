//! Protocol Buffers to JSON.

use std::collections::HashMap;

use a2a_types::Timestamp;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::invalid_message::InvalidMessage;
use crate::schema::{Field, Kind, MessageType, Rule};
use crate::well_known::{self, ANY, MAX_SECONDS};

type Result<T> = std::result::Result<T, InvalidMessage>;

/// Nested messages in a message. Other implementations have the same limit.
const MAX_DEPTH: usize = 100;

pub(crate) fn to_json(message_type: &'static MessageType, message: &[u8]) -> Result<Vec<u8>> {
    let mut json = Vec::with_capacity(2 * message.len() + 2);
    write_message(message_type, message, &mut json, 0)?;
    Ok(json)
}

/// A value on the wire.
#[derive(Clone, Copy)]
enum Wire<'m> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'m [u8]),
    /// A group, which no message of A2A has.
    Group,
}

/// Reader of the fields of a message.
struct Fields<'m> {
    rest: &'m [u8],
}

impl<'m> Fields<'m> {
    /// Reads the next field: its number and its value.
    fn next(&mut self) -> Result<Option<(u32, Wire<'m>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        if number == 0 || number > MAX_NUMBER {
            return Err(InvalidMessage::new("a field has an invalid number"));
        }
        let value = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.take_array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                Wire::Bytes(self.take(length)?)
            }
            3 => {
                self.skip_group(number)?;
                Wire::Group
            }
            5 => {
                let _: [u8; 4] = self.take_array()?;
                Wire::Fixed32
            }
            other => {
                return Err(InvalidMessage::new(format!(
                    "field {number} has the wire type {other}: expected 0, 1, 2 or 5"
                )));
            }
        };
        Ok(Some((number, value)))
    }

    /// Skips the content and the end of a group.
    fn skip_group(&mut self, number: u32) -> Result<()> {
        let mut open = vec![number];
        while let Some(innermost) = open.last().copied() {
            let tag = self.varint()?;
            match tag & 7 {
                0 => _ = self.varint()?,
                1 => _ = self.take(8)?,
                2 => {
                    let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                    self.take(length)?;
                }
                3 if open.len() < MAX_DEPTH => open.push(u32::try_from(tag >> 3).unwrap_or(0)),
                4 if tag >> 3 == u64::from(innermost) => _ = open.pop(),
                5 => _ = self.take(4)?,
                _ => return Err(InvalidMessage::new("a group is malformed")),
            }
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let Some((byte, rest)) = self.rest.split_first() else {
                return Err(truncated());
            };
            self.rest = rest;
            if shift == 63 && *byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(InvalidMessage::new("a number is longer than 64 bits"))
    }

    fn take(&mut self, length: usize) -> Result<&'m [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}

/// Highest number of a field.
const MAX_NUMBER: u32 = (1 << 29) - 1;

fn truncated() -> InvalidMessage {
    InvalidMessage::new("the message ends in the middle of a field")
}

/// A field that occurs in a message.
struct Occurrence<'m> {
    /// Index of the field in its type.
    field: usize,
    value: Wire<'m>,
}

fn write_message(
    message_type: &'static MessageType,
    message: &[u8],
    json: &mut Vec<u8>,
    depth: usize,
) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(InvalidMessage::new(format!(
            "the message is nested more than {MAX_DEPTH} messages deep"
        )));
    }
    let mut found = Vec::new();
    // Each group, its field that counts, and the number of occurrences before that.
    let mut chosen: Vec<(u8, usize, usize)> = Vec::new();
    let mut fields = Fields { rest: message };
    while let Some((number, value)) = fields.next()? {
        let by_number = |field: &Field| field.number.cmp(&number);
        let Ok(field) = message_type.fields.binary_search_by(by_number) else {
            continue;
        };
        if let Rule::OneOf(group) = message_type.fields[field].rule {
            let choice = (group, field, found.len());
            match chosen.iter_mut().find(|(of, ..)| *of == group) {
                None => chosen.push(choice),
                Some((_, earlier, _)) if *earlier == field => {}
                Some(other) => *other = choice,
            }
        }
        found.push(Occurrence { field, value });
    }
    let counts = |index: usize, occurrence: &Occurrence<'_>| {
        let Rule::OneOf(group) = message_type.fields[occurrence.field].rule else {
            return true;
        };
        let choice = chosen.iter().find(|(of, ..)| *of == group);
        choice.is_none_or(|(_, field, from)| *field == occurrence.field && *from <= index)
    };
    let mut indices = 0..;
    let overridden = found.extract_if(.., |occurrence| {
        indices
            .next()
            .is_some_and(|index| !counts(index, occurrence))
    });
    for occurrence in overridden {
        let kind = message_type.fields[occurrence.field].kind;
        check(kind, occurrence.value, depth)?;
    }
    // Stable: the occurrences of a field keep their order.
    found.sort_by_key(|occurrence| occurrence.field);
    json.push(b'{');
    let mut is_first = true;
    for occurrences in found.chunk_by(|one, next| one.field == next.field) {
        let field = &message_type.fields[occurrences[0].field];
        let begin = json.len();
        if !is_first {
            json.push(b',');
        }
        write_text(field.name, json);
        json.push(b':');
        let written = write_field(field, occurrences, json, depth);
        match written.map_err(|error| match field.rule {
            Rule::Repeated | Rule::Map => error,
            _ => error.within(&format!(".{}", field.name)),
        })? {
            true => is_first = false,
            false => json.truncate(begin),
        }
    }
    json.push(b'}');
    Ok(())
}

/// Writes the value of a field. Returns whether there is one to write.
fn write_field(
    field: &Field,
    occurrences: &[Occurrence<'_>],
    json: &mut Vec<u8>,
    depth: usize,
) -> Result<bool> {
    match field.rule {
        Rule::Repeated => {
            json.push(b'[');
            let mut index = 0;
            for occurrence in occurrences {
                let mut write = |value| {
                    if index > 0 {
                        json.push(b',');
                    }
                    let place = format_args!(".{}[{index}]", field.name).to_string();
                    index += 1;
                    write_value(field.kind, value, json, depth).map_err(|e| e.within(&place))
                };
                match (occurrence.value, field.kind) {
                    // Packed.
                    (Wire::Bytes(bytes), Kind::Bool | Kind::Int32 | Kind::Enum(_)) => {
                        let mut numbers = Fields { rest: bytes };
                        while !numbers.rest.is_empty() {
                            write(Wire::Varint(numbers.varint()?))?;
                        }
                    }
                    (value, _) => write(value)?,
                }
            }
            json.push(b']');
            Ok(true)
        }
        Rule::Map => {
            write_map(field.kind, occurrences, json, depth)
                .map_err(|error| error.within(&format!(".{}", field.name)))?;
            Ok(true)
        }
        Rule::Implicit | Rule::Explicit | Rule::OneOf(_) => {
            let [earlier @ .., last] = occurrences else {
                return Ok(false);
            };
            let is_default = match last.value {
                Wire::Varint(number) => number == 0,
                Wire::Bytes(bytes) => bytes.is_empty(),
                _ => false,
            };
            let is_message = matches!(
                field.kind,
                Kind::Message(_)
                    | Kind::Any
                    | Kind::Duration
                    | Kind::Timestamp
                    | Kind::Struct
                    | Kind::Value
                    | Kind::List
            );
            // Those of a message are merged below.
            for occurrence in earlier.iter().filter(|_| !is_message) {
                check(field.kind, occurrence.value, depth)?;
            }
            if field.rule == Rule::Implicit && is_default && !is_message {
                check(field.kind, last.value, depth)?;
                return Ok(false);
            }
            if is_message && occurrences.len() > 1 {
                // Messages in pieces are merged, which is what their bytes say one after the other.
                let mut whole = Vec::new();
                for occurrence in occurrences {
                    let Wire::Bytes(bytes) = occurrence.value else {
                        return Err(unexpected(field.kind));
                    };
                    whole.extend_from_slice(bytes);
                }
                write_value(field.kind, Wire::Bytes(&whole), json, depth)?;
            } else {
                write_value(field.kind, last.value, json, depth)?;
            }
            Ok(true)
        }
    }
}

/// Writes a map: the last entry of each key counts.
fn write_map(
    kind: Kind,
    occurrences: &[Occurrence<'_>],
    json: &mut Vec<u8>,
    depth: usize,
) -> Result<()> {
    let mut entries = Vec::with_capacity(occurrences.len());
    let mut last = HashMap::with_capacity(occurrences.len());
    for (index, occurrence) in occurrences.iter().enumerate() {
        let Wire::Bytes(entry) = occurrence.value else {
            return Err(InvalidMessage::new("expected an entry of a map"));
        };
        let (mut key, mut value) = ("", None);
        let mut fields = Fields { rest: entry };
        while let Some((number, found)) = fields.next()? {
            match (number, found) {
                (1, Wire::Bytes(text)) => key = text_of(text)?,
                (2, found) => value = Some(found),
                _ => {}
            }
        }
        entries.push((key, value));
        last.insert(key, index);
    }
    json.push(b'{');
    let mut is_first = true;
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if last.get(key) != Some(&index) {
            check(kind, value.unwrap_or(Wire::Bytes(&[])), depth)?;
            continue;
        }
        if !is_first {
            json.push(b',');
        }
        is_first = false;
        write_text(key, json);
        json.push(b':');
        let value = value.unwrap_or(Wire::Bytes(&[]));
        let written = write_value(kind, value, json, depth);
        written.map_err(|error| error.within(&format!(".{key}")))?;
    }
    json.push(b'}');
    Ok(())
}

/// Checks a value that does not count, since a later one follows.
fn check(kind: Kind, value: Wire<'_>, depth: usize) -> Result<()> {
    write_value(kind, value, &mut Vec::new(), depth)
}

fn write_value(kind: Kind, value: Wire<'_>, json: &mut Vec<u8>, depth: usize) -> Result<()> {
    match (kind, value) {
        (Kind::Bool, Wire::Varint(number)) => {
            json.extend_from_slice(if number == 0 { b"false" } else { b"true" });
        }
        (Kind::Int32, Wire::Varint(number)) => write(&truncate(number), json),
        (Kind::Enum(names), Wire::Varint(number)) => {
            let number = truncate(number);
            match names.iter().find(|(of, _)| *of == number) {
                Some((_, name)) => write_text(name, json),
                None => write(&number, json),
            }
        }
        (Kind::Text, Wire::Bytes(text)) => write_text(text_of(text)?, json),
        (Kind::Bytes, Wire::Bytes(bytes)) => {
            json.push(b'"');
            json.extend_from_slice(STANDARD.encode(bytes).as_bytes());
            json.push(b'"');
        }
        (Kind::Message(message_type), Wire::Bytes(message)) => {
            write_message(message_type, message, json, depth + 1)?;
        }
        (Kind::Any, Wire::Bytes(message)) => write_any(message, json, depth + 1)?,
        (Kind::Duration, Wire::Bytes(message)) => write_text(&duration(message)?, json),
        (Kind::Timestamp, Wire::Bytes(message)) => write(&timestamp(message)?, json),
        (Kind::Struct, Wire::Bytes(message)) => write_struct(message, json, depth + 1)?,
        (Kind::Value, Wire::Bytes(message)) => write_dynamic(message, json, depth + 1)?,
        (Kind::List, Wire::Bytes(message)) => write_list(message, json, depth + 1)?,
        _ => return Err(unexpected(kind)),
    }
    Ok(())
}

fn unexpected(kind: Kind) -> InvalidMessage {
    let expected = match kind {
        Kind::Bool => "a bool",
        Kind::Int32 => "an int32",
        Kind::Text => "a string",
        Kind::Bytes => "bytes",
        Kind::Enum(_) => "an enum",
        Kind::Message(message_type) => message_type.name,
        Kind::Any => "an Any",
        Kind::Duration => "a Duration",
        Kind::Timestamp => "a Timestamp",
        Kind::Struct => "a Struct",
        Kind::Value => "a Value",
        Kind::List => "a ListValue",
    };
    InvalidMessage::new(format!("expected {expected}, found another wire type"))
}

/// Returns the low 32 bits, as the encoding of an int32 defines.
fn truncate(number: u64) -> i32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

fn text_of(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|_| InvalidMessage::new("expected text, found bytes that are not UTF-8"))
}

fn write_text(text: &str, json: &mut Vec<u8>) {
    write(&text, json);
}

fn write(value: &impl Serialize, json: &mut Vec<u8>) {
    // Neither the values nor a vector can fail.
    let _ = serde_json::to_writer(json, value);
}

/// Writes a `google.protobuf.Any`: its type, and the members of its message.
fn write_any(message: &[u8], json: &mut Vec<u8>, depth: usize) -> Result<()> {
    let (mut url, mut content) = ("", &[][..]);
    let mut fields = Fields { rest: message };
    while let Some((number, value)) = fields.next()? {
        match (number, value) {
            (1, Wire::Bytes(text)) => url = text_of(text)?,
            (2, Wire::Bytes(bytes)) => content = bytes,
            (1 | 2, _) => return Err(unexpected(Kind::Any)),
            _ => {}
        }
    }
    let Some(message_type) = well_known::any_type(url) else {
        return write_message(&ANY, message, json, depth);
    };
    json.extend_from_slice(b"{\"@type\":");
    write_text(url, json);
    let begin = json.len();
    write_message(message_type, content, json, depth)?;
    // The members continue this object.
    match json.get_mut(begin..) {
        Some([_, b'}']) => _ = json.remove(begin),
        Some([brace, ..]) => *brace = b',',
        _ => {}
    }
    Ok(())
}

/// Returns the text of a `google.protobuf.Duration`.
fn duration(message: &[u8]) -> Result<String> {
    let (seconds, nanos) = seconds_and_nanos(message, Kind::Duration)?;
    let is_in_range = seconds.unsigned_abs() <= MAX_SECONDS && nanos.unsigned_abs() < 1_000_000_000;
    if !is_in_range || (seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0) {
        return Err(InvalidMessage::new(format!(
            "expected a duration of at most {MAX_SECONDS} seconds, found {seconds} s and {nanos} ns"
        )));
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let (seconds, nanos) = (seconds.unsigned_abs(), nanos.unsigned_abs());
    Ok(match nanos {
        0 => format!("{sign}{seconds}s"),
        _ if nanos % 1_000_000 == 0 => format!("{sign}{seconds}.{:03}s", nanos / 1_000_000),
        _ if nanos % 1000 == 0 => format!("{sign}{seconds}.{:06}s", nanos / 1000),
        _ => format!("{sign}{seconds}.{nanos:09}s"),
    })
}

/// Returns the fields of a Timestamp or a Duration.
fn seconds_and_nanos(message: &[u8], kind: Kind) -> Result<(i64, i32)> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut fields = Fields { rest: message };
    while let Some((number, value)) = fields.next()? {
        match (number, value) {
            (1, Wire::Varint(number)) => seconds = number.cast_signed(),
            (2, Wire::Varint(number)) => nanos = truncate(number),
            (1 | 2, _) => return Err(unexpected(kind)),
            _ => {}
        }
    }
    Ok((seconds, nanos))
}

fn timestamp(message: &[u8]) -> Result<Timestamp> {
    let (seconds, nanos) = seconds_and_nanos(message, Kind::Timestamp)?;
    let millis = seconds.checked_mul(1000);
    // Some writers have negative ones.
    let more = i64::from(nanos).div_euclid(1_000_000);
    let millis = millis.and_then(|millis| millis.checked_add(more));
    let time = millis.and_then(Timestamp::from_millis);
    time.ok_or_else(|| InvalidMessage::new("expected a time in the years 1 to 9999"))
}

fn write_struct(message: &[u8], json: &mut Vec<u8>, depth: usize) -> Result<()> {
    static STRUCT: MessageType = MessageType {
        name: "google.protobuf.Struct",
        fields: &[Field {
            number: 1,
            name: "fields",
            proto_name: "fields",
            kind: Kind::Value,
            rule: Rule::Map,
        }],
    };
    let mut found = Vec::new();
    let mut fields = Fields { rest: message };
    while let Some((number, value)) = fields.next()? {
        if number == STRUCT.fields[0].number {
            found.push(Occurrence { field: 0, value });
        }
    }
    write_map(Kind::Value, &found, json, depth)
}

fn write_list(message: &[u8], json: &mut Vec<u8>, depth: usize) -> Result<()> {
    json.push(b'[');
    let mut index = 0;
    let mut fields = Fields { rest: message };
    while let Some((number, value)) = fields.next()? {
        if number != 1 {
            continue;
        }
        if index > 0 {
            json.push(b',');
        }
        let written = write_value(Kind::Value, value, json, depth);
        written.map_err(|error| error.within(&format!("[{index}]")))?;
        index += 1;
    }
    json.push(b']');
    Ok(())
}

/// Writes a `google.protobuf.Value`.
fn write_dynamic(message: &[u8], json: &mut Vec<u8>, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(InvalidMessage::new(format!(
            "the message is nested more than {MAX_DEPTH} messages deep"
        )));
    }
    let mut last = None;
    let mut fields = Fields { rest: message };
    while let Some((number, value)) = fields.next()? {
        if (1..=6).contains(&number)
            && let Some((earlier, value)) = last.replace((number, value))
        {
            write_member(earlier, value, &mut Vec::new(), depth)?;
        }
    }
    match last {
        None => json.extend_from_slice(b"null"),
        Some((number, value)) => write_member(number, value, json, depth)?,
    }
    Ok(())
}

/// Writes a field of a `google.protobuf.Value`.
fn write_member(number: u32, value: Wire<'_>, json: &mut Vec<u8>, depth: usize) -> Result<()> {
    match (number, value) {
        (1, Wire::Varint(_)) => json.extend_from_slice(b"null"),
        (2, Wire::Fixed64(bits)) => {
            let number = f64::from_bits(bits);
            if !number.is_finite() {
                return Err(InvalidMessage::new(
                    "expected a number, which JSON can have",
                ));
            }
            match whole(number) {
                Some(whole) => write(&whole, json),
                None => write(&number, json),
            }
        }
        (3, value) => write_value(Kind::Text, value, json, depth)?,
        (4, value) => write_value(Kind::Bool, value, json, depth)?,
        (5, value) => write_value(Kind::Struct, value, json, depth)?,
        (6, value) => write_value(Kind::List, value, json, depth)?,
        _ => return Err(unexpected(Kind::Value)),
    }
    Ok(())
}

/// Returns a number as an integer if it is one that a double has exactly.
fn whole(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    let is_whole = number.fract() == 0.0 && number.abs() <= LIMIT && !is_negative_zero(number);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is a whole number of at most 2^53"
    )]
    is_whole.then_some(number as i64)
}

fn is_negative_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}
