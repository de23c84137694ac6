//! Cards that the server signs: in each version that is served they verify.

use a2a_server::{
    Algorithm, AuthError, Authenticator, BuildError, CardKeys, Failure, Principal, Security,
    Server, ServerBuilder, SigningKey, Turn, WebhookKeys,
};
use a2a_transport::card_signature::SignatureForm::{KnownMembers, Specification};
use a2a_transport::card_signature::{CardVerifier, header};
use a2a_transport::http::HttpService;
use a2a_transport::webhook::Jwks;
use a2a_types::{AgentCard, SecurityRequirement};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde::Deserialize;
use serde_json::{Value, json};

const KEYS_URL: &str = "https://agent.example/jwks.json";

/// Knows everyone by the same name, and requires a bearer token without scopes.
struct Bearer;

impl Authenticator for Bearer {
    async fn authenticate(&self, _: &http::request::Parts) -> Result<Principal, AuthError> {
        Ok(Principal::named("one"))
    }

    fn security(&self) -> Option<Security> {
        let mut security = Security::default();
        let scheme = json!({"httpAuthSecurityScheme": {"scheme": "Bearer"}});
        let scheme = serde_json::from_value(scheme).unwrap();
        security.schemes.insert("bearer".to_owned(), scheme);
        let mut requirement = SecurityRequirement::default();
        let unscoped = Default::default();
        requirement.schemes.insert("bearer".to_owned(), unscoped);
        security.requirements.push(requirement);
        Some(security)
    }
}

fn card() -> AgentCard {
    let mut card = AgentCard::new("Signed", "").at("http://agent.example/");
    card.capabilities.extended_agent_card = Some(true);
    card
}

fn builder(card: AgentCard) -> ServerBuilder {
    Server::builder(card, |_: Turn| async { Ok::<(), Failure>(()) }).authenticator(Bearer)
}

fn key() -> SigningKey {
    SigningKey::generate(Algorithm::Es256).unwrap()
}

async fn answer(
    service: &HttpService<Server>,
    request: http::request::Builder,
    body: Value,
) -> Value {
    let body = if body.is_null() {
        Bytes::new()
    } else {
        body.to_string().into()
    };
    let request = request.header("host", "agent.example");
    let answer = service
        .handle(request.body(Full::from(body)).unwrap())
        .await;
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

async fn get(service: &HttpService<Server>, path: &str, version: &str) -> Value {
    let request = Request::get(path).header("a2a-version", version);
    answer(service, request, Value::Null).await
}

#[tokio::test]
async fn the_public_card_verifies_in_each_version() {
    let keys = [key(), key()];
    let [old, new] = keys.clone();
    let server = builder(card()).sign_card(CardKeys::new(old).and(new).url(KEYS_URL));
    let service = server.build().unwrap().http().service();
    for version in ["1.0", "0.3", "0.2", "0.1"] {
        let document = get(&service, "/.well-known/agent-card.json", version).await;
        assert_eq!(document.get("url").is_some(), version != "1.0");
        for key in &keys {
            let verified = CardVerifier::new(Jwks::of([key]))
                .verify(&document)
                .unwrap();
            let form = if version == "1.0" {
                Specification
            } else {
                KnownMembers
            };
            assert_eq!(verified.form, form, "{version}");
            let read = AgentCard::deserialize(&verified.card).unwrap();
            assert_eq!(
                read.security_requirements,
                Bearer.security().unwrap().requirements
            );
        }
        let header = header(&document["signatures"][0]).unwrap();
        assert_eq!(header.jku.as_deref(), Some(KEYS_URL));
    }
}

/// Readers of earlier versions insist on the media types of each skill: they are there and signed.
#[tokio::test]
async fn the_media_types_of_skills_are_signed_with_the_card() {
    let skill = |id: &str, modes: Value| {
        let mut skill = json!({"id": id, "name": "n", "description": "d", "tags": ["t"]});
        skill
            .as_object_mut()
            .unwrap()
            .extend(modes.as_object().unwrap().clone());
        skill
    };
    let own = json!({"inputModes": ["image/png"], "outputModes": ["text/html"]});
    let skills = json!([skill("silent", json!({})), skill("own", own)]);
    let card = || AgentCard {
        skills: serde_json::from_value(skills.clone()).unwrap(),
        ..card()
    };
    let key = key();
    let server = builder(card()).extended_card(card());
    let server = server.sign_card(CardKeys::new(key.clone())).build();
    let service = server.unwrap().http().service();
    let extended = "/agent/authenticatedExtendedCard";
    for (path, version, is_signed) in [
        ("/.well-known/agent-card.json", "1.0", true),
        ("/.well-known/agent-card.json", "0.3", true),
        ("/.well-known/agent.json", "0.2", true),
        ("/rest/extendedAgentCard", "1.0", true),
        ("/rest/v1/card", "0.3", false),
        (extended, "0.2", false),
    ] {
        let document = get(&service, path, version).await;
        let modes = |skill: usize| {
            let skill = &document["skills"][skill];
            json!([skill["inputModes"], skill["outputModes"]])
        };
        assert_eq!(
            modes(0),
            json!([["text/plain"], ["text/plain"]]),
            "{path} {version}: {document}"
        );
        assert_eq!(
            modes(1),
            json!([["image/png"], ["text/html"]]),
            "{path} {version}"
        );
        let verified = CardVerifier::new(Jwks::of([&key])).verify(&document);
        assert_eq!(
            verified.is_ok(),
            is_signed,
            "{path} {version}: {verified:?}"
        );
    }
}

#[tokio::test]
async fn the_extended_card_is_signed_for_callers_of_1_0() {
    let key = key();
    let longer = || AgentCard::new("Longer", "for known callers");
    let same = builder(card()).extended_card(longer());
    let each = builder(card()).extended_card_for(move |principal| AgentCard {
        name: principal.name().unwrap_or_default().to_owned(),
        ..longer()
    });
    for (server, name) in [(same, "Longer"), (each, "one")] {
        let server = server.sign_card(CardKeys::new(key.clone()));
        let service = server.build().unwrap().http().service();
        let document = get(&service, "/rest/extendedAgentCard", "1.0").await;
        let verified = CardVerifier::new(Jwks::of([&key]))
            .verify(&document)
            .unwrap();
        assert_eq!(verified.form, Specification);
        let read = AgentCard::deserialize(&verified.card).unwrap();
        assert_eq!(read.name, name);
        assert_eq!(read.supported_interfaces, card().supported_interfaces);
        assert_eq!(
            read.security_requirements,
            Bearer.security().unwrap().requirements
        );

        let call =
            json!({"jsonrpc": "2.0", "id": 1, "method": "agent/getAuthenticatedExtendedCard"});
        let older = answer(&service, Request::post("/"), call).await;
        assert_eq!(older["result"]["name"], name, "{older}");
        assert_eq!(older["result"].get("signatures"), None);
    }
}

#[tokio::test]
async fn the_public_keys_of_cards_and_webhooks_are_published() {
    let (of_cards, of_webhooks) = (key(), key());
    let mut card = card();
    card.capabilities.push_notifications = Some(true);
    let server = builder(card)
        .sign_card(CardKeys::new(of_cards.clone()))
        .sign_webhooks(WebhookKeys::new(of_webhooks.clone()));
    let service = server.build().unwrap().http().service();
    let published = get(&service, "/.well-known/jwks.json", "1.0").await;
    assert_eq!(published, json!(Jwks::of([&of_cards, &of_webhooks])));
}

#[test]
fn a_card_without_interfaces_is_not_signed() {
    let unnamed = AgentCard::new("Signed", "Says nothing");
    let refused = builder(unnamed).sign_card(CardKeys::new(key())).build();
    assert_eq!(refused.err(), Some(BuildError::SignedWithoutInterfaces));
}
