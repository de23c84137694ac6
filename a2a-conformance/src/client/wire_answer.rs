//! An answer as it goes over the wire: its pieces, their timing, and its end.

use a2a_transport::binding::grpc::{self, Code, Status};
use a2a_transport::binding::{EventWriter, write_reply};
use a2a_transport::http::grpc::{frame_response, write_status};
use a2a_transport::{Binding, ResponseContext};
use a2a_types::{Error as A2aError, ErrorKind, Event, Response};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::case::{Close, Edit, EventFormat, LongBody, Pause, ScriptedAnswer};
use super::default_answers;
use crate::case::{Variables, merge_patch};

/// An answer as it goes over the wire.
#[derive(Debug, Default)]
pub(super) struct WireAnswer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<BodyPiece>,
    pub(super) framing: Framing,
    pub(super) close: Close,
    /// Bytes to write at a time; each piece at once if `None`.
    pub(super) chunk: Option<usize>,
    /// End of an answer by gRPC.
    pub(super) grpc: Option<GrpcEnd>,
}

/// End of an answer by gRPC.
#[derive(Debug)]
pub(super) struct GrpcEnd {
    /// The status.
    pub(super) trailers: HeaderMap,
    /// Messages and status in JSON, for the evidence.
    text: String,
}

/// Marking of the end of a body.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Framing {
    /// `Content-Length`.
    #[default]
    Length,
    /// Chunk by chunk.
    Chunked,
    /// The pieces are head and body, and the connection ends with them.
    Raw,
}

/// A part of a body.
#[derive(Debug)]
pub(super) enum BodyPiece {
    Bytes(Bytes),
    /// The byte `x`, repeated this number of times.
    LongBody(u64),
    Pause(Pause),
}

impl WireAnswer {
    /// A JSON document.
    pub(super) fn json(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![content_type("application/json")],
            pieces: vec![BodyPiece::Bytes(body.into())],
            ..Self::default()
        }
    }

    /// An answer by gRPC: its pieces, whose messages are also given in JSON, and its status.
    pub(super) fn grpc(messages: Vec<(BodyPiece, Vec<u8>)>, status: &Status) -> Self {
        let mut trailers = HeaderMap::new();
        write_status(status, &mut trailers);
        let (pieces, mut texts): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        texts.push(json!(status).to_string().into_bytes());
        texts.retain(|text| !text.is_empty());
        Self {
            status: 200,
            headers: vec![content_type("application/grpc")],
            pieces,
            grpc: Some(GrpcEnd {
                trailers,
                text: String::from_utf8_lossy(&texts.join(&b'\n')).into_owned(),
            }),
            ..Self::default()
        }
    }

    /// Returns the answer of a case to a request.
    ///
    /// Errors: what in the case cannot be written.
    pub(super) fn of(
        answer: &ScriptedAnswer,
        envelope: &ResponseContext,
        names: &Variables,
    ) -> Result<Self, String> {
        let is_grpc = envelope.binding == Binding::Grpc;
        let mut written = match (&answer.raw, &answer.error) {
            // The beginning of a message, which is to be endless.
            (Some(_), _) if is_grpc && answer.wire.flood.is_some() => {
                Self::grpc(Vec::new(), &Status::new(Code::OK, ""))
            }
            (Some(_), _) => Self::raw(answer, names)?,
            (None, Some(reason)) if answer.stream.is_none() => {
                once(answer, envelope, Err(error(reason)?), names)?
            }
            (None, _) if envelope.operation.is_stream() => events(answer, envelope, names)?,
            (None, _) => {
                let template = answer.reply.clone();
                let template =
                    template.unwrap_or_else(|| default_answers::reply(envelope.operation));
                let response =
                    default_answers::response(envelope.operation, &names.fill(&template)?)?;
                once(answer, envelope, Ok(response), names)?
            }
        };
        written.apply_overrides(answer, names)?;
        Ok(written)
    }

    /// Returns an answer that a case writes out: the body, or all of it.
    pub(super) fn raw(answer: &ScriptedAnswer, names: &Variables) -> Result<Self, String> {
        let raw = answer.raw.as_deref().unwrap_or_default();
        Ok(raw_answer(&fill_text(raw, names)?))
    }

    /// Applies what a case changes in every kind of answer: status, headers, timing, end.
    pub(super) fn apply_overrides(
        &mut self,
        answer: &ScriptedAnswer,
        names: &Variables,
    ) -> Result<(), String> {
        if let Some(status) = answer.status {
            self.status = status;
        }
        for (name, value) in &answer.headers {
            let name = name.to_ascii_lowercase();
            self.headers.retain(|(other, _)| *other != name);
            let value = names.fill(value)?;
            let value = value.as_str().ok_or("headers are texts")?.to_owned();
            if !value.is_empty() {
                self.headers.push((name, value));
            }
        }
        if answer.wire.chunked {
            self.framing = Framing::Chunked;
        }
        if let Some(LongBody { start, bytes }) = &answer.wire.flood {
            let start = match &self.grpc {
                Some(_) => frame_head(*bytes)?,
                None => fill_text(start, names)?.into_bytes(),
            };
            self.pieces.push(BodyPiece::Bytes(start.into()));
            self.pieces.push(BodyPiece::LongBody(*bytes));
            if self.framing == Framing::Length {
                self.framing = Framing::Chunked;
            }
        }
        if answer.wire.together {
            self.join();
        }
        self.chunk = answer.wire.chunk;
        self.close = answer.close;
        Ok(())
    }

    /// Joins adjacent pieces of bytes.
    fn join(&mut self) {
        let mut joined: Vec<BodyPiece> = Vec::new();
        for piece in self.pieces.drain(..) {
            match (joined.last_mut(), piece) {
                (Some(BodyPiece::Bytes(all)), BodyPiece::Bytes(more)) => {
                    *all = [all.as_ref(), more.as_ref()].concat().into();
                }
                (_, piece) => joined.push(piece),
            }
        }
        self.pieces = joined;
    }

    /// Returns the body as text, for the evidence.
    pub(super) fn text(&self) -> String {
        if let Some(grpc) = &self.grpc {
            return grpc.text.chars().take(MAX_TEXT).collect();
        }
        let mut all = Vec::new();
        for piece in &self.pieces {
            match piece {
                BodyPiece::Bytes(bytes) => all.extend_from_slice(bytes),
                BodyPiece::LongBody(count) => {
                    all.extend_from_slice(format!("… {count} bytes").as_bytes())
                }
                BodyPiece::Pause(_) => {}
            }
            if all.len() > MAX_TEXT {
                all.truncate(MAX_TEXT);
                break;
            }
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Returns the length of the body, for `Content-Length`.
    pub(super) fn length(&self) -> u64 {
        let length = |piece: &BodyPiece| match piece {
            BodyPiece::Bytes(bytes) => bytes.len() as u64,
            BodyPiece::LongBody(count) => *count,
            BodyPiece::Pause(_) => 0,
        };
        self.pieces.iter().map(length).sum()
    }
}

/// Bytes of a body that are kept as evidence.
const MAX_TEXT: usize = 64 << 10;

/// Returns the head of a frame whose message has this number of bytes.
fn frame_head(bytes: u64) -> Result<Vec<u8>, String> {
    let length = u32::try_from(bytes).map_err(|_| "a frame is shorter".to_owned())?;
    Ok([&[0], &length.to_be_bytes()[..]].concat())
}

/// Returns the frame of a message in JSON.
fn framed_message(envelope: &ResponseContext, json: &[u8]) -> Result<BodyPiece, String> {
    let path = grpc::path(envelope.operation, envelope.protocol_version).unwrap_or_default();
    let frame = frame_response(&path, json).map_err(|error| error.to_string())?;
    Ok(BodyPiece::Bytes(frame))
}

fn content_type(value: &str) -> (String, String) {
    ("content-type".to_owned(), value.to_owned())
}

fn fill_text(text: &str, names: &Variables) -> Result<String, String> {
    match names.fill(&text.into())? {
        Value::String(text) => Ok(text),
        other => Ok(other.to_string()),
    }
}

fn raw_answer(text: &str) -> WireAnswer {
    let bytes = BodyPiece::Bytes(text.as_bytes().to_vec().into());
    match text.starts_with("HTTP/") {
        true => WireAnswer {
            framing: Framing::Raw,
            pieces: vec![bytes],
            ..WireAnswer::default()
        },
        false => WireAnswer {
            pieces: vec![bytes],
            ..WireAnswer::json(200, Vec::new())
        },
    }
}

/// Returns the error of a reason in 1.0.
fn error(reason: &str) -> Result<A2aError, String> {
    let kinds = ErrorKind::ALL.iter();
    let kind = kinds.copied().find(|kind| kind.reason() == reason);
    kind.map(A2aError::from)
        .ok_or_else(|| format!("no error has the reason `{reason}`"))
}

fn once(
    answer: &ScriptedAnswer,
    envelope: &ResponseContext,
    outcome: Result<Response, A2aError>,
    names: &Variables,
) -> Result<WireAnswer, String> {
    let written = write_reply(envelope, outcome);
    let body = edited(written.body, &answer.edit, names)?;
    if envelope.binding == Binding::Grpc {
        return Ok(match written.status.is_success() {
            true => {
                let message = (framed_message(envelope, &body)?, body);
                WireAnswer::grpc(vec![message], &Status::new(Code::OK, ""))
            }
            false => WireAnswer::grpc(Vec::new(), &Status::read(&body)),
        });
    }
    let mut all = WireAnswer::json(written.status.as_u16(), body);
    let own = envelope.binding == Binding::HttpJson
        && envelope.protocol_version == a2a_types::ProtocolVersion::V1_0;
    if own {
        all.headers = vec![content_type("application/a2a+json")];
    }
    Ok(all)
}

fn events(
    answer: &ScriptedAnswer,
    envelope: &ResponseContext,
    names: &Variables,
) -> Result<WireAnswer, String> {
    let template = answer.stream.clone();
    let template = template.unwrap_or_else(|| default_answers::events(envelope.operation));
    let mut writer = EventWriter::new(envelope);
    let mut texts = Vec::new();
    let most = answer.wire.only.unwrap_or(usize::MAX);
    let mut last_of = Vec::new();
    for (index, event) in template.iter().take(most).enumerate() {
        let event: Event = serde_json::from_value(names.fill(event)?)
            .map_err(|error| format!("event {}: {error}", index + 1))?;
        for line in writer.write(&event.into()) {
            let is_meant = answer.edit.event.is_none_or(|number| number == index + 1);
            texts.push(match is_meant {
                true => edited(line.json(), &answer.edit, names)?,
                false => line.json(),
            });
        }
        last_of.push(texts.len());
    }
    let is_grpc = envelope.binding == Binding::Grpc;
    let mut status = Status::new(Code::OK, "");
    if let Some(reason) = &answer.error {
        let line = writer.write_error(error(reason)?).json();
        match is_grpc {
            true => status = Status::read(&line),
            false => texts.push(line),
        }
    }
    let mut pieces = Vec::new();
    let hold = answer.wire.hold.as_ref();
    let hold_at = hold.map(|hold| {
        hold.after
            .checked_sub(1)
            .and_then(|n| last_of.get(n))
            .copied()
    });
    if let (Some(hold), Some(None)) = (hold, hold_at) {
        pieces.push((BodyPiece::Pause(hold.clone()), Vec::new()));
    }
    let count = texts.len();
    for (index, text) in texts.into_iter().enumerate() {
        let piece = match is_grpc {
            true => framed_message(envelope, &text)?,
            false => {
                let framed = framed(&text, index, index + 1 == count, &answer.frame);
                BodyPiece::Bytes(framed.into())
            }
        };
        pieces.push((piece, text));
        if let (Some(hold), Some(Some(at))) = (hold, hold_at)
            && at == index + 1
        {
            pieces.push((BodyPiece::Pause(hold.clone()), Vec::new()));
        }
    }
    if is_grpc {
        return Ok(WireAnswer::grpc(pieces, &status));
    }
    Ok(WireAnswer {
        status: 200,
        headers: vec![content_type("text/event-stream")],
        pieces: pieces.into_iter().map(|(piece, _)| piece).collect(),
        framing: Framing::Chunked,
        ..WireAnswer::default()
    })
}

/// Formats one event as Server-Sent Events.
fn framed(json: &[u8], index: usize, is_last: bool, frame: &EventFormat) -> Vec<u8> {
    let end = frame.line_end.as_str();
    let colon = if frame.tight { ":" } else { ": " };
    let mut block = String::new();
    if frame.mark && index == 0 {
        block.push('\u{feff}');
    }
    if frame.idle {
        block.push_str(&format!("event: keep-alive{end}id: {index}{end}{end}"));
    }
    let mut line = |name: &str, value: &str| {
        block.push_str(&format!("{name}{colon}{value}{end}"));
    };
    if let Some(comment) = &frame.comment {
        line("", comment);
    }
    if let Some(retry) = frame.retry {
        line("retry", &retry.to_string());
    }
    if frame.id {
        line("id", &(index + 1).to_string());
    }
    if let Some(name) = &frame.event {
        line("event", name);
    }
    let pretty = serde_json::from_slice::<Value>(json).ok();
    let pretty = pretty.and_then(|value| serde_json::to_string_pretty(&value).ok());
    match pretty.filter(|_| frame.lines) {
        Some(pretty) => pretty.lines().for_each(|text| line("data", text)),
        None => line("data", &String::from_utf8_lossy(json)),
    }
    if !(is_last && frame.unfinished) {
        block.push_str(end);
    }
    block.into_bytes()
}

pub(super) fn edited(json: Vec<u8>, edit: &Edit, names: &Variables) -> Result<Vec<u8>, String> {
    if edit.merge.is_empty() && edit.add.is_empty() && edit.put.is_empty() && !edit.shuffled {
        return Ok(json);
    }
    let mut value: Value = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    merge_patch(&mut value, &names.fill(&Value::Object(edit.merge.clone()))?);
    for (name, members) in &edit.add {
        add(&mut value, name, &names.fill(members)?);
    }
    for (path, with) in &edit.put {
        let path: Vec<_> = path.split('.').collect();
        put(&mut value, &path, &names.fill(with)?);
    }
    Ok(match edit.shuffled {
        true => shuffled(&value).into_bytes(),
        false => value.to_string().into_bytes(),
    })
}

/// Adds members to every object of a name.
fn add(value: &mut Value, name: &str, more: &Value) {
    match value {
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|inner| add(inner, name, more));
            if let Some(inner) = members.get_mut(name).filter(|inner| inner.is_object()) {
                merge_patch(inner, more);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| add(item, name, more)),
        _ => {}
    }
}

/// Sets the member at a path wherever that path exists.
fn put(value: &mut Value, path: &[&str], with: &Value) {
    match value {
        Value::Object(members) => {
            if let Some(there) = at(members, path) {
                there.clone_from(with);
            }
            members
                .values_mut()
                .for_each(|inner| put(inner, path, with));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, path, with)),
        _ => {}
    }
}

fn at<'a>(members: &'a mut Map<String, Value>, path: &[&str]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    let inner = members.get_mut(*first)?;
    if rest.is_empty() {
        return Some(inner);
    }
    at(inner.as_object_mut()?, rest)
}

/// Formats a value with its members in reverse, and blanks wherever JSON allows them.
fn shuffled(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members = members.map(|(name, value)| {
                format!("\t{} : {} ", Value::from(name.as_str()), shuffled(value))
            });
            format!("{{ {} }}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(shuffled).collect();
            format!("[ {} ]", items.join(" , "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_changed_where_it_says() {
        let mut value = json!({"a": [{"status": {"state": 1}}, {"status": 2}], "state": 3});
        put(&mut value, &["status", "state"], &json!("x"));
        assert_eq!(value["a"][0]["status"]["state"], "x");
        assert_eq!(value["state"], 3);
        merge_patch(&mut value, &json!({"a": null, "b": {"c": 1}}));
        assert_eq!(value, json!({"b": {"c": 1}, "state": 3}));
        let read: Value = serde_json::from_str(&shuffled(&value)).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn events_are_framed_as_they_say() {
        let check = |frame: EventFormat, expected: &str| {
            let framed = framed(b"{\"a\":1}", 0, true, &frame);
            assert_eq!(String::from_utf8(framed).unwrap(), expected);
        };
        check(EventFormat::default(), "id: 1\ndata: {\"a\":1}\n\n");
        let odd = EventFormat {
            line_end: "\r\n".to_owned(),
            mark: true,
            comment: Some("c".to_owned()),
            id: true,
            event: Some("e".to_owned()),
            retry: Some(5),
            lines: true,
            tight: true,
            unfinished: true,
            idle: false,
        };
        let expected =
            "\u{feff}:c\r\nretry:5\r\nid:1\r\nevent:e\r\ndata:{\r\ndata:  \"a\": 1\r\ndata:}\r\n";
        check(odd, expected);
    }
}
