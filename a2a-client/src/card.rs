//! Reader of agent cards of any protocol version.

use a2a_types::reading::{Hints, Mode, Violation, read, read_canonical};
use a2a_types::{AgentCard, v0_1, v0_2};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Reads a card of any protocol version. A document with members of several is read as the latest.
pub fn read_card(json: &str) -> Result<AgentCard, Violation> {
    /// Members that distinguish the protocol versions.
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
