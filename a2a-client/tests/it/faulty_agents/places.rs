//! Servers that redirect a client, or ask for credentials.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_client::{ClientBuilder, Credentials, Error};
use a2a_transport::BoxFuture;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::request::Parts;

use crate::faulty_agents::faulty_agent::ClientCall::{Card, Follow, Send};
use crate::faulty_agents::faulty_agent::{FaultyAgent, Reply, faulty_agent};
use crate::faulty_agents::script::*;
use crate::faulty_agents::test_server::Behaviour;

pub(crate) fn agents() -> Vec<FaultyAgent> {
    let loops = || {
        answers(|_| {
            http(
                "308 Permanent Redirect",
                "location: /.well-known/agent-card.json\r\n",
                "",
            )
        })
    };
    let huge = format!("location: http://127.0.0.1/{}\r\n", "a".repeat(60 << 10));
    let challenge = format!("www-authenticate: {}\r\n", "Bearer ".repeat(7000));
    let far = |url: &str| json(card(url, ""));
    let aged = |headers: &str| {
        let headers = format!("content-type: application/json\r\n{headers}\r\n");
        http("200 OK", &headers, card("http://127.0.0.1:1/", ""))
    };
    vec![
        faulty_agent!(
            "301 with credentials",
            Send,
            redirects("301 Moved Permanently"),
            Err(Error::Redirected {
                status: 301,
                location: Some(_)
            })
        )
        .with(with_secret),
        faulty_agent!(
            "302 with credentials",
            Send,
            redirects("302 Found"),
            Err(Error::Redirected {
                status: 302,
                location: Some(_)
            })
        )
        .with(with_secret),
        faulty_agent!(
            "303 with credentials",
            Follow,
            redirects("303 See Other"),
            Err(Error::Redirected {
                status: 303,
                location: Some(_)
            })
        )
        .with(with_secret),
        faulty_agent!(
            "307 with credentials",
            Follow,
            redirects("307 Temporary Redirect"),
            Ok(Reply::Events(1))
        )
        .with(with_secret),
        faulty_agent!(
            "308 with credentials, of a card",
            Card(false),
            redirects("308 Permanent Redirect"),
            Err(Error::Redirected {
                status: 308,
                location: Some(_)
            })
        )
        .with(with_secret),
        faulty_agent!(
            "300 without a place",
            Send,
            sends(http("300 Multiple Choices", "", "")),
            Err(Error::Redirected {
                status: 300,
                location: None
            })
        ),
        faulty_agent!(
            "a loop of redirects",
            Card(false),
            loops(),
            Err(Error::Redirected { status: 308, .. })
        ),
        faulty_agent!(
            "a redirect to a place of 60 KiB",
            Send,
            sends(http("302 Found", &huge, "")),
            Err(Error::Redirected { status: 302, .. })
        ),
        faulty_agent!(
            "a redirect with a body without end",
            Send,
            sends_forever("HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n", "x"),
            Err(Error::Redirected { status: 302, .. })
        ),
        faulty_agent!("a card that names another origin", Card(true), elsewhere(),
            Ok(Reply::Message(text)) if text == "right")
        .with(with_secret),
        faulty_agent!(
            "a card with an address where no server listens",
            Card(true),
            sends(far("http://127.0.0.1:1/")),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "a card that names a file",
            Card(true),
            sends(far("file:///etc/passwd")),
            Err(Error::Address { .. })
        ),
        faulty_agent!(
            "a card that names nonsense",
            Card(true),
            sends(far("http://[::")),
            Err(Error::Address { .. })
        ),
        faulty_agent!(
            "a card that names a host of 100 KiB",
            Card(true),
            sends(far(&format!("http://{}/", "a".repeat(100 << 10)))),
            Err(Error::Address { .. })
        ),
        faulty_agent!(
            "a card that lasts 2^64 seconds",
            Card(false),
            sends(aged(
                "cache-control: max-age=18446744073709551615\r\nage: 18446744073709551615"
            )),
            Ok(Reply::Card(_))
        ),
        faulty_agent!(
            "a card from the year 9999",
            Card(false),
            sends(aged(
                "date: Fri, 31 Dec 9999 23:59:59 GMT\r\nexpires: Thu, 01 Jan 1970 00:00:00 GMT\r\nlast-modified: Fri, 31 Dec 9999 23:59:59 GMT"
            )),
            Ok(Reply::Card(_))
        ),
        faulty_agent!(
            "401 forever",
            Send,
            refuses_twice(""),
            Err(Error::Refused { status: 401, .. })
        )
        .with(with_endless_credentials),
        faulty_agent!(
            "401 forever with a long challenge",
            Send,
            refuses_twice(&challenge),
            Err(Error::Refused {
                status: 401,
                challenge: Some(_)
            })
        )
        .with(with_endless_credentials),
        faulty_agent!(
            "401 forever, of a card",
            Card(false),
            sends(http("401 Unauthorized", &challenge, "")),
            Err(Error::NotA2a { status: 401, .. })
        )
        .with(with_endless_credentials),
        faulty_agent!(
            "401 with a body without end",
            Send,
            sends_forever(
                "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\n\r\n",
                "x"
            ),
            Err(Error::Refused { status: 401, .. })
        )
        .with(with_endless_credentials),
        faulty_agent!(
            "401 forever before a stream",
            Follow,
            refuses_twice(""),
            Err(Error::Refused { status: 401, .. })
        )
        .with(with_endless_credentials),
    ]
}

/// Redirects every request to a path that has the right answer.
fn redirects(status: &'static str) -> Behaviour {
    answers(move |asked| match asked.head.contains("/else") {
        true => json(result(&message("redirected"))),
        false => http(status, "location: /else\r\n", ""),
    })
}

/// Serves a card that names the same server by another host name, and reports whether a secret was
/// received.
fn elsewhere() -> Behaviour {
    crate::faulty_agents::test_server::behaviour(|mut connection| async move {
        let url = format!("http://localhost:{}/", connection.address.port());
        loop {
            let asked = connection.read_request().await?;
            let is_leaked = asked.head.contains(SECRET);
            let answer = match asked.head.starts_with("GET") {
                true => card(&url, ""),
                false if is_leaked => result(&message("I know your secret")),
                false => result(&message("right")),
            };
            connection.send(json(answer)).await?;
        }
    })
}

/// Refuses the first two requests and answers the third.
fn refuses_twice(challenge: &str) -> Behaviour {
    let (asked, challenge) = (Arc::new(AtomicUsize::new(0)), challenge.to_owned());
    answers(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => http("401 Unauthorized", &challenge, ""),
        _ => json(result(&message("at last"))),
    })
}

const SECRET: &str = "Bearer secret";

fn with_secret(client: ClientBuilder) -> ClientBuilder {
    client.header(AUTHORIZATION, HeaderValue::from_static(SECRET))
}

/// Credentials that claim to have others after every refusal.
#[derive(Debug)]
struct EndlessCredentials;

impl Credentials for EndlessCredentials {
    fn attach<'a>(&'a self, head: &'a mut Parts) -> BoxFuture<'a, Result<(), Error>> {
        head.headers
            .insert(AUTHORIZATION, HeaderValue::from_static(SECRET));
        Box::pin(std::future::ready(Ok(())))
    }

    fn refused<'a>(&'a self, _: &'a HeaderMap, _: Option<&'a str>) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(true))
    }
}

fn with_endless_credentials(client: ClientBuilder) -> ClientBuilder {
    client.credentials(Arc::new(EndlessCredentials))
}
