//! Tools: their names, descriptions and schemas, from the skills of agents.

use a2a_types::{AgentCard, AgentSkill, Object};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Longest name of a tool in bytes.
const MAX_NAME: usize = 64;

/// Returns a name in letters, digits and single underscores: `Travel agent` is `travel_agent`.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    let length = slug.trim_end_matches('_').len();
    slug.truncate(length);
    match slug.is_empty() {
        // A name without such letters: it is told by its hash.
        true => format!("agent_{}", hash(name)),
        false => slug,
    }
}

/// Returns 8 digits that stand for a text.
pub(crate) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    let bytes = digest.iter().take(4);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Returns `name`, or `name_2`, `name_3` … if it is taken, with at most [`MAX_NAME`] bytes.
pub(crate) fn unique(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let fitting = |name: String| match name.len() <= MAX_NAME {
        true => name,
        false => format!("{}_{}", &name[..MAX_NAME - 9], hash(&name)),
    };
    let first = fitting(name.to_owned());
    let mut names = std::iter::once(first).chain((2..).map(|n| fitting(format!("{name}_{n}"))));
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Returns the tool of a skill, or of the whole agent if its card lists none.
pub(crate) fn tool(name: String, card: &AgentCard, skill: Option<&AgentSkill>) -> Tool {
    let schema = match skill.and_then(|skill| skill_schema(card, skill)) {
        Some(schema) => with_ids(schema.clone()),
        None => plain_schema(),
    };
    let title = match skill {
        Some(skill) => format!("{}: {}", card.name, skill.name),
        None => card.name.clone(),
    };
    Tool::new(name, description(card, skill), schema)
        .with_title(title)
        .with_annotations(ToolAnnotations::new().open_world(true))
}

fn description(card: &AgentCard, skill: Option<&AgentSkill>) -> String {
    let Some(skill) = skill else {
        return card.description.clone();
    };
    let mut text = format!(
        "{} (agent {}: {})",
        skill.description, card.name, card.description
    );
    if !skill.examples.is_empty() {
        text.push_str("\nExamples of messages:");
        for example in &skill.examples {
            text.push_str("\n- ");
            text.push_str(example);
        }
    }
    text
}

/// Returns the JSON Schema of what a skill takes, if an extension on the card has it: `params.skills.ID.inputSchema`, or
/// `input` in place of `inputSchema`.
pub(crate) fn skill_schema<'c>(card: &'c AgentCard, skill: &AgentSkill) -> Option<&'c Object> {
    let mut extensions = card.capabilities.extensions.iter();
    extensions.find_map(|extension| {
        let skill = extension.params.as_ref()?.get("skills")?.get(&skill.id)?;
        let schema = skill.get("inputSchema").or_else(|| skill.get("input"))?;
        let schema = schema.as_object()?;
        (schema.get("type") == Some(&json!("object"))).then_some(schema)
    })
}

fn plain_schema() -> Object {
    let mut schema = Object::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert(
        "properties".to_owned(),
        json!({
            "message": {
                "type": "string",
                "description": "What to tell the agent, in natural language"
            },
            "files": {
                "type": "array",
                "description": "Files to send along: each has exactly one of text, bytes and url",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "File name"},
                        "mime_type": {"type": "string", "description": "Media type, like image/png"},
                        "text": {"type": "string", "description": "Content of a text file"},
                        "bytes": {"type": "string", "description": "Content in Base64"},
                        "url": {"type": "string", "description": "URL at which the agent can fetch it"}
                    },
                    "additionalProperties": false
                }
            },
            "data": {"type": "object", "description": "Structured data to send along"}
        }),
    );
    with_ids(schema)
}

/// Adds the ids of the conversation and the task to a schema, unless it has members of these names.
fn with_ids(mut schema: Object) -> Object {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, description) in [
            (
                "context_id",
                "Id of the conversation to continue, from an earlier result",
            ),
            (
                "task_id",
                "Id of the task to continue, from a result that asks for input",
            ),
        ] {
            let described = json!({"type": "string", "description": description});
            properties.entry(name).or_insert(described);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_short() {
        for (name, expected) in [
            ("Travel agent", "travel_agent"),
            ("  --A.B/c!", "a_b_c"),
            ("joke", "joke"),
        ] {
            assert_eq!(slug(name), expected);
        }
        assert!(slug("旅").starts_with("agent_"));
        assert_ne!(slug("旅"), slug("行"));
    }

    #[test]
    fn a_taken_or_long_name_is_changed() {
        assert_eq!(unique("a", |_| false), "a");
        assert_eq!(unique("a", |name| name == "a"), "a_2");
        let long = unique(&"x".repeat(100), |_| false);
        assert_eq!(long.len(), MAX_NAME);
        assert_ne!(long, unique(&"x".repeat(101), |_| false));
    }
}
