//! Output for people or for programs.

mod card;
mod events;
mod task;

pub(crate) use self::card::{card, signature};
pub(crate) use self::events::Events;
pub(crate) use self::task::{history, task, tasks, webhook};

use std::io::{self, Write};

use a2a_client::terminal::{escape, escape_json, escape_line};
use a2a_types::{Content, Part, TaskState};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::deviations;
use crate::exit::Failure;

/// The standard output.
pub(crate) struct Screen {
    /// Set if the output is for programs.
    pub(crate) json: bool,
}

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Writes a line of JSON, with the deviations that were found since the last one as the member `deviations`.
    pub(crate) fn value(&self, value: &impl Serialize) -> Result<(), Failure> {
        let found = deviations::take();
        if found.is_empty() {
            return self.line(&json(value).map_err(io::Error::other)?);
        }
        let mut value = serde_json::to_value(value).map_err(io::Error::other)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("deviations".to_owned(), serde_json::json!(found));
        }
        self.line(&json(&value).map_err(io::Error::other)?)
    }

    /// Shows people the deviations that were found since the last time, a line each.
    pub(crate) fn deviations(&self) {
        if !self.json {
            deviations::take_lines().iter().for_each(|line| note(line));
        }
    }

    /// Writes a line.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.write(&format!("{text}\n"))
    }

    /// Writes text and flushes it.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::machine("cannot write to standard output")(error),
        })
    }
}

/// Writes a line to the standard error, safe for a terminal. Nothing can be done if that fails.
pub(crate) fn note(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", escape_line(line));
}

/// Returns a peer's text, safe for a terminal.
pub(crate) fn text(text: &str) -> String {
    escape(text).into_owned()
}

/// Returns JSON on one line, with characters that could control a terminal escaped.
pub(crate) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let line = serde_json::to_string(value)?;
    Ok(escape_json(&line).into_owned())
}

/// Returns text on one line, shortened.
fn line(text: &str) -> String {
    const MAX_LINE: usize = 200;
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ");
    let line = escape_line(&line);
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}

/// Formats a part for people.
fn part(part: &Part) -> String {
    let name = part.filename.as_deref().unwrap_or("a file");
    let media_type = part.media_type.as_deref().unwrap_or("of some type");
    match &part.content {
        Content::Text(plain) => text(plain),
        Content::Data(data) => text(&format!("{data:#}")),
        Content::Url(url) => format!("[{}, {}: {}]", line(name), line(media_type), line(url)),
        Content::Raw(raw) => {
            let bytes = raw.as_text().len() / 4 * 3;
            format!(
                "[{}, {}, about {bytes} bytes]",
                line(name),
                line(media_type)
            )
        }
    }
}

/// Formats parts for people: adjacent texts are joined.
fn parts(parts: &[Part]) -> String {
    let mut whole = String::new();
    let mut last_was_text = true;
    for piece in parts {
        let is_text = piece.as_text().is_some();
        let runs_on = is_text && last_was_text;
        if !whole.is_empty() && !runs_on {
            whole.push('\n');
        }
        whole.push_str(&part(piece));
        last_was_text = is_text;
    }
    whole
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn bold(text: &str) -> String {
    format!("{BOLD}{text}{BOLD:#}")
}

fn dim(text: &str) -> String {
    format!("{DIM}{text}{DIM:#}")
}

/// Formats a state for people.
fn state(state: TaskState) -> String {
    let color = match state {
        TaskState::Completed => AnsiColor::Green,
        TaskState::Failed | TaskState::Rejected => AnsiColor::Red,
        TaskState::Canceled => AnsiColor::BrightBlack,
        TaskState::InputRequired | TaskState::AuthRequired => AnsiColor::Magenta,
        _ => AnsiColor::Yellow,
    };
    let style = color.on_default();
    let name = state.as_str().trim_start_matches("TASK_STATE_");
    let name = name.to_ascii_lowercase().replace('_', " ");
    format!("{style}{name}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_escaped_for_the_terminal() {
        let evil = "a\u{1b}[2Jb\u{7}\u{9b}c\r\u{202e}d\te\n";
        let shown = text(evil);
        assert_eq!(shown, "a\\u{1b}[2Jb\\u{7}\\u{9b}c\\r\\u{202e}d\te\n");
        assert_eq!(line("  a\n b\u{1b} "), "a b\\u{1b}");
        assert_eq!(line(&"x".repeat(500)).chars().count(), 201);
    }

    #[test]
    fn text_runs_on() {
        let all = [
            Part::text("one "),
            Part::text("two"),
            Part::data(serde_json::json!([1])),
            Part::text("three"),
        ];
        assert_eq!(parts(&all), "one two\n[\n  1\n]\nthree");
    }
}
