//! Cards between versions: what each has a place for, and what the others lose.

use a2a_types::reading::{Hints, Mode, Wire, read};
use a2a_types::{AgentCard, ProtocolVersion, Response, v0_1, v0_2};
use serde_json::{Value, json};

/// Returns a card of 1.0 with these members in addition to the required ones.
fn card(members: Value) -> AgentCard {
    let mut card = json!({
        "name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
        "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    });
    for (name, value) in members.as_object().unwrap() {
        card[name] = value.clone();
    }
    serde_json::from_value(card).unwrap()
}

/// Returns the card of 0.3 with these members in addition to the required ones, as 1.0 reads it.
fn card_of_0_3(members: Value) -> Value {
    let mut card = json!({
        "protocolVersion": "0.3.0", "name": "n", "description": "d", "version": "1", "url": "u",
        "capabilities": {}, "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
    });
    for (name, value) in members.as_object().unwrap() {
        card[name] = value.clone();
    }
    read_as::<v0_2::AgentCard>(&card)
}

fn read_as<W: Wire>(card: &Value) -> Value
where
    AgentCard: From<W>,
{
    let read = read::<W>(&card.to_string(), Mode::Strict, &Hints::at("$")).unwrap();
    json!(AgentCard::from(read.value))
}

/// Returns the members that are new in 0.3, of a card that has all of them.
fn new_in_0_3() -> (Value, Value) {
    let signature = json!({"protected": "p", "signature": "s", "header": {"kid": "k"}});
    let flow = json!({"tokenUrl": "https://t/", "scopes": {}});
    let canonical = json!({
        "securitySchemes": {
            "flow": {"oauth2SecurityScheme": {"flows": {"clientCredentials": flow}, "oauth2MetadataUrl": "https://m/"}},
            "mtls": {"mtlsSecurityScheme": {"description": "d"}},
        },
        "securityRequirements": [
            {"schemes": {"flow": {"list": ["a"]}, "mtls": {"list": []}}}, {"schemes": {"flow": {"list": []}}},
        ],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": [],
            "securityRequirements": [{"schemes": {"mtls": {"list": []}}}]}],
        "signatures": [signature],
    });
    let of_0_3 = json!({
        "securitySchemes": {
            "flow": {"type": "oauth2", "flows": {"clientCredentials": flow}, "oauth2MetadataUrl": "https://m/"},
            "mtls": {"type": "mutualTLS", "description": "d"},
        },
        "security": [{"flow": ["a"], "mtls": []}, {"flow": []}],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": [], "security": [{"mtls": []}]}],
        "signatures": [signature],
    });
    (canonical, of_0_3)
}

#[test]
fn members_added_by_0_3_are_kept_both_ways() {
    let (canonical, of_0_3) = new_in_0_3();
    let written = json!(v0_2::AgentCard::from(card(canonical.clone())));
    assert_eq!(written["protocolVersion"], "0.3.0");
    for (name, value) in of_0_3.as_object().unwrap() {
        assert_eq!(&written[name], value, "{name}");
    }
    let back = read_as::<v0_2::AgentCard>(&written);
    for (name, value) in canonical.as_object().unwrap() {
        assert_eq!(&back[name], value, "{name}");
    }
}

#[test]
fn members_added_by_0_3_are_not_sent_to_0_2() {
    let written = json!(v0_2::AgentCard::from(card(new_in_0_3().0)).of_0_2());
    assert_eq!(written["protocolVersion"], "0.2.6");
    assert_eq!(written["signatures"], Value::Null);
    assert_eq!(written["skills"][0]["security"], Value::Null);
    let flow = json!({"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://t/", "scopes": {}}}});
    assert_eq!(written["securitySchemes"], json!({"flow": flow}));
    // The alternative that needs a certificate is gone, not made one that does not need it.
    assert_eq!(written["security"], json!([{"flow": []}]));
}

#[test]
fn the_extended_card_is_of_the_protocol_version_that_asks() {
    let answer = |protocol_version| {
        let response = Response::GetExtendedAgentCard(card(new_in_0_3().0));
        json!(v0_2::write_response(response, protocol_version))
    };
    assert_eq!(
        answer(ProtocolVersion::V0_3)["signatures"][0]["protected"],
        "p"
    );
    assert_eq!(answer(ProtocolVersion::V0_2)["signatures"], Value::Null);
}

/// Checks that a requirement is expressed in full or not at all.
#[track_caller]
fn check_required(canonical: Value, of_0_3: Value, of_0_2: Value, of_0_1: Value) {
    let flow = json!({"deviceAuthorizationUrl": "d", "tokenUrl": "t", "scopes": {}});
    let code =
        json!({"authorizationUrl": "a", "tokenUrl": "t", "scopes": {}, "pkceRequired": true});
    let card = card(json!({
        "securitySchemes": {
            "http": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
            "code": {"oauth2SecurityScheme": {"flows": {"authorizationCode": code}}},
            "device": {"oauth2SecurityScheme": {"flows": {"deviceCode": flow}}},
            "mtls": {"mtlsSecurityScheme": {}},
        },
        "securityRequirements": canonical,
    }));
    let written = v0_2::AgentCard::from(card.clone());
    let schemes = |card: &v0_2::AgentCard| {
        let names = card.security_schemes.iter().flatten();
        names.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(schemes(&written), ["code", "http", "mtls"]);
    assert!(!json!(written).to_string().contains("pkce"));
    assert_eq!(json!(written.security), of_0_3, "0.3");
    let written = written.of_0_2();
    assert_eq!(schemes(&written), ["code", "http"]);
    assert_eq!(json!(written.security), of_0_2, "0.2");
    let written = json!(v0_1::AgentCard::from(card));
    assert_eq!(written["authentication"]["schemes"], of_0_1, "0.1");
}

#[test]
fn requirements_are_never_made_weaker() {
    let one = |name: &str| json!({"schemes": {name: {"list": ["s"]}}});
    let both = json!({"schemes": {"http": {"list": []}, "mtls": {"list": []}}});
    check_required(
        json!([one("code"), one("http")]),
        json!([{"code": ["s"]}, {"http": ["s"]}]),
        json!([{"code": ["s"]}, {"http": ["s"]}]),
        json!(["OAuth2", "Bearer"]),
    );
    check_required(
        json!([one("device"), one("http")]),
        json!([{"http": ["s"]}]),
        json!([{"http": ["s"]}]),
        json!(["OAuth2", "Bearer"]),
    );
    check_required(
        json!([both]),
        json!([{"http": [], "mtls": []}]),
        Value::Null,
        Value::Null,
    );
    check_required(
        json!([{"schemes": {"device": {"list": []}, "http": {"list": []}}}]),
        Value::Null,
        Value::Null,
        json!(["OAuth2", "Bearer"]),
    );
}

/// 1.0 has one flow to a scheme: several become several schemes, any of which satisfies.
#[test]
fn several_flows_are_alternatives() {
    let flow = json!({"tokenUrl": "https://t/", "scopes": {}});
    let card = card_of_0_3(json!({
        "securitySchemes": {
            "o": {"type": "oauth2", "flows": {"clientCredentials": flow, "password": flow}, "oauth2MetadataUrl": "m"},
            "h": {"type": "http", "scheme": "basic"},
        },
        "security": [{"o": ["x"], "h": []}],
        "skills": [{"id": "s", "name": "s", "description": "", "tags": [], "security": [{"o": []}]}],
    }));
    let of_flow = |name: &str| json!({"oauth2SecurityScheme": {"flows": {name: flow}, "oauth2MetadataUrl": "m"}});
    assert_eq!(
        card["securitySchemes"],
        json!({"o": of_flow("clientCredentials"), "o-password": of_flow("password"),
            "h": {"httpAuthSecurityScheme": {"scheme": "basic"}}})
    );
    let way = |name: &str| json!({"schemes": {"h": {"list": []}, name: {"list": ["x"]}}});
    assert_eq!(
        card["securityRequirements"],
        json!([way("o"), way("o-password")])
    );
    let way = |name: &str| json!({"schemes": {name: {"list": []}}});
    let of_skill = &card["skills"][0]["securityRequirements"];
    assert_eq!(of_skill, &json!([way("o"), way("o-password")]));
}

#[test]
fn a_card_does_not_multiply_without_end() {
    let flow = |scopes| json!({"authorizationUrl": "https://a", "tokenUrl": "https://t", "scopes": scopes});
    let flows = json!({"authorizationCode": flow(json!({})), "clientCredentials": flow(json!({})),
        "implicit": flow(json!({})), "password": flow(json!({}))});
    let scheme = json!({"type": "oauth2", "flows": flows});
    let all = json!({"a": [], "b": [], "c": []});
    let security = vec![all; 5_000];
    let skill =
        json!({"id": "s", "name": "s", "description": "s", "tags": [], "security": security});
    let read = card_of_0_3(json!({
        "securitySchemes": {"a": scheme, "b": scheme, "c": scheme},
        "security": security, "skills": vec![skill; 10],
    }));
    let skills = read["skills"].as_array().unwrap();
    let all = skills.iter().chain([&read]);
    let all = all.map(|it| it["securityRequirements"].as_array().unwrap().len());
    let (least, all) = (55_000, all.sum::<usize>());
    assert!((least + 1000..=least + 1024).contains(&all), "{all}");
}

#[test]
fn a_flow_does_not_take_the_name_of_another_scheme() {
    let flow = json!({"tokenUrl": "https://t/", "scopes": {}});
    let card = card_of_0_3(json!({
        "securitySchemes": {
            "o": {"type": "oauth2", "flows": {"clientCredentials": flow, "password": flow}},
            "o-password": {"type": "http", "scheme": "basic"},
        },
        "security": [{"o": []}],
    }));
    let basic = json!({"httpAuthSecurityScheme": {"scheme": "basic"}});
    assert_eq!(card["securitySchemes"]["o-password"], basic);
    let way = |name: &str| json!({"schemes": {name: {"list": []}}});
    assert_eq!(
        card["securityRequirements"],
        json!([way("o"), way("o-password-flow")])
    );
}

#[test]
fn authentication_of_0_1_becomes_schemes_and_requirements() {
    let flow = json!({"tokenUrl": "https://t/", "scopes": {}});
    let credentials = json!({"in": "query", "name": "key", "flows": {"clientCredentials": flow, "password": flow}});
    let card = read_as::<v0_1::AgentCard>(&json!({
        "name": "n", "url": "u", "version": "1", "capabilities": {"stateTransitionHistory": true}, "skills": [],
        "authentication": {"schemes": ["Bearer", "Basic", "OAuth2", "ApiKey", "Hawk"], "credentials": credentials.to_string()},
    }));
    let http = |scheme: &str| json!({"httpAuthSecurityScheme": {"scheme": scheme}});
    let of_flow = |name: &str| json!({"oauth2SecurityScheme": {"flows": {name: flow}}});
    assert_eq!(
        card["securitySchemes"],
        json!({
            "Bearer": http("Bearer"), "Basic": http("Basic"), "Hawk": http("Hawk"),
            "OAuth2": of_flow("clientCredentials"), "OAuth2-password": of_flow("password"),
            "ApiKey": {"apiKeySecurityScheme": {"location": "query", "name": "key"}},
        })
    );
    let required = |name: &str| json!({"schemes": {name: {"list": []}}});
    let names = [
        "Bearer",
        "Basic",
        "OAuth2",
        "OAuth2-password",
        "ApiKey",
        "Hawk",
    ];
    assert_eq!(card["securityRequirements"], json!(names.map(required)));
    assert_eq!(card["capabilities"].get("stateTransitionHistory"), None);
}

/// Checks the interfaces of a card, given as binding and version of each: the URL of 0.1; the preferred interface
/// of 0.2, and its others.
#[track_caller]
fn check_interfaces(interfaces: &[(&str, &str)], of_0_1: &str, of_0_2: [&str; 3], others: Value) {
    let interfaces = interfaces.iter().enumerate();
    let interfaces = interfaces.map(|(index, (binding, version))| {
        json!({"url": format!("u{index}"), "protocolBinding": binding, "protocolVersion": version})
    });
    let card = card(json!({"supportedInterfaces": interfaces.collect::<Vec<_>>()}));
    assert_eq!(v0_1::AgentCard::from(card.clone()).url, of_0_1);
    let card = json!(v0_2::AgentCard::from(card));
    let preferred = [
        &card["url"],
        &card["preferredTransport"],
        &card["protocolVersion"],
    ];
    assert_eq!(preferred, of_0_2);
    assert_eq!(card["additionalInterfaces"], others);
}

#[test]
fn json_rpc_is_preferred() {
    check_interfaces(
        &[
            ("HTTP+JSON", "1.0"),
            ("HTTP+JSON", "0.3"),
            ("JSONRPC", "1.0"),
            ("JSONRPC", "0.3"),
            ("JSONRPC", "0.1"),
        ],
        "u4",
        ["u3", "JSONRPC", "0.3.0"],
        json!([{"url": "u1", "transport": "HTTP+JSON"}]),
    );
    check_interfaces(
        &[("HTTP+JSON", "1.0"), ("JSONRPC", "1.0")],
        "u1",
        ["u1", "JSONRPC", "0.2.6"],
        json!([{"url": "u0", "transport": "HTTP+JSON"}]),
    );
    check_interfaces(
        &[("HTTP+JSON", "0.3"), ("JSONRPC", "0.2"), ("JSONRPC", "0.3")],
        "u1",
        ["u1", "JSONRPC", "0.2.6"],
        json!([{"url": "u0", "transport": "HTTP+JSON"}, {"url": "u2", "transport": "JSONRPC"}]),
    );
    check_interfaces(
        &[("GRPC", "0.3")],
        "u0",
        ["u0", "GRPC", "0.3.0"],
        Value::Null,
    );
}
