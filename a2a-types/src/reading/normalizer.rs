//! Deviation of plain JSON, with the path of each repair.

use serde_json::Value;

use super::salvage::described;
use super::{Deviation, Hints, Quirk, Violation};
use crate::{ArtifactId, Object, TaskId};

/// Repairs plain JSON, tracking the path and listing the repairs.
#[derive(Debug)]
pub struct Normalizer<'h> {
    hints: &'h Hints<'h>,
    path: Vec<String>,
    pub(super) repairs: Vec<Deviation>,
    renamed: Vec<(String, String)>,
}

impl<'h> Normalizer<'h> {
    pub(super) fn new(hints: &'h Hints<'h>) -> Self {
        Self {
            hints,
            path: Vec::new(),
            repairs: Vec::new(),
            renamed: Vec::new(),
        }
    }

    /// Returns the task that the exchange is about.
    pub(crate) fn task(&self) -> Option<&TaskId> {
        self.hints.task
    }

    /// Returns the artifact that the stream's previous event was about.
    pub(crate) fn artifact(&self) -> Option<&ArtifactId> {
        self.hints.artifact
    }

    /// Descends into the member `name`, if it is an object.
    pub(crate) fn member(
        &mut self,
        object: &mut Object,
        name: &str,
        normalize: impl FnOnce(&mut Object, &mut Self),
    ) {
        if let Some(Value::Object(inner)) = object.get_mut(name) {
            self.path.push(format!(".{name}"));
            normalize(inner, self);
            self.path.pop();
        }
    }

    /// Descends into every object of the list `name`; `null` becomes an empty list.
    pub(crate) fn items(
        &mut self,
        object: &mut Object,
        name: &str,
        mut normalize: impl FnMut(&mut Object, &mut Self),
    ) {
        match object.get_mut(name) {
            Some(Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Value::Object(inner) = item {
                        self.path.push(format!(".{name}[{index}]"));
                        normalize(inner, self);
                        self.path.pop();
                    }
                }
            }
            Some(value @ Value::Null) => {
                *value = Value::Array(Vec::new());
                self.note(Quirk::NullList, name);
            }
            _ => {}
        }
    }

    /// Moves the value of `from` to `to`, unless `to` is present.
    pub(crate) fn rename(&mut self, object: &mut Object, from: &str, to: &str, quirk: Quirk) {
        if absent(object, to)
            && let Some(value) = object.remove(from)
        {
            object.insert(to.to_owned(), value);
            self.note(quirk, from);
            self.renamed.push((self.at(to), self.at(from)));
        }
    }

    /// Gives `name` a value, unless it has one.
    pub(crate) fn supply(
        &mut self,
        object: &mut Object,
        name: &str,
        value: impl Into<Value>,
        quirk: Quirk,
    ) {
        if absent(object, name) {
            object.insert(name.to_owned(), value.into());
            self.note(quirk, name);
        }
    }

    /// Replaces the value of `name`, if `change` returns another.
    pub(crate) fn change(
        &mut self,
        object: &mut Object,
        name: &str,
        quirk: Quirk,
        change: impl FnOnce(&Value) -> Option<Value>,
    ) {
        if let Some(value) = object.get_mut(name)
            && let Some(better) = change(value)
        {
            let (found, read_as) = (described(value), described(&better));
            *value = better;
            self.note(quirk, name);
            if let Some(deviation) = self.repairs.last_mut() {
                (deviation.found, deviation.read_as) = (found, read_as);
            }
        }
    }

    /// Removes an id that is the empty string.
    pub(crate) fn drop_empty_id(&mut self, object: &mut Object, name: &str) {
        if object.get(name).and_then(Value::as_str) == Some("") {
            object.remove(name);
            self.note(Quirk::EmptyId, name);
        }
    }

    /// Records a repair of the member `name` of the current object.
    pub(crate) fn note(&mut self, quirk: Quirk, name: &str) {
        let path = self.at(name);
        self.repairs.push(Deviation::new(quirk, path));
    }

    fn at(&self, name: &str) -> String {
        format!("{}{}.{name}", self.hints.root, self.path.concat())
    }

    /// Returns the violation with the names that the sender used.
    pub(super) fn as_sent(&self, mut violation: Violation) -> Violation {
        for (to, from) in self.renamed.iter().rev() {
            if let Some(rest) = violation.path.strip_prefix(to.as_str()) {
                violation.path = format!("{from}{rest}");
            }
        }
        violation
    }
}

/// Returns whether an object lacks a member, or has it as `null`.
pub(crate) fn absent(object: &Object, name: &str) -> bool {
    object.get(name).is_none_or(Value::is_null)
}

/// Returns the first of `names` that the object has; the first of all, if it has none.
pub(crate) fn spelled<'n>(object: &Object, names: &[&'n str]) -> &'n str {
    let used = names.iter().find(|name| object.contains_key(**name));
    used.or(names.first()).copied().unwrap_or_default()
}
