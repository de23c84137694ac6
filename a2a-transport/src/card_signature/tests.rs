use serde_json::json;

use super::verifier::MAX_SIGNATURES;
use super::*;
use crate::webhook::{Algorithm, Jwks};

fn card() -> Value {
    json!({
        "name": "Joker", "description": "Tells jokes", "version": "1.0.0", "iconUrl": "https://a.example/icon",
        "documentationUrl": "https://a.example/docs",
        "provider": {"organization": "Example", "url": "https://a.example"},
        "supportedInterfaces": [{"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t"}],
        "capabilities": {"streaming": true, "pushNotifications": false, "extensions": [{"uri": "https://a.example/x/v1", "required": true, "params": {"n": 1}}]},
        "securitySchemes": {"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}},
        "securityRequirements": [{"schemes": {"key": {"list": ["read"]}}}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "joke", "name": "Joke", "description": "A joke", "tags": ["fun"], "examples": ["chicken"]}],
    })
}

fn signed(key: &SigningKey) -> Value {
    let mut card = card();
    card["signatures"] = json!(sign(&card, key, Some("https://a.example/jwks.json")).unwrap());
    card
}

fn key() -> SigningKey {
    SigningKey::generate(Algorithm::Es256).unwrap()
}

fn verify(card: &Value, key: &SigningKey) -> Result<Verification, VerifyError> {
    CardVerifier::new(Jwks::of([key])).verify(card)
}

/// Returns the paths of all leaves.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                leaves(member, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}/{index}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

#[track_caller]
fn refused(card: &Value, key: &SigningKey, reason: Reason) {
    let found = verify(card, key);
    let reasons = vec![reason];
    assert_eq!(found, Err(VerifyError { reasons }));
}

#[test]
fn signed_card_is_verified_by_each_algorithm() {
    for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
        let key = SigningKey::generate(algorithm).unwrap();
        let card = signed(&key);
        let other = SigningKey::generate(algorithm).unwrap();
        let verifier = CardVerifier::new(Jwks::of([&other, &key]));
        let verified = verifier.verify(&card).unwrap();
        assert_eq!(verified.key, key.id());
        assert_eq!(verified.form, SignatureForm::Specification);
        assert_eq!(verified.card, card);
        let header = header(&card["signatures"][0]).unwrap();
        assert_eq!(header.typ.as_deref(), Some("JOSE"));
        assert_eq!(header.jku.as_deref(), Some("https://a.example/jwks.json"));
        assert_eq!(header.alg, verified.algorithm);
        refused(&card, &other, Reason::UnknownKey);
    }
}

#[test]
fn any_other_spelling_of_the_same_card_is_verified() {
    let key = key();
    let mut card = signed(&key);
    card["capabilities"]["extensions"][0]["description"] = json!("");
    card["skills"][0]["inputModes"] = json!([]);
    card["iconUrl"] = card["iconUrl"].take();
    let text = serde_json::to_string_pretty(&card).unwrap();
    let again: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        verify(&again, &key).unwrap().form,
        SignatureForm::Specification
    );
}

#[test]
fn any_changed_member_is_refused() {
    let key = key();
    let card = signed(&key);
    let mut paths = Vec::new();
    leaves(&self::card(), "", &mut paths);
    assert!(paths.len() > 25, "{paths:?}");
    for path in paths {
        let mut changed = card.clone();
        let member = changed.pointer_mut(&path).unwrap();
        *member = match &*member {
            Value::Bool(flag) => json!(!flag),
            Value::Number(_) => json!(2),
            other => json!(format!("{}!", other.as_str().unwrap())),
        };
        assert!(verify(&changed, &key).is_err(), "{path} was changed");
    }
    for member in self::card().as_object().unwrap().keys() {
        let mut changed = card.clone();
        changed.as_object_mut().unwrap().remove(member);
        assert!(verify(&changed, &key).is_err(), "{member} was removed");
    }
    let mut added = card.clone();
    added["capabilities"]["extendedAgentCard"] = json!(false);
    refused(&added, &key, Reason::Signature);
}

#[test]
fn signature_over_1_0_members_does_not_cover_members_of_other_versions() {
    let key = key();
    let plain = signed(&key);
    let mut card = plain.clone();
    card["preferredTransport"] = json!("JSONRPC");
    card["supportsAuthenticatedExtendedCard"] = json!(true);
    let verified = verify(&card, &key).unwrap();
    assert_eq!(verified.form, SignatureForm::KnownMembers);
    assert_eq!(verified.card, plain);
    card["signatures"] = json!(sign(&card, &key, None).unwrap());
    assert_eq!(card["signatures"].as_array().unwrap().len(), 2);
    let verified = verify(&card, &key).unwrap();
    assert_eq!(verified.form, SignatureForm::Specification);
    assert_eq!(verified.card, card);
}

#[test]
fn numbers_are_read_as_they_were_signed() {
    let key = key();
    let mut card = signed(&key);
    let number = |card: &mut Value, number: u64| {
        card["capabilities"]["extensions"][0]["params"]["n"] = json!(number);
    };
    number(&mut card, 1 << 53);
    card["signatures"] = json!(sign(&card, &key, None).unwrap());
    let expected = card.clone();
    // RFC 8785 has doubles only, and this number is not one.
    number(&mut card, (1 << 53) + 1);
    assert_eq!(verify(&card, &key).unwrap().card, expected);
}

#[test]
fn a_signature_does_not_choose_how_it_is_verified() {
    let key = key();
    let with = |header: Value, signature: &str| {
        let mut card = card();
        let protected = URL.encode(header.to_string());
        card["signatures"] = json!([{"protected": protected, "signature": signature}]);
        card
    };
    let kid = key.id();
    for alg in ["none", "None", "HS256", "RS256", "ES384", "EdDSA", ""] {
        let card = with(json!({"alg": alg, "typ": "JOSE", "kid": kid}), "");
        refused(&card, &key, Reason::Algorithm);
    }
    // HMAC by the public key, the classic confusion.
    let protected = URL.encode(json!({"alg": "HS256", "typ": "JOSE", "kid": kid}).to_string());
    let secret =
        jsonwebtoken::EncodingKey::from_secret(key.public().x.as_ref().unwrap().as_bytes());
    let input = signing_input(
        &protected,
        &canonical(&card(), SignatureForm::Specification).unwrap(),
    );
    let mac = jsonwebtoken::crypto::sign(&input, &secret, jsonwebtoken::Algorithm::HS256).unwrap();
    let mut forged = card();
    forged["signatures"] = json!([{"protected": protected, "signature": mac}]);
    refused(&forged, &key, Reason::Algorithm);
    let critical = json!({"alg": "ES256", "kid": kid, "crit": ["b64"], "b64": false});
    refused(&with(critical, ""), &key, Reason::Critical);
    refused(
        &with(json!({"alg": "ES256", "typ": "JOSE", "kid": kid}), ""),
        &key,
        Reason::Signature,
    );
    refused(
        &with(json!({"typ": "JOSE", "kid": kid}), ""),
        &key,
        Reason::Malformed,
    );
    refused(&with(json!([]), ""), &key, Reason::Malformed);
}

#[test]
fn malformed_signatures_are_refused_and_others_still_count() {
    let key = key();
    let good = signed(&key)["signatures"][0].clone();
    let mut card = card();
    assert_eq!(
        verify(&card, &key).unwrap_err().to_string(),
        "the card has no signature"
    );
    for bad in [
        json!(7),
        json!({}),
        json!({"protected": "=", "signature": ""}),
        json!({"protected": 1}),
    ] {
        card["signatures"] = json!([bad.clone()]);
        refused(&card, &key, Reason::Malformed);
        card["signatures"] = json!([bad, good.clone()]);
        verify(&card, &key).unwrap();
    }
    // Only a limited number of signatures is tried.
    let mut many = vec![json!({}); MAX_SIGNATURES];
    many.push(good.clone());
    card["signatures"] = json!(many);
    assert!(verify(&card, &key).is_err());
    // A signature has one spelling.
    let mut padded = good;
    let text = format!("{}=", padded["signature"].as_str().unwrap());
    padded["signature"] = json!(text);
    card["signatures"] = json!([padded]);
    refused(&card, &key, Reason::Signature);
}
