//! The requests of protocol version 1.0 with each field that a caller can fill, from the JSON Schema.

use serde_json::{Map, Value, json};

use crate::TrialError;

/// A field of a request, to be filled with as much as fits into one body.
pub(super) struct Field {
    pub(super) method: String,
    /// The members that lead to it, from `params` on; a number is a place in an array.
    path: Vec<String>,
    filling: Filling,
}

#[derive(Clone, Copy)]
enum Filling {
    OneString,
    OneMember,
    ManyMembers,
    OneItem,
    ManyItems,
}

/// Returns every field of every request.
pub(super) fn all() -> Result<Vec<Field>, TrialError> {
    let schema: Value = serde_json::from_str(SCHEMA)?;
    let definitions = schema["$defs"].as_object().ok_or("no definitions")?;
    let mut fields = Vec::new();
    for definition in definitions.values() {
        let properties = &definition["properties"];
        if let Some(method) = properties["method"]["const"].as_str() {
            let walk = Walk {
                definitions,
                method,
            };
            walk.field(&properties["params"], &mut Vec::new(), &mut fields);
        }
    }
    Ok(fields)
}

struct Walk<'s> {
    definitions: &'s Map<String, Value>,
    method: &'s str,
}

impl Walk<'_> {
    fn field(&self, schema: &Value, path: &mut Vec<String>, fields: &mut Vec<Field>) {
        let schema = self.resolved(schema);
        if let Some(properties) = schema["properties"].as_object() {
            for (name, member) in properties {
                path.push(name.clone());
                self.field(member, path, fields);
                path.pop();
            }
            return;
        }
        let fillings: &[_] = match schema["type"].as_str() {
            Some("string") if schema.get("enum").is_none() => &[Filling::OneString],
            Some("object") => &[Filling::OneMember, Filling::ManyMembers],
            Some("array") if self.resolved(&schema["items"])["type"] == "string" => {
                &[Filling::OneItem, Filling::ManyItems]
            }
            Some("array") => {
                path.push("0".to_owned());
                self.field(&schema["items"], path, fields);
                path.pop();
                &[]
            }
            // Any JSON.
            None if schema.get("oneOf").is_none() => &[Filling::OneString, Filling::ManyMembers],
            _ => &[],
        };
        fields.extend(fillings.iter().map(|filling| Field {
            method: self.method.to_owned(),
            path: path.clone(),
            filling: *filling,
        }));
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
        name.and_then(|name| self.definitions.get(name))
            .unwrap_or(schema)
    }
}

impl Field {
    pub(super) fn name(&self) -> String {
        let filling = match self.filling {
            Filling::OneString => "",
            Filling::OneMember | Filling::OneItem => " (one)",
            Filling::ManyMembers | Filling::ManyItems => " (many)",
        };
        format!("{} {}{filling}", self.method, self.path.join("."))
    }

    /// Builds the bodies of requests in which the field holds about `bytes` bytes.
    pub(super) fn bodies(&self, bytes: usize, task: &str) -> Bodies {
        let first = self.body(Bodies::FIRST, bytes, task);
        let number = Bodies::FIRST.to_string();
        let digits = number.as_bytes();
        let places = first.windows(digits.len()).enumerate();
        let places = places.filter(|(_, word)| *word == digits);
        Bodies {
            places: places.map(|(place, _)| place).collect(),
            first,
        }
    }

    fn body(&self, number: usize, bytes: usize, task: &str) -> Vec<u8> {
        let mut params = base(&self.method, number, task);
        if self.path.iter().any(|name| name == "0")
            && self.path.last().is_some_and(|name| is_content(name))
        {
            // A part has one kind of content.
            params["message"]["parts"] = json!([{}]);
        }
        let mut place = &mut params;
        for name in &self.path {
            place = match name.parse::<usize>() {
                Ok(index) => &mut place[index],
                Err(_) => &mut place[name.as_str()],
            };
        }
        *place = self.filling.value(number, bytes);
        let request =
            json!({"jsonrpc": "2.0", "id": number, "method": self.method, "params": params});
        request.to_string().into_bytes()
    }
}

/// The bodies of requests that are alike but for a number in their names.
pub(super) struct Bodies {
    first: Vec<u8>,
    /// Offsets of the number in `first`.
    places: Vec<usize>,
}

impl Bodies {
    /// The smallest number: all have as many digits.
    const FIRST: usize = 1_000_000;

    pub(super) fn get(&self, number: usize) -> Vec<u8> {
        let digits = (Self::FIRST + number).to_string();
        let mut body = self.first.clone();
        for place in &self.places {
            body[*place..][..digits.len()].copy_from_slice(digits.as_bytes());
        }
        body
    }
}

impl Filling {
    fn value(self, number: usize, bytes: usize) -> Value {
        let long = format!("{number}-{}", "x".repeat(bytes));
        // Values that take few bytes as JSON and many in memory.
        let few = bytes / 16;
        let numbers = 0..few.min(60_000);
        match self {
            Self::OneString => long.into(),
            Self::OneMember => json!({ "x": long }),
            Self::ManyMembers => {
                let members = numbers.map(|it| (format!("{number}-{it}"), json!("x")));
                Value::Object(members.collect())
            }
            Self::OneItem => json!([long]),
            Self::ManyItems => numbers.map(|it| format!("{number}-{it}")).collect(),
        }
    }
}

fn is_content(name: &str) -> bool {
    ["text", "raw", "url", "data"].contains(&name)
}

/// The smallest request of a method that the server takes.
fn base(method: &str, number: usize, task: &str) -> Value {
    let url = "http://127.0.0.1:9/";
    match method {
        "SendMessage" | "SendStreamingMessage" => json!({
            "message": {
                "messageId": format!("m{number}"), "role": "ROLE_USER", "parts": [{"text": "done"}],
            },
            "configuration": {"taskPushNotificationConfig": {
                "url": url, "authentication": {"scheme": "Bearer", "credentials": "x"},
            }},
        }),
        "CreateTaskPushNotificationConfig" => json!({
            "taskId": task, "id": format!("c{number}"), "url": url,
            "authentication": {"scheme": "Bearer", "credentials": "x"},
        }),
        "ListTasks" | "GetExtendedAgentCard" => json!({}),
        "ListTaskPushNotificationConfigs" => json!({"taskId": task}),
        method if method.contains("Config") => json!({"taskId": task, "id": "c"}),
        _ => json!({"id": task}),
    }
}

const SCHEMA: &str = include_str!("../../../../../../a2a-types/schemas/v1.0.json");
