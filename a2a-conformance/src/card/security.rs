//! Rules about authentication and signatures.

use a2a_transport::card_signature::header;
use a2a_types::ProtocolVersion;
use serde_json::Value;

use super::problem::{Problems, of};
use super::rules::secrets;

pub(super) fn apply(card: &Value, protocol_version: ProtocolVersion, found: &mut Problems) {
    requirements(card, protocol_version, card, "$", found);
    for (index, skill) in card["skills"].as_array().into_iter().flatten().enumerate() {
        requirements(
            card,
            protocol_version,
            skill,
            &format!("$.skills[{index}]"),
            found,
        );
    }
    if protocol_version == ProtocolVersion::V1_0 {
        schemes(card, found);
    }
    // The text may say how to get credentials, or contain settings of a scheme (0.1 §5.5.3, §5.6).
    let credentials = card["authentication"]["credentials"].as_str();
    if protocol_version == ProtocolVersion::V0_1 && credentials.is_some_and(looks_secret) {
        let problem = "expected no credentials on a card that anybody can read";
        found.add(
            "$.authentication.credentials",
            problem,
            secrets(protocol_version),
        );
    }
    if matches!(
        protocol_version,
        ProtocolVersion::V0_3 | ProtocolVersion::V1_0
    ) {
        signatures(card, protocol_version, found);
    }
}

/// Returns whether a text looks like a secret: a token, or a key of a known issuer.
pub(crate) fn looks_secret(text: &str) -> bool {
    const HEADS: [&str; 5] = ["sk-", "ghp_", "AKIA", "xoxb-", "eyJ"];
    let is_token = |rest: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        rest.len() >= 16 && rest.bytes().all(is_part)
    };
    let mut rest = HEADS.iter().filter_map(|head| text.strip_prefix(head));
    text.starts_with("-----BEGIN ") || rest.any(is_token)
}

/// Checks that requirements name declared schemes.
fn requirements(
    card: &Value,
    protocol_version: ProtocolVersion,
    holder: &Value,
    path: &str,
    found: &mut Problems,
) {
    let rule = match protocol_version {
        ProtocolVersion::V0_1 => return,
        ProtocolVersion::V0_2 => "A2A02-5.5.3-M2",
        ProtocolVersion::V0_3 => "A2A03-5.5.3-M2",
        _ => "A2A10-4.5.1-M2",
    };
    let member = match protocol_version {
        ProtocolVersion::V1_0 => "securityRequirements",
        _ => "security",
    };
    for (index, one) in holder[member].as_array().into_iter().flatten().enumerate() {
        if let (ProtocolVersion::V1_0, false, Some(name)) = (
            protocol_version,
            one["schemes"].is_object(),
            one.as_object().and_then(|one| one.keys().next()),
        ) {
            let problem = format!("`{name}` stands where `schemes` belongs: the form of 0.3");
            found.add(format!("{path}.{member}[{index}]"), problem, rule);
        }
        let named = match protocol_version {
            ProtocolVersion::V1_0 => &one["schemes"],
            _ => one,
        };
        for name in named
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            if card["securitySchemes"].get(name).is_none() {
                let problem = format!("no scheme `{name}` is declared in securitySchemes");
                found.add(format!("{path}.{member}[{index}]"), problem, rule);
            }
        }
    }
}

/// Checks that a scheme has exactly one kind, and exactly one flow.
fn schemes(card: &Value, found: &mut Problems) {
    const KINDS: [&str; 5] = [
        "apiKeySecurityScheme",
        "httpAuthSecurityScheme",
        "oauth2SecurityScheme",
        "openIdConnectSecurityScheme",
        "mtlsSecurityScheme",
    ];
    let schemes = card["securitySchemes"].as_object();
    for (name, scheme) in schemes.into_iter().flatten() {
        let path = format!("$.securitySchemes.{name}");
        let kinds = KINDS
            .iter()
            .filter(|kind| scheme[**kind].is_object())
            .count();
        // A scheme in the form of 0.3 is reported separately.
        if kinds != 1 && (kinds > 1 || scheme["type"].is_null()) {
            let problem = format!(
                "expected exactly one of {}, found {kinds}",
                KINDS.join(", ")
            );
            found.add(&path, problem, "A2A10-4.5.1-M1");
        }
        let flows = scheme["oauth2SecurityScheme"]["flows"].as_object();
        let flows = flows.map(|flows| flows.values().filter(|flow| flow.is_object()).count());
        if let Some(flows) = flows.filter(|flows| *flows != 1) {
            let problem = format!("expected exactly one flow, found {flows}");
            found.add(
                format!("{path}.oauth2SecurityScheme.flows"),
                problem,
                "A2A10-4.5.7-M1",
            );
        }
    }
}

/// Checks the headers of signatures. Verifying them takes the keys.
fn signatures(card: &Value, protocol_version: ProtocolVersion, found: &mut Problems) {
    let fields = of(
        protocol_version,
        ["", "", "A2A03-5.5.6-M1", "A2A10-4.4.7-M1"],
    );
    for (index, signature) in card["signatures"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let at = format!("$.signatures[{index}].protected");
        let header = match header(signature) {
            Ok(header) => header,
            Err(_) => {
                let problem = "expected base64url, without padding, of a JSON object with `alg`";
                found.add(at, problem, fields);
                continue;
            }
        };
        if header.alg.eq_ignore_ascii_case("none") || header.alg.starts_with("HS") {
            let problem = format!(
                "`{}` proves nothing: expected a signature by a private key",
                header.alg
            );
            found.advise(&at, problem, fields);
        }
        if protocol_version == ProtocolVersion::V1_0 && header.kid.is_none() {
            found.add(&at, "expected `kid`", "A2A10-8.4.2-M1");
        }
        if protocol_version == ProtocolVersion::V1_0 && header.typ.as_deref() != Some("JOSE") {
            found.add(&at, "expected `typ` to be `JOSE`", "A2A10-8.4.2-S1");
        }
        if header.jku.is_some_and(|url| !url.starts_with("https://")) {
            found.advise(&at, "expected `jku` to be https", fields);
        }
    }
}
