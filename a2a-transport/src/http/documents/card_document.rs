//! The document of a card for callers of several protocol versions.

use a2a_types::{AgentCard, AgentInterface, ProtocolVersion, v0_1, v0_2};
use serde_json::{Map, Value, json};

/// Returns the card for every version that its interfaces name: the members of all of them in one object.
///
/// The versions moved each changed thing to a new name, so that the union has for each what its
/// own card would have; where two shapes share a name (`securitySchemes`), both shapes share the
/// object. Members that parsers in the field insist on are always there. A card of which no interface
/// names a version before 1.0 has no member of theirs, and the other way round; one that names no
/// interface has all.
pub fn card_document(card: &AgentCard) -> Value {
    let forms = forms(card);
    if !(forms.of_0_1 || forms.of_0_2 || forms.of_0_3) {
        return json!(card);
    }
    let mut document = json!({});
    if forms.of_1_0 {
        merge(&mut document, json!(card));
    }
    if forms.of_0_1 {
        let of_0_1 = json!(v0_1::AgentCard::from(card.clone()));
        merge(&mut document, json!({"authentication": {"schemes": []}}));
        merge(&mut document, of_0_1);
    }
    if forms.of_0_2 || forms.of_0_3 {
        let of_0_3 = v0_2::AgentCard::from(card.clone());
        let newest = match forms.of_0_3 || forms.of_1_0 {
            true => of_0_3,
            false => of_0_3.of_0_2(),
        };
        merge(&mut document, json!(newest));
    }
    let schemes = document
        .get_mut("securitySchemes")
        .and_then(Value::as_object_mut);
    for scheme in schemes.into_iter().flat_map(Map::values_mut) {
        // Parsers of 0.x refuse a card with a scheme that has no type. Only a scheme whose flows
        // are all new in 1.0 has no type here, and no requirement of the older versions names it.
        if scheme["type"].is_null() {
            merge(scheme, json!({"type": "oauth2", "flows": {}}));
        }
    }
    // 0.3 §5.6.2: a card that lists further interfaces lists the main one, too.
    let main = json!({"url": document["url"], "transport": document["preferredTransport"]});
    if let Some(Value::Array(interfaces)) = document.get_mut("additionalInterfaces")
        && !interfaces.contains(&main)
    {
        interfaces.insert(0, main);
    }
    // 1.0 has these members, too: a signature over a card without them would be over another card.
    if !card.signatures.is_empty() {
        // A flag that is absent in 1.0 is `false` in 0.1.
        let flags = [
            ("streaming", card.capabilities.streaming),
            ("pushNotifications", card.capabilities.push_notifications),
        ];
        if let Some(capabilities) = document["capabilities"].as_object_mut() {
            let absent = flags.iter().filter(|(_, own)| own.is_none());
            absent.for_each(|(name, _)| drop(capabilities.remove(*name)));
        }
        return document;
    }
    for skill in document["skills"].as_array_mut().into_iter().flatten() {
        for (member, fallback) in [
            ("inputModes", &card.default_input_modes),
            ("outputModes", &card.default_output_modes),
        ] {
            if skill[member].is_null() {
                skill[member] = json!(fallback);
            }
        }
    }
    document
}

/// Forms of a card that are served: of the versions that its interfaces name, all of them if it names no
/// interface.
pub(crate) struct Forms {
    of_0_1: bool,
    of_0_2: bool,
    of_0_3: bool,
    pub(crate) of_1_0: bool,
}

pub(crate) fn forms(card: &AgentCard) -> Forms {
    let interfaces = &card.supported_interfaces;
    let named = |protocol_version: Option<ProtocolVersion>| {
        let is_of = |interface: &AgentInterface| interface.protocol_version() == protocol_version;
        interfaces.is_empty() || interfaces.iter().any(is_of)
    };
    Forms {
        of_0_1: named(Some(ProtocolVersion::V0_1)),
        of_0_2: named(Some(ProtocolVersion::V0_2)),
        of_0_3: named(Some(ProtocolVersion::V0_3)),
        // Only 1.0 can name later versions, and signatures are over its members.
        of_1_0: named(Some(ProtocolVersion::V1_0)) || named(None) || !card.signatures.is_empty(),
    }
}

/// Lays `over` onto `base`, object by object and item by item.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                merge(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(base), Value::Array(over)) => {
            for (index, value) in over.into_iter().enumerate() {
                match base.get_mut(index) {
                    Some(item) => merge(item, value),
                    None => base.push(value),
                }
            }
        }
        (base, over) => *base = over,
    }
}

#[cfg(test)]
mod tests {
    use a2a_types::reading::{Hints, Mode, read};

    use super::*;

    #[test]
    fn every_version_reads_its_own_card_from_the_document() {
        let card: AgentCard = serde_json::from_value(json!({
            "name": "n", "description": "d", "version": "1", "capabilities": {"streaming": true},
            "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
            "securityRequirements": [{"schemes": {"b": {"list": []}}}],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "", "tags": []}],
        }))
        .unwrap();
        let card = card.at("http://h/");
        let document = card_document(&card);
        assert!(!document.to_string().contains("null"), "{document}");
        let text = document.to_string();

        let of_0_1 = read::<v0_1::AgentCard>(&text, Mode::Strict, &Hints::at("$"))
            .unwrap()
            .value;
        assert_eq!(of_0_1.authentication.unwrap().schemes, ["Bearer"]);
        let of_0_2 = read::<v0_2::AgentCard>(&text, Mode::Strict, &Hints::at("$"))
            .unwrap()
            .value;
        assert_eq!(
            of_0_2.security,
            Some(vec![[("b".to_owned(), vec![])].into()])
        );
        let of_1_0: AgentCard = serde_json::from_str(&text).unwrap();
        assert_eq!(of_1_0.security_schemes, card.security_schemes);
        assert_eq!(document["securitySchemes"]["b"]["type"], "http");
        assert_eq!(document["skills"][0]["inputModes"], json!(["text/plain"]));
    }

    #[test]
    fn main_interface_is_listed_in_0_3_interfaces() {
        let document = card_document(&AgentCard::new("n", "d").at("http://h/"));
        let expected = json!([
            {"url": "http://h/", "transport": "JSONRPC"},
            {"url": "http://h/rest", "transport": "HTTP+JSON"},
        ]);
        assert_eq!(document["additionalInterfaces"], expected);
        let only = AgentCard {
            supported_interfaces: vec![a2a_types::AgentInterface::json_rpc(
                "http://h/",
                ProtocolVersion::V0_3,
            )],
            ..AgentCard::new("n", "d")
        };
        assert!(card_document(&only)["additionalInterfaces"].is_null());
    }

    #[test]
    fn a_scheme_that_only_1_0_knows_has_a_type_for_older_parsers() {
        let flow = json!({"deviceAuthorizationUrl": "https://a/d", "tokenUrl": "https://a/t", "scopes": {}});
        let scheme = json!({"oauth2SecurityScheme": {"flows": {"deviceCode": flow}}});
        let card = AgentCard {
            security_schemes: serde_json::from_value(json!({ "d": scheme })).unwrap(),
            security_requirements: serde_json::from_value(json!([{"schemes": {"d": {}}}])).unwrap(),
            ..AgentCard::new("n", "d").at("http://h/")
        };
        let document = card_document(&card);
        assert_eq!(document["securitySchemes"]["d"]["type"], "oauth2");
        assert!(document["security"].is_null());
        let text = document.to_string();
        let read = read::<v0_2::AgentCard>(&text, Mode::Strict, &Hints::at("$"));
        assert!(read.is_ok(), "{read:?}");
        let read: AgentCard = serde_json::from_str(&text).unwrap();
        assert_eq!(read.security_schemes, card.security_schemes);
        assert_eq!(read.security_requirements, card.security_requirements);
    }

    /// Returns the members of the document of a card whose interfaces name these versions.
    fn members(protocol_versions: &[ProtocolVersion]) -> Vec<String> {
        let named = protocol_versions
            .iter()
            .map(|protocol_version| AgentInterface::json_rpc("http://h/", *protocol_version));
        let card = AgentCard {
            supported_interfaces: named.collect(),
            security_schemes: serde_json::from_value(
                json!({"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}),
            )
            .unwrap(),
            security_requirements: serde_json::from_value(json!([{"schemes": {"b": {}}}])).unwrap(),
            ..AgentCard::new("n", "d")
        };
        let document = card_document(&card);
        let known = |name: &&str| document.get(*name).is_some();
        let [of_1_0, of_0_2, of_0_1] = [
            ["supportedInterfaces", "securityRequirements"],
            ["protocolVersion", "security"],
            ["url", "authentication"],
        ]
        .map(|names| names.into_iter().filter(known).map(str::to_owned));
        of_1_0.chain(of_0_2).chain(of_0_1).collect()
    }

    #[test]
    fn a_card_has_the_members_of_the_versions_that_it_names_alone() {
        use ProtocolVersion::{V0_1, V0_2, V0_3, V1_0};
        let of_1_0 = ["supportedInterfaces", "securityRequirements"];
        let of_0_2 = ["protocolVersion", "security", "url"];
        let of_0_1 = ["url", "authentication"];
        assert_eq!(members(&[V1_0]), of_1_0);
        assert_eq!(members(&[V0_3]), of_0_2);
        assert_eq!(members(&[V0_2]), of_0_2);
        assert_eq!(members(&[V0_1]), of_0_1);
        assert_eq!(members(&[V0_3, V1_0]), [&of_1_0[..], &of_0_2].concat());
        assert_eq!(members(&[V0_1, V1_0]), [of_1_0, of_0_1].concat());
        let all = [&of_1_0[..], &of_0_2, &["authentication"]].concat();
        assert_eq!(members(ProtocolVersion::ALL), all);
        assert_eq!(members(&[]), all);
    }
}
