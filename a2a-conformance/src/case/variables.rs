//! Variables of a case, and the templates that use them.

use std::collections::BTreeMap;

use serde_json::Value;

/// Named results of a case's steps, used as `{{name.path}}`, where a path consists of members and
/// indexes, like `sent.task.artifacts.0.parts`.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    values: BTreeMap<String, Value>,
}

impl Variables {
    /// Stores a value under a name.
    pub fn put(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// Returns whether a value is stored under the name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the template with every `{{…}}` replaced: a text that is nothing else by the value
    /// itself, otherwise by its text.
    ///
    /// Errors: the first name or path that does not exist.
    pub fn fill(&self, template: &Value) -> Result<Value, String> {
        Ok(match template {
            Value::String(text) => self.fill_text(text)?,
            Value::Array(items) => {
                let items = items.iter().map(|item| self.fill(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| {
                    let name = self.fill_text(name)?;
                    let name = name
                        .as_str()
                        .map_or_else(|| name.to_string(), str::to_owned);
                    Ok::<_, String>((name, self.fill(value)?))
                });
                Value::Object(members.collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }

    fn fill_text(&self, text: &str) -> Result<Value, String> {
        if let Some(path) = text
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"))
            && !path.contains("{{")
        {
            return self.find(path);
        }
        let mut whole = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (path, after) = after
                .split_once("}}")
                .ok_or_else(|| format!("`{text}` has no `}}}}`"))?;
            whole.push_str(before);
            match self.find(path)? {
                Value::String(text) => whole.push_str(&text),
                other => whole.push_str(&other.to_string()),
            }
            rest = after;
        }
        whole.push_str(rest);
        Ok(Value::String(whole))
    }

    /// Returns the value at a path. Errors: there is none.
    pub fn find(&self, path: &str) -> Result<Value, String> {
        let path = path.trim();
        let mut segments = path.split('.');
        let name = segments.next().unwrap_or_default();
        let mut value = self
            .values
            .get(name)
            .ok_or_else(|| format!("there is no `{name}`"))?;
        for segment in segments {
            let inner = match value {
                Value::Array(items) => segment
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| items.get(index)),
                Value::Object(members) => members.get(segment),
                _ => None,
            };
            value = inner.ok_or_else(|| format!("there is no `{path}`"))?;
        }
        Ok(value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_filled_in() {
        let mut names = Variables::default();
        names.put("a", json!({"task": {"id": "t", "list": [1, {"x": true}]}}));
        let fill = |template: Value| names.fill(&template);
        assert_eq!(fill(json!("{{a.task.id}}")), Ok(json!("t")));
        assert_eq!(fill(json!("{{a.task.list.1}}")), Ok(json!({"x": true})));
        assert_eq!(
            fill(json!("tasks/{{a.task.id}}/{{ a.task.list.0 }}")),
            Ok(json!("tasks/t/1"))
        );
        assert_eq!(
            fill(json!({"{{a.task.id}}": ["{{a.task.id}}", 1]})),
            Ok(json!({"t": ["t", 1]}))
        );
        assert_eq!(fill(json!("{ {x} }")), Ok(json!("{ {x} }")));
        for bad in ["{{b}}", "{{a.task.list.7}}", "{{a.task.id.x}}", "x{{a"] {
            assert!(fill(json!(bad)).is_err(), "{bad}");
        }
    }
}
