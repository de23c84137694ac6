//! Splitting of parts, so that no client of the framework loses one.
//!
//! Clients of trpc-agent-go take one kind of content from a chunk: they drop text that comes with a tool's
//! response, and keep only one of code, its result and text.

use super::Step;
use crate::{Content, Part};

/// Splits parts into the fewest portions, in order, that clients keep whole.
pub(super) fn portions(parts: Vec<Part>) -> Vec<Vec<Part>> {
    let mut portions: Vec<(PartGroup, Vec<Part>)> = Vec::new();
    for part in parts {
        let group = PartGroup::of(&part);
        match portions.last_mut() {
            Some((last, portion)) if *last == group && group != PartGroup::Single => {
                portion.push(part);
            }
            _ => portions.push((group, vec![part])),
        }
    }
    portions.into_iter().map(|(_, parts)| parts).collect()
}

/// Splits a portion into lines of a stream: clients of the framework read neither a line longer than
/// 640 KiB, nor anything after it.
pub(super) fn lines(portion: Vec<Part>) -> Vec<Vec<Part>> {
    let mut lines: Vec<(usize, Vec<Part>)> = Vec::new();
    for part in portion.into_iter().flat_map(pieces) {
        let length = part.as_text().map_or(0, str::len);
        match lines.last_mut() {
            Some((sum, line)) if *sum + length <= MAX_LINE_BYTES => {
                *sum += length;
                line.push(part);
            }
            _ => lines.push((length, vec![part])),
        }
    }
    lines.into_iter().map(|(_, parts)| parts).collect()
}

/// Splits a part of long text into several.
fn pieces(part: Part) -> Vec<Part> {
    let Some(text) = part.as_text().filter(|text| text.len() > MAX_LINE_BYTES) else {
        return vec![part];
    };
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(boundary(rest));
        pieces.push(Part {
            content: Content::Text(piece.to_owned()),
            ..part.clone()
        });
        rest = after;
    }
    pieces
}

/// Returns the end of the first piece of a text, at a character boundary.
fn boundary(text: &str) -> usize {
    let most = MAX_LINE_BYTES.min(text.len());
    let ends = (0..=most).rev().find(|end| text.is_char_boundary(*end));
    ends.unwrap_or(most)
}

/// Maximum bytes of text in one line: JSON may make six of each.
pub(super) const MAX_LINE_BYTES: usize = 64 << 10;

/// Group of parts that may share a portion.
#[derive(Clone, Copy, PartialEq)]
enum PartGroup {
    /// Text, reasoning, tool calls, files, other data.
    Text,
    /// Responses of tools.
    Responses,
    /// No other part.
    Single,
}

impl PartGroup {
    fn of(part: &Part) -> Self {
        match Step::of(part) {
            None | Some(Step::Reasoning(_) | Step::FunctionCall(_)) => Self::Text,
            Some(Step::FunctionResponse(_)) => Self::Responses,
            Some(Step::ExecutableCode(_) | Step::CodeExecutionResult(_)) => Self::Single,
        }
    }
}
