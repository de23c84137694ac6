//! Cards that are derived from authenticators.

use a2a_auth::{
    AnyOf, ApiKeys, AuthOutcome, BasicUsers, JwtBearer, OperationScopes, Requirement, TokenFunction,
};
use a2a_server::{BuildError, Server};
use a2a_types::{AgentCard, SecurityScheme};
use serde_json::json;

use crate::credentials::{AUDIENCE, HASH};
use crate::fixture::{Asker, Service, builder, card};

fn every_scheme() -> AnyOf {
    let tokens = JwtBearer::discover("https://login.example", AUDIENCE).unwrap();
    let keys = ApiKeys::header("x-api-key").unwrap();
    let users = BasicUsers::of([("ada", HASH)]).unwrap();
    AnyOf::new(Requirement::of("login", tokens).scopes(["agent"]))
        .or(Requirement::of("key", keys).and("password", users))
        .or((
            "function",
            TokenFunction::new(async |_| AuthOutcome::Invalid),
        ))
}

#[tokio::test]
async fn a_card_states_what_is_checked_in_the_form_of_every_version() {
    let service = Service::of(every_scheme());
    let card = service.get("/.well-known/agent-card.json").await.json();
    assert_eq!(
        card["securityRequirements"],
        json!([
            {"schemes": {"login": {"list": ["agent"]}}},
            {"schemes": {"key": {"list": []}, "password": {"list": []}}},
            {"schemes": {"function": {"list": []}}},
        ])
    );
    assert_eq!(
        card["security"],
        json!([{"login": ["agent"]}, {"key": [], "password": []}, {"function": []}])
    );
    let discovery = "https://login.example/.well-known/openid-configuration";
    assert_eq!(
        card["securitySchemes"],
        json!({
            "login": {"type": "openIdConnect", "openIdConnectUrl": discovery,
                "openIdConnectSecurityScheme": {"openIdConnectUrl": discovery}},
            "key": {"type": "apiKey", "in": "header", "name": "x-api-key",
                "apiKeySecurityScheme": {"location": "header", "name": "x-api-key"}},
            "password": {"type": "http", "scheme": "Basic",
                "httpAuthSecurityScheme": {"scheme": "Basic"}},
            "function": {"type": "http", "scheme": "Bearer",
                "httpAuthSecurityScheme": {"scheme": "Bearer"}},
        })
    );
    let schemes = card["authentication"]["schemes"].as_array().unwrap();
    for scheme in ["Basic", "Bearer", "ApiKey"] {
        let is_named = |known: &serde_json::Value| {
            known
                .as_str()
                .is_some_and(|known| known.eq_ignore_ascii_case(scheme))
        };
        assert!(schemes.iter().any(is_named), "{scheme}: {schemes:?}");
    }
}

#[test]
fn card_whose_security_differs_from_the_authenticator_is_refused() {
    let derived = every_scheme();
    let derived = a2a_server::Authenticator::security(&derived).unwrap();
    let build = |change: fn(&mut AgentCard)| {
        let mut card = card();
        card.security_schemes = derived.schemes.clone();
        card.security_requirements = derived.requirements.clone();
        change(&mut card);
        let builder = Server::builder(card, Asker).authenticator(every_scheme());
        builder.build().map(|server| server.card().clone())
    };
    let stated = build(|_| {}).unwrap();
    assert_eq!(stated.security_requirements, derived.requirements);
    let other = |change| matches!(build(change), Err(BuildError::OtherSecurity { .. }));
    assert!(other(|card| drop(card.security_requirements.pop())));
    assert!(other(|card| card
        .security_requirements
        .push(Default::default())));
    assert!(other(|card| drop(card.security_schemes.remove("key"))));
    assert!(other(|card| card.security_schemes.clear()));
    assert!(other(|card| card.security_requirements.clear()));
    assert!(other(|card| {
        let scheme = card.security_schemes["key"].clone();
        card.security_schemes.insert("password".to_owned(), scheme);
    }));
    let extended = AgentCard {
        security_requirements: vec![Default::default()],
        ..card()
    };
    let builder = Server::builder(card(), Asker).authenticator(every_scheme());
    let built = builder.extended_card(extended).build();
    assert!(matches!(built, Err(BuildError::OtherSecurity { .. })));
    let signed = AgentCard {
        signatures: vec![Default::default()],
        ..card().at("https://agent.example/")
    };
    let built = Server::builder(signed, Asker)
        .authenticator(every_scheme())
        .build();
    assert_eq!(built.err(), Some(BuildError::SignedWithoutSecurity));
}

#[tokio::test]
async fn scopes_of_skills_are_on_the_card() {
    let scopes = || OperationScopes::default().skills(|_| None, [("main", vec!["ask"])]);
    let server = builder(every_scheme())
        .authorizer(scopes())
        .build()
        .unwrap();
    let skill = &server.card().skills[0];
    let stated = json!(skill.security_requirements);
    assert_eq!(
        stated,
        json!([
            {"schemes": {"login": {"list": ["agent", "ask"]}}},
            {"schemes": {"key": {"list": ["ask"]}, "password": {"list": ["ask"]}}},
            {"schemes": {"function": {"list": ["ask"]}}},
        ])
    );
    let mut contradicting = card();
    contradicting.skills[0].security_requirements = vec![Default::default()];
    let build = |card| {
        let builder = Server::builder(card, Asker).authenticator(every_scheme());
        builder.authorizer(scopes()).build().err()
    };
    let expected = BuildError::OtherSkillSecurity("main".to_owned());
    assert_eq!(build(contradicting), Some(expected));
    let mut without = card();
    without.skills.clear();
    assert_eq!(
        build(without),
        Some(BuildError::UnknownSkill("main".to_owned()))
    );
}

#[test]
fn a_scheme_may_be_described_by_the_program() {
    let flow: SecurityScheme = serde_json::from_value(json!({"oauth2SecurityScheme": {"flows": {
        "clientCredentials": {"tokenUrl": "https://login.example/token", "scopes": {}},
    }}}))
    .unwrap();
    let tokens = JwtBearer::discover("https://login.example", AUDIENCE).unwrap();
    let authenticator = AnyOf::new(("login", tokens.described_as(flow.clone())));
    let server = builder(authenticator).build().unwrap();
    assert_eq!(server.card().security_schemes["login"], flow);
}
