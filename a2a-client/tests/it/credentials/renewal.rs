//! Tokens are kept, renewed before they end, and replaced when an agent refuses them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_client::credentials::{AccessToken, BoxError, OAuthClient};
use tokio::sync::Notify;

use super::*;

/// Starts an agent that issues tokens `t1`, `t2` and so on, and answers other requests by `agent`.
async fn giver(
    life: u64,
    agent: impl Fn(&ServerLog) -> Response<String> + Send + Sync + 'static,
) -> (Server, Arc<dyn Credentials>) {
    let given = AtomicUsize::new(0);
    served(agent, move |_| {
        let number = given.fetch_add(1, Ordering::SeqCst) + 1;
        let token = format!("t{number}");
        json_of(
            200,
            json!({"access_token": token, "token_type": "Bearer", "expires_in": life}),
        )
    })
    .await
}

/// Starts an agent with its token endpoint. Returns the server, and the credentials of its client.
async fn served(
    agent: impl Fn(&ServerLog) -> Response<String> + Send + Sync + 'static,
    token: impl Fn(&ServerLog) -> Response<String> + Send + Sync + 'static,
) -> (Server, Arc<dyn Credentials>) {
    let server = Server::new(move |seen| match seen.target.as_str() {
        "/token" => token(seen),
        _ => agent(seen),
    })
    .await;
    let client = OAuthClient::new("me", "s3cret").token_url(server.at("/token"));
    let keyring = Keyring::default().oauth_client(client);
    let credentials = shown(&keyring, &card(&[], &[]), &server);
    (server, credentials)
}

/// Advances the paused clock by this number of seconds at once.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

/// Waits until `tokens` tokens were requested.
async fn asked(server: &Server, tokens: usize) {
    let asking = async {
        while server.asked("/token").len() < tokens {
            tokio::task::yield_now().await;
        }
    };
    let asked = tokio::time::timeout(Duration::from_secs(30), asking).await;
    asked.expect("a token was requested");
}

/// Returns the tokens that the agent saw.
fn tokens(server: &Server) -> Vec<String> {
    let seen = server.asked("/agent");
    let tokens = seen.iter().map(|seen| seen.authorization().unwrap());
    tokens.map(|token| token.replace("Bearer ", "")).collect()
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends() {
    // It ages after 20 s, and after 37 s it is too old.
    let (server, credentials) = giver(40, |_| ok()).await;
    ask(&server, &credentials).await.unwrap();
    pass(19).await;
    ask(&server, &credentials).await.unwrap();
    assert_eq!(server.asked("/token").len(), 1);
    pass(2).await;
    // The call does not wait.
    ask(&server, &credentials).await.unwrap();
    asked(&server, 2).await;
    pass(17).await;
    ask(&server, &credentials).await.unwrap();
    assert_eq!(tokens(&server), ["t1", "t1", "t1", "t2"]);
    assert_eq!(server.asked("/token").len(), 2);
    // No calls for a long time.
    pass(40).await;
    ask(&server, &credentials).await.unwrap();
    assert_eq!(tokens(&server)[4], "t3");
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once() {
    let only_second = |seen: &ServerLog| match seen.authorization() {
        Some("Bearer t2") => ok(),
        _ => refusal("Bearer error=\"invalid_token\""),
    };
    let (server, credentials) = giver(3600, only_second).await;
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 200);
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 200);
    assert_eq!(tokens(&server), ["t1", "t2", "t2"]);

    let (server, credentials) = giver(3600, |_| refusal("Bearer")).await;
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 401);
    assert_eq!(tokens(&server), ["t1", "t2"]);
    // An agent that refuses every token does not cause a token request each time.
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 401);
    assert_eq!(server.asked("/token").len(), 2);
    pass(10).await;
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 401);
    assert_eq!(server.asked("/token").len(), 3);
}

#[tokio::test]
async fn another_token_would_not_help() {
    let insufficient = "Bearer error=\"insufficient_scope\", scope=\"more\"";
    let (server, credentials) = giver(3600, move |_| refusal(insufficient)).await;
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 401);
    assert_eq!(tokens(&server), ["t1"]);

    let (server, credentials) = giver(3600, |_| json_of(403, json!({}))).await;
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 403);
    assert_eq!(ask(&server, &credentials).await.unwrap().status, 403);
    assert_eq!(tokens(&server), ["t1", "t1"]);

    let agent = Server::new(|_| refusal("Bearer")).await;
    let keyring = Keyring::default().bearer("own");
    let credentials = shown(&keyring, &card(&[], &[]), &agent);
    assert_eq!(ask(&agent, &credentials).await.unwrap().status, 401);
    assert_eq!(tokens(&agent), ["own"]);
}

#[tokio::test]
async fn many_calls_want_one_token() {
    let first_is_bad = |seen: &ServerLog| match seen.authorization() {
        Some("Bearer t1") => refusal("Bearer"),
        _ => ok(),
    };
    let (server, credentials) = giver(3600, first_is_bad).await;
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (server, credentials) = (server.clone(), Arc::clone(&credentials));
            tokio::spawn(async move { ask(&server, &credentials).await.unwrap().status })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    // One fetch for all callers, and one more for all that were refused.
    assert_eq!(server.asked("/token").len(), 2);
}

#[tokio::test]
async fn a_dropped_call_does_not_cancel_the_token_request() {
    let (called, go, calls) = <(Arc<Notify>, Arc<Notify>, Arc<AtomicUsize>)>::default();
    let provider = {
        let (called, go, calls) = (Arc::clone(&called), Arc::clone(&go), Arc::clone(&calls));
        move || {
            let (called, go) = (Arc::clone(&called), Arc::clone(&go));
            calls.fetch_add(1, Ordering::SeqCst);
            async move {
                called.notify_one();
                go.notified().await;
                Ok(AccessToken::new("t"))
            }
        }
    };
    let agent = Server::open().await;
    let keyring = Keyring::default().bearer_from(provider);
    let credentials = shown(&keyring, &card(&[], &[]), &agent);
    tokio::select! {
        _ = ask(&agent, &credentials) => panic!("there is no token yet"),
        () = called.notified() => {}
    }
    go.notify_one();
    ask(&agent, &credentials).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(tokens(&agent), ["t"]);
}

#[tokio::test]
async fn a_refresh_token_is_used_while_it_is_good() {
    let token = |seen: &ServerLog| match seen.field("grant_type") {
        "client_credentials" => json_of(
            200,
            json!({"access_token": "t1", "expires_in": 40, "refresh_token": "r1"}),
        ),
        _ if seen.field("refresh_token") == "r1" => json_of(
            200,
            json!({"access_token": "t2", "expires_in": 40, "refresh_token": "r2"}),
        ),
        _ => json_of(400, json!({"error": "invalid_grant"})),
    };
    let (server, credentials) = served(|_| ok(), token).await;
    for _ in 0..3 {
        ask(&server, &credentials).await.unwrap();
        pass(39).await;
    }
    assert_eq!(tokens(&server), ["t1", "t2", "t1"]);
    let asked = server.asked("/token");
    let grants: Vec<_> = asked.iter().map(|seen| seen.field("grant_type")).collect();
    let (refresh, first) = ("refresh_token", "client_credentials");
    assert_eq!(grants, [first, refresh, refresh, first]);
}

#[tokio::test]
async fn a_token_is_used_to_its_end_when_there_is_no_other() {
    let given = AtomicUsize::new(0);
    let token = move |_: &ServerLog| match given.fetch_add(1, Ordering::SeqCst) {
        0 => json_of(200, json!({"access_token": "t1", "expires_in": 40})),
        _ => json_of(503, json!({})),
    };
    let (server, credentials) = served(|_| ok(), token).await;
    ask(&server, &credentials).await.unwrap();
    pass(21).await;
    ask(&server, &credentials).await.unwrap();
    asked(&server, 2).await;
    pass(4).await;
    ask(&server, &credentials).await.unwrap();
    ask(&server, &credentials).await.unwrap();
    assert_eq!(tokens(&server), ["t1"; 4]);
    pass(13).await;
    let found = problem(ask(&server, &credentials).await);
    assert!(found.contains("answered 503"), "{found}");
    assert_eq!(tokens(&server).len(), 4);
    // A server that fails is left alone for a while, as long as there is a token.
    assert_eq!(server.asked("/token").len(), 3);
}

#[tokio::test]
async fn a_provider_that_fails_says_why() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let provider = move || {
        let call = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            match call {
                0 => Err(BoxError::from("the vault is sealed")),
                1 => panic!("on purpose"),
                2 => Ok(AccessToken::new("a\nb")),
                _ => Ok(AccessToken::new("t").expires_in(Duration::from_secs(40))),
            }
        }
    };
    let agent = Server::open().await;
    let keyring = Keyring::default().bearer_from(provider);
    let credentials = shown(&keyring, &card(&[], &[]), &agent);
    for expected in ["the vault is sealed", "ended without one", "visible ASCII"] {
        let found = problem(ask(&agent, &credentials).await);
        assert!(found.contains(expected), "{found}");
    }
    ask(&agent, &credentials).await.unwrap();
    pass(39).await;
    ask(&agent, &credentials).await.unwrap();
    assert_eq!(tokens(&agent), ["t", "t"]);
    assert_eq!(calls.load(Ordering::SeqCst), 5);
}
