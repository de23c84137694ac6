//! A user allows a token by entering a code elsewhere. Time is paused, and passes when nothing else
//! can happen.

use std::time::Duration;

use a2a_client::credentials::{DevicePrompt, OAuthClient};
use tokio::time::Instant;

use super::*;

/// The prompts shown to the user, and the times of the token requests.
#[derive(Default)]
struct Scenario {
    prompts: Mutex<Vec<DevicePrompt>>,
    polls: Mutex<Vec<Instant>>,
}

/// Starts an agent whose tokens a user has to allow, with its answers to token requests; the last one repeats.
async fn story(
    codes: Value,
    answers: Vec<Response<String>>,
) -> (Server, Keyring, AgentCard, Arc<Scenario>) {
    let story = Arc::<Scenario>::default();
    let server_story = Arc::clone(&story);
    let server = Server::new(move |seen| match seen.target.as_str() {
        "/device" => json_of(200, codes.clone()),
        "/token" => {
            let mut polls = server_story.polls.lock().unwrap();
            polls.push(Instant::now());
            answers[polls.len().min(answers.len()) - 1].clone()
        }
        _ => ok(),
    })
    .await;
    let flow = json!({"deviceAuthorizationUrl": server.at("/device"), "tokenUrl": server.at("/token"), "scopes": {}});
    let scheme = json!({"oauth2SecurityScheme": {"flows": {"deviceCode": flow}}});
    let card = card(&[("user", scheme)], &[&["user"]]);
    let client_story = Arc::clone(&story);
    let client = OAuthClient::public("cli").scope("ask");
    let prompt = move |prompt| client_story.prompts.lock().unwrap().push(prompt);
    let keyring = Keyring::default().oauth_device(client, prompt);
    (server, keyring, card, story)
}

fn codes(expires_in: u64) -> Value {
    json!({
        "device_code": "d3vice", "user_code": "WDJB-MJHT", "interval": 2, "expires_in": expires_in,
        "verification_uri": "https://login.example/device",
        "verification_uri_complete": "https://login.example/device?user_code=WDJB-MJHT",
    })
}

fn error(code: &str) -> Response<String> {
    json_of(400, json!({"error": code}))
}

#[tokio::test(start_paused = true)]
async fn the_user_enters_a_code_while_we_ask_with_patience() {
    let token = json_of(
        200,
        json!({"access_token": "t", "token_type": "Bearer", "expires_in": 3600}),
    );
    let pending = error("authorization_pending");
    let answers = vec![pending.clone(), error("slow_down"), pending, token];
    let (server, keyring, card, story) = story(codes(600), answers).await;
    let begun = Instant::now();
    ask(&server, &shown(&keyring, &card, &server))
        .await
        .unwrap();
    assert_eq!(server.asked("/agent")[0].authorization(), Some("Bearer t"));

    let prompts = story.prompts.lock().unwrap().clone();
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].verification_uri, "https://login.example/device");
    assert_eq!(prompts[0].user_code, "WDJB-MJHT");
    assert_eq!(prompts[0].expires_in, Duration::from_secs(600));
    assert!(prompts[0].verification_uri_complete.is_some());

    let asked = server.asked("/device");
    assert_eq!(asked[0].field("client_id"), "cli");
    assert_eq!(asked[0].field("scope"), "ask");
    let polls = story.polls.lock().unwrap().clone();
    let times = [begun].into_iter().chain(polls);
    let times: Vec<_> = times.collect();
    let waits: Vec<_> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs())
        .collect();
    assert_eq!(waits, [2, 2, 7, 7]);
    let asked = server.asked("/token");
    assert_eq!(asked[0].field("device_code"), "d3vice");
    assert_eq!(asked[0].field("client_id"), "cli");
    let grant = "urn:ietf:params:oauth:grant-type:device_code";
    assert_eq!(asked[0].field("grant_type"), grant);

    // A second connection does not prompt the user again.
    ask(&server, &shown(&keyring, &card, &server))
        .await
        .unwrap();
    assert_eq!(story.prompts.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_answer_is_asked_less_often() {
    let token = json_of(200, json!({"access_token": "t"}));
    let busy = json_of(503, json!({}));
    let (server, keyring, card, story) = story(codes(600), vec![busy.clone(), busy, token]).await;
    let begun = Instant::now();
    ask(&server, &shown(&keyring, &card, &server))
        .await
        .unwrap();
    let times = [begun]
        .into_iter()
        .chain(story.polls.lock().unwrap().clone());
    let times: Vec<_> = times.collect();
    let waits: Vec<_> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs())
        .collect();
    assert_eq!(waits, [2, 4, 8]);
}

#[tokio::test(start_paused = true)]
async fn a_code_ends_without_a_token() {
    for (answer, expected) in [
        (
            error("authorization_pending"),
            "the code was not entered in time",
        ),
        (error("expired_token"), "the code was not entered in time"),
        (error("slow_down"), "the code was not entered in time"),
        (error("access_denied"), "the user denied access"),
        (error("invalid_grant"), "refused with `invalid_grant`"),
        (json_of(200, json!([])), "not what OAuth 2.0 says"),
    ] {
        let (server, keyring, card, story) = story(codes(30), vec![answer]).await;
        let begun = Instant::now();
        let found = problem(ask(&server, &shown(&keyring, &card, &server)).await);
        assert!(found.contains(expected), "{found}");
        assert!(begun.elapsed() <= Duration::from_secs(31), "{expected}");
        assert!(story.polls.lock().unwrap().len() <= 15);
        assert!(server.asked("/agent").is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_user_is_not_sent_anywhere() {
    for (member, value) in [
        ("verification_uri", json!("http://login.example/device")),
        ("verification_uri", json!("javascript:alert(1)")),
        (
            "verification_uri",
            json!("https://login.example@evil.example/"),
        ),
        ("user_code", json!("\u{1b}]0;x\u{7}")),
        ("user_code", json!("")),
        ("expires_in", json!(-1)),
        ("device_code", json!(null)),
    ] {
        let mut codes = codes(600);
        codes[member] = value;
        let (server, keyring, card, story) =
            story(codes.clone(), vec![error("access_denied")]).await;
        let found = problem(ask(&server, &shown(&keyring, &card, &server)).await);
        assert!(found.contains("at http://127.0.0.1"), "{codes}: {found}");
        assert!(story.prompts.lock().unwrap().is_empty(), "{codes}");
        assert!(!found.contains("d3vice"), "{found}");
    }
}
