//! The public card: one document for callers of every protocol version, and its caching.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

use a2a_types::{AgentCard, AgentInterface, ProtocolVersion};
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, VARY,
};
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::card_document::{card_document, forms};
use super::origin::origin;
use crate::http::message::answer::plain;
use crate::http::message::body::Body;

/// The public card, ready to be sent. Specification 1.0 §8.6.
#[derive(Clone, Debug)]
pub(crate) struct PublicCard {
    card: AgentCard,
    /// The documents of a card that names its interfaces: they are the same for every origin.
    documents: Option<Documents>,
    modified: HeaderValue,
}

/// The forms of a card at one origin.
#[derive(Clone, Debug)]
struct Documents {
    union: Document,
    of_1_0: Document,
}

/// A document, and the tag that changes when it does.
#[derive(Clone, Debug)]
struct Document {
    body: Bytes,
    tag: HeaderValue,
}

impl PublicCard {
    /// Makes the card, modified now.
    pub(crate) fn new(card: &AgentCard) -> Self {
        let now = httpdate::fmt_http_date(SystemTime::now());
        Self {
            card: card.clone(),
            documents: (!card.supported_interfaces.is_empty()).then(|| Documents::new(card)),
            modified: HeaderValue::from_str(&now).unwrap_or(HeaderValue::from_static("")),
        }
    }

    /// Returns the interfaces of the card, for a caller of an endpoint at `path`: the interfaces that the card
    /// names, or else all at the origin that the caller used. `None` if the caller names no host.
    pub(crate) fn interfaces(&self, head: &Parts, path: &str) -> Option<Vec<AgentInterface>> {
        if self.names_interfaces() {
            return Some(self.card.supported_interfaces.clone());
        }
        let url = origin(head)? + path;
        Some(at(AgentCard::default(), url).supported_interfaces)
    }

    /// Returns the card without its signatures, which are over the members of 1.0.
    pub(crate) fn unsigned(&self) -> AgentCard {
        let mut card = self.card.clone();
        card.signatures.clear();
        card
    }

    /// Answers a GET: a caller that names version 1.0 gets the card of 1.0 alone, every other the union; 304
    /// if the tag or time of the caller's copy matches.
    pub(crate) fn answer(&self, head: &Parts, path: &str) -> Response<Body> {
        let Some(documents) = self.documents(head, path) else {
            let text = "expected a `Host` header: the card tells the URL by which it was asked for";
            return plain(StatusCode::BAD_REQUEST, text);
        };
        let mut response = self.document(&documents, &head.headers);
        let varies = match self.names_interfaces() {
            true => "A2A-Version",
            false => "A2A-Version, Host",
        };
        let headers = response.headers_mut();
        headers.insert(VARY, HeaderValue::from_static(varies));
        response
    }

    /// Returns the card of 1.0 as a value. `None` if the caller names no host.
    pub(crate) fn listed(&self, head: &Parts, path: &str) -> Option<Value> {
        let documents = self.documents(head, path)?;
        serde_json::from_slice(&documents.of_1_0.body).ok()
    }

    fn names_interfaces(&self) -> bool {
        self.documents.is_some()
    }

    fn documents(&self, head: &Parts, path: &str) -> Option<Documents> {
        if let Some(documents) = &self.documents {
            return Some(documents.clone());
        }
        let url = origin(head)? + path;
        Some(Documents::new(&at(self.card.clone(), url)))
    }

    fn document(&self, documents: &Documents, request_headers: &HeaderMap) -> Response<Body> {
        let text = |name| {
            request_headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let version = text(http::header::HeaderName::from_static("a2a-version"));
        let document = match version.and_then(ProtocolVersion::from_version) {
            Some(ProtocolVersion::LATEST) => &documents.of_1_0,
            _ => &documents.union,
        };
        let unchanged = match text(IF_NONE_MATCH) {
            Some(tags) => document.is_among(tags),
            None => text(IF_MODIFIED_SINCE).is_some_and(|since| self.is_not_newer(since)),
        };
        let mut response = Response::new(Body::empty());
        if unchanged {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            response = Response::new(Body::full(document.body.clone()));
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let headers = response.headers_mut();
        headers.insert(ETAG, document.tag.clone());
        headers.insert(LAST_MODIFIED, self.modified.clone());
        headers.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=300"),
        );
        response
    }

    fn is_not_newer(&self, since: &str) -> bool {
        let modified = self
            .modified
            .to_str()
            .ok()
            .and_then(|date| httpdate::parse_http_date(date).ok());
        let since = httpdate::parse_http_date(since).ok();
        matches!((modified, since), (Some(modified), Some(since)) if modified <= since)
    }
}

/// Returns a card with all interfaces that we serve at a URL.
fn at(card: AgentCard, url: String) -> AgentCard {
    let card = card.at(url);
    match cfg!(feature = "grpc") {
        true => card.with_grpc(),
        false => card,
    }
}

impl Documents {
    fn new(card: &AgentCard) -> Self {
        let union = Document::new(&card_document(card));
        let of_1_0 = match forms(card).of_1_0 {
            true => Document::new(&json!(card)),
            false => union.clone(),
        };
        Self { union, of_1_0 }
    }
}

impl Document {
    fn new(card: &Value) -> Self {
        let body = card.to_string();
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self {
            body: body.into(),
            tag: HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"0\"")),
        }
    }

    /// Returns whether a list of tags names this document. RFC 9110 §13.1.2 compares weakly.
    fn is_among(&self, tags: &str) -> bool {
        let same = |tag: &str| {
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == self.tag.as_bytes()
        };
        tags.split(',').map(str::trim).any(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(card: &PublicCard, headers: &[(&'static str, &str)], status: u16, tag: &HeaderValue) {
        let headers = headers.iter().map(|(name, value)| {
            let name = http::header::HeaderName::from_static(name);
            (name, HeaderValue::from_str(value).unwrap())
        });
        let (mut head, ()) = http::Request::new(()).into_parts();
        head.headers = headers.collect();
        let answer = card.answer(&head, "/");
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()[ETAG], tag);
        assert_eq!(answer.headers()[VARY], "A2A-Version");
        let is_empty = http_body::Body::is_end_stream(answer.body());
        assert_eq!(is_empty, status == 304);
    }

    #[test]
    fn a_card_that_did_not_change_is_not_sent_again() {
        let card = PublicCard::new(&AgentCard::new("n", "d").at("http://h/"));
        let (head, ()) = http::Request::new(()).into_parts();
        let documents = card.documents(&head, "/").unwrap();
        let (union, of_1_0) = (documents.union.tag, documents.of_1_0.tag);
        assert_ne!(union, of_1_0);
        let union_tag = union.to_str().unwrap().to_owned();
        check(&card, &[], 200, &union);
        check(&card, &[("a2a-version", "1.0")], 200, &of_1_0);
        check(&card, &[("a2a-version", "0.3")], 200, &union);
        check(&card, &[("if-none-match", &union_tag)], 304, &union);
        check(
            &card,
            &[("if-none-match", &format!("\"x\", W/{union_tag}"))],
            304,
            &union,
        );
        check(&card, &[("if-none-match", "*")], 304, &union);
        check(
            &card,
            &[("if-none-match", &union_tag), ("a2a-version", "1.0")],
            200,
            &of_1_0,
        );
        let modified = card.modified.to_str().unwrap().to_owned();
        check(&card, &[("if-modified-since", &modified)], 304, &union);
        check(
            &card,
            &[("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT")],
            200,
            &union,
        );
        check(&card, &[("if-modified-since", "yesterday")], 200, &union);
        // A tag that does not match outweighs the time.
        check(
            &card,
            &[("if-modified-since", &modified), ("if-none-match", "\"x\"")],
            200,
            &union,
        );
    }

    #[test]
    fn a_card_that_names_no_interface_is_at_the_host_of_the_request() {
        let card = PublicCard::new(&AgentCard::new("n", "d"));
        let head = |host: &str| {
            let request = http::Request::get("/card").header("host", host);
            request.body(()).unwrap().into_parts().0
        };
        let url = |host: &str| {
            let documents = card.documents(&head(host), "/a").unwrap();
            let document: Value = serde_json::from_slice(&documents.union.body).unwrap();
            (document["url"].clone(), documents.union.tag)
        };
        let (local, tag) = url("localhost:8080");
        assert_eq!(local, "http://localhost:8080/a");
        let (address, other) = url("127.0.0.1:8080");
        assert_eq!(address, "http://127.0.0.1:8080/a");
        assert_ne!(tag, other);
        assert_eq!(url("localhost:8080").1, tag);
        let answer = card.answer(&head("localhost:8080"), "/a");
        assert_eq!(answer.headers()[VARY], "A2A-Version, Host");
        assert_eq!(card.answer(&head(""), "/a").status(), 400);
    }
}
