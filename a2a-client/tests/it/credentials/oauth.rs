//! Token requests of OAuth clients.

use a2a_client::credentials::OAuthClient;

use super::*;

pub(super) fn client() -> OAuthClient {
    OAuthClient::new("me:1", "s3cret/é")
}

/// `me:1` and `s3cret/é`, as RFC 6749 §2.3.1 and RFC 7617 have them.
const BASIC: &str = "Basic bWUlM0ExOnMzY3JldCUyRiVDMyVBOQ==";

fn token(value: &str) -> Response<String> {
    json_of(
        200,
        json!({"access_token": value, "token_type": "bearer", "expires_in": 3600}),
    )
}

#[tokio::test]
async fn a_client_gets_a_token_by_its_secret() {
    let agent = Server::new(|seen| match seen.target.as_str() {
        "/token" => token("t1"),
        _ => ok(),
    })
    .await;
    let mut card = card(
        &[("corp", client_credentials(&agent.at("/token")))],
        &[&["corp"]],
    );
    let required = &mut card.security_requirements[0].schemes;
    required.get_mut("corp").unwrap().list = vec!["read".to_owned(), "write".to_owned()];
    let keyring = Keyring::default().oauth_client(client().parameter("audience", "agents"));
    let credentials = shown(&keyring, &card, &agent);
    for _ in 0..3 {
        ask(&agent, &credentials).await.unwrap();
    }
    let asked = agent.asked("/token");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].authorization(), Some(BASIC));
    assert_eq!(asked[0].field("grant_type"), "client_credentials");
    assert_eq!(asked[0].field("scope"), "read write");
    assert_eq!(asked[0].field("audience"), "agents");
    assert_eq!(asked[0].form.len(), 3);
    for seen in agent.asked("/agent") {
        assert_eq!(seen.authorization(), Some("Bearer t1"));
    }
    // A second connection uses the same token.
    ask(&agent, &shown(&keyring, &card, &agent)).await.unwrap();
    assert_eq!(agent.asked("/token").len(), 1);
    // Scopes of the client replace the scopes of the card.
    let keyring = Keyring::default().oauth_client(client().scope("less"));
    ask(&agent, &shown(&keyring, &card, &agent)).await.unwrap();
    assert_eq!(agent.asked("/token")[1].field("scope"), "less");
}

#[tokio::test]
async fn the_secret_goes_into_the_body_where_the_server_wants_it() {
    let answer = |seen: &ServerLog| match (seen.target.as_str(), seen.authorization()) {
        ("/token", Some(_)) => json_of(401, json!({"error": "invalid_client"})),
        ("/token", None) => json_of(200, json!({"access_token": "t", "expires_in": 1})),
        _ => ok(),
    };
    let agent = Server::new(answer).await;
    let card = card(
        &[("corp", client_credentials(&agent.at("/token")))],
        &[&["corp"]],
    );
    let keyring = Keyring::default().oauth_client(client());
    ask(&agent, &shown(&keyring, &card, &agent)).await.unwrap();
    let asked = agent.asked("/token");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].field("client_id"), "me:1");
    assert_eq!(asked[1].field("client_secret"), "s3cret/é");

    let keyring = Keyring::default().oauth_client(client().secret_in_body());
    ask(&agent, &shown(&keyring, &card, &agent)).await.unwrap();
    assert_eq!(agent.asked("/token").len(), 3);
}

#[tokio::test]
async fn a_refusal_is_reported_without_secrets() {
    let agent = Server::new(|_| {
        let text = "s3cret/é is wrong \u{1b}[2J, as is bWUlM0ExOnMzY3JldCUyRiVDMyVBOQ==";
        json_of(
            400,
            json!({"error": "invalid_scope", "error_description": text}),
        )
    })
    .await;
    let card = card(
        &[("corp", client_credentials(&agent.at("/token?x=s3cret")))],
        &[&["corp"]],
    );
    let keyring = Keyring::default().oauth_client(client());
    let found = problem(ask(&agent, &shown(&keyring, &card, &agent)).await);
    let expected = format!(
        "no credentials that the agent accepts: the authorization server at {} refused with \
         `invalid_scope`: *** is wrong ?[2J, as is ***",
        agent.at("/token")
    );
    assert_eq!(found, expected);
    assert!(agent.asked("/agent").is_empty());
}

#[tokio::test]
async fn a_foreign_token_endpoint_is_refused_unless_allowed() {
    let agent = Server::open().await;
    let other = Server::new(|_| token("t")).await;
    let card = card(
        &[("corp", client_credentials(&other.at("/token")))],
        &[&["corp"]],
    );
    let for_card = |client: OAuthClient| {
        let keyring = Keyring::default().oauth_client(client);
        keyring.for_card(&card, &origin(&agent.url), &HttpClient::default())
    };
    let found = problem(for_card(client()));
    assert!(found.contains("is not of the agent's origin"), "{found}");
    problem(for_card(client().allow_issuer(&agent.url)));
    let found = problem(for_card(client().allow_issuer("elsewhere")));
    assert!(found.contains("`elsewhere` is not an address"), "{found}");
    assert!(other.asked("/").is_empty());

    for allowed in [
        client().allow_issuer(&other.url),
        client().token_url(other.at("/own")),
    ] {
        ask(&agent, &for_card(allowed).unwrap().unwrap())
            .await
            .unwrap();
        assert_eq!(agent.asked("/agent")[0].authorization(), Some("Bearer t"));
    }
    let asked: Vec<_> = other
        .asked("/")
        .into_iter()
        .map(|seen| seen.target)
        .collect();
    assert_eq!(asked, ["/token", "/own"]);
}

#[tokio::test]
async fn secrets_need_tls() {
    let card = card(
        &[("corp", client_credentials("http://agent.example/token"))],
        &[&["corp"]],
    );
    let for_card = |client: OAuthClient| {
        let keyring = Keyring::default().oauth_client(client);
        keyring.for_card(
            &card,
            &origin("http://agent.example"),
            &HttpClient::default(),
        )
    };
    let found = problem(for_card(client()));
    assert!(found.contains("is not protected by TLS"), "{found}");
    let own = client().token_url("http://login.example/");
    assert!(problem(for_card(own)).contains("http://login.example/ is not protected by TLS"));
    assert!(for_card(client().allow_http()).unwrap().is_some());
}

/// Starts an authorization server that describes itself, with its token endpoint at a URL.
async fn described(token_url: impl Fn(&str) -> String + Send + Sync + 'static) -> Server {
    let url = Arc::new(Mutex::new(String::new()));
    let own = Arc::clone(&url);
    let server = Server::new(move |seen| match seen.target.as_str() {
        "/.well-known/openid-configuration" => {
            let own = own.lock().unwrap().clone();
            let methods = ["client_secret_post"];
            let description = json!({"issuer": own, "token_endpoint": token_url(&own),
                "token_endpoint_auth_methods_supported": methods});
            json_of(200, description)
        }
        "/token" => token("t"),
        _ => ok(),
    })
    .await;
    server.url.clone_into(&mut url.lock().unwrap());
    server
}

const WELL_KNOWN: &str = "/.well-known/openid-configuration";

#[tokio::test]
async fn a_server_that_describes_itself_is_asked_where_it_says() {
    let issuer = described(|own| format!("{own}/token")).await;
    let described = issuer.at(WELL_KNOWN);
    for scheme in [
        json!({"openIdConnectSecurityScheme": {"openIdConnectUrl": described}}),
        json!({"oauth2SecurityScheme": {"flows": {}, "oauth2MetadataUrl": described}}),
    ] {
        let agent = Server::open().await;
        let card = card(&[("id", scheme)], &[&["id"]]);
        let for_card = |client: OAuthClient| {
            let keyring = Keyring::default().oauth_client(client);
            keyring.for_card(&card, &origin(&agent.url), &HttpClient::default())
        };
        let found = problem(for_card(client()));
        assert!(found.contains("is not of the agent's origin"), "{found}");
        let credentials = for_card(client().allow_issuer(&issuer.url)).unwrap();
        ask(&agent, &credentials.unwrap()).await.unwrap();
        assert_eq!(agent.asked("/agent")[0].authorization(), Some("Bearer t"));
    }
    let asked = issuer.asked("/token");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].authorization(), None);
    assert_eq!(asked[0].field("client_secret"), "s3cret/é");
}

#[tokio::test]
async fn metadata_of_allowed_issuers_only_may_name_foreign_endpoints() {
    let elsewhere = Server::new(|_| token("t")).await;
    let token_url = elsewhere.at("/token");
    let agent = described(move |_| token_url.clone()).await;
    let scheme = json!({"openIdConnectSecurityScheme": {"openIdConnectUrl": agent.at(WELL_KNOWN)}});
    let card = card(&[("id", scheme)], &[&["id"]]);
    // The agent describes itself; that is worth as much as its card.
    let keyring = Keyring::default().oauth_client(client());
    let found = problem(ask(&agent, &shown(&keyring, &card, &agent)).await);
    assert!(found.contains("is not of the agent's origin"), "{found}");
    assert!(elsewhere.asked("/").is_empty());
    let keyring = Keyring::default().oauth_client(client().allow_issuer(&agent.url));
    ask(&agent, &shown(&keyring, &card, &agent)).await.unwrap();
    assert_eq!(elsewhere.asked("/token").len(), 1);
}

#[tokio::test]
async fn a_client_needs_a_flow_of_its_own() {
    let flow =
        json!({"authorizationUrl": "https://agent.example/", "tokenUrl": "https://agent.example/"});
    let scheme = json!({"oauth2SecurityScheme": {"flows": {"authorizationCode": flow}}});
    let card = card(
        &[("user", scheme), ("plain", http("bearer"))],
        &[&["user"], &["plain"]],
    );
    let keyring = Keyring::default().oauth_client(client());
    let http = HttpClient::default();
    let found = problem(keyring.for_card(&card, &origin("https://agent.example"), &http));
    assert!(
        found.contains("does not say where this OAuth client has its tokens"),
        "{found}"
    );
    let own = client().token_url("https://login.example/");
    let keyring = Keyring::default().oauth_client(own);
    let shown = keyring.for_card(&card, &origin("https://agent.example"), &http);
    assert_eq!(
        format!("{:?}", shown.unwrap().unwrap()),
        "CredentialSet([bearer token])"
    );
}
