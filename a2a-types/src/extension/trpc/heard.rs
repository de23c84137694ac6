//! What has been told of an artifact, so that what is told again can be recognised.

use super::Step;
use crate::{Content, Part};

/// What has been told of an artifact.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    text: String,
    reasoning: String,
    others: Vec<Part>,
}

impl Heard {
    /// Takes in parts that were added.
    pub(super) fn add(&mut self, parts: &[Part]) {
        for part in parts {
            match text_of(part) {
                Some((text, true)) => self.reasoning.push_str(text),
                Some((text, false)) => self.text.push_str(text),
                None => self.others.push(part.clone()),
            }
        }
    }

    /// What a whole artifact has beyond what was told; none if it is another one now.
    pub(super) fn rest(&self, whole: &[Part]) -> Option<Vec<Part>> {
        let mut all = Self::default();
        all.add(whole);
        let goes_on = |told: &str, all: &str| all.is_empty() || all.starts_with(told);
        if !goes_on(&self.text, &all.text) || !goes_on(&self.reasoning, &all.reasoning) {
            return None;
        }
        let (mut text, mut reasoning) = (self.text.len(), self.reasoning.len());
        let rest = whole.iter().filter_map(|part| match text_of(part) {
            None => (!self.others.contains(part)).then(|| part.clone()),
            Some((_, true)) => without(part.clone(), &mut reasoning),
            Some((_, false)) => without(part.clone(), &mut text),
        });
        Some(rest.collect())
    }

    /// Takes in a whole artifact in place of what was told. What is no text is kept: steps are
    /// complete when they are told, and are not taken back.
    pub(super) fn replace(&mut self, whole: Vec<Part>) -> Vec<Part> {
        let mut parts = std::mem::take(self).others;
        parts.retain(|part| !whole.contains(part));
        parts.extend(whole);
        self.add(&parts);
        parts
    }
}

/// The text of a part, and whether it is reasoning.
fn text_of(part: &Part) -> Option<(&str, bool)> {
    let text = part.as_text()?;
    Some((text, matches!(Step::of(part), Some(Step::Reasoning(_)))))
}

/// What is left of a part of text when so many bytes of all text were told before.
fn without(mut part: Part, told: &mut usize) -> Option<Part> {
    if let Content::Text(text) = &mut part.content {
        let skipped = (*told).min(text.len());
        *told -= skipped;
        // What was told begins the whole, so this is where a character begins.
        *text = text.get(skipped..)?.to_owned();
        if text.is_empty() {
            return None;
        }
    }
    Some(part)
}
