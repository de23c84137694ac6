//! The canonical form of a card, over which it is signed (1.0 §8.4.1).

use serde_json::{Map, Value};

use super::SignError;

/// Returns the bytes that are signed for a card, given as it stands on the wire: without `signatures`,
/// without members that are not set, by RFC 8785.
///
/// A member that 1.0 neither requires nor marks as optional is left out if it has its default: the
/// empty string, list or map, 0 or `false`. What 1.0 does not know stays as it is.
///
/// Errors: the value is not a JSON object, or has a number that RFC 8785 cannot express.
pub fn canonical(card: &Value) -> Result<Vec<u8>, SignError> {
    let Value::Object(members) = card else {
        return Err(SignError::NoCard);
    };
    let mut members = members.clone();
    members.remove("signatures");
    CARD.apply(&mut members);
    serde_json_canonicalizer::to_vec(&members).map_err(|_| SignError::NoCard)
}

/// Shape of a message of the proto: the members that are left out at their default, and the messages in it.
struct MessageShape {
    /// Members that neither have presence of their own nor are required.
    left_out: &'static [&'static str],
    /// Members that hold messages.
    nested: &'static [(&'static str, Nested)],
}

/// A member that holds messages: one, a list or a map of them.
enum Nested {
    One(&'static MessageShape),
    List(&'static MessageShape),
    Map(&'static MessageShape),
}

impl MessageShape {
    fn apply(&self, members: &mut Map<String, Value>) {
        // `null` is how ProtoJSON says that a member is not set.
        members.retain(|_, member| !member.is_null());
        for (name, nested) in self.nested {
            let Some(member) = members.get_mut(*name) else {
                continue;
            };
            let (shape, objects) = match nested {
                Nested::One(shape) => (shape, objects_of([member])),
                Nested::List(shape) => (
                    shape,
                    objects_of(member.as_array_mut().into_iter().flatten()),
                ),
                Nested::Map(shape) => {
                    let values = member.as_object_mut().map(Map::values_mut);
                    (shape, objects_of(values.into_iter().flatten()))
                }
            };
            objects.into_iter().for_each(|object| shape.apply(object));
        }
        members
            .retain(|name, member| !(self.left_out.contains(&name.as_str()) && is_default(member)));
    }
}

fn objects_of<'a>(
    values: impl IntoIterator<Item = &'a mut Value>,
) -> Vec<&'a mut Map<String, Value>> {
    values
        .into_iter()
        .filter_map(Value::as_object_mut)
        .collect()
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

const CARD: MessageShape = MessageShape {
    left_out: &["securitySchemes", "securityRequirements"],
    nested: &[
        ("supportedInterfaces", Nested::List(&INTERFACE)),
        ("provider", Nested::One(&PLAIN)),
        ("capabilities", Nested::One(&CAPABILITIES)),
        ("securitySchemes", Nested::Map(&SCHEME)),
        ("securityRequirements", Nested::List(&REQUIREMENT)),
        ("skills", Nested::List(&SKILL)),
    ],
};
/// All its members are required or have presence.
const PLAIN: MessageShape = shape(&[]);
const INTERFACE: MessageShape = shape(&["tenant"]);
const CAPABILITIES: MessageShape = MessageShape {
    left_out: &["extensions"],
    nested: &[("extensions", Nested::List(&EXTENSION))],
};
const EXTENSION: MessageShape = shape(&["uri", "description", "required"]);
const SKILL: MessageShape = MessageShape {
    left_out: &[
        "examples",
        "inputModes",
        "outputModes",
        "securityRequirements",
    ],
    nested: &[("securityRequirements", Nested::List(&REQUIREMENT))],
};
const REQUIREMENT: MessageShape = MessageShape {
    left_out: &["schemes"],
    nested: &[("schemes", Nested::Map(&STRINGS))],
};
const STRINGS: MessageShape = shape(&["list"]);
const SCHEME: MessageShape = MessageShape {
    left_out: &[],
    nested: &[
        ("apiKeySecurityScheme", Nested::One(&DESCRIBED)),
        ("httpAuthSecurityScheme", Nested::One(&HTTP_SCHEME)),
        ("oauth2SecurityScheme", Nested::One(&OAUTH2_SCHEME)),
        ("openIdConnectSecurityScheme", Nested::One(&DESCRIBED)),
        ("mtlsSecurityScheme", Nested::One(&DESCRIBED)),
    ],
};
const DESCRIBED: MessageShape = shape(&["description"]);
const HTTP_SCHEME: MessageShape = shape(&["description", "bearerFormat"]);
const OAUTH2_SCHEME: MessageShape = MessageShape {
    left_out: &["description", "oauth2MetadataUrl"],
    nested: &[("flows", Nested::One(&FLOWS))],
};
const FLOWS: MessageShape = MessageShape {
    left_out: &[],
    nested: &[
        ("authorizationCode", Nested::One(&FLOW)),
        ("clientCredentials", Nested::One(&FLOW)),
        ("deviceCode", Nested::One(&FLOW)),
        ("implicit", Nested::One(&OLD_FLOW)),
        ("password", Nested::One(&OLD_FLOW)),
    ],
};
const FLOW: MessageShape = shape(&["refreshUrl", "pkceRequired"]);
/// Deprecated, and so without required members.
const OLD_FLOW: MessageShape = shape(&["authorizationUrl", "tokenUrl", "refreshUrl", "scopes"]);

const fn shape(left_out: &'static [&'static str]) -> MessageShape {
    MessageShape {
        left_out,
        nested: &[],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(card: &Value, expected: &str) {
        let canonical = canonical(card).unwrap();
        assert_eq!(String::from_utf8(canonical).unwrap(), expected);
    }

    #[test]
    fn the_example_of_the_specification() {
        let card = json!({"name": "Example Agent", "description": "", "skills": [],
            "capabilities": {"streaming": false, "pushNotifications": false, "extensions": []}});
        let expected = r#"{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}"#;
        check(&card, expected);
    }

    #[test]
    fn what_is_required_or_optional_stays_and_the_rest_goes_at_its_default() {
        let card = json!({
            "documentationUrl": "", "iconUrl": null, "signatures": [1], "securitySchemes": {},
            "defaultInputModes": [], "supportedInterfaces": [{"url": "", "tenant": ""}],
            "skills": [{"id": "", "tags": [], "examples": [], "inputModes": ["text/plain"]}],
            "capabilities": {"extensions": [{"uri": "", "required": false, "params": {}}]},
        });
        let expected = concat!(
            r#"{"capabilities":{"extensions":[{"params":{}}]},"defaultInputModes":[],"documentationUrl":"","#,
            r#""skills":[{"id":"","inputModes":["text/plain"],"tags":[]}],"supportedInterfaces":[{"url":""}]}"#,
        );
        check(&card, expected);
    }

    #[test]
    fn schemes_keep_what_they_are() {
        let card = json!({
            "securitySchemes": {
                "m": {"mtlsSecurityScheme": {"description": ""}},
                "o": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "t", "refreshUrl": "", "scopes": {}}}}},
            },
            "securityRequirements": [{"schemes": {"m": {"list": []}}}, {"schemes": {}}],
        });
        let expected = concat!(
            r#"{"securityRequirements":[{"schemes":{"m":{}}},{}],"securitySchemes":{"m":{"mtlsSecurityScheme":{}},"#,
            r#""o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{},"tokenUrl":"t"}}}}}}"#,
        );
        check(&card, expected);
    }

    #[test]
    fn names_and_numbers_are_those_of_rfc_8785() {
        // §3.2.3 sorts by UTF-16, §3.2.2.3 writes numbers as ECMAScript does.
        let card =
            json!({"\u{fb33}": 1.0, "\u{1f600}": 1e21, "a": 0.000_001, "x": {"extensions": []}});
        check(
            &card,
            "{\"a\":0.000001,\"x\":{\"extensions\":[]},\"\u{1f600}\":1e+21,\"\u{fb33}\":1}",
        );
        assert_eq!(canonical(&json!([])), Err(SignError::NoCard));
    }
}
