//! Token endpoints that answer badly.

use a2a_client::credentials::OAuthClient;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Returns the error of a token endpoint at a URL.
async fn no_token(url: &str) -> String {
    let agent = Server::open().await;
    let client = OAuthClient::new("me", "s3cret").token_url(url);
    let keyring = Keyring::default().oauth_client(client);
    let credentials = shown(&keyring, &card(&[], &[]), &agent);
    let found = problem(ask(&agent, &credentials).await);
    assert!(agent.asked("/agent").is_empty());
    assert!(!found.contains("s3cret") && found.len() < 2000, "{found}");
    assert!(found.contains(url), "{found}");
    found
}

#[tokio::test]
async fn bad_answers_are_refused() {
    let with = |name: &str, value: Value| {
        let mut answer = json!({"access_token": "s3cret-t", "token_type": "Bearer"});
        answer[name] = value;
        json_of(200, answer)
    };
    let text = |status: u16, body: String| {
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        response
    };
    let redirect = || {
        let mut response = text(307, String::new());
        let to = "http://evil.example/?s3cret".parse().unwrap();
        response.headers_mut().insert(http::header::LOCATION, to);
        response
    };
    let nested = "[".repeat(100_000);
    for (answer, expected) in [
        (with("access_token", json!("a\nb")), "cannot be sent"),
        (with("access_token", json!("")), "cannot be sent"),
        (
            with("access_token", json!("x".repeat(20_000))),
            "cannot be sent",
        ),
        (with("access_token", json!(7)), "not what OAuth 2.0 says"),
        (with("access_token", json!(null)), "not what OAuth 2.0 says"),
        (with("token_type", json!("DPoP")), "of type `DPoP`"),
        (
            with("token_type", json!("\u{1b}[2J s3cret")),
            "of type `?[2J ***`",
        ),
        (with("expires_in", json!(-1)), "not a positive number"),
        (with("expires_in", json!(0)), "not a positive number"),
        (with("expires_in", json!("soon")), "not a positive number"),
        (with("expires_in", json!([])), "not a positive number"),
        (with("error", json!("x")), "refused with `x`"),
        (
            with("error", json!("e\r\n".repeat(1000))),
            "refused with `e??e??",
        ),
        (
            text(200, "<html>s3cret</html>".to_owned()),
            "not what OAuth 2.0 says",
        ),
        (text(200, String::new()), "not what OAuth 2.0 says"),
        (text(200, nested), "not what OAuth 2.0 says"),
        (text(200, " ".repeat(1 << 20)), "more than 262144 bytes"),
        (text(200, "x".repeat(64 << 20)), "more than 262144 bytes"),
        (text(502, "<html>s3cret</html>".to_owned()), "answered 502"),
        (text(404, "<html>s3cret</html>".to_owned()), "answered 404"),
        (redirect(), "answered 307, which sends secrets elsewhere"),
    ] {
        let server = Server::new(move |_| answer.clone()).await;
        let found = no_token(&server.at("/token")).await;
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

#[tokio::test]
async fn good_answers_are_taken_as_they_are_written() {
    for expires_in in [
        json!(1e300),
        json!(u64::MAX),
        json!("3600"),
        json!(0.5),
        json!(null),
    ] {
        let answer = json!({"access_token": "t", "token_type": "bEARER", "expires_in": expires_in});
        let server = Server::new(move |_| json_of(200, answer.clone())).await;
        let client = OAuthClient::new("me", "s3cret").token_url(server.at("/token"));
        let keyring = Keyring::default().oauth_client(client);
        let credentials = shown(&keyring, &card(&[], &[]), &server);
        ask(&server, &credentials).await.unwrap();
        assert_eq!(
            server.asked("/agent")[0].authorization(),
            Some("Bearer t"),
            "{expires_in}"
        );
    }
}

/// Starts a server that answers every request with these bytes, repeated until the connection ends.
async fn raw(head: &'static str, again: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/token", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let again = again.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let mut sent = stream.write_all(head.as_bytes()).await;
                while sent.is_ok() && !again.is_empty() {
                    sent = stream.write_all(&again).await;
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut chunk = b"100000\r\n".to_vec();
    chunk.resize(chunk.len() + (1 << 20), b' ');
    chunk.extend(b"\r\n");
    let found = no_token(&raw(head, chunk).await).await;
    assert!(found.contains("larger than"), "{found}");
}

#[tokio::test]
async fn answers_that_are_not_http_are_reported() {
    let found = no_token(&raw("SSH-2.0-x\r\n", Vec::new()).await).await;
    assert!(found.contains("connection broke"), "{found}");
    // No server listens there.
    let found = no_token("http://127.0.0.1:1/token").await;
    assert!(found.contains("cannot connect"), "{found}");
}

/// Headers and credentials are for the place that the caller has named, not for one that a catalog names.
#[tokio::test]
async fn a_catalog_leads_on_without_credentials() {
    let document = json!(card(&[], &[]));
    let agent = Server::new(move |_| json_of(200, document.clone())).await;
    let listed = agent.at("/card.json");
    let catalog = Server::new(move |_| {
        let entry = json!({"identifier": "urn:a", "type": "application/a2a-agent-card+json", "url": listed});
        json_of(200, json!({"specVersion": "1.0", "entries": [entry]}))
    })
    .await;
    let secret = HeaderMap::from_iter([(AUTHORIZATION, "Bearer s3cret".parse().unwrap())]);
    let cards = a2a_client::Cards::default().headers(secret);
    let place = catalog.at("/catalog.json");
    cards.find(&place).await.unwrap();
    cards
        .find_document(&format!("{place}#urn:a"))
        .await
        .unwrap();
    let to_catalog = catalog.asked("/catalog.json");
    let to_agent = agent.asked("/card.json");
    assert_eq!((to_catalog.len(), to_agent.len()), (2, 2));
    assert!(
        to_catalog
            .iter()
            .all(|seen| seen.authorization() == Some("Bearer s3cret"))
    );
    assert!(to_agent.iter().all(|seen| seen.authorization().is_none()));
    let unlisted = cards.find(&format!("{place}#urn:b")).await.unwrap_err();
    assert!(unlisted.to_string().contains("urn:a"), "{unlisted}");
    // A card is not a catalog, of which another agent could be meant.
    let card = agent.at("/card.json#urn:b");
    let no_catalog = cards.find_document(&card).await.unwrap_err();
    assert!(
        no_catalog.to_string().contains("not an AI Catalog"),
        "{no_catalog}"
    );
}
