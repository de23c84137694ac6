//! One card document for callers of every generation.

use a2a_types::{AgentCard, v0_1, v0_2};
use serde_json::{Value, json};

/// The card as every generation reads it: the members of all of them in one object.
///
/// The generations moved each changed thing to a new name, so that the union says to each what its
/// own card would say; where two shapes share a name (`securitySchemes`), both shapes share the
/// object. Members that parsers in the field insist on are always there.
pub fn card_document(card: &AgentCard) -> Value {
    let mut document = json!({"authentication": {"schemes": []}});
    let generations = [
        serde_json::to_value(card),
        serde_json::to_value(v0_1::AgentCard::from(card.clone())),
        serde_json::to_value(v0_2::AgentCard::from(card.clone())),
    ];
    for generation in generations.into_iter().flatten() {
        merge(&mut document, generation);
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
    use super::*;
    use a2a_types::reading::{Hints, Mode, read};

    #[test]
    fn every_generation_reads_its_own_card_from_the_document() {
        let card: AgentCard = serde_json::from_value(json!({
            "name": "n", "description": "d", "version": "1", "capabilities": {"streaming": true},
            "supportedInterfaces": [{"url": "http://h/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
            "securityRequirements": [{"schemes": {"b": {"list": []}}}],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "", "tags": []}],
        }))
        .unwrap();
        let document = card_document(&card);
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
}
