//! Reader of examples as documents print them: text that people understand and parsers do not.
//!
//! Only documents are read so; a server or client that gets such text from a peer refuses it.

use std::collections::BTreeSet;
use std::ops::Range;

/// A printed example, made legal JSON.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PrintedExample {
    /// The JSON text, if any repair makes one of it.
    pub(crate) json: Option<String>,
    /// The example without what the extraction of the text glued to it.
    pub(crate) text: String,
    /// The codes of what was repaired.
    pub(crate) repairs: BTreeSet<&'static str>,
}

impl PrintedExample {
    /// Returns whether the text is legal JSON as it stands, as a peer could send it.
    pub(crate) fn is_json(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.text).is_ok()
    }
}

/// Reads a printed example.
pub(crate) fn read(printed: &str) -> PrintedExample {
    let mut repairs = BTreeSet::new();
    let text = without_gutter(printed, &mut repairs);
    let text = without_glue(&text, &mut repairs);
    let body = without_framing(&text, &mut repairs);
    let json = if body.contains("[...]") {
        repairs.insert("ELL");
        None
    } else {
        let repaired = repair(&body, &mut repairs);
        serde_json::from_str::<serde::de::IgnoredAny>(&repaired)
            .is_ok()
            .then_some(repaired)
    };
    PrintedExample {
        json,
        text,
        repairs,
    }
}

/// Line numbers `1`, `2`, … that were printed before the block.
fn without_gutter(text: &str, repairs: &mut BTreeSet<&'static str>) -> String {
    let numbers = text
        .lines()
        .enumerate()
        .take_while(|(index, line)| line.trim() == (index + 1).to_string())
        .count();
    if numbers > 1 {
        repairs.insert("GUTTER");
        return text.split_inclusive('\n').skip(numbers).collect();
    }
    text.to_owned()
}

/// Prose after the brace that closes the example.
fn without_glue(text: &str, repairs: &mut BTreeSet<&'static str>) -> String {
    let Some(open) = text.find('{') else {
        return text.to_owned();
    };
    let mut depth = 0_usize;
    for (index, token) in Tokens::of(&text[open..]) {
        match token {
            Token::Open => depth += 1,
            Token::Close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let end = open + index + 1;
                    if !text[end..].trim().is_empty() {
                        repairs.insert("GLUE");
                        return format!("{}\n", &text[..end]);
                    }
                    break;
                }
            }
            _ => {}
        }
    }
    text.to_owned()
}

/// Returns whether a line is a field of an event that holds no data.
fn is_other_field(line: &str) -> bool {
    ["event:", "id:", "retry:"]
        .iter()
        .any(|name| line.starts_with(name))
}

/// `event:` and `data:`, and that only the first of many lines says `data:`.
fn without_framing(text: &str, repairs: &mut BTreeSet<&'static str>) -> String {
    let mut lines = text
        .lines()
        .skip_while(|line| is_other_field(line))
        .peekable();
    let Some(first) = lines.peek().copied() else {
        return text.to_owned();
    };
    let Some(rest) = first.strip_prefix("data") else {
        return text.to_owned();
    };
    let Some(value) = rest.trim_start().strip_prefix(':') else {
        return text.to_owned();
    };
    let several = text
        .trim_end()
        .lines()
        .skip_while(|line| is_other_field(line))
        .count()
        > 1;
    match (several, rest.starts_with(':')) {
        (_, false) => repairs.insert("SSESP"),
        (true, true) => repairs.insert("SSEML"),
        (false, true) => false,
    };
    let mut body = value.to_owned();
    for line in lines.skip(1) {
        body.push('\n');
        body.push_str(line);
    }
    body
}

/// Makes JSON of what is nearly JSON: no-break spaces between the tokens, comments to the end of the line, members of an
/// object between the brackets of a list, and a comma before a closing bracket.
fn repair(text: &str, repairs: &mut BTreeSet<&'static str>) -> String {
    let text = escape_quotes(text, repairs);
    let mut edits: Vec<(Range<usize>, &str, &'static str)> = Vec::new();
    // Each open bracket, and whether it becomes a brace.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut comma = None;
    for (index, token) in Tokens::of(&text) {
        match token {
            Token::NoBreakSpace => {
                edits.push((index..index + '\u{a0}'.len_utf8(), " ", "NBSP"));
                continue;
            }
            Token::Comment => {
                let length = text[index..].find('\n');
                let end = length.map_or(text.len(), |length| index + length);
                edits.push((index..end, "", "COMMENT"));
                continue;
            }
            Token::Open | Token::Bracket => open.push((index, false)),
            Token::Colon => {
                if let Some((start, becomes_brace @ false)) = open.last_mut()
                    && text[*start..].starts_with('[')
                {
                    *becomes_brace = true;
                    edits.push((*start..*start + 1, "{", "ARR"));
                }
            }
            Token::Close | Token::BracketClose => {
                edits.extend(comma.map(|comma| (comma..comma + 1, "", "TRAIL")));
                if let Some((_, true)) = open.pop() {
                    edits.push((index..index + 1, "}", "ARR"));
                }
            }
            Token::Comma | Token::Value => {}
        }
        comma = (token == Token::Comma).then_some(index);
    }
    edits.sort_by_key(|(range, ..)| range.start);
    let mut repaired = text.clone();
    for (range, with, code) in edits.into_iter().rev() {
        repaired.replace_range(range, with);
        repairs.insert(code);
    }
    repaired
}

/// A string that holds a JSON list whose quotes are not escaped: `"text":"[{"a":"b"}]"`. Safe only
/// because the string begins with `[{"` and ends with the line.
fn escape_quotes(text: &str, repairs: &mut BTreeSet<&'static str>) -> String {
    let repair = |line: &str| {
        let start = line.find(r#":"[{""#)? + 2;
        let end = line.rfind('"').filter(|end| *end > start)?;
        let inner = line[start..end].replace('"', "\\\"");
        Some(format!("{}{inner}{}", &line[..start], &line[end..]))
    };
    let lines: Vec<String> = text
        .lines()
        .map(|line| match repair(line) {
            Some(repaired) => {
                repairs.insert("QUOTE");
                repaired
            }
            None => line.to_owned(),
        })
        .collect();
    lines.join("\n")
}

/// Token of a JSON-like text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Token {
    Open,
    Close,
    Bracket,
    BracketClose,
    Colon,
    Comma,
    Comment,
    NoBreakSpace,
    /// A string, number or word begins.
    Value,
}

struct Tokens<'a> {
    chars: std::iter::Peekable<std::str::CharIndices<'a>>,
}

impl<'a> Tokens<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            chars: text.char_indices().peekable(),
        }
    }

    fn skip_string(&mut self) {
        while let Some((_, char)) = self.chars.next() {
            match char {
                '\\' => {
                    self.chars.next();
                }
                '"' => break,
                _ => {}
            }
        }
    }

    fn skip_line(&mut self) {
        while self.chars.next_if(|(_, char)| *char != '\n').is_some() {}
    }
}

impl Iterator for Tokens<'_> {
    type Item = (usize, Token);

    fn next(&mut self) -> Option<(usize, Token)> {
        loop {
            let (index, char) = self.chars.next()?;
            let token = match char {
                '{' => Token::Open,
                '}' => Token::Close,
                '[' => Token::Bracket,
                ']' => Token::BracketClose,
                ':' => Token::Colon,
                ',' => Token::Comma,
                '\u{a0}' => Token::NoBreakSpace,
                '"' => {
                    self.skip_string();
                    Token::Value
                }
                '/' if self.chars.next_if(|(_, char)| *char == '/').is_some() => {
                    self.skip_line();
                    Token::Comment
                }
                char if char.is_whitespace() => continue,
                _ => Token::Value,
            };
            return Some((index, token));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, json: Option<&str>, repairs: &[&str]) {
        let read = read(printed);
        let plain = read.json.map(|json| {
            serde_json::from_str::<serde_json::Value>(&json)
                .unwrap()
                .to_string()
        });
        assert_eq!(plain.as_deref(), json, "{printed}");
        assert_eq!(
            read.repairs.into_iter().collect::<Vec<_>>(),
            repairs,
            "{printed}"
        );
    }

    #[test]
    fn each_repair_is_made_and_reported() {
        check("{\"a\": 1}\n", Some("{\"a\":1}"), &[]);
        check("{\u{a0}\"a\u{a0}\": 1}", Some("{\"a\u{a0}\":1}"), &["NBSP"]);
        check("data: {\"a\": 1}\n\n", Some("{\"a\":1}"), &[]);
        check(
            "event: message\ndata: {\"a\": 1}\n\n",
            Some("{\"a\":1}"),
            &[],
        );
        check("data: {\n\"a\": 1\n}\n", Some("{\"a\":1}"), &["SSEML"]);
        check("data : {\n\"a\": 1\n}\n", Some("{\"a\":1}"), &["SSESP"]);
        check("{\"a\": 1 // one\n}", Some("{\"a\":1}"), &["COMMENT"]);
        check("{\"a\": \"http://b\"}", Some("{\"a\":\"http://b\"}"), &[]);
        check("{\"a\": [1,],}", Some("{\"a\":[1]}"), &["TRAIL"]);
        check(
            "{\"a\": [\"b\": [1], \"c\": 2]}",
            Some("{\"a\":{\"b\":[1],\"c\":2}}"),
            &["ARR"],
        );
        check(
            "{\"a\":\"[{\"b\":\"c\"}]\"\n}",
            Some(r#"{"a":"[{\"b\":\"c\"}]"}"#),
            &["QUOTE"],
        );
        check(
            r#"{"a":"[{\"b\":\"c\"}]"}"#,
            Some(r#"{"a":"[{\"b\":\"c\"}]"}"#),
            &[],
        );
        check("{\"a\": 1}// Request", Some("{\"a\":1}"), &["GLUE"]);
        check("1\n2\n{\"a\": 1}", Some("{\"a\":1}"), &["GUTTER"]);
        check("{\"a\": [...]}", None, &["ELL"]);
        check("nothing", None, &[]);
    }
}
