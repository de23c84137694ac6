//! Reader of agent cards of any protocol version.

use a2a_types::reading::{
    Deviation, Hints, Mode, Quirk, Violation, WithRepairs, read, read_canonical_in,
};
use a2a_types::{AgentCard, AgentInterface, v0_1, v0_2};
use serde_json::Value;

/// Reads a card of any protocol version. A document with members of several is read as the latest.
pub fn read_card(json: &str) -> Result<AgentCard, Violation> {
    read_card_in(json, Mode::Lenient).map(|read| read.value)
}

/// Reads a card of any protocol version, in a mode. With [`Mode::Tolerant`] everything that can be read is kept, and the
/// rest is told: what is missing or malformed beside the interfaces need not keep anyone from calling the agent.
pub fn read_card_in(json: &str, mode: Mode) -> Result<WithRepairs<AgentCard>, Violation> {
    let at = Hints::at("$");
    let json = match mode {
        Mode::Tolerant => json.trim_start_matches('\u{feff}'),
        _ => json,
    };
    let mut document: Value = serde_json::from_str(json).unwrap_or_default();
    let has = |name: &str| document.get(name).is_some_and(|member| !member.is_null());
    let names = ["supportedInterfaces", "supported_interfaces"];
    let interfaces = names.into_iter().find(|name| {
        let list = document.get(*name).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    });
    let is_0_1 = has("authentication") && !has("protocolVersion") && !has("securitySchemes");
    let mut read = match interfaces {
        Some(name) if mode == Mode::Tolerant => {
            let deviations = supply_versions(&mut document, name);
            let text = match deviations.is_empty() {
                true => json.to_owned(),
                false => document.to_string(),
            };
            let mut read = read_canonical_in(&text, mode, &at)?;
            read.repairs.extend(deviations);
            read
        }
        Some(_) => read_canonical_in(json, mode, &at)?,
        None if is_0_1 => read::<v0_1::AgentCard>(json, mode, &at)?.map(Into::into),
        None => read::<v0_2::AgentCard>(json, mode, &at)?.map(Into::into),
    };
    if mode == Mode::Tolerant {
        let deviations = name_bindings(&mut read.value, interfaces.is_some());
        read.repairs.extend(deviations);
    }
    Ok(read)
}

/// Gives interfaces without a version that of the card, or the first that has a list of interfaces.
fn supply_versions(document: &mut Value, name: &str) -> Vec<Deviation> {
    let of_card = document.get("protocolVersion").and_then(Value::as_str);
    let version = of_card.unwrap_or("1.0").to_owned();
    let mut deviations = Vec::new();
    let interfaces = document.get_mut(name).and_then(Value::as_array_mut);
    for (index, interface) in interfaces.into_iter().flatten().enumerate() {
        let Value::Object(interface) = interface else {
            continue;
        };
        let has = |name: &str| interface.get(name).is_some_and(|member| !member.is_null());
        if has("protocolVersion") || has("protocol_version") || !has("protocolBinding") {
            continue;
        }
        interface.insert("protocolVersion".to_owned(), version.clone().into());
        deviations.push(Deviation {
            found: "nothing".to_owned(),
            read_as: version.clone(),
            ..Deviation::new(Quirk::Missing, format!("$.{name}[{index}].protocolVersion"))
        });
    }
    deviations
}

/// Gives the bindings of interfaces the names that the specification has for them.
fn name_bindings(card: &mut AgentCard, has_interfaces: bool) -> Vec<Deviation> {
    let mut deviations = Vec::new();
    for (index, interface) in card.supported_interfaces.iter_mut().enumerate() {
        let plain = interface.protocol_binding.to_ascii_uppercase();
        let plain = plain.replace(['-', '_', ' ', '+'], "");
        let name = match plain.as_str() {
            "JSONRPC" => AgentInterface::JSON_RPC,
            "HTTPJSON" | "REST" => AgentInterface::HTTP_JSON,
            _ => continue,
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
    use a2a_types::Dialect;

    #[track_caller]
    fn check_dialect(json: &str, expected: Dialect) {
        let card = read_card(json).unwrap();
        let json_rpc = |interface: &&a2a_types::AgentInterface| {
            interface.protocol_binding == a2a_types::AgentInterface::JSON_RPC
        };
        let first = card.supported_interfaces.iter().find(json_rpc).unwrap();
        assert_eq!(first.dialect(), Some(expected));
    }

    #[test]
    fn cards_of_each_version() {
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
