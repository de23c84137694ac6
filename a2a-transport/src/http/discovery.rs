//! The public card: one document for callers of every generation, and how it is cached.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

use a2a_types::{AgentCard, Dialect, v0_1, v0_2};
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, VARY,
};
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::Body;

/// The public card, ready to be sent. Specification 1.0 §8.6.
#[derive(Clone, Debug)]
pub(super) struct PublicCard {
    union: Document,
    of_1_0: Document,
    modified: HeaderValue,
}

/// A document, and the tag that changes when it does.
#[derive(Clone, Debug)]
struct Document {
    body: Bytes,
    tag: HeaderValue,
}

impl PublicCard {
    /// The card as it is from now on.
    pub(super) fn new(card: &AgentCard) -> Self {
        let now = httpdate::fmt_http_date(SystemTime::now());
        Self {
            union: Document::new(&card_document(card)),
            of_1_0: Document::new(&json!(card)),
            modified: HeaderValue::from_str(&now).unwrap_or(HeaderValue::from_static("")),
        }
    }

    /// Answers a GET: a caller that says it speaks 1.0 gets the card of 1.0 alone, every other the
    /// union; one that has it already, as tag or time tell, gets nothing new.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Response<Body> {
        let text = |name| {
            asked
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let version = text(http::header::HeaderName::from_static("a2a-version"));
        let document = match version.and_then(Dialect::from_version) {
            Some(Dialect::V1_0) => &self.of_1_0,
            _ => &self.union,
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
        headers.insert(VARY, HeaderValue::from_static("A2A-Version"));
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

    /// Whether a list of tags names this document. RFC 9110 §13.1.2 compares weakly.
    fn is_among(&self, tags: &str) -> bool {
        let same = |tag: &str| {
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == self.tag.as_bytes()
        };
        tags.split(',').map(str::trim).any(same)
    }
}

/// The card as every generation reads it: the members of all of them in one object.
///
/// The generations moved each changed thing to a new name, so that the union says to each what its
/// own card would say; where two shapes share a name (`securitySchemes`), both shapes share the
/// object. Members that parsers in the field insist on are always there.
pub fn card_document(card: &AgentCard) -> Value {
    let mut document = json!({"authentication": {"schemes": []}});
    let generations = [
        serde_json::to_value(card),
        serde_json::to_value(v0_1::AgentCard::from(card.clone())),
        serde_json::to_value(v0_2::AgentCard::from(card.clone())),
    ];
    for generation in generations.into_iter().flatten() {
        merge(&mut document, generation);
    }
    let schemes = document
        .get_mut("securitySchemes")
        .and_then(Value::as_object_mut);
    for scheme in schemes.into_iter().flat_map(Map::values_mut) {
        // Parsers of 0.x refuse a card with a scheme that has no type. Only one that all its flows
        // are new to has none here, and no requirement of theirs names it.
        if scheme["type"].is_null() {
            merge(scheme, json!({"type": "oauth2", "flows": {}}));
        }
    }
    // 0.3 §5.6.2: who lists further interfaces lists the main one, too.
    let main = json!({"url": document["url"], "transport": document["preferredTransport"]});
    if let Some(Value::Array(interfaces)) = document.get_mut("additionalInterfaces")
        && !interfaces.contains(&main)
    {
        interfaces.insert(0, main);
    }
    // 1.0 has these members, too: a signature over a card without them would be over another card.
    if !card.signatures.is_empty() {
        // Where 1.0 says nothing 0.1 says `false`.
        let told = [
            ("streaming", card.capabilities.streaming),
            ("pushNotifications", card.capabilities.push_notifications),
        ];
        if let Some(capabilities) = document["capabilities"].as_object_mut() {
            let untold = told.iter().filter(|(_, own)| own.is_none());
            untold.for_each(|(name, _)| drop(capabilities.remove(*name)));
        }
        return document;
    }
    for skill in document["skills"].as_array_mut().into_iter().flatten() {
        for (member, fallback) in [
            ("inputModes", &card.default_input_modes),
            ("outputModes", &card.default_output_modes),
        ] {
            if skill[member].is_null() {
                skill[member] = json!(fallback);
            }
        }
    }
    document
}

/// Lays `over` onto `base`, object by object and item by item.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                merge(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(base), Value::Array(over)) => {
            for (index, value) in over.into_iter().enumerate() {
                match base.get_mut(index) {
                    Some(item) => merge(item, value),
                    None => base.push(value),
                }
            }
        }
        (base, over) => *base = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_types::reading::{Hints, Mode, read};

    #[test]
    fn every_generation_reads_its_own_card_from_the_document() {
        let card: AgentCard = serde_json::from_value(json!({
            "name": "n", "description": "d", "version": "1", "capabilities": {"streaming": true},
            "supportedInterfaces": [{"url": "http://h/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
            "securityRequirements": [{"schemes": {"b": {"list": []}}}],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "", "tags": []}],
        }))
        .unwrap();
        let document = card_document(&card);
        assert!(!document.to_string().contains("null"), "{document}");
        let text = document.to_string();

        let of_0_1 = read::<v0_1::AgentCard>(&text, Mode::Strict, &Hints::at("$"))
            .unwrap()
            .value;
        assert_eq!(of_0_1.authentication.unwrap().schemes, ["Bearer"]);
        let of_0_2 = read::<v0_2::AgentCard>(&text, Mode::Strict, &Hints::at("$"))
            .unwrap()
            .value;
        assert_eq!(
            of_0_2.security,
            Some(vec![[("b".to_owned(), vec![])].into()])
        );
        let of_1_0: AgentCard = serde_json::from_str(&text).unwrap();
        assert_eq!(of_1_0.security_schemes, card.security_schemes);
        assert_eq!(document["securitySchemes"]["b"]["type"], "http");
        assert_eq!(document["skills"][0]["inputModes"], json!(["text/plain"]));
    }

    #[cfg(feature = "card-signature")]
    #[test]
    fn a_signature_is_over_the_document_too() {
        use crate::card_signature::{sign, verify};
        use crate::webhook::{Algorithm, Jwks, SigningKey};

        let mut card: AgentCard = serde_json::from_value(json!({
            "name": "n", "description": "d", "version": "1",
            "capabilities": {"streaming": true, "extendedAgentCard": true, "extensions": [{"uri": "https://a.example/x/v1"}]},
            "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}, "k": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}},
            "securityRequirements": [{"schemes": {"b": {"list": []}}}],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "", "tags": []}],
        }))
        .unwrap();
        card = card.at("http://h/");
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        card.signatures = vec![sign(&json!(card), &key, None).unwrap()];
        let document = card_document(&card);
        assert_eq!(document["skills"][0].get("inputModes"), None);
        assert!(document["url"].is_string());
        verify(&document, &Jwks::of([&key])).unwrap();
    }

    #[test]
    fn the_main_interface_is_among_those_of_0_3() {
        let document = card_document(&AgentCard::new("n", "d").at("http://h/"));
        let expected = json!([
            {"url": "http://h/", "transport": "JSONRPC"},
            {"url": "http://h/rest", "transport": "HTTP+JSON"},
        ]);
        assert_eq!(document["additionalInterfaces"], expected);
        let only = AgentCard {
            supported_interfaces: vec![a2a_types::AgentInterface::json_rpc(
                "http://h/",
                Dialect::V0_3,
            )],
            ..AgentCard::new("n", "d")
        };
        assert!(card_document(&only)["additionalInterfaces"].is_null());
    }

    #[test]
    fn a_scheme_that_only_1_0_knows_has_a_type_for_older_parsers() {
        let flow = json!({"deviceAuthorizationUrl": "https://a/d", "tokenUrl": "https://a/t", "scopes": {}});
        let scheme = json!({"oauth2SecurityScheme": {"flows": {"deviceCode": flow}}});
        let card = AgentCard {
            security_schemes: serde_json::from_value(json!({ "d": scheme })).unwrap(),
            security_requirements: serde_json::from_value(json!([{"schemes": {"d": {}}}])).unwrap(),
            ..AgentCard::new("n", "d").at("http://h/")
        };
        let document = card_document(&card);
        assert_eq!(document["securitySchemes"]["d"]["type"], "oauth2");
        assert!(document["security"].is_null());
        let text = document.to_string();
        let read = read::<v0_2::AgentCard>(&text, Mode::Strict, &Hints::at("$"));
        assert!(read.is_ok(), "{read:?}");
        let read: AgentCard = serde_json::from_str(&text).unwrap();
        assert_eq!(read.security_schemes, card.security_schemes);
        assert_eq!(read.security_requirements, card.security_requirements);
    }

    #[track_caller]
    fn check(card: &PublicCard, asked: &[(&'static str, &str)], status: u16, tag: &HeaderValue) {
        let asked = asked.iter().map(|(name, value)| {
            let name = http::header::HeaderName::from_static(name);
            (name, HeaderValue::from_str(value).unwrap())
        });
        let answer = card.answer(&asked.collect());
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()[ETAG], tag);
        assert_eq!(answer.headers()[VARY], "A2A-Version");
        let is_empty = http_body::Body::is_end_stream(answer.body());
        assert_eq!(is_empty, status == 304);
    }

    #[test]
    fn a_card_that_did_not_change_is_not_sent_again() {
        let card = PublicCard::new(&AgentCard::new("n", "d").at("http://h/"));
        let (union, of_1_0) = (card.union.tag.clone(), card.of_1_0.tag.clone());
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
}
