//! Checks of the rules in prose: each returns what is wrong with a member, and the path below it.

use std::collections::BTreeMap;

use a2a_transport::card_signature::header;
use a2a_types::{Base64, ErrorKind, Timestamp};
use http::Uri;
use serde_json::{Map, Value, json};

/// The members of an object.
pub(super) type Members = Map<String, Value>;

fn text_of(value: &Value, problem: impl FnOnce(&str) -> Option<String>) -> Vec<(String, String)> {
    let problem = value.as_str().and_then(problem);
    problem
        .into_iter()
        .map(|problem| (String::new(), problem))
        .collect()
}

fn clip(text: &str) -> String {
    text.chars().take(64).collect()
}

pub(super) fn with_zone(value: &Value, _: &Members) -> Vec<(String, String)> {
    text_of(value, |text| match text.parse::<Timestamp>() {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    })
}

pub(super) fn date_time(value: &Value, _: &Members) -> Vec<(String, String)> {
    text_of(value, |text| match Timestamp::parse_zone_optional(text) {
        Ok(_) => None,
        Err(_) => Some(format!("`{}` is not an ISO 8601 date and time", clip(text))),
    })
}

pub(super) fn utc(value: &Value, _: &Members) -> Vec<(String, String)> {
    text_of(value, |text| {
        let expected = "expected UTC like 2025-10-28T10:30:00.000Z";
        (!is_utc(text)).then(|| format!("`{}`: {expected}", clip(text)))
    })
}

/// Returns whether a text is a time in UTC as 1.0 has it (§5.6.1), with seconds.
pub(crate) fn is_utc(text: &str) -> bool {
    let has = |at: usize, expected: u8| text.as_bytes().get(at) == Some(&expected);
    let is_written = has(10, b'T') && has(13, b':') && has(16, b':') && text.ends_with('Z');
    is_written && text.parse::<Timestamp>().is_ok()
}

pub(super) fn specified(value: &Value, _: &Members) -> Vec<(String, String)> {
    text_of(value, |text| {
        let is_default = text.ends_with("_UNSPECIFIED");
        is_default.then(|| format!("`{}` says nothing: expected another value", clip(text)))
    })
}

/// Either alphabet, with all of its padding or none (ProtoJSON).
pub(super) fn base64(value: &Value, _: &Members) -> Vec<(String, String)> {
    text_of(value, |text| {
        let padding = text.len() - text.trim_end_matches('=').len();
        let is_padded = padding == 0 || text.len().is_multiple_of(4) && padding <= 2;
        let is_base64 = is_padded && Base64::from_text(text).decode().is_ok();
        (!is_base64).then(|| format!("`{}` is not base64", clip(text)))
    })
}

pub(super) fn named(value: &Value, _: &Members) -> Vec<(String, String)> {
    text_of(value, |text| {
        text.is_empty()
            .then(|| "expected an id that is not empty".to_owned())
    })
}

pub(super) fn filled(value: &Value, _: &Members) -> Vec<(String, String)> {
    match value.as_array().is_some_and(Vec::is_empty) {
        true => vec![(String::new(), "expected at least one element".to_owned())],
        false => Vec::new(),
    }
}

/// Returns whether a URL is a host and a port, as that of gRPC is.
pub(crate) fn is_host_and_port(url: &str) -> bool {
    let authority = url.parse::<http::uri::Authority>();
    authority.is_ok_and(|it| it.port_u16().is_some() && !it.as_str().contains('@'))
}

pub(super) fn absolute(value: &Value, members: &Members) -> Vec<(String, String)> {
    text_of(value, |text| {
        let is_grpc = members.get("protocolBinding") == Some(&"GRPC".into());
        if is_grpc && is_host_and_port(text) {
            return None;
        }
        let uri = text.parse::<Uri>().ok();
        let is_absolute = uri.is_some_and(|uri| uri.scheme().is_some() && uri.host().is_some());
        (!is_absolute).then(|| "expected an absolute URL".to_owned())
    })
}

pub(super) fn page_size(value: &Value, _: &Members) -> Vec<(String, String)> {
    match value.as_i64() {
        Some(size) if !(1..=100).contains(&size) => {
            vec![(String::new(), format!("expected 1 to 100, found {size}"))]
        }
        _ => Vec::new(),
    }
}

pub(super) fn removed(_: &Value, _: &Members) -> Vec<(String, String)> {
    let problem = "a member of 0.3 that 1.0 removed: the name of the member says what it is";
    vec![(String::new(), problem.to_owned())]
}

pub(super) fn signature_header(value: &Value, _: &Members) -> Vec<(String, String)> {
    text_of(value, |text| match header(&json!({ "protected": text })) {
        Err(_) => {
            let problem = "expected base64url, without padding, of a JSON object with `alg`";
            Some(problem.to_owned())
        }
        Ok(header) => header.kid.is_none().then(|| "expected `kid`".to_owned()),
    })
}

/// A card of several versions has the requirements of each.
pub(super) fn security_of_a_card(value: &Value, card: &Members) -> Vec<(String, String)> {
    match card.contains_key("url") {
        true => security(value, card),
        false => security(value, &Members::new()),
    }
}

pub(super) fn security(value: &Value, holder: &Members) -> Vec<(String, String)> {
    let requires = value.as_array().is_none_or(|list| !list.is_empty());
    match requires && !holder.contains_key("securityRequirements") {
        true => {
            let problem = "a member of 0.2 and 0.3, expected `securityRequirements`";
            vec![(String::new(), problem.to_owned())]
        }
        false => Vec::new(),
    }
}

pub(super) fn unlike_each_other(artifacts: &Value, _: &Members) -> Vec<(String, String)> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, artifact) in artifacts.as_array().into_iter().flatten().enumerate() {
        let Some(id) = artifact["artifactId"].as_str() else {
            continue;
        };
        match first.get(id) {
            Some(before) => {
                let problem = format!("`{}` is the id of artifact {before}, too", clip(id));
                found.push((format!("[{index}].artifactId"), problem));
            }
            None => {
                first.insert(id, index);
            }
        }
    }
    found
}

pub(super) fn json_rpc_error(error: &Value, _: &Members) -> Vec<(String, String)> {
    let mut found = details(error, "data");
    for (index, kind) in kinds(&error["data"]) {
        let code = error["code"].as_i64().unwrap_or_default();
        if code != kind.code() {
            let problem = format!(
                "`{}` has the code {}, found {code}",
                kind.reason(),
                kind.code()
            );
            found.push((format!(".data[{index}].reason"), problem));
        }
    }
    found
}

/// The table of §5.4 differs between 1.0.0 and 1.0.1: only what neither has is wrong.
pub(super) fn http_error(error: &Value, _: &Members) -> Vec<(String, String)> {
    let mut found = details(error, "details");
    for (index, kind) in kinds(&error["details"]) {
        let status = error["status"].as_str().unwrap_or_default();
        let expected = kind.grpc_status();
        let is_of_1_0_0 = status == "UNIMPLEMENTED" && expected == "FAILED_PRECONDITION";
        if status != expected && !is_of_1_0_0 {
            let problem = format!(
                "`{}` has the status {expected}, found {}",
                kind.reason(),
                clip(status)
            );
            found.push((format!(".details[{index}].reason"), problem));
        }
    }
    found
}

/// Checks that error details have their type, and `ErrorInfo` a reason.
fn details(error: &Value, member: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let list = error[member].as_array().into_iter().flatten();
    for (index, detail) in list.enumerate().filter(|(_, detail)| detail.is_object()) {
        let at = |name: &str| format!(".{member}[{index}].{name}");
        if !detail["@type"].is_string() {
            found.push((at("@type"), "missing".to_owned()));
        }
        if is_info(detail) {
            for name in ["reason", "domain"] {
                if detail[name].as_str().is_none_or(str::is_empty) {
                    found.push((at(name), "missing".to_owned()));
                }
            }
        }
    }
    found
}

fn is_info(detail: &Value) -> bool {
    let name = detail["@type"].as_str().unwrap_or_default();
    name.ends_with("/google.rpc.ErrorInfo")
}

/// The errors of A2A that details name.
fn kinds(details: &Value) -> impl Iterator<Item = (usize, ErrorKind)> {
    let list = details.as_array().into_iter().flatten().enumerate();
    let of_a2a = |detail: &&Value| is_info(detail) && detail["domain"] == "a2a-protocol.org";
    list.filter(move |(_, detail)| of_a2a(detail))
        .filter_map(|(index, detail)| {
            let kind = ErrorKind::from_reason(detail["reason"].as_str()?)?;
            // The specification names the errors of its own only.
            (-32_009..=-32_001)
                .contains(&kind.code())
                .then_some((index, kind))
        })
}
