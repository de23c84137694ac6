//! Requests of control clients: unusual, but valid.

use bytes::Bytes;
use futures_util::stream;
use http::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use http::request::Parts;
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::{Value, json};

use super::control::Control;
use crate::member_order::with_members_reversed;

/// Body of a request to the agent.
pub(super) type RequestBody =
    http_body_util::combinators::UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// Changes a request to an equivalent one; returns its body, and the change of the answer.
pub(super) fn with_control(
    control: Control,
    host: &str,
    head: &mut Parts,
    body: &Bytes,
) -> (RequestBody, Option<Replacer>) {
    change_headers(control, &mut head.headers);
    if control == Control::WholeTarget
        && let Ok(whole) = format!("http://{host}{}", head.uri).parse()
    {
        head.uri = whole;
    }
    let Ok(mut json) = serde_json::from_slice::<Value>(body) else {
        return (Full::from(body.clone()).boxed_unsync(), None);
    };
    let replace = change(control, &mut json);
    let text = match control {
        Control::Pretty => format!("\n{json:#}\r\n"),
        Control::KeyOrder => with_members_reversed(&json),
        Control::Metadata | Control::TextIds => json.to_string(),
        _ => String::from_utf8_lossy(body).into_owned(),
    };
    head.headers.remove(CONTENT_LENGTH);
    let text = Bytes::from(text);
    let with_control = match control {
        Control::Chunked => {
            let pieces: Vec<_> = text.chunks(CHUNK).map(Bytes::copy_from_slice).collect();
            let frames = pieces.into_iter().map(|piece| Ok(Frame::data(piece)));
            StreamBody::new(stream::iter(frames)).boxed_unsync()
        }
        _ => Full::from(text).boxed_unsync(),
    };
    (with_control, replace)
}

/// Returns the request with the id that all requests share.
pub(super) fn of_one_id(head: &mut Parts, body: &Bytes) -> (RequestBody, Option<Replacer>) {
    let json = serde_json::from_slice::<Value>(body).ok();
    let Some(mut json) = json.filter(|json| json["id"].is_number()) else {
        return (Full::from(body.clone()).boxed_unsync(), None);
    };
    let replace = Replacer::new("\"the-one-id\"", &json["id"].to_string());
    json["id"] = json!("the-one-id");
    head.headers.remove(CONTENT_LENGTH);
    (Full::from(json.to_string()).boxed_unsync(), Some(replace))
}

fn change_headers(control: Control, headers: &mut HeaderMap) {
    match control {
        Control::Headers => {
            for number in 0..20 {
                if let Ok(name) = HeaderName::try_from(format!("x-unasked-{number}")) {
                    headers.append(name.clone(), HeaderValue::from_static("one"));
                    headers.append(name, HeaderValue::from_static("two; with=\"more\""));
                }
            }
            for (name, value) in [
                ("accept-language", "ja, en;q=0.5, *;q=0.1"),
                ("cache-control", "no-store"),
                (
                    "traceparent",
                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                ),
            ] {
                headers.insert(name, HeaderValue::from_static(value));
            }
        }
        Control::AcceptAnything => {
            headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        }
        Control::MediaTypes => {
            let text = headers
                .get(CONTENT_TYPE)
                .and_then(|value| value.to_str().ok());
            let changed = text.map(|text| {
                let text = text.replace("application/", "Application/");
                format!("{text} ; Charset=\"UTF-8\"")
            });
            if let Some(Ok(changed)) = changed.map(|changed| HeaderValue::from_str(&changed)) {
                headers.insert(CONTENT_TYPE, changed);
            }
        }
        Control::Connections => {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
}

fn change(control: Control, json: &mut Value) -> Option<Replacer> {
    match control {
        Control::TextIds => {
            let id = json.get_mut("id").filter(|id| id.is_number())?;
            let number = id.to_string();
            let text = json!(format!("odd-{number}"));
            let replace = Replacer::new(&text.to_string(), &number);
            *id = text;
            Some(replace)
        }
        Control::Metadata => {
            let params = match json.get("params") {
                Some(_) => &mut json["params"],
                None => json,
            };
            let changed = json!({"a": [1, null, "x"]});
            if params["message"].is_object() {
                params["message"]["metadata"]["https://odd.example/"] = changed.clone();
                params["metadata"]["https://odd.example/"] = changed;
            }
            None
        }
        _ => None,
    }
}

/// Replaces one text by another in bytes that arrive in pieces.
pub(super) struct Replacer {
    text: Vec<u8>,
    other: Vec<u8>,
    /// Bytes that may be the beginning of the text.
    tail: Vec<u8>,
}

impl Replacer {
    fn new(text: &str, other: &str) -> Self {
        Self {
            text: text.into(),
            other: other.into(),
            tail: Vec::new(),
        }
    }

    /// Returns the bytes that can be passed on once these have come.
    pub(super) fn push(&mut self, data: &[u8]) -> Bytes {
        let mut passed = Vec::with_capacity(data.len());
        let mut data = data;
        while !data.is_empty() {
            if self.tail.is_empty() {
                // Most bytes do not even begin the text.
                let first = self.text.first();
                let begins = data.iter().position(|byte| Some(byte) == first);
                let (plain, rest) = data.split_at(begins.unwrap_or(data.len()));
                passed.extend_from_slice(plain);
                data = rest;
            }
            let Some((byte, rest)) = data.split_first() else {
                break;
            };
            data = rest;
            self.tail.push(*byte);
            while !self.text.starts_with(&self.tail) {
                passed.push(self.tail.remove(0));
            }
            if self.tail == self.text {
                passed.extend_from_slice(&self.other);
                self.tail.clear();
            }
        }
        passed.into()
    }

    /// Returns the bytes that are left at the end.
    pub(super) fn finish(self) -> Bytes {
        self.tail.into()
    }
}

/// Bytes of a chunk.
const CHUNK: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_replaced_however_they_are_cut() {
        let text = r#"{"id":"odd-1","x":"odd-12""odd"odd-1""odd-"#;
        for size in 1..text.len() {
            let mut replace = Replacer::new("\"odd-1\"", "1");
            let pieces = text.as_bytes().chunks(size);
            let mut passed: Vec<u8> = pieces.flat_map(|piece| replace.push(piece)).collect();
            passed.extend(replace.finish());
            let passed = String::from_utf8(passed).unwrap();
            assert_eq!(passed, r#"{"id":1,"x":"odd-12""odd1"odd-"#, "{size}");
        }
    }
}
