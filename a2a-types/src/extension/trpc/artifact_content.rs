//! Content of an artifact so far, by which repeated content is recognised.

use super::Step;
use crate::{Content, Part};

/// Content of an artifact so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ArtifactContent {
    text: String,
    reasoning: String,
    others: Vec<Part>,
}

impl ArtifactContent {
    /// Adds parts.
    pub(super) fn add(&mut self, parts: &[Part]) {
        for part in parts {
            match text_of(part) {
                Some((text, true)) => self.reasoning.push_str(text),
                Some((text, false)) => self.text.push_str(text),
                None => self.others.push(part.clone()),
            }
        }
    }

    /// Returns what a whole artifact adds to the content so far, or `None` if it contradicts it.
    pub(super) fn rest(&self, whole: &[Part]) -> Option<Vec<Part>> {
        let mut all = Self::default();
        all.add(whole);
        let extends = |sent: &str, all: &str| all.is_empty() || all.starts_with(sent);
        if !extends(&self.text, &all.text) || !extends(&self.reasoning, &all.reasoning) {
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

    /// Replaces the content by that of a whole artifact and returns the parts. Parts other than text are
    /// kept: steps are complete when they are sent, and are not taken back.
    pub(super) fn replace(&mut self, whole: Vec<Part>) -> Vec<Part> {
        let mut parts = std::mem::take(self).others;
        parts.retain(|part| !whole.contains(part));
        parts.extend(whole);
        self.add(&parts);
        parts
    }
}

/// Returns the text of a part, and whether it is reasoning.
fn text_of(part: &Part) -> Option<(&str, bool)> {
    let text = part.as_text()?;
    Some((text, matches!(Step::of(part), Some(Step::Reasoning(_)))))
}

/// Removes the first `sent` bytes of all text; returns the rest of a part, `None` if it is empty.
fn without(mut part: Part, sent: &mut usize) -> Option<Part> {
    if let Content::Text(text) = &mut part.content {
        let skipped = (*sent).min(text.len());
        *sent -= skipped;
        // The text so far is a prefix of the whole, so a character begins here.
        *text = text.get(skipped..)?.to_owned();
        if text.is_empty() {
            return None;
        }
    }
    Some(part)
}
