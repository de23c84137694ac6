//! Cards of 1.0 that are not pure: what of the other versions' members is understood.

use a2a_types::AgentCard;
use a2a_types::reading::{Hints, read_canonical};
use serde_json::{Value, json};

/// Checks a card of `members` and the necessary ones: `expected` are the members that are read.
#[track_caller]
fn check(members: Value, expected: Value) {
    let card = read(members.clone()).unwrap_or_else(|error| panic!("{members}: {error}"));
    for (pointer, value) in expected.as_object().unwrap() {
        let found = card.pointer(pointer).unwrap_or(&Value::Null);
        assert_eq!(found, value, "{pointer} of {members}");
    }
}

#[track_caller]
fn check_refused(members: Value, expected: &str) {
    let error = read(members).unwrap_err();
    assert!(error.starts_with(expected), "{error}");
}

fn read(members: Value) -> Result<Value, String> {
    let mut card = json!({
        "name": "n", "version": "1", "capabilities": {},
        "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    });
    for (name, value) in members.as_object().unwrap() {
        card[name] = value.clone();
    }
    let card = read_canonical::<AgentCard>(&card.to_string(), &Hints::at("$"));
    card.map(|card| json!(card))
        .map_err(|violation| violation.to_string())
}

fn required(name: &str, scopes: &[&str]) -> Value {
    json!({"schemes": {name: {"list": scopes}}})
}

#[test]
fn requirements_under_the_name_of_0_2_are_read() {
    let google = json!([required("google", &["email"])]);
    // The sample card of 1.0.1.
    let of_0_2 = json!([{"google": ["email"]}]);
    let expected = json!({ "/securityRequirements": google });
    check(json!({ "security": of_0_2 }), expected.clone());
    check(json!({ "security": google }), expected.clone());
    check(
        json!({"security": of_0_2, "securityRequirements": null}),
        expected.clone(),
    );
    check(
        json!({"security": of_0_2, "securityRequirements": []}),
        expected,
    );
    check(
        json!({"security": of_0_2, "securityRequirements": [required("other", &[])]}),
        json!({"/securityRequirements": [required("other", &[])]}),
    );
    // A member that is not needed may be wrong; one that is needed and not understood is never left out.
    check(
        json!({"security": "none", "securityRequirements": google}),
        json!({ "/securityRequirements": google }),
    );
    let problem = "$: `security` is not a list";
    check_refused(json!({"security": "none"}), problem);
    check_refused(
        json!({"security": [{"google": {"list": ["email"]}}]}),
        problem,
    );

    let skill = json!({"id": "s", "name": "s", "security": of_0_2});
    check(
        json!({ "skills": [skill] }),
        json!({ "/skills/0/securityRequirements": google }),
    );
    let skill = json!({"id": "s", "name": "s", "security": 7});
    check_refused(json!({ "skills": [skill] }), "$.skills[0]: `security`");
}

#[test]
fn extended_card_flag_is_read_outside_the_capabilities() {
    let flag = "/capabilities/extendedAgentCard";
    for name in [
        "supportsExtendedAgentCard",
        "supportsAuthenticatedExtendedCard",
    ] {
        check(json!({ name: true }), json!({ flag: true }));
        check(
            json!({name: true, "capabilities": {"extendedAgentCard": false}}),
            json!({ flag: false }),
        );
    }
    check(json!({}), json!({ flag: null }));
}

#[test]
fn schemes_of_every_shape_are_read() {
    let bearer = json!({"httpAuthSecurityScheme": {"scheme": "Bearer"}});
    let both =
        json!({"type": "http", "scheme": "bearer", "httpAuthSecurityScheme": {"scheme": "Bearer"}});
    let flow = json!({"tokenUrl": "t", "scopes": {}});
    let of_flow = |name: &str| json!({"oauth2SecurityScheme": {"flows": {name: flow}}});
    check(
        json!({
            "securitySchemes": {
                "both": both,
                "old": {"type": "http", "scheme": "Bearer"},
                "flows": {"type": "oauth2", "flows": {"clientCredentials": flow, "password": flow}},
                "future": {"passkeySecurityScheme": {}},
                "null": null,
                "number": 7,
            },
            "security": [{"flows": ["s"]}, {"future": []}],
        }),
        json!({
            "/securitySchemes": {
                "both": bearer,
                "old": bearer,
                "flows": of_flow("clientCredentials"),
                "flows-password": of_flow("password"),
            },
            // A requirement with an unknown scheme stays, because otherwise the agent would seem to
            // require nothing.
            "/securityRequirements": [required("flows", &["s"]), required("flows-password", &["s"]), required("future", &[])],
        }),
    );
    let both = json!({"clientCredentials": flow, "password": flow});
    check(
        json!({"securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": both}}}}),
        json!({"/securitySchemes": {"o": of_flow("clientCredentials"), "o-password": of_flow("password")}}),
    );
    check_refused(
        json!({"securitySchemes": {"bad": {"httpAuthSecurityScheme": {}}}}),
        "$.securitySchemes.bad: missing field `scheme`",
    );
    let two = json!({"httpAuthSecurityScheme": {"scheme": "a"}, "mtlsSecurityScheme": {}});
    check_refused(
        json!({"securitySchemes": {"bad": two}}),
        "$.securitySchemes.bad: expected exactly one of",
    );
}

#[test]
fn lists_that_are_missing_are_empty() {
    let lists = ["defaultInputModes", "defaultOutputModes", "skills"];
    for list in lists {
        check(json!({}), json!({ format!("/{list}"): [] }));
        check(json!({ list: null }), json!({ format!("/{list}"): [] }));
    }
}
