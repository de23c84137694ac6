//! Output: fields and blocks of text, or JSON.
//!
//! A field is a line `Label: value`. A block is a line `Label:`, indented lines, and an empty line. Nothing depends on
//! the terminal.

mod card;
mod events;
mod task;

pub(crate) use self::card::card;
pub(crate) use self::events::Events;
pub(crate) use self::task::{message, outcome, push_config, task, tasks};

use std::io::{self, Write};

use a2a_client::terminal::{escape, escape_json, escape_line};
use a2a_types::{Content, Part, TaskState};
use serde::Serialize;

use crate::deviations;
use crate::failure::Failure;
use crate::redaction::redact;

/// The standard output.
pub(crate) struct Screen {
    /// Set if the output is for programs.
    pub(crate) json: bool,
    /// Set if everything that was exchanged is shown.
    pub(crate) verbose: bool,
}

impl Screen {
    /// Writes a line of JSON.
    pub(crate) fn value(&self, value: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(value).map_err(io::Error::other)?;
        self.line(&escape_json(&line))
    }

    /// Prints the deviations found since the last call, one per line.
    pub(crate) fn deviations(&self) {
        deviations::take_lines().iter().for_each(|line| note(line));
    }

    /// Writes a field. The value becomes one line.
    pub(crate) fn field(&self, label: &str, value: &str) -> Result<(), Failure> {
        self.line(&format!("{label}: {}", one_line(value)))
    }

    /// Writes a block.
    pub(crate) fn block(&self, label: &str, content: &str) -> Result<(), Failure> {
        self.write(&format!("{label}:\n{INDENT}{}\n\n", indented(content)))
    }

    /// Writes a line.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.write(&format!("{text}\n"))
    }

    /// Writes text and flushes it.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::machine("cannot write to standard output")(error),
        })
    }

    /// Writes the parts of a message or an artifact: text and data as blocks, files as fields. Adjacent texts are one
    /// block.
    pub(crate) fn parts(&self, parts: &[Part]) -> Result<(), Failure> {
        let mut text = String::new();
        for part in parts {
            match &part.content {
                Content::Text(more) if !self.verbose => {
                    text.push_str(more);
                    continue;
                }
                _ => self.text(&mut text)?,
            }
            if self.verbose {
                self.details(part)?;
            }
            match &part.content {
                Content::Text(text) => self.block("Text", text)?,
                Content::Data(data) => self.block("Data", &format!("{data:#}"))?,
                Content::Url(_) | Content::Raw(_) => self.field("File", &file(part))?,
            }
        }
        self.text(&mut text)
    }

    fn text(&self, text: &mut String) -> Result<(), Failure> {
        match std::mem::take(text) {
            empty if empty.is_empty() => Ok(()),
            text => self.block("Text", &text),
        }
    }

    /// Writes what a part has besides its content.
    fn details(&self, part: &Part) -> Result<(), Failure> {
        let names = [
            ("Media type", part.media_type.as_deref()),
            ("File name", part.filename.as_deref()),
        ];
        for (label, value) in names {
            if let Some(value) = value {
                self.field(label, value)?;
            }
        }
        match &part.metadata {
            Some(metadata) => self.metadata(metadata),
            None => Ok(()),
        }
    }

    fn metadata(&self, metadata: &impl Serialize) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(metadata).map_err(io::Error::other)?;
        self.block("Metadata", &json)
    }
}

/// Describes a file part: its name, its media type, and its size or URL.
fn file(part: &Part) -> String {
    let name = part.filename.as_deref().unwrap_or("(no name)");
    let media_type = part.media_type.as_deref();
    let media_type = media_type.unwrap_or("application/octet-stream");
    match &part.content {
        Content::Raw(raw) => match raw.decode() {
            Ok(bytes) => format!("{name}, {media_type}, {} bytes", bytes.len()),
            Err(error) => format!("{name}, {media_type}, not readable: {error}"),
        },
        Content::Url(url) => format!("{name}, {media_type}, {url}"),
        _ => format!("{name}, {media_type}"),
    }
}

/// Writes a line to the standard error, safe for a terminal and without secrets. Nothing can be done if that fails.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_line(&redact(line)));
}

/// Returns text on one line, safe for a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    escape_line(&words.join(" ")).into_owned()
}

/// Returns text safe for a terminal, with all lines but the first indented: none looks like a field or like the end of
/// a block.
pub(crate) fn indented(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    escape(&text).replace('\n', &format!("\n{INDENT}"))
}

/// Start of each line in a block.
const INDENT: &str = "  ";

/// Returns the name of a state as people read it: that of the protocol without its prefix.
pub(crate) fn state_name(state: TaskState) -> &'static str {
    state.as_str().trim_start_matches("TASK_STATE_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_escaped_for_the_terminal() {
        let evil = "a\u{1b}[2Jb\u{7}\u{9b}c\r\u{202e}d\te\n";
        let shown = indented(evil);
        assert_eq!(shown, "a\\u{1b}[2Jb\\u{7}\\u{9b}c\\r\\u{202e}d\te\n  ");
        assert_eq!(one_line("  a\n b\u{1b} "), "a b\\u{1b}");
        assert_eq!(
            indented("a\n\nState: COMPLETED"),
            "a\n  \n  State: COMPLETED"
        );
    }
}
