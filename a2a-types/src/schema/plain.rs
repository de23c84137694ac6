//! Rewriting of derived schemas in the plainer form of the official ones.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value};

/// Schemas by name.
pub(super) type Definitions = Map<String, Value>;

/// Makes every definition plain.
pub(super) fn simplify(definitions: &mut Definitions) {
    for definition in definitions.values_mut() {
        let Ok(mut schema) = Schema::try_from(std::mem::take(definition)) else {
            continue;
        };
        RecursiveTransform(plain).transform(&mut schema);
        *definition = schema.into();
    }
}

fn plain(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    nullable_to_optional(schema);
    constants_to_enum(schema);
    drop_integer_format(schema);
}

/// Removes "or null", which schemars derives for `Option<T>`: optional members are left out instead.
fn nullable_to_optional(object: &mut Map<String, Value>) {
    let required = object.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        let mut names = required.as_array().into_iter().flatten();
        names.any(|required| required == name)
    };
    let Some(Value::Object(members)) = object.get_mut("properties") else {
        return;
    };
    for (name, member) in members {
        if let Value::Object(member) = member
            && !is_required(name)
        {
            drop_null(member);
        }
    }
}

fn drop_null(member: &mut Map<String, Value>) {
    if member.get("default") == Some(&Value::Null) {
        member.remove("default");
    }
    if let Some(Value::Array(types)) = member.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            member.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(kinds)) = member.get_mut("anyOf") {
        kinds.retain(|kind| kind["type"] != "null");
        if let [Value::Object(only)] = kinds.as_slice() {
            let only = only.clone();
            member.remove("anyOf");
            member.extend(only);
        }
    }
}

/// Joins the schemas that schemars derives for the words of an enum.
fn constants_to_enum(schema: &mut Map<String, Value>) {
    let Some(Value::Array(kinds)) = schema.get("oneOf") else {
        return;
    };
    let words: Vec<Value> = kinds
        .iter()
        .filter_map(|kind| kind.get("const").cloned())
        .collect();
    if words.len() != kinds.len() || !words.iter().all(Value::is_string) {
        return;
    }
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    match words.as_slice() {
        [only] => schema.insert("const".to_owned(), only.clone()),
        _ => schema.insert("enum".to_owned(), words.into()),
    };
}

/// Drops formats like `uint32`: a JSON reader learns nothing from them that `minimum` does not say.
fn drop_integer_format(schema: &mut Map<String, Value>) {
    if schema.get("type").is_some_and(|name| name == "integer") {
        schema.remove("format");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(derived: Value, expected: Value) {
        let mut definitions = Map::from_iter([("It".to_owned(), derived)]);
        simplify(&mut definitions);
        assert_eq!(definitions["It"], expected);
    }

    #[test]
    fn options_are_optional() {
        check(
            json!({"properties": {"a": {"type": ["string", "null"], "default": null}}}),
            json!({"properties": {"a": {"type": "string"}}}),
        );
        check(
            json!({"properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "description": "A."}}}),
            json!({"properties": {"a": {"$ref": "#/$defs/A", "description": "A."}}}),
        );
        let required = json!({"properties": {"a": {"type": "null"}}, "required": ["a"]});
        check(required.clone(), required);
    }

    #[test]
    fn words_are_an_enum() {
        check(
            json!({"description": "Who.", "oneOf": [{"type": "string", "const": "a", "description": "A."}, {"type": "string", "const": "b"}]}),
            json!({"description": "Who.", "type": "string", "enum": ["a", "b"]}),
        );
        check(
            json!({"oneOf": [{"type": "string", "const": "task"}]}),
            json!({"type": "string", "const": "task"}),
        );
        let union = json!({"oneOf": [{"const": "a"}, {"type": "object"}]});
        check(union.clone(), union);
    }

    #[test]
    fn members_may_be_called_as_keywords_are() {
        let schema =
            json!({"properties": {"required": {"type": "boolean"}, "format": {"type": "integer"}}});
        check(schema.clone(), schema);
    }

    #[test]
    fn integers_have_no_format() {
        check(
            json!({"type": "integer", "format": "uint32", "minimum": 0}),
            json!({"type": "integer", "minimum": 0}),
        );
    }
}
