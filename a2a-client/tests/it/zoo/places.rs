//! Servers that redirect a client, or ask for credentials.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_client::{ClientBuilder, Credentials, Error};
use a2a_transport::BoxFuture;
use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;

use crate::zoo::beast::Ask::{Card, Follow, Send};
use crate::zoo::beast::{Answered, Beast, beast};
use crate::zoo::cage::Act;
use crate::zoo::script::*;

pub(crate) fn beasts() -> Vec<Beast> {
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
        beast!(
            "301 with credentials",
            Send,
            redirects("301 Moved Permanently"),
            Err(Error::Redirected {
                status: 301,
                location: Some(_)
            })
        )
        .with(secretly),
        beast!(
            "302 with credentials",
            Send,
            redirects("302 Found"),
            Err(Error::Redirected {
                status: 302,
                location: Some(_)
            })
        )
        .with(secretly),
        beast!(
            "303 with credentials",
            Follow,
            redirects("303 See Other"),
            Err(Error::Redirected {
                status: 303,
                location: Some(_)
            })
        )
        .with(secretly),
        beast!(
            "307 with credentials",
            Follow,
            redirects("307 Temporary Redirect"),
            Err(Error::Redirected {
                status: 307,
                location: Some(_)
            })
        )
        .with(secretly),
        beast!(
            "308 with credentials, of a card",
            Card(false),
            redirects("308 Permanent Redirect"),
            Err(Error::Redirected {
                status: 308,
                location: Some(_)
            })
        )
        .with(secretly),
        beast!(
            "300 without a place",
            Send,
            says(http("300 Multiple Choices", "", "")),
            Err(Error::Redirected {
                status: 300,
                location: None
            })
        ),
        beast!(
            "a loop of redirects",
            Card(false),
            loops(),
            Err(Error::Redirected { status: 308, .. })
        ),
        beast!(
            "a redirect to a place of 60 KiB",
            Send,
            says(http("302 Found", &huge, "")),
            Err(Error::Redirected { status: 302, .. })
        ),
        beast!(
            "a redirect with a body without end",
            Send,
            says_for_ever("HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n", "x"),
            Err(Error::Redirected { status: 302, .. })
        ),
        beast!("a card that names another origin", Card(true), elsewhere(),
            Ok(Answered::Message(text)) if text == "right")
        .with(secretly),
        beast!(
            "a card that names nobody",
            Card(true),
            says(far("http://127.0.0.1:1/")),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "a card that names a file",
            Card(true),
            says(far("file:///etc/passwd")),
            Err(Error::Address { .. })
        ),
        beast!(
            "a card that names nonsense",
            Card(true),
            says(far("http://[::")),
            Err(Error::Address { .. })
        ),
        beast!(
            "a card that names a host of 100 KiB",
            Card(true),
            says(far(&format!("http://{}/", "a".repeat(100 << 10)))),
            Err(Error::Address { .. })
        ),
        beast!(
            "a card that lasts 2^64 seconds",
            Card(false),
            says(aged(
                "cache-control: max-age=18446744073709551615\r\nage: 18446744073709551615"
            )),
            Ok(Answered::Card(_))
        ),
        beast!(
            "a card from the year 9999",
            Card(false),
            says(aged(
                "date: Fri, 31 Dec 9999 23:59:59 GMT\r\nexpires: Thu, 01 Jan 1970 00:00:00 GMT\r\nlast-modified: Fri, 31 Dec 9999 23:59:59 GMT"
            )),
            Ok(Answered::Card(_))
        ),
        beast!(
            "401 for ever",
            Send,
            refuses_twice(""),
            Err(Error::Refused { status: 401, .. })
        )
        .with(stubbornly),
        beast!(
            "401 for ever with a long challenge",
            Send,
            refuses_twice(&challenge),
            Err(Error::Refused {
                status: 401,
                challenge: Some(_)
            })
        )
        .with(stubbornly),
        beast!(
            "401 for ever, of a card",
            Card(false),
            says(http("401 Unauthorized", &challenge, "")),
            Err(Error::NotA2a { status: 401, .. })
        )
        .with(stubbornly),
        beast!(
            "401 with a body without end",
            Send,
            says_for_ever(
                "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\n\r\n",
                "x"
            ),
            Err(Error::Refused { status: 401, .. })
        )
        .with(stubbornly),
        beast!(
            "401 for ever before a stream",
            Follow,
            refuses_twice(""),
            Err(Error::Refused { status: 401, .. })
        )
        .with(stubbornly),
    ]
}

/// Sends everybody on to where the right answer is.
fn redirects(status: &'static str) -> Act {
    answers(move |asked| match asked.head.contains("/else") {
        true => json(result(&message("redirected"))),
        false => http(status, "location: /else\r\n", ""),
    })
}

/// Serves a card that names the same server by another host name, and reports whether a secret was
/// received.
fn elsewhere() -> Act {
    crate::zoo::cage::act(|mut visit| async move {
        let url = format!("http://localhost:{}/", visit.address.port());
        loop {
            let asked = visit.asked().await?;
            let is_told = asked.head.contains(SECRET);
            let answer = match asked.head.starts_with("GET") {
                true => card(&url, ""),
                false if is_told => result(&message("I know your secret")),
                false => result(&message("right")),
            };
            visit.say(json(answer)).await?;
        }
    })
}

/// Refuses what comes first and second, and takes the third.
fn refuses_twice(challenge: &str) -> Act {
    let (asked, challenge) = (Arc::new(AtomicUsize::new(0)), challenge.to_owned());
    answers(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => http("401 Unauthorized", &challenge, ""),
        _ => json(result(&message("at last"))),
    })
}

const SECRET: &str = "Bearer secret";

fn secretly(client: ClientBuilder) -> ClientBuilder {
    client.header(AUTHORIZATION, HeaderValue::from_static(SECRET))
}

/// Always has others at hand.
#[derive(Debug)]
struct Stubborn;

impl Credentials for Stubborn {
    fn attach<'a>(&'a self, head: &'a mut Parts) -> BoxFuture<'a, Result<(), Error>> {
        head.headers
            .insert(AUTHORIZATION, HeaderValue::from_static(SECRET));
        Box::pin(std::future::ready(Ok(())))
    }

    fn refused<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(true))
    }
}

fn stubbornly(client: ClientBuilder) -> ClientBuilder {
    client.credentials(Arc::new(Stubborn))
}
