//! Rules that patterns cannot express, by their names in cases.

use a2a_transport::card_signature::{CardVerifier, SignatureForm};
use a2a_transport::webhook::{Jwks, TokenError, key_id};
use a2a_types::{Operation, ProtocolVersion, schema};
use http::Uri;
use serde_json::Value;

use super::target::Target;
use crate::card::problems;
use crate::card::security::looks_secret;
use crate::judge::invariants::unless;
use crate::judge::stream_tail::{resubscription_tail, subscription_tail};
use crate::lint::schema_violation;
use crate::record::Mismatch;
use crate::requirement::{Level, requirement};
use crate::wire::exchange::items;

/// Function that returns every place where a value breaks the rule.
pub(super) type ValueRule = fn(&Target, ProtocolVersion, &Value) -> Vec<Mismatch>;

/// All rules.
const RULES: &[(&str, ValueRule)] = &[
    ("card-valid", card_valid),
    ("card-recommended", card_recommended),
    ("card-https", card_https),
    ("card-login-https", card_login_https),
    ("card-no-secrets", card_no_secrets),
    ("card-security-declared", card_security_declared),
    ("card-no-conflicting-urls", card_no_conflicting_urls),
    ("card-signature", card_signature),
    ("notification-signature", notification_signature),
    ("answer-of-0.3", answer_of_0_3),
    ("absolute-uris", absolute_uris),
    ("counts-to-20", counts_to_20),
    ("subscription-tail", |_, _, streams| {
        subscription_tail(streams)
    }),
    ("resubscription-tail", |_, _, streams| {
        resubscription_tail(streams)
    }),
];

/// Returns the rule of a name.
pub(super) fn named(name: &str) -> Option<ValueRule> {
    let rule = RULES.iter().find(|(known, _)| *known == name);
    rule.map(|(_, rule)| *rule)
}

/// Returns whether there is a rule of this name.
#[cfg(test)]
pub(crate) fn is_known(name: &str) -> bool {
    named(name).is_some()
}

/// Checks that the token of a notification is signed by a key that the agent publishes or the user trusts, and is about
/// its body.
fn notification_signature(target: &Target, _: ProtocolVersion, value: &Value) -> Vec<Mismatch> {
    let (notification, published) = (&value["notification"], &value["keys"]);
    let published = serde_json::from_value(published.clone()).unwrap_or_default();
    let trusted = target.card_keys.clone().unwrap_or_default();
    let shown = notification["headers"]["authorization"].as_str();
    let token = shown.and_then(|text| text.split_once(' '));
    let token = token.map_or("", |(_, token)| token);
    let now = jiff::Timestamp::now().as_second();
    let now = u64::try_from(now).unwrap_or_default();
    let verified_by = |keys: &Jwks| {
        let id = key_id(token)?;
        let key = keys.find(id.as_deref()).ok_or(TokenError::Key)?;
        key.verify_without_expiry(token, now)
    };
    // Both sets may have a key with this id.
    let verified = verified_by(&published).or_else(|problem| match verified_by(&trusted) {
        Err(TokenError::Key) => Err(problem),
        verified => verified,
    });
    let place = "$.headers.authorization";
    let expected = "a token that a published or trusted key of the agent verifies";
    match verified {
        Err(problem) => unless(false, place, expected, problem.to_string()),
        Ok(claims) => {
            let digest = claims.request_body_sha256;
            let is_of_body =
                digest.is_none() || digest.as_deref() == notification["sha256"].as_str();
            unless(
                is_of_body,
                place,
                "the digest of the body",
                "another digest",
            )
        }
    }
    .into_iter()
    .collect()
}

/// Checks the answer to a message against the schema of 0.3, whichever version is tested.
fn answer_of_0_3(_: &Target, _: ProtocolVersion, answer: &Value) -> Vec<Mismatch> {
    let definition = schema::response_definition(ProtocolVersion::V0_3, Operation::SendMessage);
    let schema_violation = definition.and_then(|definition| {
        let schema_violation = schema_violation(ProtocolVersion::V0_3, definition, answer)?;
        Some(schema_violation.mismatch("", definition))
    });
    schema_violation.into_iter().collect()
}

/// Checks a card against the schema and the requirements of the text.
fn card_valid(_: &Target, protocol_version: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    let mut broken = card_problems("card.valid", protocol_version, card);
    let some =
        protocol_version < ProtocolVersion::V1_0 || !items(&card["supportedInterfaces"]).is_empty();
    let place = "$.supportedInterfaces";
    broken.extend(unless(some, place, "an interface", "none"));
    broken
}

/// Checks a card against the recommendations of the text.
fn card_recommended(_: &Target, protocol_version: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    card_problems("card.recommended", protocol_version, card)
}

/// Returns the problems of a card under the requirements that a check covers.
fn card_problems(check: &str, protocol_version: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    let broken = problems(card, protocol_version)
        .into_iter()
        .filter_map(|problem| {
            let required = requirement(problem.requirement)?;
            // Advice does not make card.valid fail.
            let counts = check != "card.valid" || problem.level == Level::Must;
            let covered = counts && required.checks.iter().any(|name| name == check);
            unless(!covered, &problem.path, &required.says, problem.problem)
        });
    broken.collect()
}

/// Checks that the agent is called over TLS.
fn card_https(_: &Target, _: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    in_the_clear(urls(card))
}

/// Checks that callers log in over TLS.
fn card_login_https(_: &Target, _: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    let mut texts = Vec::new();
    find_texts(&card["securitySchemes"], "$.securitySchemes", &mut texts);
    texts.retain(|(place, _)| {
        let name = place.rsplit('.').next().unwrap_or_default();
        LOGINS.contains(&name)
    });
    in_the_clear(texts)
}

/// Members with the URLs at which callers get credentials.
const LOGINS: [&str; 6] = [
    "authorizationUrl",
    "deviceAuthorizationUrl",
    "tokenUrl",
    "refreshUrl",
    "openIdConnectUrl",
    "oauth2MetadataUrl",
];

/// Returns a mismatch for each URL without TLS, except URLs of this machine.
fn in_the_clear(urls: Vec<(String, &str)>) -> Vec<Mismatch> {
    let broken = urls.into_iter().filter_map(|(place, url)| {
        // A relative URL is found by card.valid.
        let uri = url
            .parse::<Uri>()
            .ok()
            .filter(|uri| uri.scheme().is_some())?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let address = host.parse::<std::net::IpAddr>();
        let is_here = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        let holds = uri.scheme_str() == Some("https") || is_here;
        unless(holds, &place, "https", url)
    });
    broken.collect()
}

/// Checks that the public card has no secrets.
fn card_no_secrets(_: &Target, _: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    let mut texts = Vec::new();
    find_texts(card, "$", &mut texts);
    let broken = texts.into_iter().filter_map(|(place, text)| {
        let is_signature = place.contains(".signatures[");
        let userinfo = || {
            let uri = text.parse::<Uri>().ok();
            let uri = uri.filter(|uri| uri.scheme().is_some());
            let authority = uri.and_then(|uri| uri.authority().cloned());
            authority.is_some_and(|authority| authority.as_str().contains('@'))
        };
        let name = place.rsplit('.').next().unwrap_or_default().to_lowercase();
        let named = [
            "password",
            "clientsecret",
            "client_secret",
            "apikeyvalue",
            "credentials",
        ];
        // 0.1 has a member `credentials` that says how to get some, and scopes and properties have any names.
        let parent = place.rsplit('.').nth(1).unwrap_or_default();
        let is_value = text.len() >= 8 && !text.contains(char::is_whitespace);
        let is_named = named.contains(&name.as_str())
            && is_value
            && !text.starts_with('{')
            && !["scopes", "properties"].contains(&parent);
        let holds = is_signature || !(looks_secret(text) || userinfo() || is_named);
        unless(
            holds,
            &place,
            "nothing secret",
            "something that looks like a secret",
        )
    });
    broken.collect()
}

/// Checks that required security schemes are declared.
fn card_security_declared(
    _: &Target,
    protocol_version: ProtocolVersion,
    card: &Value,
) -> Vec<Mismatch> {
    card_problems("card.security-declared", protocol_version, card)
}

/// Checks that no URL has two transports (0.3 §5.6.4).
fn card_no_conflicting_urls(_: &Target, _: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    let own = (
        &card["url"],
        card["preferredTransport"].as_str().unwrap_or("JSONRPC"),
    );
    let others = items(&card["additionalInterfaces"]).iter();
    let others = others.map(|other| {
        (
            &other["url"],
            other["transport"].as_str().unwrap_or_default(),
        )
    });
    let all: Vec<_> = std::iter::once(own).chain(others).collect();
    let broken = all
        .iter()
        .enumerate()
        .filter_map(|(index, (url, transport))| {
            let other = all.iter().take(index).find(|(other, _)| other == url)?;
            let place = format!("$.additionalInterfaces[{}]", index.saturating_sub(1));
            let expected = format!("{} for {url}, as before", other.1);
            unless(other.1 == *transport, &place, expected, transport)
        });
    broken.collect()
}

/// Checks that the card has a signature over itself by a trusted key (1.0 §8.4).
fn card_signature(target: &Target, _: ProtocolVersion, card: &Value) -> Vec<Mismatch> {
    let keys = target.card_keys.clone().unwrap_or_default();
    // The form of the SDKs is not that of §8.4.1.
    let verifier = CardVerifier::new(keys).refuse(SignatureForm::Sdk);
    let problem = verifier.verify(card).err();
    let broken = problem.and_then(|problem| {
        let expected = "a signature over this card by a key that is trusted";
        unless(false, "$.signatures", expected, problem.to_string())
    });
    broken.into_iter().collect()
}

/// Checks that the `uri` of every item is an absolute URI.
fn absolute_uris(_: &Target, _: ProtocolVersion, list: &Value) -> Vec<Mismatch> {
    let broken = items(list).iter().enumerate().filter_map(|(index, uri)| {
        let text = uri["uri"].as_str().unwrap_or_default();
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let holds = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(legal);
        unless(holds, &format!("$[{index}].uri"), "an absolute URI", uri)
    });
    broken.collect()
}

/// Checks that the texts of all parts together are `1 2 … 20 `.
fn counts_to_20(_: &Target, _: ProtocolVersion, parts: &Value) -> Vec<Mismatch> {
    let texts = items(parts).iter().filter_map(|part| part["text"].as_str());
    let whole: String = texts.collect();
    let expected: String = (1..=20).map(|number| format!("{number} ")).collect();
    unless(whole == expected, "the pieces", &expected, &whole)
        .into_iter()
        .collect()
}

/// Returns the URLs of a card at which the agent is called, with their paths.
fn urls(card: &Value) -> Vec<(String, &str)> {
    let mut urls = Vec::new();
    if let Some(url) = card["url"].as_str() {
        urls.push(("$.url".to_owned(), url));
    }
    for list in ["supportedInterfaces", "additionalInterfaces"] {
        for (index, interface) in items(&card[list]).iter().enumerate() {
            let url = interface["url"].as_str().unwrap_or_default();
            urls.push((format!("$.{list}[{index}].url"), url));
        }
    }
    urls
}

fn find_texts<'a>(value: &'a Value, place: &str, texts: &mut Vec<(String, &'a str)>) {
    match value {
        Value::String(text) => texts.push((place.to_owned(), text)),
        Value::Object(members) => {
            for (name, inner) in members {
                find_texts(inner, &format!("{place}.{name}"), texts);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                find_texts(inner, &format!("{place}[{index}]"), texts);
            }
        }
        _ => {}
    }
}
