//! The form of a card in which it is signed (1.0 §8.4.1).

use serde_json::{Map, Value};

use super::NotSigned;

/// The bytes that are signed for a card, given as it stands on the wire: without `signatures`,
/// without what is not set, by RFC 8785.
///
/// A member that 1.0 neither requires nor marks as optional is left out if it has its default: the
/// empty string, list or map, 0 or `false`. What 1.0 does not know stays as it is.
///
/// Errors: it is no JSON object, or a number of it is none of RFC 8785.
pub fn canonical(card: &Value) -> Result<Vec<u8>, NotSigned> {
    let Value::Object(members) = card else {
        return Err(NotSigned::NoCard);
    };
    let mut members = members.clone();
    members.remove("signatures");
    CARD.apply(&mut members);
    serde_json_canonicalizer::to_vec(&members).map_err(|_| NotSigned::NoCard)
}

/// A message of the proto: what of it is left out at its default, and what it holds.
struct Form {
    /// Members without presence of their own, that are not required either.
    left_out: &'static [&'static str],
    /// Members that hold messages.
    held: &'static [(&'static str, Held)],
}

/// A member that holds messages: one, a list or a map of them.
enum Held {
    One(&'static Form),
    List(&'static Form),
    Map(&'static Form),
}

impl Form {
    fn apply(&self, members: &mut Map<String, Value>) {
        // `null` is how ProtoJSON says that a member is not set.
        members.retain(|_, member| !member.is_null());
        for (name, held) in self.held {
            let Some(member) = members.get_mut(*name) else {
                continue;
            };
            let (form, objects) = match held {
                Held::One(form) => (form, objects_of([member])),
                Held::List(form) => (
                    form,
                    objects_of(member.as_array_mut().into_iter().flatten()),
                ),
                Held::Map(form) => {
                    let values = member.as_object_mut().map(Map::values_mut);
                    (form, objects_of(values.into_iter().flatten()))
                }
            };
            objects.into_iter().for_each(|object| form.apply(object));
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

const CARD: Form = Form {
    left_out: &["securitySchemes", "securityRequirements"],
    held: &[
        ("supportedInterfaces", Held::List(&INTERFACE)),
        ("provider", Held::One(&PLAIN)),
        ("capabilities", Held::One(&CAPABILITIES)),
        ("securitySchemes", Held::Map(&SCHEME)),
        ("securityRequirements", Held::List(&REQUIREMENT)),
        ("skills", Held::List(&SKILL)),
    ],
};
/// All its members are required or have presence.
const PLAIN: Form = form(&[]);
const INTERFACE: Form = form(&["tenant"]);
const CAPABILITIES: Form = Form {
    left_out: &["extensions"],
    held: &[("extensions", Held::List(&EXTENSION))],
};
const EXTENSION: Form = form(&["uri", "description", "required"]);
const SKILL: Form = Form {
    left_out: &[
        "examples",
        "inputModes",
        "outputModes",
        "securityRequirements",
    ],
    held: &[("securityRequirements", Held::List(&REQUIREMENT))],
};
const REQUIREMENT: Form = Form {
    left_out: &["schemes"],
    held: &[("schemes", Held::Map(&STRINGS))],
};
const STRINGS: Form = form(&["list"]);
const SCHEME: Form = Form {
    left_out: &[],
    held: &[
        ("apiKeySecurityScheme", Held::One(&DESCRIBED)),
        ("httpAuthSecurityScheme", Held::One(&HTTP_SCHEME)),
        ("oauth2SecurityScheme", Held::One(&OAUTH2_SCHEME)),
        ("openIdConnectSecurityScheme", Held::One(&DESCRIBED)),
        ("mtlsSecurityScheme", Held::One(&DESCRIBED)),
    ],
};
const DESCRIBED: Form = form(&["description"]);
const HTTP_SCHEME: Form = form(&["description", "bearerFormat"]);
const OAUTH2_SCHEME: Form = Form {
    left_out: &["description", "oauth2MetadataUrl"],
    held: &[("flows", Held::One(&FLOWS))],
};
const FLOWS: Form = Form {
    left_out: &[],
    held: &[
        ("authorizationCode", Held::One(&FLOW)),
        ("clientCredentials", Held::One(&FLOW)),
        ("deviceCode", Held::One(&FLOW)),
        ("implicit", Held::One(&OLD_FLOW)),
        ("password", Held::One(&OLD_FLOW)),
    ],
};
const FLOW: Form = form(&["refreshUrl", "pkceRequired"]);
/// Deprecated, and so without required members.
const OLD_FLOW: Form = form(&["authorizationUrl", "tokenUrl", "refreshUrl", "scopes"]);

const fn form(left_out: &'static [&'static str]) -> Form {
    Form {
        left_out,
        held: &[],
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
        assert_eq!(canonical(&json!([])), Err(NotSigned::NoCard));
    }
}
