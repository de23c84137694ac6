//! Digest of a message, which distinguishes messages that have the same id.

use a2a_types::{Content, Message, Object, Part, SendMessageRequest};
use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of a message and of its request's metadata in the canonical model: the same in every
/// protocol version, and however its sender wants to be answered.
///
/// Two messages have the same digest if RFC 8785 writes their metadata and data alike: the order of members
/// does not count, and numbers are doubles, so that `1`, `1.0` and `1e0` are equal, as are `-0` and `0`, and
/// integers beyond 2⁵³ that round to the same double. It does not depend on how `serde_json` was built.
///
/// Databases keep it. It is not a digest of the message's JSON, which takes longer to write and is longer to
/// hash.
pub(crate) fn digest(request: &SendMessageRequest) -> [u8; 32] {
    let SendMessageRequest {
        message, metadata, ..
    } = request;
    let mut input = DigestInput {
        bytes: Vec::with_capacity(INITIAL_CAPACITY),
    };
    input.message(message);
    input.object(metadata.as_ref());
    Sha256::digest(input.bytes).into()
}

/// Initial capacity in bytes; most messages need no more.
const INITIAL_CAPACITY: usize = 512;

/// Bytes to hash, each piece with its length: none can be taken for its neighbour.
struct DigestInput {
    bytes: Vec<u8>,
}

impl DigestInput {
    /// Adds a message. Names every member, so that a new one cannot be forgotten.
    fn message(&mut self, message: &Message) {
        let Message {
            message_id,
            context_id,
            task_id,
            role,
            parts,
            metadata,
            extensions,
            reference_task_ids,
        } = message;
        self.text(message_id.as_str());
        self.perhaps(context_id.as_ref().map(|id| id.as_str()));
        self.perhaps(task_id.as_ref().map(|id| id.as_str()));
        self.text(role.as_str());
        self.each(parts, Self::part);
        self.object(metadata.as_ref());
        self.each(extensions, |input, uri| input.text(uri));
        self.each(reference_task_ids, |input, id| input.text(id.as_str()));
    }

    fn part(&mut self, part: &Part) {
        let Part {
            content,
            media_type,
            filename,
            metadata,
        } = part;
        match content {
            Content::Text(text) => self.tag(0).text(text),
            Content::Raw(bytes) => self.tag(1).text(bytes.as_text()),
            Content::Url(url) => self.tag(2).text(url),
            Content::Data(data) => self.tag(4).value(data),
        }
        self.perhaps(media_type.as_deref());
        self.perhaps(filename.as_deref());
        self.object(metadata.as_ref());
    }

    fn each<T>(&mut self, all: &[T], say: impl Fn(&mut Self, &T)) {
        self.count(all.len());
        all.iter().for_each(|one| say(self, one));
    }

    fn object(&mut self, object: Option<&Object>) {
        match object {
            Some(object) => self.tag(2).members(object),
            None => _ = self.tag(0),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => _ = self.tag(0),
            Value::Bool(false) => _ = self.tag(1),
            Value::Bool(true) => _ = self.tag(2),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.tag(5).text(text),
            Value::Array(values) => self.tag(6).each(values, Self::value),
            Value::Object(members) => self.tag(7).members(members),
        }
    }

    /// Adds the double that a number is: RFC 8785 writes each in one way, both zeros the same.
    fn number(&mut self, number: &Number) {
        match number.as_f64().filter(|double| double.is_finite()) {
            Some(double) => {
                let double = if double == 0.0 { 0.0 } else { double };
                self.tag(3).bytes.extend_from_slice(&double.to_le_bytes());
            }
            // Beyond doubles, which only `arbitrary_precision` can hold.
            None => self.tag(4).text(&number.to_string()),
        }
    }

    /// Adds the members of an object, sorted by name.
    fn members<'a>(&mut self, members: impl IntoIterator<Item = (&'a String, &'a Value)>) {
        let mut members: Vec<_> = members.into_iter().collect();
        // Always sorted, unless `preserve_order` is on.
        if !members.is_sorted_by_key(|(name, _)| *name) {
            members.sort_unstable_by_key(|(name, _)| *name);
        }
        self.each(&members, |input, (name, value)| {
            input.text(name);
            input.value(value);
        });
    }

    fn perhaps(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.tag(1).text(text),
            None => _ = self.tag(0),
        }
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn count(&mut self, count: usize) {
        // Most counts are small, and the cost of hashing grows with the bytes.
        match u8::try_from(count) {
            Ok(few) if few < u8::MAX => self.bytes.push(few),
            _ => {
                self.bytes.push(u8::MAX);
                self.bytes.extend_from_slice(&(count as u64).to_le_bytes());
            }
        }
    }

    fn tag(&mut self, tag: u8) -> &mut Self {
        self.bytes.push(tag);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn request(params: Value) -> SendMessageRequest {
        serde_json::from_value(params).unwrap()
    }

    fn hex(digest: [u8; 32]) -> String {
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn whole() -> Value {
        json!({
            "message": {
                "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER",
                "parts": [
                    { "text": "a", "mediaType": "text/plain", "metadata": { "p": 1 } },
                    { "raw": "AAAA", "filename": "f" },
                    { "url": "https://example.com/" },
                    { "data": { "z": [1, 2.5, 1e16, null], "a": "b" } }
                ],
                "metadata": { "k": "v" }, "extensions": ["e"], "referenceTaskIds": ["r"]
            },
            "metadata": { "of": "the request" }
        })
    }

    /// Databases have them.
    #[test]
    fn digests_stay_as_they_are() {
        assert_eq!(
            hex(digest(&request(whole()))),
            "6afed0677b81f25c729fb9847a0a5fcdf52e0aa5163317ce1faa140c6e11fdbd"
        );
    }

    /// The order of members does not count, whichever order the maps of this build have.
    #[test]
    fn the_order_of_members_does_not_count() {
        let (one, two) = (json!({"x": 1, "y": [2]}), json!([3]));
        let names = ["a", "b", "é", "\u{ff61}", "\u{10000}"].map(str::to_owned);
        let input = |order: &[(usize, &Value)]| {
            let mut input = DigestInput { bytes: Vec::new() };
            input.members(order.iter().map(|(name, value)| (&names[*name], *value)));
            input.bytes
        };
        let sorted = [(0, &one), (1, &two), (2, &one), (3, &two), (4, &one)];
        let mut order = sorted;
        for (from, to) in [(0, 4), (1, 3), (2, 0), (4, 2), (3, 1)] {
            order.swap(from, to);
            assert_eq!(input(&order), input(&sorted));
        }
        let other = [(0, &two), (1, &one), (2, &one), (3, &two), (4, &one)];
        assert_ne!(input(&other), input(&sorted));

        let read = |data: &str| {
            let part = format!(r#"{{"data": {data}, "metadata": {data}}}"#);
            let message = format!(
                r#"{{"messageId": "m", "role": "ROLE_USER", "parts": [{part}], "metadata": {data}}}"#
            );
            let params = format!(r#"{{"message": {message}, "metadata": {data}}}"#);
            digest(&serde_json::from_str(&params).unwrap())
        };
        let sorted = read(r#"{"a": {"c": 1, "d": [{"e": 2, "f": 3}]}, "b": null}"#);
        let reversed = read(r#"{"b": null, "a": {"d": [{"f": 3, "e": 2}], "c": 1}}"#);
        assert_eq!(sorted, reversed);
    }

    /// Numbers are hashed in the form of RFC 8785.
    #[test]
    fn numbers_are_doubles() {
        let read = |number: &str| {
            let part = format!(r#"{{"data": {{"n": {number}}}}}"#);
            let message =
                format!(r#"{{"messageId": "m", "role": "ROLE_USER", "parts": [{part}]}}"#);
            digest(&serde_json::from_str(&format!(r#"{{"message": {message}}}"#)).unwrap())
        };
        for alike in [
            ["1", "1.0", "1e0"],
            ["100", "1e2", "100.00"],
            ["0", "-0", "-0.0"],
            ["-5", "-5.0", "-0.5e1"],
            [
                "9007199254740992",
                "9007199254740993",
                "9.007199254740992e15",
            ],
            [
                "18446744073709551615",
                "18446744073709551616",
                "18446744073709552000",
            ],
        ] {
            assert_eq!(alike.map(read), [read(alike[0]); 3], "{alike:?}");
        }
        let differ = [
            "0",
            "1",
            "-1",
            "1.5",
            "9007199254740991",
            "true",
            "\"1\"",
            "[1]",
            "null",
        ];
        for (index, one) in differ.iter().enumerate() {
            for other in &differ[..index] {
                assert_ne!(read(one), read(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn every_field_of_a_message_changes_its_digest() {
        let first = whole();
        let mut seen = vec![digest(&request(first.clone()))];
        let mut differs = |what: &str, change: &dyn Fn(&mut Value)| {
            let mut other = first.clone();
            change(&mut other);
            let digest = digest(&request(other));
            assert!(!seen.contains(&digest), "{what}");
            seen.push(digest);
        };
        let places = [
            "/message/messageId",
            "/message/contextId",
            "/message/taskId",
            "/message/parts/0/text",
            "/message/parts/0/mediaType",
            "/message/parts/0/metadata/p",
            "/message/parts/1/raw",
            "/message/parts/1/filename",
            "/message/parts/2/url",
            "/message/parts/3/data/z/1",
            "/message/metadata/k",
            "/message/extensions/0",
            "/message/referenceTaskIds/0",
            "/metadata/of",
        ];
        for place in places {
            differs(place, &|other| {
                *other.pointer_mut(place).unwrap() = "BBBB".into()
            });
        }
        differs("the role", &|other| {
            other["message"]["role"] = "ROLE_AGENT".into()
        });
        differs("another kind of content", &|other| {
            other["message"]["parts"][2] = json!({ "text": "https://example.com/" })
        });
        for [one, next] in [["ab", "c"], ["a", "bc"]] {
            differs("the end of one and the beginning of the next", &|other| {
                other["message"]["extensions"] = json!([one, next]);
            });
        }
        for length in [254, 255, 256, 65_536] {
            differs("a length", &|other| {
                other["message"]["messageId"] = "x".repeat(length).into();
            });
        }
        differs("what is about the message, about the request", &|other| {
            let about = other["message"]["metadata"].take();
            other["metadata"] = about;
        });
        differs("another order", &|other| {
            other["message"]["parts"].as_array_mut().unwrap().swap(0, 1);
        });
        for gone in [
            "contextId",
            "taskId",
            "metadata",
            "extensions",
            "referenceTaskIds",
        ] {
            differs(gone, &|other| {
                other["message"].as_object_mut().unwrap().remove(gone);
            });
        }
        differs("a part less", &|other| {
            other["message"]["parts"].as_array_mut().unwrap().pop();
        });
    }

    #[test]
    fn reply_options_do_not_change_the_digest() {
        let mut other = whole();
        other["configuration"] = json!({ "historyLength": 3 });
        assert_eq!(digest(&request(whole())), digest(&request(other)));
    }
}
