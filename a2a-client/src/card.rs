//! Reader of agent cards of any protocol version.

use a2a_types::reading::{
    Deviation, Hints, Mode, Quirk, Violation, WithRepairs, read, read_canonical_in,
};
use a2a_types::{AgentCard, AgentInterface, Object, v0_1, v0_2};
use serde_json::Value;

/// Reads a card of any protocol version. A document with members of several is read as the latest.
pub fn read_card(json: &str) -> Result<AgentCard, Violation> {
    read_card_in(json, Mode::Lenient).map(|read| read.value)
}

/// Reads a card of any protocol version, in a mode. With [`Mode::Tolerant`] everything that can be read is kept, and
/// the rest is reported: an agent can be called even if members other than the interfaces are missing or malformed.
pub fn read_card_in(json: &str, mode: Mode) -> Result<WithRepairs<AgentCard>, Violation> {
    let at = Hints::at("$");
    let json = match mode {
        Mode::Tolerant => json.trim_start_matches('\u{feff}'),
        _ => json,
    };
    let mut document: Value = serde_json::from_str(json).unwrap_or_default();
    let versions = match mode {
        Mode::Tolerant => name_versions(&mut document),
        _ => Vec::new(),
    };
    let renamed = (!versions.is_empty()).then(|| document.to_string());
    let json = renamed.as_deref().unwrap_or(json);
    let has = |name: &str| document.get(name).is_some_and(|member| !member.is_null());
    let has_url = has("url");
    let names = ["supportedInterfaces", "supported_interfaces"];
    let interfaces = names.into_iter().find(|name| {
        let list = document.get(*name).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    });
    let is_0_1 = has("authentication") && !has("protocolVersion") && !has("securitySchemes");
    let of_0_2 = || -> Result<WithRepairs<AgentCard>, Violation> {
        Ok(read::<v0_2::AgentCard>(json, mode, &at)?.map(Into::into))
    };
    let mut card: WithRepairs<AgentCard> = match interfaces {
        Some(name) if mode == Mode::Tolerant => {
            let deviations = complete_interfaces(&mut document, name);
            let text = match deviations.is_empty() {
                true => json.to_owned(),
                false => document.to_string(),
            };
            let mut card: WithRepairs<AgentCard> = read_canonical_in(&text, mode, &at)?;
            card.repairs.extend(deviations);
            card
        }
        Some(_) => read_canonical_in(json, mode, &at)?,
        None if is_0_1 => read::<v0_1::AgentCard>(json, mode, &at)?.map(Into::into),
        None => of_0_2()?,
    };
    if mode != Mode::Tolerant {
        return Ok(card);
    }
    let mut offered = card.value.supported_interfaces.iter();
    if interfaces.is_some()
        && !offered.any(|interface| binding_of(&interface.protocol_binding).is_some())
        && has_url
        && let Ok(older) = of_0_2()
    {
        // The list has only other protocols, so the URL in the member of older versions is the
        // agent's.
        let older = older.value.supported_interfaces;
        card.value.supported_interfaces.extend(older);
    }
    let deviations = name_bindings(&mut card.value, interfaces.is_some());
    card.repairs.extend(deviations);
    card.repairs.extend(versions);
    Ok(card)
}

/// Writes version numbers as the specification has them: without `v` in front, and 1.0 for 1 or a word.
fn name_versions(document: &mut Value) -> Vec<Deviation> {
    let mut deviations = Vec::new();
    let mut name = |holder: &mut Value, path: &str, in_list: bool| {
        let Some(Value::String(version)) = holder.get_mut("protocolVersion") else {
            return;
        };
        let number = version.trim_start_matches(['v', 'V']);
        let is_number = number.starts_with(|first: char| first.is_ascii_digit());
        let read_as = match is_number {
            true if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{number}.0"),
            true => number.to_owned(),
            false if in_list && !version.is_empty() => "1.0".to_owned(),
            false => return,
        };
        if read_as != *version {
            deviations.push(Deviation {
                found: format!("`{version}`"),
                read_as: format!("`{read_as}`"),
                ..Deviation::new(Quirk::VersionForm, format!("{path}.protocolVersion"))
            });
            *version = read_as;
        }
    };
    name(document, "$", false);
    let interfaces = document.get_mut("supportedInterfaces");
    let interfaces = interfaces
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    for (index, interface) in interfaces.enumerate() {
        name(interface, &format!("$.supportedInterfaces[{index}]"), true);
    }
    deviations
}

/// Completes interfaces whose binding or URL stands under another name, and those without a version: they have that of
/// the card, or the first that has a list of interfaces.
fn complete_interfaces(document: &mut Value, name: &str) -> Vec<Deviation> {
    let of_card = document.get("protocolVersion").and_then(Value::as_str);
    let version = of_card.unwrap_or("1.0").to_owned();
    let mut deviations = Vec::new();
    let interfaces = document.get_mut(name).and_then(Value::as_array_mut);
    for (index, interface) in interfaces.into_iter().flatten().enumerate() {
        let Value::Object(interface) = interface else {
            continue;
        };
        let mut supply = |interface: &mut Object, member: &str, from: &str, value: &str| {
            interface.insert(member.to_owned(), value.into());
            deviations.push(Deviation {
                found: from.to_owned(),
                read_as: value.to_owned(),
                ..Deviation::new(Quirk::Missing, format!("$.{name}[{index}].{member}"))
            });
        };
        let has = |interface: &Object, names: &[&str]| {
            let mut members = names.iter().filter_map(|name| interface.get(*name));
            members.any(|member| !member.is_null())
        };
        if !has(interface, &["protocolBinding", "protocol_binding"]) {
            let names = ["transport", "protocol", "binding"].into_iter();
            let known = names.filter_map(|name| Some((name, interface.get(name)?.as_str()?)));
            let known = known.filter_map(|(name, word)| Some((name, binding_of(word)?)));
            if let Some((from, binding)) = known.into_iter().next() {
                supply(interface, "protocolBinding", &format!("`{from}`"), binding);
            }
        }
        if !has(interface, &["url"])
            && let Some(url) = interface
                .get("uri")
                .and_then(Value::as_str)
                .map(str::to_owned)
        {
            supply(interface, "url", "`uri`", &url);
        }
        if !has(interface, &["protocolVersion", "protocol_version"])
            && has(interface, &["protocolBinding", "protocol_binding"])
        {
            supply(interface, "protocolVersion", "nothing", &version);
        }
    }
    deviations
}

/// Returns the name that the specification has for a binding, in whatever case and with whatever signs it is written.
fn binding_of(word: &str) -> Option<&'static str> {
    let letters = word.chars().filter(char::is_ascii_alphabetic);
    match letters.collect::<String>().to_ascii_uppercase().as_str() {
        "JSONRPC" => Some(AgentInterface::JSON_RPC),
        "HTTPJSON" | "REST" => Some(AgentInterface::HTTP_JSON),
        _ => None,
    }
}

/// Gives the bindings of interfaces the names that the specification has for them.
fn name_bindings(card: &mut AgentCard, has_interfaces: bool) -> Vec<Deviation> {
    let mut deviations = Vec::new();
    for (index, interface) in card.supported_interfaces.iter_mut().enumerate() {
        let Some(name) = binding_of(&interface.protocol_binding) else {
            continue;
        };
        if interface.protocol_binding == name {
            continue;
        }
        let found = std::mem::replace(&mut interface.protocol_binding, name.to_owned());
        let path = match has_interfaces {
            true => format!("$.supportedInterfaces[{index}].protocolBinding"),
            false => "$.preferredTransport".to_owned(),
        };
        deviations.push(Deviation {
            found: format!("`{found}`"),
            read_as: format!("`{name}`"),
            ..Deviation::new(Quirk::OtherCase, path)
        });
    }
    deviations
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_types::ProtocolVersion;

    #[track_caller]
    fn check_protocol_version(json: &str, expected: ProtocolVersion) {
        let card = read_card(json).unwrap();
        let json_rpc = |interface: &&a2a_types::AgentInterface| {
            interface.protocol_binding == a2a_types::AgentInterface::JSON_RPC
        };
        let first = card.supported_interfaces.iter().find(json_rpc).unwrap();
        assert_eq!(first.protocol_version(), Some(expected));
    }

    #[test]
    fn cards_of_each_version_are_recognised() {
        let rest = r#""name":"n","description":"d","url":"http://h/","version":"1","capabilities":{},"skills":[]"#;
        check_protocol_version(
            &format!(r#"{{{rest},"authentication":{{"schemes":"Bearer"}}}}"#),
            ProtocolVersion::V0_1,
        );
        check_protocol_version(&format!("{{{rest}}}"), ProtocolVersion::V0_2);
        check_protocol_version(
            &format!(r#"{{{rest},"protocolVersion":"0.2.9"}}"#),
            ProtocolVersion::V0_2,
        );
        check_protocol_version(
            &format!(r#"{{{rest},"protocolVersion":"0.3.0"}}"#),
            ProtocolVersion::V0_3,
        );
        let interfaces = r#"[{"url":"grpc://h","protocolBinding":"GRPC","protocolVersion":"1.0"},
            {"url":"http://h/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]"#;
        check_protocol_version(
            &format!(r#"{{{rest},"supportedInterfaces":{interfaces}}}"#),
            ProtocolVersion::V1_0,
        );
    }

    #[test]
    fn a_version_in_another_form_is_read_as_meant() {
        let rest = r#""name":"n","description":"d","version":"1","capabilities":{},"skills":[],
            "defaultInputModes":[],"defaultOutputModes":[]"#;
        for (written, version) in [
            ("v1.0", "1.0"),
            ("1", "1.0"),
            ("latest", "1.0"),
            ("7.0", "7.0"),
        ] {
            let card = format!(
                r#"{{{rest},"supportedInterfaces":[{{"url":"http://h/","protocolBinding":"JSONRPC","protocolVersion":"{written}"}}]}}"#
            );
            let read = read_card_in(&card, Mode::Tolerant).unwrap();
            assert_eq!(read.value.supported_interfaces[0].protocol_version, version);
            assert_eq!(
                read.repairs.len(),
                usize::from(written != version),
                "{written}"
            );
        }
        let card = format!(r#"{{{rest},"url":"http://h/","protocolVersion":"v0.3.0"}}"#);
        let read = read_card_in(&card, Mode::Tolerant).unwrap();
        assert_eq!(
            read.value.supported_interfaces[0].protocol_version(),
            Some(ProtocolVersion::V0_3)
        );
        assert_eq!(read.repairs[0].path, "$.protocolVersion");
    }

    /// Expects the interfaces of a card, each as its URL, binding and version, and the places of its deviations.
    #[track_caller]
    fn check_interfaces(members: &str, expected: &[(&str, &str, &str)], places: &[&str]) {
        let json = format!(
            r#"{{"name":"n","description":"d","version":"1","capabilities":{{}},"skills":[],
            "defaultInputModes":[],"defaultOutputModes":[],{members}}}"#
        );
        assert!(read_card_in(&json, Mode::Strict).is_err(), "{members}");
        let read = read_card_in(&json, Mode::Tolerant).unwrap();
        let interfaces = read.value.supported_interfaces.iter().map(|interface| {
            let AgentInterface {
                url,
                protocol_binding,
                protocol_version,
                ..
            } = interface;
            (
                url.as_str(),
                protocol_binding.as_str(),
                protocol_version.as_str(),
            )
        });
        assert_eq!(interfaces.collect::<Vec<_>>(), expected, "{members}");
        let found: Vec<_> = read
            .repairs
            .iter()
            .map(|found| found.path.as_str())
            .collect();
        assert_eq!(found, places, "{members}");
    }

    #[test]
    fn interfaces_are_completed() {
        let good = [("http://h/", "JSONRPC", "1.0")];
        let members = r#""supportedInterfaces":[{"url":"http://h/","transport":"json-rpc"}]"#;
        let (binding, version) = (
            "$.supportedInterfaces[0].protocolBinding",
            "$.supportedInterfaces[0].protocolVersion",
        );
        check_interfaces(members, &good, &[binding, version]);
        let members = r#""supportedInterfaces":[{"uri":"http://h/","protocolBinding":"JSONRPC"}],"protocolVersion":"1.0""#;
        check_interfaces(members, &good, &["$.supportedInterfaces[0].url", version]);
        let members =
            r#""supportedInterfaces":[{"url":"http://h/mcp","protocol":"mcp"}],"url":"http://h/""#;
        let both = [("http://h/mcp", "", ""), ("http://h/", "JSONRPC", "0.2")];
        check_interfaces(members, &both, &[binding, version]);
    }
}
