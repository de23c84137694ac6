//! Rules about interfaces, skills, media types, links and extensions.

use std::collections::{BTreeMap, BTreeSet};

use a2a_types::ProtocolVersion;
use http::Uri;
use serde_json::Value;

use super::problem::{Problems, of};
use crate::lint::is_host_and_port;

pub(super) fn apply(card: &Value, protocol_version: ProtocolVersion, found: &mut Problems) {
    let interfaces = interfaces(card, protocol_version);
    for interface in &interfaces {
        interface.apply(protocol_version, found);
    }
    match protocol_version {
        ProtocolVersion::V1_0 => order(&interfaces, found),
        ProtocolVersion::V0_3 => transports(card, &interfaces, found),
        _ => {}
    }
    skills(card, protocol_version, found);
    modes(card, protocol_version, found);
    links(card, protocol_version, found);
    extensions(card, protocol_version, found);
}

/// An interface of the agent.
struct Interface<'a> {
    path: String,
    url: &'a str,
    binding: Option<&'a str>,
    version: Option<&'a str>,
}

fn interfaces(card: &Value, protocol_version: ProtocolVersion) -> Vec<Interface<'_>> {
    let (list, binding) = match protocol_version {
        ProtocolVersion::V1_0 => ("supportedInterfaces", "protocolBinding"),
        _ => ("additionalInterfaces", "transport"),
    };
    let main = Interface {
        path: "$".to_owned(),
        url: card["url"].as_str().unwrap_or_default(),
        binding: card["preferredTransport"].as_str(),
        version: None,
    };
    let main =
        (protocol_version != ProtocolVersion::V1_0 && card["url"].is_string()).then_some(main);
    let listed = card[list].as_array().into_iter().flatten().enumerate();
    let listed = listed.map(|(index, one)| Interface {
        path: format!("$.{list}[{index}]"),
        url: one["url"].as_str().unwrap_or_default(),
        binding: one[binding].as_str(),
        version: one["protocolVersion"].as_str(),
    });
    main.into_iter().chain(listed).collect()
}

impl Interface<'_> {
    fn apply(&self, protocol_version: ProtocolVersion, found: &mut Problems) {
        let Self {
            path,
            url,
            binding,
            version,
        } = self;
        let is_custom = binding.is_some_and(|binding| !BINDINGS.contains(&binding));
        let members = of(
            protocol_version,
            [
                "A2A01-5.5-M1",
                "A2A02-5.5-M1",
                "A2A03-5.5.5-M1",
                "A2A10-4.4.6-M1",
            ],
        );
        let at = format!("{path}.url");
        match absolute(url) {
            // 0.2 does not describe the URLs of further interfaces.
            None if protocol_version == ProtocolVersion::V0_2 && path != "$" => {}
            // The place of gRPC is a host and a port.
            None if *binding == Some("GRPC") && is_host_and_port(url) => {}
            None => found.add(at, "expected an absolute URL", members),
            Some(uri) => {
                let scheme = uri.scheme_str().unwrap_or_default();
                if !is_custom && !["http", "https"].contains(&scheme) {
                    found.add(
                        &at,
                        format!("`{scheme}` is none of http and https"),
                        members,
                    );
                }
                if scheme == "http" && !is_loopback(&uri) {
                    // Only production has to be encrypted, and no card says whether it is for
                    // production.
                    let https = of(
                        protocol_version,
                        [
                            "A2A01-4.1-S2",
                            "A2A02-3.1-M1",
                            "A2A03-4.1-S2",
                            "A2A10-7.1-M1",
                        ],
                    );
                    found.advise(
                        &at,
                        "expected https for a host that is not this machine",
                        https,
                    );
                }
                if uri
                    .authority()
                    .is_some_and(|host| host.as_str().contains('@'))
                {
                    found.add(
                        &at,
                        "expected no credentials in the URL",
                        secrets(protocol_version),
                    );
                }
            }
        }
        // Before 0.3 the transport is open.
        let is_closed = matches!(
            protocol_version,
            ProtocolVersion::V0_3 | ProtocolVersion::V1_0
        );
        if let (true, Some(binding)) = (is_custom && is_closed, binding) {
            let unknown = of(
                protocol_version,
                [
                    "A2A01-5.5-M1",
                    "A2A02-5.5.5-M1",
                    "A2A03-5.5.5-S1",
                    "A2A10-5.8-S1",
                ],
            );
            let is_uri = protocol_version == ProtocolVersion::V1_0 && binding.contains(':');
            if !is_uri {
                let member = match protocol_version {
                    ProtocolVersion::V1_0 => "protocolBinding",
                    _ if path == "$" => "preferredTransport",
                    _ => "transport",
                };
                found.add(
                    format!("{path}.{member}"),
                    format!(
                        "`{binding}` is none of {}, and no URI of a custom one",
                        BINDINGS.join(", ")
                    ),
                    unknown,
                );
            }
        }
        if let Some(version) = version {
            let at = format!("{path}.protocolVersion");
            let mut numbers = version.split('.');
            let is_number = |number: &str| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            };
            match numbers
                .clone()
                .all(is_number)
                .then(|| numbers.by_ref().count())
            {
                Some(2) => {}
                Some(3) => found.add(
                    at,
                    format!("`{version}` has a patch number"),
                    "A2A10-3.6-S1",
                ),
                _ => found.add(
                    at,
                    format!("`{version}` is not a version: expected Major.Minor"),
                    "A2A10-4.4.6-M1",
                ),
            }
        }
    }
}

const BINDINGS: [&str; 3] = ["JSONRPC", "GRPC", "HTTP+JSON"];

/// Checks the order of interfaces: clients take the first that they support, so an older version before
/// a newer one hides the newer.
fn order(interfaces: &[Interface<'_>], found: &mut Problems) {
    for (index, later) in interfaces.iter().enumerate() {
        let earlier = interfaces.get(..index).unwrap_or_default();
        let same = |one: &&Interface<'_>| one.binding == later.binding;
        let of_version = |one: &Interface<'_>| one.version.and_then(ProtocolVersion::from_version);
        if earlier
            .iter()
            .filter(same)
            .any(|one| one.url == later.url && one.version == later.version)
        {
            found.add(
                &later.path,
                "the same interface is listed before",
                "A2A10-8.3.1-S1",
            );
        }
        let is_hidden =
            |one: &Interface<'_>| of_version(one).is_some() && of_version(one) < of_version(later);
        if earlier.iter().filter(same).any(is_hidden) {
            let problem =
                "an older version is listed before: clients take the first that they speak";
            found.add(&later.path, problem, "A2A10-8.3.1-S1");
        }
    }
}

/// Checks the rules of 0.3 on transports and URLs.
fn transports(card: &Value, interfaces: &[Interface<'_>], found: &mut Problems) {
    if card["preferredTransport"].is_null() {
        found.add("$.preferredTransport", "missing", "A2A03-5.6.4-M1");
    }
    let mut by_url: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in interfaces {
        let binding = one.binding.unwrap_or("JSONRPC");
        by_url.entry(one.url).or_default().insert(binding);
    }
    for (url, bindings) in by_url.iter().filter(|(_, bindings)| bindings.len() > 1) {
        let bindings: Vec<_> = bindings.iter().copied().collect();
        let problem = format!("`{url}` is declared with {}", bindings.join(" and "));
        found.add("$.additionalInterfaces", problem, "A2A03-5.6.2-S1");
    }
    let (main, listed) = match interfaces.split_first() {
        Some((main, listed)) if main.path == "$" => (main, listed),
        _ => return,
    };
    let is_main = |one: &Interface<'_>| {
        one.url == main.url && one.binding == Some(main.binding.unwrap_or("JSONRPC"))
    };
    if !listed.is_empty() && !listed.iter().any(is_main) {
        let problem = "expected an entry for the main URL and its transport, too";
        found.add("$.additionalInterfaces", problem, "A2A03-5.6.4-S1");
    }
}

fn skills(card: &Value, protocol_version: ProtocolVersion, found: &mut Problems) {
    let rule = of(
        protocol_version,
        [
            "A2A01-5.5.4-M1",
            "A2A02-5.5.4-M1",
            "A2A03-5.5.4-M1",
            "A2A10-4.4.5-M1",
        ],
    );
    let mut ids = BTreeSet::new();
    for (index, skill) in card["skills"].as_array().into_iter().flatten().enumerate() {
        let Some(id) = skill["id"].as_str() else {
            continue;
        };
        let at = format!("$.skills[{index}].id");
        match id {
            "" => found.add(at, "expected an id that is not empty", rule),
            _ if !ids.insert(id) => {
                found.add(at, format!("another skill is called `{id}`, too"), rule)
            }
            _ => {}
        }
    }
}

/// Advises that media types have a type and a subtype; 0.1 allows `text` for `text/plain`, too.
fn modes(card: &Value, protocol_version: ProtocolVersion, found: &mut Problems) {
    let rule = of(
        protocol_version,
        [
            "A2A01-5.5-M1",
            "A2A02-5.5-M1",
            "A2A03-5.5-M1",
            "A2A10-4.4.1-M1",
        ],
    );
    let mut check = |holder: &Value, member: &str, path: &str| {
        for (index, mode) in holder[member].as_array().into_iter().flatten().enumerate() {
            let Some(mode) = mode.as_str() else { continue };
            let is_token = |part: &str| {
                !part.is_empty()
                    && part
                        .bytes()
                        .all(|byte| byte.is_ascii_graphic() && byte != b'/')
            };
            let kind = mode.split(';').next().unwrap_or_default().trim();
            let is_type = kind
                .split_once('/')
                .is_some_and(|(one, other)| is_token(one) && is_token(other));
            let is_short = protocol_version == ProtocolVersion::V0_1
                && ["text", "file", "data"].contains(&mode);
            if !is_type && !is_short {
                let problem = format!("`{mode}` is not a media type: expected type/subtype");
                found.advise(format!("{path}.{member}[{index}]"), problem, rule);
            }
        }
    };
    check(card, "defaultInputModes", "$");
    check(card, "defaultOutputModes", "$");
    for (index, skill) in card["skills"].as_array().into_iter().flatten().enumerate() {
        check(skill, "inputModes", &format!("$.skills[{index}]"));
        check(skill, "outputModes", &format!("$.skills[{index}]"));
    }
}

/// Advises that links for people are absolute.
fn links(card: &Value, protocol_version: ProtocolVersion, found: &mut Problems) {
    let rule = of(
        protocol_version,
        [
            "A2A01-5.5-M1",
            "A2A02-5.5-M1",
            "A2A03-5.5-M1",
            "A2A10-4.4.1-M1",
        ],
    );
    let links = [
        ("$.documentationUrl", &card["documentationUrl"]),
        ("$.iconUrl", &card["iconUrl"]),
        ("$.provider.url", &card["provider"]["url"]),
    ];
    for (path, link) in links {
        let is_relative = link.as_str().is_some_and(|link| !link.contains(':'));
        if is_relative {
            found.advise(path, "expected an absolute URL", rule);
        }
    }
}

fn extensions(card: &Value, protocol_version: ProtocolVersion, found: &mut Problems) {
    let rule = of(
        protocol_version,
        [
            "A2A01-5.5-M1",
            "A2A02-5.5.2.1-M1",
            "A2A03-5.5.2.1-M1",
            "A2A10-4.6.1-M1",
        ],
    );
    let mut uris = BTreeSet::new();
    let list = card["capabilities"]["extensions"].as_array();
    for (index, extension) in list.into_iter().flatten().enumerate() {
        let Some(uri) = extension["uri"].as_str() else {
            continue;
        };
        let at = format!("$.capabilities.extensions[{index}].uri");
        if !uri.contains(':') {
            found.add(&at, format!("`{uri}` is not an absolute URI"), rule);
        }
        if !uris.insert(uri) {
            found.add(&at, format!("`{uri}` is declared twice"), rule);
        }
    }
}

/// Returns the requirement that cards contain no secrets.
pub(super) fn secrets(protocol_version: ProtocolVersion) -> &'static str {
    of(
        protocol_version,
        [
            "A2A01-5.5.3-M1",
            "A2A02-5.4-M1",
            "A2A03-5.4-S1",
            "A2A10-14.3-S1",
        ],
    )
}

fn absolute(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let is_whole = uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty());
    is_whole.then_some(uri)
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|ip| ip.is_loopback())
}
