//! Demands of a schema, in a form that two spellings of the same demand have in common.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The definitions of a document, under `$defs` or `definitions`.
pub(super) struct Definitions<'a>(BTreeMap<&'a str, &'a Value>);

impl<'a> Definitions<'a> {
    pub(super) fn of(document: &'a Value) -> Self {
        let members = |key: &str| document[key].as_object().into_iter().flatten();
        let all = members("$defs").chain(members("definitions"));
        Self(all.map(|(name, schema)| (name.as_str(), schema)).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        self.0.get(name_of(reference)).copied()
    }
}

/// Every difference as a path, `Definition` or `Definition.member`, and what each side says.
pub(super) fn differences(
    ours: &Definitions<'_>,
    official: &Definitions<'_>,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in names(ours.0.keys(), official.0.keys()) {
        match (ours.0.get(name), official.0.get(name)) {
            (Some(mine), Some(theirs)) => {
                definition(name, (mine, ours), (theirs, official), &mut found)
            }
            (Some(_), None) => found.push((name.to_owned(), "only here".to_owned())),
            (None, _) => found.push((name.to_owned(), "only official".to_owned())),
        }
    }
    found
}

/// A schema, and where its references lead.
type Side<'a> = (&'a Value, &'a Definitions<'a>);

fn definition(name: &str, mine: Side<'_>, theirs: Side<'_>, found: &mut Vec<(String, String)>) {
    let (Some(my_members), Some(their_members)) = (members(mine.0), members(theirs.0)) else {
        let difference = difference(mine, theirs);
        found.extend(difference.map(|difference| (name.to_owned(), difference)));
        return;
    };
    for member in names(my_members.keys(), their_members.keys()) {
        let path = format!("{name}.{member}");
        let (Some(my), Some(their)) = (my_members.get(member), their_members.get(member)) else {
            let only = match my_members.contains_key(member) {
                true => "only here",
                false => "only official",
            };
            found.push((path, only.to_owned()));
            continue;
        };
        match (is_required(mine.0, member), is_required(theirs.0, member)) {
            (true, false) => found.push((
                path.clone(),
                "required here, optional officially".to_owned(),
            )),
            (false, true) => found.push((
                path.clone(),
                "optional here, required officially".to_owned(),
            )),
            _ => {}
        }
        let difference = difference((my, mine.1), (their, theirs.1));
        found.extend(difference.map(|difference| (path, difference)));
    }
    if choices(mine.0) != choices(theirs.0) {
        let difference = "the members of which there is exactly one".to_owned();
        found.push((name.to_owned(), difference));
    }
    let [my, their] =
        [mine, theirs].map(|(schema, definitions)| (&schema["additionalProperties"], definitions));
    let difference = difference(my, their);
    found.extend(difference.map(|difference| (format!("{name}.*"), difference)));
}

/// Describes the difference of two schemas' demands, if any: references of the same name are the same, others
/// are followed.
fn difference(mine: Side<'_>, theirs: Side<'_>) -> Option<String> {
    let by_name = (kinds(mine, false), kinds(theirs, false));
    if by_name.0 == by_name.1 || kinds(mine, true) == kinds(theirs, true) {
        return None;
    }
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let kinds: Vec<_> = one.difference(other).map(String::as_str).collect();
        kinds.join(" | ")
    };
    let parts = [
        ("here", only(&by_name.0, &by_name.1)),
        ("officially", only(&by_name.1, &by_name.0)),
    ];
    let parts = parts.iter().filter(|(_, kinds)| !kinds.is_empty());
    let parts: Vec<_> = parts
        .map(|(side, kinds)| format!("only {side}: {kinds}"))
        .collect();
    Some(parts.join("; "))
}

/// The alternatives that a schema leaves, each as text; titles, descriptions, defaults and formats
/// are no demands.
fn kinds((schema, definitions): Side<'_>, follow: bool) -> BTreeSet<String> {
    let nested = |schema: &Value| kinds((schema, definitions), follow);
    let schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => return one("nothing"),
        _ => return one("anything"),
    };
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return match definitions.target(reference) {
            Some(target) if follow => nested(target),
            _ => one(name_of(reference)),
        };
    }
    if let Some(Value::Array(schemas)) = schema.get("allOf")
        && let [only] = schemas.as_slice()
    {
        return nested(only);
    }
    if let Some(Value::Array(schemas)) = schema.get("anyOf").or(schema.get("oneOf")) {
        return schemas.iter().flat_map(nested).collect();
    }
    if let Some(constant) = schema.get("const") {
        return one(&constant.to_string());
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().map(Value::to_string).collect();
    }
    let text = |value: &Value| joined(&nested(value));
    let of_type = |name: &str| match name {
        "array" => format!(
            "[{}]",
            schema.get("items").map_or("anything".to_owned(), text)
        ),
        "object" => object(schema, &text),
        name => name.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(name)) => one(&of_type(name)),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .map(of_type)
            .collect(),
        _ if schema.contains_key("properties") => one(&of_type("object")),
        _ => one("anything"),
    }
}

fn object(schema: &Map<String, Value>, text: &dyn Fn(&Value) -> String) -> String {
    let schema_value = Value::Object(schema.clone());
    let member = |(name, member): (&String, &Value)| {
        let mark = if is_required(&schema_value, name) {
            ""
        } else {
            "?"
        };
        format!("{name}{mark}: {}", text(member))
    };
    let mut members: Vec<_> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(member)
        .collect();
    let others = schema.get("additionalProperties").map(text);
    if let Some(others) = others.filter(|others| others != "anything") {
        members.push(format!("*: {others}"));
    }
    format!("{{{}}}", members.join(", "))
}

fn members(schema: &Value) -> Option<&Map<String, Value>> {
    schema["properties"].as_object()
}

/// The sets of members, one of which an object must have.
fn choices(schema: &Value) -> BTreeSet<String> {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    choices
        .map(|choice| choice["required"].to_string())
        .collect()
}

fn is_required(schema: &Value, member: &str) -> bool {
    let mut required = schema["required"].as_array().into_iter().flatten();
    required.any(|name| name == member)
}

fn names<'a, N: AsRef<str> + 'a>(
    mine: impl Iterator<Item = &'a N>,
    theirs: impl Iterator<Item = &'a N>,
) -> BTreeSet<&'a str> {
    mine.chain(theirs).map(AsRef::as_ref).collect()
}

fn name_of(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

fn one(kind: &str) -> BTreeSet<String> {
    BTreeSet::from([kind.to_owned()])
}

fn joined(kinds: &BTreeSet<String>) -> String {
    let kinds: Vec<_> = kinds.iter().map(String::as_str).collect();
    kinds.join(" | ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(ours: Value, official: Value, expected: &[(&str, &str)]) {
        let ours = json!({"$defs": ours});
        let official = json!({"definitions": official});
        let found = differences(&Definitions::of(&ours), &Definitions::of(&official));
        let found: Vec<_> = found
            .iter()
            .map(|(path, what)| (path.as_str(), what.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn spellings_of_the_same_demand_are_equal() {
        check(
            json!({"A": {"const": "a"}, "B": {"type": ["string", "integer"]}}),
            json!({"A": {"type": "string", "enum": ["a"]}, "B": {"oneOf": [{"type": "integer"}, {"type": "string"}]}}),
            &[],
        );
        check(
            json!({"A": {"properties": {"b": {"$ref": "#/$defs/B", "description": "B."}}}, "B": {"type": "string"}}),
            json!({"A": {"type": "object", "properties": {"b": {"$ref": "#/definitions/B"}}}, "B": {"type": "string", "title": "B"}}),
            &[],
        );
        check(
            json!({"A": {"type": "object", "additionalProperties": true}}),
            json!({"A": {"type": "object", "additionalProperties": {}}}),
            &[],
        );
    }

    #[test]
    fn a_reference_is_what_it_leads_to() {
        check(
            json!({"A": {"properties": {"b": {"$ref": "#/$defs/B"}}}, "B": {"type": "string"}}),
            json!({"A": {"properties": {"b": {"type": "string"}}}, "B": {"type": "string"}}),
            &[],
        );
    }

    #[test]
    fn one_of_these_and_one_of_those_differ() {
        let one_of = |members: &[&str]| {
            let required: Vec<_> = members
                .iter()
                .map(|one| json!({"required": [one]}))
                .collect();
            json!({"A": {"properties": {"b": {}, "c": {}}, "oneOf": required}})
        };
        check(one_of(&["b", "c"]), one_of(&["c", "b"]), &[]);
        let difference = "the members of which there is exactly one";
        check(one_of(&["b"]), one_of(&["b", "c"]), &[("A", difference)]);
        check(
            json!({"A": {"properties": {"b": {"$ref": "#/$defs/B"}}}, "B": {}}),
            json!({"A": {"properties": {"b": {"allOf": [{"$ref": "#/$defs/B"}], "deprecated": true}}}, "B": {}}),
            &[],
        );
    }

    #[test]
    fn members_are_compared_one_by_one() {
        check(
            json!({"A": {"properties": {"same": {}, "mine": {}, "must": {}, "kind": {"type": "string"}}, "required": ["must"]}}),
            json!({"A": {"properties": {"same": {}, "theirs": {}, "must": {}, "kind": {"type": "integer"}}}}),
            &[
                ("A.kind", "only here: string; only officially: integer"),
                ("A.mine", "only here"),
                ("A.must", "required here, optional officially"),
                ("A.theirs", "only official"),
            ],
        );
    }

    #[test]
    fn definitions_are_compared_by_what_is_in_them() {
        check(
            json!({"A": {"anyOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}]}, "B": {}, "C": {"type": "null"}}),
            json!({"A": {"$ref": "#/$defs/B"}, "B": {}, "D": {}}),
            &[
                ("A", "only here: C"),
                ("C", "only here"),
                ("D", "only official"),
            ],
        );
    }

    #[test]
    fn nested_differences_are_found() {
        check(
            json!({"A": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}}}),
            json!({"A": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}}),
            &[(
                "A",
                "only here: [{b: string}]; only officially: [{b?: string}]",
            )],
        );
        check(
            json!({"A": {"type": "object", "additionalProperties": {"type": "string"}}}),
            json!({"A": {"type": "object"}}),
            &[("A", "only here: {*: string}; only officially: {}")],
        );
        check(
            json!({"A": {"properties": {}, "additionalProperties": false}}),
            json!({"A": {"properties": {}}}),
            &[("A.*", "only here: nothing; only officially: anything")],
        );
    }
}
