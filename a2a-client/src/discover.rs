//! From a URL to an agent's card, and to the interface to call.

use a2a_transport::Error;
use a2a_transport::http::HttpClient;
use a2a_types::reading::{Hints, Mode, Violation, read, read_canonical};
use a2a_types::{AgentCard, AgentInterface, Dialect, v0_1, v0_2};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// An agent that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) card: AgentCard,
    pub(crate) interface: AgentInterface,
    pub(crate) dialect: Dialect,
}

/// Fetches the card of the agent at `url`, and picks the first interface on it that we speak.
pub(crate) async fn discover(http: &HttpClient, url: &str) -> Result<Found, Error> {
    let mut first_problem = None;
    for place in card_places(url) {
        match card_at(http, &place).await {
            Ok(card) => return pick(card),
            // Whoever cannot be reached at one path cannot be at another.
            Err(error @ (Error::Connection(_) | Error::Timeout { .. } | Error::Address { .. })) => {
                return Err(error);
            }
            Err(Error::NotA2a { status: 404, .. }) => {}
            Err(error) => drop(first_problem.get_or_insert(error)),
        }
    }
    Err(first_problem.unwrap_or_else(|| no_card(url, StatusCode::NOT_FOUND)))
}

async fn card_at(http: &HttpClient, place: &str) -> Result<AgentCard, Error> {
    let fetched = http.get(place, &HeaderMap::new()).await?;
    match fetched.status {
        StatusCode::OK => {
            read_card(&String::from_utf8_lossy(&fetched.body)).map_err(Error::Malformed)
        }
        other => Err(no_card(place, other)),
    }
}

/// Where the card may be: at the URL itself if it names a document, else at the well-known paths
/// below the URL, the later generations' first, and below its origin.
fn card_places(url: &str) -> Vec<String> {
    let base = url.trim_end_matches('/');
    if base.ends_with(".json") {
        return vec![base.to_owned()];
    }
    let scheme = base.find("://").map_or(0, |end| end + 3);
    let origin = base[scheme..]
        .find('/')
        .map_or(base, |slash| &base[..scheme + slash]);
    let paths = [Dialect::V1_0.card_path(), Dialect::V0_2.card_path()];
    let mut places: Vec<_> = [base, origin]
        .iter()
        .flat_map(|base| paths.map(|path| format!("{base}{path}")))
        .collect();
    places.dedup();
    if base == origin {
        places.truncate(paths.len());
    }
    places
}

/// Reads a card of any generation. A document with members of several is read as the latest.
pub fn read_card(json: &str) -> Result<AgentCard, Violation> {
    /// What tells the generations apart.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Members {
        supported_interfaces: Option<Vec<IgnoredAny>>,
        protocol_version: Option<IgnoredAny>,
        authentication: Option<IgnoredAny>,
        security_schemes: Option<IgnoredAny>,
    }
    let at = Hints::at("$");
    let members: Members = read_canonical(json, &at)?;
    if members
        .supported_interfaces
        .is_some_and(|interfaces| !interfaces.is_empty())
    {
        return read_canonical(json, &at);
    }
    let later = members.protocol_version.is_some() || members.security_schemes.is_some();
    match members.authentication.is_some() && !later {
        true => Ok(read::<v0_1::AgentCard>(json, Mode::Lenient, &at)?
            .value
            .into()),
        false => Ok(read::<v0_2::AgentCard>(json, Mode::Lenient, &at)?
            .value
            .into()),
    }
}

/// The first supported interface wins. Specification 1.0 §8.3.2.
fn pick(card: AgentCard) -> Result<Found, Error> {
    let spoken = |interface: &AgentInterface| match interface.protocol_binding.as_str() {
        AgentInterface::JSON_RPC => interface.dialect(),
        _ => None,
    };
    let first = card
        .supported_interfaces
        .iter()
        .find_map(|interface| Some((interface.clone(), spoken(interface)?)));
    match first {
        Some((interface, dialect)) => Ok(Found {
            card,
            interface,
            dialect,
        }),
        None => Err(Error::Malformed(Violation {
            path: "$.supportedInterfaces".to_owned(),
            problem: "the agent offers no JSON-RPC interface of a generation that we speak"
                .to_owned(),
        })),
    }
}

fn no_card(place: &str, status: StatusCode) -> Error {
    Error::NotA2a {
        status: status.as_u16(),
        problem: format!("no agent card at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_places(url: &str, expected: &[&str]) {
        assert_eq!(card_places(url), expected, "{url}");
    }

    #[test]
    fn where_cards_are_looked_for() {
        let root = [
            "http://h/.well-known/agent-card.json",
            "http://h/.well-known/agent.json",
        ];
        check_places("http://h", &root);
        check_places("http://h/", &root);
        check_places("http://h/card.json", &["http://h/card.json"]);
        check_places(
            "http://h/a2a",
            &[
                "http://h/a2a/.well-known/agent-card.json",
                "http://h/a2a/.well-known/agent.json",
                root[0],
                root[1],
            ],
        );
    }

    #[track_caller]
    fn check_dialect(json: &str, expected: Dialect) {
        let found = pick(read_card(json).unwrap()).unwrap();
        assert_eq!(found.dialect, expected);
    }

    #[test]
    fn cards_of_each_generation() {
        let rest = r#""name":"n","description":"d","url":"http://h/","version":"1","capabilities":{},"skills":[]"#;
        check_dialect(
            &format!(r#"{{{rest},"authentication":{{"schemes":"Bearer"}}}}"#),
            Dialect::V0_1,
        );
        check_dialect(&format!("{{{rest}}}"), Dialect::V0_2);
        check_dialect(
            &format!(r#"{{{rest},"protocolVersion":"0.2.9"}}"#),
            Dialect::V0_2,
        );
        check_dialect(
            &format!(r#"{{{rest},"protocolVersion":"0.3.0"}}"#),
            Dialect::V0_3,
        );
        let interfaces = r#"[{"url":"grpc://h","protocolBinding":"GRPC","protocolVersion":"1.0"},
            {"url":"http://h/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]"#;
        check_dialect(
            &format!(r#"{{{rest},"supportedInterfaces":{interfaces}}}"#),
            Dialect::V1_0,
        );
    }
}
