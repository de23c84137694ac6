//! Listing of JSON: indented lines, with mismatches marked.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::record::visible::head;

/// A line of a listing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) marked: bool,
}

/// Returns the lines of a text: indented if it is JSON, with the values at the paths marked. If there
/// is nothing at a path, marks the line where its parent begins.
pub(crate) fn listing(text: &str, paths: &[&str]) -> Vec<Line> {
    let plain = || {
        let line = |text: &str| Line {
            text: text.to_owned(),
            marked: false,
        };
        text.lines().map(line).collect()
    };
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return plain();
    }
    let document = match paths.is_empty() {
        true => Value::Null,
        false => serde_json::from_str(text).unwrap_or_default(),
    };
    let targets = paths.iter().filter_map(|path| target(path, &document));
    let mut listing = Listing {
        targets: targets.collect(),
        lines: Vec::new(),
        line: Line {
            text: String::new(),
            marked: false,
        },
        place: Vec::new(),
        open: Vec::new(),
        marking: None,
    };
    listing.read(text);
    listing.lines
}

/// Returns the first path that exists in a JSON text, else the first path.
pub(crate) fn leading<'p>(paths: &'p [String], text: &str) -> Option<&'p str> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let leads =
        |path: &&String| steps(path).is_some_and(|steps| depth(&steps, &document) == steps.len());
    let path = paths.iter().find(leads).or(paths.first());
    path.map(String::as_str)
}

/// A member or an element.
#[derive(Clone, Debug, PartialEq)]
enum PathSegment {
    Member(String),
    Element(usize),
}

/// A marked place.
struct MarkedPath {
    place: Vec<PathSegment>,
    /// Marks the whole value, not only its first line.
    whole: bool,
}

/// Resolves a path like `$.result.parts[0]['text']` in a document. The path may start at the document,
/// or at the `result`, `error` or `params` of its envelope.
fn target(path: &str, document: &Value) -> Option<MarkedPath> {
    let steps = steps(path)?;
    let found = |envelope: &[&str]| {
        let envelope: Vec<_> = envelope
            .iter()
            .map(|name| PathSegment::Member((*name).to_owned()))
            .collect();
        let place = [&*envelope, &*steps].concat();
        let depth = depth(&place, document);
        depth
            .checked_sub(envelope.len())
            .map(|found| (found, place, depth))
    };
    let (mut best, mut place, mut depth) = found(&[])?;
    for envelope in [["result"], ["error"], ["params"]] {
        if let Some(better) = found(&envelope).filter(|(found, ..)| *found > best) {
            (best, place, depth) = better;
        }
    }
    let whole = best == steps.len() && best > 0;
    place.truncate(depth);
    Some(MarkedPath { place, whole })
}

/// Returns the number of steps of a place that exist in a document.
fn depth(place: &[PathSegment], document: &Value) -> usize {
    let mut value = document;
    for (depth, step) in place.iter().enumerate() {
        let next = match step {
            PathSegment::Member(name) => value.get(name),
            PathSegment::Element(index) => value.get(index),
        };
        match next {
            Some(next) => value = next,
            None => return depth,
        }
    }
    place.len()
}

/// Parses a path: `.name`, `['name']`, `[0]` after `$`.
fn steps(path: &str) -> Option<Vec<PathSegment>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(quoted) = rest.strip_prefix("['") {
            let (name, after) = quoted.split_once("']")?;
            (PathSegment::Member(name.to_owned()), after)
        } else if let Some(index) = rest.strip_prefix('[') {
            let (index, after) = index.split_once(']')?;
            (PathSegment::Element(index.parse().ok()?), after)
        } else {
            let name = rest.strip_prefix('.')?;
            let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
            (PathSegment::Member(name.to_owned()), after)
        };
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

/// Writer of a listing. Its input must be valid JSON of limited depth.
struct Listing {
    targets: Vec<MarkedPath>,
    lines: Vec<Line>,
    line: Line,
    /// Current position.
    place: Vec<PathSegment>,
    /// Open containers.
    open: Vec<char>,
    /// Number of open containers at the start of the marked value.
    marking: Option<usize>,
}

impl Listing {
    fn read(&mut self, text: &str) {
        let mut rest = text.trim_start();
        let mut expects_name = false;
        while let Some(first) = rest.chars().next() {
            let token = match first {
                '"' => string(rest),
                '{' | '}' | '[' | ']' | ',' | ':' => &rest[..1],
                _ => {
                    &rest[..rest
                        .find([',', ']', '}', ' ', '\n', '\r', '\t'])
                        .unwrap_or(rest.len())]
                }
            };
            rest = rest[token.len()..].trim_start();
            match first {
                '{' | '[' => {
                    self.begin();
                    if let Some(short) = self.short(rest) {
                        self.line.text.push(first);
                        self.line.text.push_str(short);
                        rest = rest[short.len()..].trim_start();
                        self.end();
                        expects_name = false;
                        continue;
                    }
                    self.line.text.push(first);
                    self.open.push(first);
                    expects_name = first == '{';
                    self.place
                        .extend((first == '[').then_some(PathSegment::Element(0)));
                    self.end_line();
                }
                '}' | ']' => {
                    self.open.pop();
                    self.place.pop();
                    self.end_line();
                    self.line.text.push(first);
                    self.end();
                    expects_name = false;
                }
                ',' => {
                    self.line.text.push(',');
                    match self.place.pop() {
                        Some(PathSegment::Element(index)) => {
                            self.place.push(PathSegment::Element(index + 1))
                        }
                        _ => expects_name = true,
                    }
                    self.end_line();
                }
                ':' => self.line.text.push_str(": "),
                '"' if expects_name => {
                    let name = serde_json::from_str(token).unwrap_or_default();
                    self.place.push(PathSegment::Member(name));
                    self.begin();
                    self.line.text.push_str(token);
                    expects_name = false;
                }
                _ => {
                    self.begin();
                    self.line.text.push_str(token);
                    self.end();
                }
            }
        }
        self.end_line();
    }

    /// Returns the rest of an opened container if it is short and has no mark: it stays on one line, as
    /// it was sent.
    fn short<'t>(&self, rest: &'t str) -> Option<&'t str> {
        let within = |target: &MarkedPath| {
            target.place.len() > self.place.len() && target.place.starts_with(&self.place)
        };
        let (window, _) = head(rest, SHORT);
        let (mut depth, mut at) = (1, 0);
        while let Some(next) = window[at..].chars().next() {
            match next {
                '\n' | '\r' => return None,
                '"' => at += string(&window[at..]).len() - 1,
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                _ => {}
            }
            at += next.len_utf8();
            if depth == 0 {
                let all_plain = !self.targets.iter().any(within);
                return all_plain.then(|| &window[..at]);
            }
        }
        None
    }

    /// Starts a member or a value.
    fn begin(&mut self) {
        let target = self
            .targets
            .iter()
            .find(|target| target.place == self.place);
        let Some(target) = target else { return };
        self.line.marked = true;
        if target.whole && self.marking.is_none() {
            self.marking = Some(self.open.len());
        }
    }

    /// Ends a value.
    fn end(&mut self) {
        if self.marking == Some(self.open.len()) {
            self.marking = None;
        }
    }

    fn end_line(&mut self) {
        let next = Line {
            text: "  ".repeat(self.open.len()),
            marked: self.marking.is_some(),
        };
        self.lines.push(std::mem::replace(&mut self.line, next));
    }
}

/// Bytes of the longest container that stays on one line.
const SHORT: usize = 64;

/// Returns the JSON string at the start of a text.
fn string(text: &str) -> &str {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return &text[..=index],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a listing, whose marked lines begin with `>`.
    #[track_caller]
    fn check(text: &str, paths: &[&str], expected: &[&str]) {
        let shown = |line: Line| format!("{}{}", if line.marked { ">" } else { "" }, line.text);
        let found: Vec<_> = listing(text, paths).into_iter().map(shown).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn json_is_indented_in_order_and_short_values_stay_on_one_line() {
        let long = "x".repeat(70);
        let text =
            r#"{"z":1, "a":[true,{"b":"x,]}\"","c":"LONG"}],"e":{ }, "f":[{"g":"]"}, 2],"h":null}"#;
        check(
            &text.replace("LONG", &long),
            &[],
            &[
                "{",
                r#"  "z": 1,"#,
                r#"  "a": ["#,
                "    true,",
                "    {",
                r#"      "b": "x,]}\"","#,
                &format!(r#"      "c": "{long}""#),
                "    }",
                "  ],",
                r#"  "e": {},"#,
                r#"  "f": [{"g":"]"}, 2],"#,
                r#"  "h": null"#,
                "}",
            ],
        );
        check(" 1.50 ", &[], &["1.50"]);
        check("[]", &["$"], &[">[]"]);
        check("{\"a\":\n1}", &[], &["{", "  \"a\": 1", "}"]);
        check("[\"é\"]", &[], &["[\"é\"]"]);
    }

    #[test]
    fn mismatches_are_marked() {
        let text = r#"{"result":{"status":{"state":"x"},"parts":[[1],[2]]}}"#;
        let lines =
            |result: &[&'static str]| [&["{", "  \"result\": {"], result, &["  }", "}"]].concat();
        let status = [
            "    \"status\": {",
            ">      \"state\": \"x\"",
            "    },",
            "    \"parts\": [[1],[2]]",
        ];
        check(text, &["$.result.status.state"], &lines(&status));
        // The path may start at the result in the envelope.
        check(text, &["$.status.state"], &lines(&status));
        check(
            text,
            &["$['result']['status']"],
            &lines(&[
                ">    \"status\": {\"state\":\"x\"},",
                "    \"parts\": [[1],[2]]",
            ]),
        );
        let parts = |lines_of_parts: &[&'static str]| {
            lines(&[&["    \"status\": {\"state\":\"x\"},"], lines_of_parts].concat())
        };
        let one = ["    \"parts\": [", "      [1],", ">      [2]", "    ]"];
        check(text, &["$.result.parts[1]"], &parts(&one));
        let inner = [
            "    \"parts\": [",
            "      [1],",
            "      [",
            ">        2",
            "      ]",
            "    ]",
        ];
        check(text, &["$.result.parts[1][0]"], &parts(&inner));
        let all = [">    \"parts\": [", ">      [1],", ">      [2]", ">    ]"];
        check(text, &["$.result.parts", "$.result.parts[1]"], &parts(&all));
        // A missing value is marked where its parent begins.
        let missing = [
            ">    \"status\": {\"state\":\"x\"},",
            "    \"parts\": [[1],[2]]",
        ];
        check(text, &["$.result.status.timestamp"], &lines(&missing));
        check(
            text,
            &["$.result.parts[7]"],
            &parts(&[">    \"parts\": [[1],[2]]"]),
        );
        check(text, &["$.error"], &[&format!(">{text}")]);
        check(text, &["body", "$x", "$[x]"], &[text]);
    }

    #[test]
    fn other_text_is_unchanged() {
        check("<html>\n {\"a\":", &["$.a"], &["<html>", " {\"a\":"]);
        let deep = "[".repeat(100_000);
        check(&deep, &["$"], &[&deep]);
        check("", &[], &[]);
    }
}
