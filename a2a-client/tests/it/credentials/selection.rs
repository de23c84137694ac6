//! Selection of a card's requirement and of the credentials that satisfy it.

use super::*;

/// Returns a card with every kind of scheme, and these requirements.
fn full(required: &[&[&str]]) -> AgentCard {
    let schemes = [
        ("basic", http("basic")),
        ("bearer", http("bearer")),
        ("corp", http("Bearer")),
        ("key", key("header", "X-Key")),
        ("other", key("header", "X-Other")),
        ("own", key("header", "Authorization")),
        ("tls", json!({"mtlsSecurityScheme": {}})),
        ("public", http("public")),
        ("hoba", http("HOBA")),
    ];
    card(&schemes, required)
}

/// Checks the selected credentials, as `Debug` formats them; `-` for none.
#[track_caller]
fn check(keyring: &Keyring, required: &[&[&str]], expected: &str) {
    let card = full(required);
    let found = keyring.for_card(
        &card,
        &origin("https://agent.example"),
        &HttpClient::default(),
    );
    let found = match found {
        Ok(None) => "-".to_owned(),
        Ok(Some(credentials)) => format!("{credentials:?}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected, "{keyring:?} for {required:?}");
}

#[test]
fn the_first_that_can_be_satisfied_counts() {
    let keyring = Keyring::default().api_key("k").basic("u", "p");
    check(&keyring, &[&["key"]], "CredentialSet([header x-key])");
    check(
        &keyring,
        &[&["bearer"], &["key"]],
        "CredentialSet([header x-key])",
    );
    check(
        &keyring,
        &[&["basic"], &["key"]],
        "CredentialSet([header authorization])",
    );
    check(
        &keyring,
        &[&["key"], &["basic"]],
        "CredentialSet([header x-key])",
    );
    let both = "CredentialSet([header authorization, header x-key])";
    check(&keyring, &[&["key", "basic"]], both);
    check(
        &keyring,
        &[&["key", "bearer"], &["basic"]],
        "CredentialSet([header authorization])",
    );
    check(
        &keyring,
        &[&["key", "other"]],
        "CredentialSet([header x-key, header x-other])",
    );
}

#[test]
fn tls_needs_nothing_in_the_request() {
    let keyring = Keyring::default().mutual_tls();
    check(&keyring, &[&["tls"]], "-");
    let keyring = keyring.api_key("k");
    check(
        &keyring,
        &[&["tls", "key"]],
        "CredentialSet([header x-key])",
    );
}

#[test]
fn one_place_holds_one_thing() {
    let keyring = Keyring::default().basic("u", "p").bearer("t");
    let problem = "no credentials that the agent accepts: the agent wants basic `basic` and \
                   bearer `bearer`; there is a user name and password, a bearer token; two of them \
                   want the same place";
    check(&keyring, &[&["basic", "bearer"]], problem);
    check(
        &keyring,
        &[&["basic", "bearer"], &["basic"]],
        "CredentialSet([header authorization])",
    );
    // One token for two schemes.
    check(
        &keyring,
        &[&["corp", "bearer"]],
        "CredentialSet([header authorization])",
    );
}

#[test]
fn entries_are_for_the_schemes_that_they_name() {
    let keyring = Keyring::default().api_key_for("key", "k");
    check(&keyring, &[&["key"]], "CredentialSet([header x-key])");
    check(
        &keyring,
        &[&["other"]],
        "no credentials that the agent accepts: the agent wants API key in header `X-Other`; there \
         is an API key for `key`",
    );
    check(
        &Keyring::default(),
        &[&["corp"], &["key", "tls"], &["missing"]],
        "no credentials that the agent accepts: the agent wants one of: bearer `corp`; API key in \
         header `X-Key` and mutual TLS; unknown scheme `missing`; there is nothing",
    );
    let keyring = keyring.bearer("t").for_scheme("corp");
    check(
        &keyring,
        &[&["corp"]],
        "CredentialSet([header authorization])",
    );
    check(&keyring, &[], "CredentialSet([header authorization])");
}

#[test]
fn optional_credentials_are_sent_if_their_place_is_known() {
    let nothing = Keyring::default();
    let bearer = Keyring::default().bearer("t");
    let key = Keyring::default().api_key("k");
    for open in [&[&[][..]][..], &[&["key"], &[]], &[&["public"]]] {
        check(&nothing, open, "-");
        check(&bearer, open, "CredentialSet([header authorization])");
    }
    check(&key, &[&[]], "-");
    // Credentials are sent even if anonymous calls are allowed.
    check(&key, &[&[], &["key"]], "CredentialSet([header x-key])");
    // Schemes that no requirement names.
    check(&key, &[], "CredentialSet([header x-key])");
    check(&nothing, &[], "-");
    check(
        &key.header("X-Own", "v"),
        &[&[]],
        "CredentialSet([header x-own])",
    );
    let other = Keyring::default().bearer("t").for_scheme("elsewhere");
    check(&other, &[&[]], "-");

    let bare = card(&[], &[]);
    let http = HttpClient::default();
    let shown = bearer.for_card(&bare, &origin("https://agent.example"), &http);
    assert!(shown.unwrap().is_some());
}

#[test]
fn cards_of_0_1_are_understood() {
    let card = |authentication: &str| {
        let text = format!(
            r#"{{"name":"n","url":"http://h/","version":"1","capabilities":{{}},"skills":[],
                "authentication":{authentication}}}"#
        );
        a2a_client::read_card(&text).unwrap()
    };
    let bearer = Keyring::default().bearer("t");
    let key = Keyring::default().api_key("k");
    for (authentication, keyring, expected) in [
        (
            r#"{"schemes":["Bearer"]}"#,
            &bearer,
            "CredentialSet([header authorization])",
        ),
        (
            r#"{"schemes":["OAuth2"]}"#,
            &bearer,
            "CredentialSet([header authorization])",
        ),
        (
            r#"{"schemes":["ApiKey"]}"#,
            &key,
            "CredentialSet([header x-api-key])",
        ),
        (
            r#"{"schemes":["Bearer", "ApiKey"]}"#,
            &key,
            "CredentialSet([header x-api-key])",
        ),
    ] {
        let http = HttpClient::default();
        let shown = keyring.for_card(&card(authentication), &origin("http://h/"), &http);
        assert_eq!(
            format!("{:?}", shown.unwrap().unwrap()),
            expected,
            "{authentication}"
        );
    }
}

#[test]
fn names_from_a_card_are_sanitized_in_errors() {
    let name = format!("\u{1b}[2J{}", "x".repeat(10_000));
    let one = [name.as_str()];
    let many = [&one[..]; 100];
    let card = card(&[(&name, http("\u{1b}[2J"))], &many);
    let found = Keyring::default().for_card(
        &card,
        &origin("https://agent.example"),
        &HttpClient::default(),
    );
    let found = problem(found);
    assert!(!found.contains('\u{1b}') && found.len() < 4000, "{found}");
}
