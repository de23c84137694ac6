//! Signed cards: cards signed by the official SDKs verify here, and ours verify by a second reading of the
//! rules.

mod second_reading;

use std::collections::BTreeMap;

use a2a_transport::card_signature::SignatureForm::{KnownMembers, Sdk, Specification};
use a2a_transport::card_signature::{CardVerifier, SignatureForm, Verification, header, sign};
use a2a_transport::http::card_document;
use a2a_transport::webhook::{Algorithm, Jwk, Jwks, SigningKey};
use a2a_types::AgentCard;
use serde::Deserialize;
use serde_json::{Value, json};

/// Cards that the SDKs have signed, and the bytes that they sign.
#[derive(Deserialize)]
struct Vectors {
    jwk: Jwk,
    cards: BTreeMap<String, Vector>,
}

#[derive(Deserialize)]
struct Vector {
    card: Value,
    canonical_py_js_1_3_0: String,
    python_signature: Value,
    js_signature: Value,
}

impl Vectors {
    fn read() -> Self {
        serde_json::from_str(include_str!("vectors.json")).unwrap()
    }

    fn verifier(&self) -> CardVerifier {
        CardVerifier::new(Jwks {
            keys: vec![self.jwk.clone()],
        })
    }

    /// Returns a card as an SDK has signed it.
    fn signed(&self, name: &str) -> Value {
        let Vector {
            card,
            python_signature,
            ..
        } = &self.cards[name];
        with_signatures(card, json!([python_signature]))
    }
}

fn with_signatures(card: &Value, signatures: Value) -> Value {
    let mut card = card.clone();
    card["signatures"] = signatures;
    card
}

fn key() -> SigningKey {
    SigningKey::generate(Algorithm::Es256).unwrap()
}

fn verify(card: &Value, key: &SigningKey) -> Verification {
    CardVerifier::new(Jwks::of([key])).verify(card).unwrap()
}

/// The strongest form that the SDKs' bytes are of, by card.
const FORMS: &[(&str, SignatureForm)] = &[
    ("plain", Specification),
    ("spec-8.4.1-fragment", Sdk),
    ("required-empty-capabilities", Sdk),
    ("required-empty-skills", Sdk),
    ("optional-bool-false", Specification),
    ("ext-required-false", Specification),
    ("ext-params-numbers", Specification),
    ("ext-params-keys-utf16", Specification),
    ("mtls-empty-message", Sdk),
    ("public-alternative", Sdk),
    ("hybrid-0.3-members", KnownMembers),
    ("unknown-member", KnownMembers),
    ("icon-empty-string", Sdk),
    ("u2028", Specification),
];

#[test]
fn cards_that_the_sdks_signed_are_verified_with_their_form() {
    let vectors = Vectors::read();
    assert_eq!(vectors.cards.len(), FORMS.len());
    for (name, form) in FORMS {
        let vector = &vectors.cards[*name];
        for signature in [&vector.python_signature, &vector.js_signature] {
            let card = with_signatures(&vector.card, json!([signature]));
            let verified = vectors.verifier().verify(&card);
            let verified = verified.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(
                (verified.form, verified.key.as_str()),
                (*form, "k1"),
                "{name}"
            );
            AgentCard::deserialize(&verified.card).unwrap();
            let refused = vectors.verifier().refuse(*form).verify(&card).unwrap_err();
            assert!(
                refused.to_string().contains("not accepted here"),
                "{name}: {refused}"
            );
        }
    }
}

#[test]
fn our_signatures_are_over_what_each_verifier_reads() {
    let vectors = Vectors::read();
    for (name, vector) in &vectors.cards {
        let key = key();
        let signatures = json!(sign(&vector.card, &key, None).unwrap());
        let covers = |index: usize, payload: &str| {
            second_reading::verifies(&signatures[index], payload, key.public())
        };
        let count = signatures.as_array().unwrap().len();
        let text = second_reading::by_the_text(&vector.card);
        assert!(covers(0, &text), "{name}: the first is by the text: {text}");
        let for_sdks = &vector.canonical_py_js_1_3_0;
        assert!(
            (0..count).any(|index| covers(index, for_sdks)),
            "{name}: one is for the SDKs"
        );
        assert_eq!(count == 1, text == *for_sdks, "{name}: no signature twice");
        for signature in signatures.as_array().unwrap() {
            let header = header(signature).unwrap();
            let members = (
                header.alg.as_str(),
                header.typ.as_deref(),
                header.kid.as_deref(),
            );
            assert_eq!(members, ("ES256", Some("JOSE"), Some(key.id())), "{name}");
        }
        let signed = with_signatures(&vector.card, signatures);
        assert_eq!(verify(&signed, &key).form, Specification, "{name}");
    }
}

#[test]
fn a_card_for_several_versions_is_verified_by_its_members_of_1_0() {
    let vectors = Vectors::read();
    let mut full = vectors.cards["public-alternative"].card.clone();
    full["capabilities"] = json!({"extendedAgentCard": true, "pushNotifications": false,
        "extensions": [{"uri": "https://a.example/x/v1", "required": true}]});
    full["securitySchemes"]["k"] =
        json!({"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}});
    full["securitySchemes"]["m"] = json!({"mtlsSecurityScheme": {}});
    full["skills"][0]["securityRequirements"] = json!([{"schemes": {"k": {}}}]);
    full["provider"] = json!({"organization": "o", "url": "https://a.example"});
    let given = vectors
        .cards
        .values()
        .map(|vector| &vector.card)
        .chain([&full]);
    let mut count = 0;
    for card in given {
        // The fragment of the specification is not a whole card.
        let Ok(card) = AgentCard::deserialize(card) else {
            continue;
        };
        let mut card = card.at("http://h/");
        let key = key();
        card.signatures = sign(&json!(card), &key, None).unwrap();
        let document = card_document(&card);
        assert!(document["url"].is_string(), "{document}");
        let verified = verify(&document, &key);
        assert_eq!(verified.form, KnownMembers);
        assert_eq!(AgentCard::deserialize(&verified.card).unwrap(), card);
        count += 1;
    }
    assert_eq!(count, FORMS.len());
}

/// Checks that a card which was changed is refused or, if it is verified, that the change is not in the result.
#[track_caller]
fn check_forged(name: &str, change: impl Fn(&mut Value), form: SignatureForm) {
    let vectors = Vectors::read();
    let signed = vectors.signed(name);
    let mut forged = signed.clone();
    change(&mut forged);
    assert_ne!(forged, signed);
    let genuine = vectors.verifier().verify(&signed).unwrap();
    let verified = vectors.verifier().verify(&forged).unwrap();
    assert_eq!(verified.form, form);
    assert_eq!(verified.card, genuine.card, "the change is not read");
}

#[test]
fn members_not_covered_by_a_weaker_form_are_not_read() {
    let open = json!([{"schemes": {}}]);
    // Anyone is let in, or so it says.
    check_forged(
        "plain",
        |card| card["securityRequirements"] = open.clone(),
        Sdk,
    );
    let second =
        |card: &mut Value| drop(card["securityRequirements"].as_array_mut().unwrap().pop());
    // An SDK signs exactly the rest, which is verified by the text of the specification.
    check_forged("public-alternative", second, Specification);
    let unscoped = |card: &mut Value| {
        card["securitySchemes"] = json!({"x": {"mtlsSecurityScheme": {}}});
        card["securityRequirements"] = json!([{"schemes": {"x": {}}}]);
    };
    check_forged("plain", unscoped, Sdk);
    let no_security = |card: &mut Value| {
        card.as_object_mut().unwrap().remove("securityRequirements");
        card.as_object_mut().unwrap().remove("securitySchemes");
    };
    check_forged("mtls-empty-message", no_security, Specification);
    let params = |card: &mut Value| {
        card["capabilities"]["extensions"][0]["params"]["empty"] = json!({"a": [""]});
    };
    check_forged("ext-params-numbers", params, Sdk);
    check_forged("plain", |card| card["iconUrl"] = json!(""), Sdk);
    let other_version = |card: &mut Value| {
        card["url"] = json!("https://forged.example");
        card["security"] = json!([]);
        card["capabilities"]["stateTransitionHistory"] = json!(true);
    };
    check_forged("plain", other_version, KnownMembers);
    check_forged("hybrid-0.3-members", other_version, KnownMembers);
    check_forged("public-alternative", other_version, Sdk);
    check_forged(
        "unknown-member",
        |card| card["xVendor"] = json!(2),
        KnownMembers,
    );
}

#[test]
fn a_verifier_that_refuses_the_form_of_the_sdks_refuses_what_only_they_cover() {
    let vectors = Vectors::read();
    let verifier = vectors.verifier().refuse(Sdk);
    let mut card = vectors.signed("plain");
    verifier.verify(&card).unwrap();
    card["securityRequirements"] = json!([{"schemes": {}}]);
    vectors.verifier().verify(&card).unwrap();
    let refused = verifier.verify(&card).unwrap_err().to_string();
    assert_eq!(
        refused,
        "signatures[0]: it covers the members of 1.0 that are not empty, as the official SDKs sign, which is not \
         accepted here"
    );
}

#[test]
fn the_strongest_of_several_signatures_counts() {
    let vectors = Vectors::read();
    let card = &vectors.cards["public-alternative"].card;
    let key = key();
    let ours = json!(sign(card, &key, None).unwrap());
    let theirs = &vectors.cards["public-alternative"].python_signature;
    let keys = vec![vectors.jwk.clone(), key.public().clone()];
    let verifier = CardVerifier::new(Jwks { keys });
    let signed = with_signatures(card, json!([theirs, ours[1], ours[0]]));
    let verified = verifier.verify(&signed).unwrap();
    assert_eq!(
        (verified.form, verified.key.as_str()),
        (Specification, key.id())
    );
    let read = AgentCard::deserialize(&verified.card).unwrap();
    assert_eq!(read, AgentCard::deserialize(&signed).unwrap());
}

#[test]
fn changed_covered_member_is_refused() {
    #[track_caller]
    fn check(change: impl Fn(&mut Value), reason: &str) {
        let vectors = Vectors::read();
        let mut card = vectors.signed("public-alternative");
        vectors.verifier().verify(&card).unwrap();
        change(&mut card);
        let refused = vectors.verifier().verify(&card).unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
    let other = "does not match this card and key";
    check(|card| card["name"] = json!("Forged"), other);
    check(
        |card| card["securityRequirements"][0]["schemes"]["b"]["list"] = json!([]),
        other,
    );
    check(
        |card| drop(card.as_object_mut().unwrap().remove("version")),
        other,
    );
    check(
        |card| card["capabilities"]["extendedAgentCard"] = json!(false),
        other,
    );
    // The proto's name of a member is that member.
    check(
        |card| card["icon_url"] = json!("https://forged.example"),
        other,
    );
    check(
        |card| card["signatures"] = json!([]),
        "the card has no signature",
    );

    let header = |members: Value| {
        move |card: &mut Value| {
            card["signatures"][0]["protected"] =
                json!(second_reading::base64url(&members.to_string()));
        }
    };
    let no_kid =
        "signatures[0]: its protected header has no `kid`: expected `alg`, `typ` and `kid`";
    check(header(json!({"alg": "ES256", "typ": "JOSE"})), no_kid);
    let no_typ = "signatures[0]: its protected header has no `typ`";
    check(header(json!({"alg": "ES256", "kid": "k1"})), no_typ);
    let malformed = "signatures[0]: it is malformed";
    check(header(json!({"typ": "JOSE", "kid": "k1"})), malformed);
    let unknown = "signatures[0]: its key is not trusted";
    check(
        header(json!({"alg": "ES256", "typ": "JOSE", "kid": "k2"})),
        unknown,
    );
    for alg in ["RS256", "HS256", "none", "EdDSA"] {
        let not_of_key = "signatures[0]: its algorithm is not that of the key";
        check(
            header(json!({"alg": alg, "typ": "JOSE", "kid": "k1"})),
            not_of_key,
        );
    }

    let vectors = Vectors::read();
    let impostor = CardVerifier::new(Jwks::of([&key().named("k1")]));
    let refused = impostor.verify(&vectors.signed("plain")).unwrap_err();
    assert!(refused.to_string().contains(other), "{refused}");
}
