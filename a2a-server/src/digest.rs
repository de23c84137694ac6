//! What tells messages apart that have the same id.

use a2a_types::{Content, Message, Object, Part, SendMessageRequest};
use sha2::{Digest as _, Sha256};

/// SHA-256 of what is said, in the canonical model: the same in whichever generation it is said, and
/// however its sender wants to be answered.
///
/// Databases keep it, so what is said has the same digest in every later version of this crate. It is not
/// that of the message's JSON, which takes longer to write and is longer to hash.
pub(crate) fn digest(request: &SendMessageRequest) -> [u8; 32] {
    let SendMessageRequest {
        message, metadata, ..
    } = request;
    let mut said = Said(Vec::with_capacity(USUAL));
    said.message(message);
    said.object(metadata.as_ref());
    Sha256::digest(said.0).into()
}

/// How much room a message takes, most of the time.
const USUAL: usize = 512;

/// What is said, each piece with its length: none can be taken for its neighbour.
struct Said(Vec<u8>);

impl Said {
    /// Names every member: one that is new is to be said, too.
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
        self.each(extensions, |said, uri| said.text(uri));
        self.each(reference_task_ids, |said, id| said.text(id.as_str()));
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
            Content::Data(data) => self.tag(3).text(&data.to_string()),
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
        // What JSON is made of can always be written.
        let json = object.and_then(|object| serde_json::to_string(object).ok());
        self.perhaps(json.as_deref());
    }

    fn perhaps(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.tag(1).text(text),
            None => _ = self.tag(0),
        }
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn count(&mut self, count: usize) {
        // Most are small, and hashing takes its time by the byte.
        match u8::try_from(count) {
            Ok(few) if few < u8::MAX => self.0.push(few),
            _ => {
                self.0.push(u8::MAX);
                self.0.extend_from_slice(&(count as u64).to_le_bytes());
            }
        }
    }

    fn tag(&mut self, tag: u8) -> &mut Self {
        self.0.push(tag);
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

    /// Databases have it.
    #[test]
    fn it_stays_as_it_is() {
        let digest = hex(digest(&request(whole())));
        assert_eq!(
            digest,
            "21f19706c7d96c67d6c15b5cee7a3f3b7569f0f59be0c0efab01ec7dc538f24c"
        );
    }

    #[test]
    fn whatever_is_said_differently_differs() {
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
    fn how_it_is_to_be_answered_is_not_said() {
        let mut other = whole();
        other["configuration"] = json!({ "historyLength": 3 });
        assert_eq!(digest(&request(whole())), digest(&request(other)));
    }
}
