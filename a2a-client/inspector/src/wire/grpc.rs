//! Bodies by gRPC: their messages, as JSON.

use std::ops::Range;

use a2a_transport::http::grpc::MessageDecoder;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// The messages of a body, as far as it is kept.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Messages that came as a whole.
    pub(super) whole: Vec<Message>,
    /// The bytes after them, if there are any.
    pub(super) rest: Option<Message>,
}

/// A message, or bytes in its place.
#[derive(Debug)]
pub(super) struct Message {
    /// Place of its frame in the body.
    pub(super) place: Range<usize>,
    /// Its JSON, or the reason why it cannot be decoded.
    pub(super) json: Result<String, String>,
}

impl Messages {
    /// Decodes a body; `decoder` is missing if the method is unknown.
    pub(super) fn of(decoder: Option<MessageDecoder>, body: &[u8]) -> Self {
        let mut messages = Self::default();
        let (mut start, mut length) = (0, 0);
        let problem = match decoder {
            None => "the path is not that of a method of A2A".to_owned(),
            Some(mut decoder) => {
                decoder.add(body);
                loop {
                    if length > MAX_JSON_BYTES {
                        break "the messages before it are too large to decode more".to_owned();
                    }
                    let next = decoder.next_message();
                    let place = start..body.len() - decoder.buffered();
                    let json = match next {
                        Ok(None) => break "the message is not whole".to_owned(),
                        Ok(Some(json)) => String::from_utf8(json).map_err(|it| it.to_string()),
                        Err(error) if place.is_empty() => break error.to_string(),
                        Err(error) => Err(error.to_string()),
                    };
                    start = place.end;
                    length += json.as_ref().map_or(0, String::len);
                    messages.whole.push(Message { place, json });
                }
            }
        };
        messages.rest = (start < body.len()).then_some(Message {
            place: start..body.len(),
            json: Err(problem),
        });
        messages
    }

    /// Returns the JSON of all messages that are decoded, each in a line.
    pub(super) fn json(&self) -> String {
        let lines = self.whole.iter().filter_map(|it| it.json.as_deref().ok());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the places of bytes that are not decoded, each with the reason.
    pub(super) fn undecoded(&self) -> impl Iterator<Item = (Range<usize>, &str)> {
        let all = self.whole.iter().chain(&self.rest);
        all.filter_map(|it| Some((it.place.clone(), it.json.as_ref().err()?.as_str())))
    }

    /// Returns whether it is at most one message, and all is decoded.
    pub(super) fn is_plain(&self) -> bool {
        self.whole.len() <= 1 && self.undecoded().next().is_none()
    }
}

/// Bytes of JSON after which no more is decoded: compressed messages may be much larger than the body.
const MAX_JSON_BYTES: usize = 8 << 20;

/// Returns whether headers name the media type of gRPC, and not of gRPC-Web.
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let rest = media_type.and_then(|text| text.strip_prefix(b"application/grpc"));
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';' | b' ')))
}

/// Counter of the messages in a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct MessageBoundary {
    /// Bytes so far of the flags and the length before a message.
    head: Vec<u8>,
    /// Bytes of the message that are still to come.
    left: usize,
}

impl MessageBoundary {
    /// Reads bytes, and returns the number of messages that end in them.
    pub(super) fn count(&mut self, mut bytes: &[u8]) -> u64 {
        let mut count = 0;
        loop {
            if self.head.len() < HEAD {
                let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
                self.head.extend_from_slice(head);
                bytes = rest;
                let [_, a, b, c, d] = self.head[..] else {
                    return count;
                };
                self.left = u32::from_be_bytes([a, b, c, d]) as usize;
            }
            let taken = bytes.len().min(self.left);
            bytes = &bytes[taken..];
            self.left -= taken;
            if self.left > 0 {
                return count;
            }
            self.head.clear();
            count += 1;
        }
    }
}

/// Bytes before each message: flags, and a length in four bytes.
const HEAD: usize = 5;

#[cfg(test)]
mod tests {
    use a2a_transport::http::grpc::frame_request;

    use super::*;

    const PATH: &str = "/lf.a2a.v1.A2AService/GetTask";

    fn messages(body: &[u8]) -> Messages {
        let decoder = MessageDecoder::of_requests(PATH, &HeaderMap::new(), 1000);
        Messages::of(decoder, body)
    }

    fn frame(id: &str) -> Vec<u8> {
        let json = format!(r#"{{"id":"{id}"}}"#);
        frame_request(PATH, json.as_bytes()).unwrap().to_vec()
    }

    #[track_caller]
    fn check(body: &[u8], json: &str, undecoded: &[(Range<usize>, &str)]) {
        let messages = messages(body);
        assert_eq!(messages.json(), json);
        let found: Vec<_> = messages.undecoded().collect();
        assert_eq!(found.len(), undecoded.len(), "{found:?}");
        for ((place, problem), (expected, part)) in found.iter().zip(undecoded) {
            assert_eq!(place, expected);
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn messages_are_decoded_up_to_bytes_that_are_none() {
        let whole = frame("t");
        check(&[], "", &[]);
        check(&whole, r#"{"id":"t"}"#, &[]);
        assert!(messages(&whole).is_plain());
        let part = &whole[..6];
        check(part, "", &[(0..6, "not whole")]);
        let wrong = [0, 0, 0, 0, 2, 0x0a, 9];
        let body = [&whole[..], &wrong, &frame("u"), &[7; 9]].concat();
        let (first, second) = (whole.len(), whole.len() + wrong.len());
        let rest = second + whole.len();
        check(
            &body,
            "{\"id\":\"t\"}\n{\"id\":\"u\"}",
            &[
                (first..second, "GetTaskRequest"),
                (rest..rest + 9, "flags 7"),
            ],
        );
    }

    #[test]
    fn unknown_methods_are_not_decoded() {
        let messages = Messages::of(None, b"abc");
        let (place, problem) = messages.undecoded().next().unwrap();
        assert_eq!(place, 0..3);
        assert!(problem.contains("not that of a method"), "{problem}");
    }

    #[test]
    fn messages_are_counted_wherever_they_are_cut() {
        let body = [frame("t"), vec![0; 5], frame("a longer one"), vec![0; 3]].concat();
        for split in 0..=body.len() {
            let mut boundary = MessageBoundary::default();
            let (head, tail) = body.split_at(split);
            assert_eq!(boundary.count(head) + boundary.count(tail), 3, "{split}");
        }
    }

    #[test]
    fn grpc_is_known_by_its_media_type() {
        for (text, expected) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc; a=b", true),
            ("application/grpc-web+proto", false),
            ("application/json", false),
        ] {
            let headers = [(CONTENT_TYPE, text.parse().unwrap())];
            assert_eq!(is_grpc(&headers.into_iter().collect()), expected, "{text}");
        }
    }
}
