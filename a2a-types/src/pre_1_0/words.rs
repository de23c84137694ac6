//! Words of older versions in messages of 1.0.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::reading::{Deviation, JsonPath, Mode, Quirk, Violation};

/// Looks for words of older versions in the params of a 1.0 message that has been read already: the
/// role must be spelled as in 1.0; a `kind` in a part is ignored (specification 1.0 §5.7) and
/// listed, or refused in strict mode.
pub fn words_in_1_0(params: &str, mode: Mode, root: &str) -> Result<Vec<Deviation>, Violation> {
    #[derive(Deserialize)]
    struct ParamsFields {
        message: Option<MessageFields>,
    }
    #[derive(Deserialize)]
    struct MessageFields {
        role: Option<Value>,
        #[serde(default)]
        parts: Option<Vec<PartFields>>,
    }
    #[derive(Deserialize)]
    struct PartFields {
        kind: Option<IgnoredAny>,
    }
    // Nearly all messages have none of these words, and are not read twice.
    let words = ["\"user\"", "\"agent\"", "\"kind\""];
    if !words.iter().any(|word| params.contains(word)) {
        return Ok(Vec::new());
    }
    let read: Option<ParamsFields> = serde_json::from_str(params).ok();
    let Some(message) = read.and_then(|params| params.message) else {
        return Ok(Vec::new());
    };
    let root = JsonPath::Root(root);
    let at = root.member("message");
    let role = message.role.as_ref().and_then(Value::as_str);
    if matches!(role, Some("user" | "agent")) {
        let problem = "expected `ROLE_USER` or `ROLE_AGENT`, found the word of an older version";
        return Err(at.member("role").violation(problem));
    }
    let parts = message.parts.into_iter().flatten().enumerate();
    let mut repairs = Vec::new();
    for (index, _) in parts.filter(|(_, part)| part.kind.is_some()) {
        let problem = "expected no `kind`: 1.0 tells parts apart by their members";
        let violation = at
            .member("parts")
            .item(index)
            .member("kind")
            .violation(problem);
        match mode {
            Mode::Strict => return Err(violation),
            _ => repairs.push(Deviation::new(Quirk::KindInPart, violation.path)),
        }
    }
    Ok(repairs)
}
