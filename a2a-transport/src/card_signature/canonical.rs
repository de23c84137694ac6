//! The canonical forms of a card, over which it is signed (1.0 §8.4.1).

use serde_json::{Map, Value};

use super::shape::CARD;
use super::{SignError, SignatureForm};

/// Returns the bytes that are signed for a card, given as it stands on the wire.
///
/// Errors: the value is not a JSON object, or has a number that RFC 8785 cannot express.
pub fn canonical(card: &Value, form: SignatureForm) -> Result<Vec<u8>, SignError> {
    let mut members = card.as_object().ok_or(SignError::NoCard)?.clone();
    members.remove("signatures");
    match form {
        SignatureForm::Specification => CARD.remove_defaults(&mut members),
        SignatureForm::KnownMembers => {
            CARD.retain_known(&mut members);
            CARD.remove_defaults(&mut members);
            CARD.add_required(&mut members);
        }
        SignatureForm::Sdk => {
            CARD.retain_known(&mut members);
            CARD.remove_defaults(&mut members);
            members.values_mut().for_each(remove_empty);
            members.retain(|_, member| !is_empty(member));
        }
    }
    serde_json_canonicalizer::to_vec(&members).map_err(|_| SignError::NoCard)
}

/// Returns the covered part of a card as a whole card, as a reader of 1.0 takes it.
pub(super) fn readable(mut covered: Map<String, Value>, form: SignatureForm) -> Value {
    if form == SignatureForm::Sdk {
        CARD.add_required(&mut covered);
    }
    Value::Object(covered)
}

/// Removes what is empty, or becomes so, at every depth.
fn remove_empty(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(remove_empty);
            items.retain(|item| !is_empty(item));
        }
        Value::Object(members) => {
            members.values_mut().for_each(remove_empty);
            members.retain(|_, member| !is_empty(member));
        }
        _ => {}
    }
}

/// Returns whether the SDKs leave a value out; they keep 0 and `false`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::SignatureForm::{KnownMembers, Sdk, Specification};
    use super::*;

    #[track_caller]
    fn check(card: &Value, form: SignatureForm, expected: &str) {
        let canonical = canonical(card, form).unwrap();
        assert_eq!(String::from_utf8(canonical).unwrap(), expected, "{form:?}");
    }

    #[test]
    fn canonical_form_matches_example_of_specification() {
        let card = json!({"name": "Example Agent", "description": "", "skills": [],
            "capabilities": {"streaming": false, "pushNotifications": false, "extensions": []}});
        let expected = r#"{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}"#;
        check(&card, Specification, expected);
        let expected = r#"{"capabilities":{"pushNotifications":false,"streaming":false},"name":"Example Agent"}"#;
        check(&card, Sdk, expected);
    }

    #[test]
    fn required_and_optional_members_stay_and_other_defaults_are_removed() {
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
        check(&card, Specification, expected);
        check(&card, Sdk, r#"{"skills":[{"inputModes":["text/plain"]}]}"#);
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
        check(&card, Specification, expected);
        let expected = r#"{"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"t"}}}}}}"#;
        check(&card, Sdk, expected);
    }

    #[test]
    fn members_of_other_versions_are_removed_before_they_can_be_merged_in() {
        let card = json!({
            "name": "n", "description": "d", "version": "1", "documentation_url": "u", "defaultInputModes": [],
            "defaultOutputModes": [], "supportedInterfaces": [], "url": "http://h/", "x": {"a": 1},
            "capabilities": {"streaming": true, "stateTransitionHistory": true},
            "supportsAuthenticatedExtendedCard": true, "security": [{"b": []}],
            "securitySchemes": {"b": {"type": "http", "scheme": "bearer", "httpAuthSecurityScheme": {"scheme": "bearer"}}},
        });
        let expected = concat!(
            r#"{"capabilities":{"streaming":true},"defaultInputModes":[],"defaultOutputModes":[],"description":"d","#,
            r#""documentationUrl":"u","name":"n","securitySchemes":{"b":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"#,
            r#""skills":[],"supportedInterfaces":[],"version":"1"}"#,
        );
        check(&card, KnownMembers, expected);
    }

    #[test]
    fn names_and_numbers_follow_rfc_8785() {
        // §3.2.3 sorts by UTF-16, §3.2.2.3 writes numbers as ECMAScript does.
        let card =
            json!({"\u{fb33}": 1.0, "\u{1f600}": 1e21, "a": 0.000_001, "x": {"extensions": []}});
        check(
            &card,
            Specification,
            "{\"a\":0.000001,\"x\":{\"extensions\":[]},\"\u{1f600}\":1e+21,\"\u{fb33}\":1}",
        );
        assert_eq!(canonical(&json!([]), Specification), Err(SignError::NoCard));
    }
}
