//! Placement of keys, passwords and tokens in requests.

use super::*;

/// Sends a request with the keyring's credentials for a scheme, and returns it as the agent saw it.
async fn seen(keyring: Keyring, scheme: Value) -> ServerLog {
    let agent = Server::open().await;
    let credentials = shown(&keyring, &card(&[("s", scheme)], &[&["s"]]), &agent);
    ask(&agent, &credentials).await.unwrap();
    agent.asked("/").remove(0)
}

#[tokio::test]
async fn a_key_goes_where_the_card_wants_it() {
    let keyring = Keyring::default().api_key("k 3y&=é");
    let query = seen(keyring, key("query", "api key")).await;
    assert_eq!(query.target, "/agent?x=1&api%20key=k%203y%26%3D%C3%A9");

    let keyring = Keyring::default().api_key("k3y");
    let header = seen(keyring.clone(), key("header", "X-Key")).await;
    assert_eq!(header.header("x-key"), Some("k3y"));
    assert_eq!(header.target, "/agent?x=1");

    let cookie = seen(keyring, key("cookie", "sid")).await;
    assert_eq!(cookie.header("cookie"), Some("sid=k3y"));
}

#[tokio::test]
async fn cookies_are_added_to_existing_cookies() {
    let agent = Server::open().await;
    let schemes = [("a", key("cookie", "a")), ("b", key("cookie", "b"))];
    let card = card(&schemes, &[&["a", "b"]]);
    let keyring = Keyring::default().api_key_for("b", "2").api_key("1");
    let credentials = shown(&keyring, &card, &agent);
    let own = HeaderMap::from_iter([(http::header::COOKIE, "own=0".parse().unwrap())]);
    let fetch = HttpClient::default();
    let fetched = fetch.get_as(Some(&*credentials), &agent.url, &own).await;
    assert_eq!(fetched.unwrap().status, 200);
    assert_eq!(
        agent.asked("/")[0].header("cookie"),
        Some("own=0; a=1; b=2")
    );
}

#[tokio::test]
async fn passwords_and_tokens_are_shown_in_authorization() {
    let keyring = Keyring::default().basic("Aladdin", "open sesame");
    let basic = seen(keyring, http("basic")).await;
    let expected = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert_eq!(basic.authorization(), expected);

    let keyring = Keyring::default().bearer("t0ken");
    for scheme in [
        http("Bearer"),
        client_credentials("https://elsewhere.example/"),
        json!({"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://elsewhere.example/"}}),
    ] {
        let bearer = seen(keyring.clone(), scheme).await;
        assert_eq!(bearer.authorization(), Some("Bearer t0ken"));
    }
}

#[derive(Debug)]
struct RequestSigner;

impl Credentials for RequestSigner {
    fn attach<'a>(
        &'a self,
        head: &'a mut http::request::Parts,
    ) -> a2a_transport::BoxFuture<'a, Result<(), Error>> {
        head.headers.insert("x-signed", "yes".parse().unwrap());
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn custom_credentials_change_the_request() {
    let keyring = Keyring::default().custom("s", Arc::new(RequestSigner));
    let custom = seen(keyring, http("HOBA")).await;
    assert_eq!(custom.header("x-signed"), Some("yes"));
}

#[tokio::test]
async fn headers_of_the_caller_are_always_sent() {
    let keyring = Keyring::default().header("X-Own", "1").bearer("t0ken");
    let both = seen(keyring, http("bearer")).await;
    assert_eq!(both.header("x-own"), Some("1"));
    assert_eq!(both.authorization(), Some("Bearer t0ken"));
}

#[tokio::test]
async fn headers_with_credentials_are_marked_as_sensitive() {
    let schemes = [
        ("a", key("header", "X-Key")),
        ("b", http("bearer")),
        ("c", key("cookie", "c")),
    ];
    let card = card(&schemes, &[&["a", "b", "c"]]);
    let keyring = Keyring::default().api_key("k3y").bearer("t0ken");
    let agent = Server::open().await;
    let credentials = shown(&keyring, &card, &agent);
    let (mut head, ()) = Request::new(()).into_parts();
    credentials.attach(&mut head).await.unwrap();
    assert_eq!(head.headers.len(), 3);
    for (name, value) in &head.headers {
        assert!(value.is_sensitive(), "{name}");
    }
}

#[tokio::test]
async fn credentials_that_cannot_be_sent_are_refused() {
    let long = "x".repeat(20_000);
    for (keyring, scheme, expected) in [
        (
            Keyring::default().bearer("a\r\nX: y"),
            http("bearer"),
            "visible ASCII",
        ),
        (
            Keyring::default().bearer("a b"),
            http("bearer"),
            "visible ASCII",
        ),
        (
            Keyring::default().bearer(""),
            http("bearer"),
            "visible ASCII",
        ),
        (
            Keyring::default().bearer(&long),
            http("bearer"),
            "visible ASCII",
        ),
        (Keyring::default().basic("a:b", "c"), http("basic"), "`:`"),
        (
            Keyring::default().basic("a", "c\n"),
            http("basic"),
            "control",
        ),
        (
            Keyring::default().api_key("a\nb"),
            key("header", "X-Key"),
            "visible ASCII",
        ),
        (
            Keyring::default().api_key("é"),
            key("header", "X-Key"),
            "visible ASCII",
        ),
        (
            Keyring::default().api_key("a"),
            key("header", "X Key"),
            "not the name of a header",
        ),
        (
            Keyring::default().api_key("a"),
            key("header", "Host"),
            "not for credentials",
        ),
        (
            Keyring::default().api_key("a"),
            key("header", "Cookie"),
            "not for credentials",
        ),
        (
            Keyring::default().api_key("a"),
            key("header", "X-Forwarded-For"),
            "not for credentials",
        ),
        (
            Keyring::default().api_key("a;b"),
            key("cookie", "c"),
            "cookie",
        ),
        (
            Keyring::default().api_key("a"),
            key("cookie", "c=d"),
            "cookie",
        ),
        (Keyring::default().api_key("a"), key("query", ""), "no name"),
        (
            Keyring::default().api_key("a"),
            key("body", "c"),
            "expected header, query or cookie",
        ),
    ] {
        let card = card(&[("s", scheme)], &[&["s"]]);
        let http = HttpClient::default();
        let problem = problem(keyring.for_card(&card, &origin("https://agent.example"), &http));
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn a_keyring_tells_nothing() {
    let keyring = Keyring::default()
        .api_key_for("corp", "s3cret")
        .basic("ada", "s3cret")
        .bearer("s3cret")
        .header("X-Own", "s3cret")
        .oauth_client(super::oauth::client().parameter("assertion", "s3cret"))
        .bearer_from(|| async { Ok(a2a_client::credentials::AccessToken::new("s3cret")) });
    let printed = format!("{keyring:?} {:?}", super::oauth::client());
    assert!(!printed.contains("s3cret"), "{printed}");
    assert!(printed.contains("an API key for `corp`"), "{printed}");
    let agent = "https://agent.example";
    for (name, scheme) in [("key", key("query", "k")), ("basic", http("basic"))] {
        let card = card(&[(name, scheme)], &[&[name]]);
        let keyring = keyring.clone().api_key("s3cret");
        let credentials = keyring.for_card(&card, &origin(agent), &HttpClient::default());
        let printed = format!("{:?}", credentials.unwrap().unwrap());
        assert!(!printed.contains("s3cret"), "{printed}");
        assert!(!printed.contains("czNjcmV0"), "{printed}");
    }
}
