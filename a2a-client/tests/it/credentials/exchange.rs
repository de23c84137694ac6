//! Tokens of users in exchange for tokens of an agent.

use a2a_client::credentials::{OAuthClient, SecurityToken, TokenExchange};
use a2a_client::{Client, ProtocolVersion};

use super::calls::UserAgent;
use super::*;

/// Starts a token endpoint that gives a token for `alice-token` or `bob-token`, with its number.
async fn token_server() -> Server {
    let given = Mutex::new(0);
    Server::new(move |seen| {
        let subject = seen.field("subject_token").trim_end_matches("-token");
        if !["alice", "bob"].contains(&subject) {
            let text = format!("{subject}-token belongs to no user");
            let error = json!({"error": "invalid_request", "error_description": text});
            return json_of(400, error);
        }
        let mut given = given.lock().unwrap();
        *given += 1;
        let answer = json!({"access_token": format!("{subject}-{given}"), "token_type": "Bearer",
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "expires_in": 3600});
        json_of(200, answer)
    })
    .await
}

fn exchange(server: &Server) -> TokenExchange {
    let client = OAuthClient::new("me", "s3cret").scope("ask");
    let client = client.token_url(server.at("/token"));
    TokenExchange::new(client, HttpClient::default()).unwrap()
}

fn user(exchange: &TokenExchange, name: &str) -> Arc<dyn Credentials> {
    let subject = SecurityToken::access_token(format!("{name}-token"));
    exchange.credentials(subject, None).unwrap()
}

#[tokio::test]
async fn a_token_is_exchanged_once_for_each_user() {
    let login = token_server().await;
    let tokens = [("alice-1", "alice"), ("bob-2", "bob")];
    let (agent, url) = UserAgent::serve(&tokens).await;
    let client = Client::at(&url, ProtocolVersion::V1_0).unwrap();
    let exchange = exchange(&login)
        .audience("agent")
        .audience("https://agent.example")
        .resource("https://agent.example/a2a");
    for name in ["alice", "bob", "alice", "bob"] {
        let sending = client.send("hi").credentials(user(&exchange, name));
        sending.await.unwrap();
    }
    assert_eq!(agent.sent(), ["alice-1", "bob-2", "alice-1", "bob-2"]);
    let asked = login.asked("/token");
    assert_eq!(asked.len(), 2);
    let expected = [
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        ("subject_token", "alice-token"),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:access_token",
        ),
        ("audience", "https://agent.example"),
        ("resource", "https://agent.example/a2a"),
        ("scope", "ask"),
    ];
    for (name, value) in expected {
        assert_eq!(asked[0].field(name), value);
    }
    assert_eq!(asked[0].form.len(), expected.len());
    assert_eq!(asked[0].authorization(), Some("Basic bWU6czNjcmV0"));
}

#[tokio::test]
async fn a_revoked_token_is_exchanged_again() {
    let login = token_server().await;
    let (agent, url) = UserAgent::serve(&[("alice-1", "alice")]).await;
    let client = Client::at(&url, ProtocolVersion::V1_0).unwrap();
    let exchange = exchange(&login);
    client
        .send("hi")
        .credentials(user(&exchange, "alice"))
        .await
        .unwrap();
    agent.revoke("alice-1");
    agent.accept("alice-2", "alice");
    client
        .send("hi")
        .credentials(user(&exchange, "alice"))
        .await
        .unwrap();
    assert_eq!(agent.sent(), ["alice-1", "alice-1", "alice-2"]);
    assert_eq!(login.asked("/token").len(), 2);
}

#[tokio::test]
async fn the_actor_is_named_and_kept_apart() {
    let (login, agent) = (token_server().await, Server::open().await);
    let exchange = exchange(&login);
    let subject = || SecurityToken::id_token("alice-token");
    let actor = SecurityToken::of_type("urn:example:robot", "r0bot");
    for actor in [Some(actor), None] {
        let credentials = exchange.credentials(subject(), actor).unwrap();
        ask(&agent, &credentials).await.unwrap();
    }
    let [acted, alone] = &login.asked("/token")[..] else {
        panic!()
    };
    assert_eq!(acted.field("actor_token"), "r0bot");
    assert_eq!(acted.field("actor_token_type"), "urn:example:robot");
    let kind = "urn:ietf:params:oauth:token-type:id_token";
    assert_eq!(acted.field("subject_token_type"), kind);
    assert!(!alone.form.contains_key("actor_token"));
}

#[tokio::test]
async fn a_refused_exchange_is_reported_without_secrets() {
    let (login, agent) = (token_server().await, Server::open().await);
    let exchange = exchange(&login);
    let mallory = user(&exchange, "mallory");
    let found = problem(ask(&agent, &mallory).await);
    let expected = format!(
        "no credentials that the agent accepts: could not exchange a token: the authorization server \
         at {} refused with `invalid_request`: *** belongs to no user",
        login.at("/token")
    );
    assert_eq!(found, expected);
    assert!(agent.asked("/agent").is_empty());
    ask(&agent, &user(&exchange, "alice")).await.unwrap();
    let subject = SecurityToken::access_token("alice-token");
    let alice = user(&exchange, "alice");
    let client = Client::at(&agent.url, ProtocolVersion::V1_0).unwrap();
    let refused = client.send("hi").credentials(Arc::clone(&alice)).await;
    let mut call = a2a_transport::CallRequest::new(a2a_types::GetTaskRequest::default());
    call.context.credentials = Some(Arc::clone(&alice));
    let shown = format!("{exchange:?} {subject:?} {alice:?} {mallory:?} {refused:?} {call:?}");
    for secret in ["alice-token", "mallory-token", "alice-1", "s3cret"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn tokens_are_not_exchanged_in_the_open() {
    let client = || OAuthClient::new("me", "s3cret");
    let make = |client| TokenExchange::new(client, HttpClient::default());
    let found = problem(make(client().token_url("http://login.example/token")));
    assert!(found.contains("is not protected by TLS"), "{found}");
    let found = problem(make(client()));
    assert!(
        found.contains("expected the OAuth client to have a `token_url`"),
        "{found}"
    );
    make(client().token_url("http://login.example/").allow_http()).unwrap();
    let exchange = make(client().token_url("https://login.example/")).unwrap();
    for size in [0, (16 << 10) + 1] {
        let token = SecurityToken::access_token("x".repeat(size));
        problem(exchange.credentials(token, None));
        let (alice, token) = (
            "alice".to_owned(),
            SecurityToken::of_type("t", "x".repeat(size)),
        );
        problem(exchange.credentials(SecurityToken::access_token(alice), token));
    }
}

#[tokio::test]
async fn the_tokens_of_a_thousand_users_are_kept() {
    let (login, agent) = (token_server().await, Server::open().await);
    let exchange = exchange(&login);
    ask(&agent, &user(&exchange, "alice")).await.unwrap();
    let others = |count: usize| {
        (0..count).for_each(|number| drop(user(&exchange, &number.to_string())));
    };
    others(1023);
    ask(&agent, &user(&exchange, "alice")).await.unwrap();
    assert_eq!(login.asked("/token").len(), 1);
    others(1024);
    ask(&agent, &user(&exchange, "alice")).await.unwrap();
    assert_eq!(login.asked("/token").len(), 2);
}
