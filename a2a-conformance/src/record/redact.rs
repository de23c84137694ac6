//! Redaction of secrets before anything enters a run.

use std::collections::BTreeSet;

use a2a_client::credentials::{is_secret_name, shown_text};
use regex::{NoExpand, Regex};

use super::run::{CheckResult, Evidence, HttpMessage, Target};
use super::visible::head;

/// Redacts secrets in results, and limits their size.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    /// Further names of secret headers, in lower case, which [`is_secret_name`] does not know.
    headers: BTreeSet<String>,
    secrets: Secrets,
    patterns: Vec<Regex>,
}

/// Replacement of a secret.
const REDACTED: &str = "***";

/// Values known to be secret.
#[derive(Clone, Default)]
struct Secrets(Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} secrets", self.0.len())
    }
}

impl Redaction {
    /// Redacts the values of the headers of that name, too.
    pub fn header(mut self, name: &str) -> Self {
        self.headers.insert(name.to_lowercase());
        self
    }

    /// Redacts that value wherever it occurs, too.
    pub fn secret(mut self, value: &str) -> Self {
        self.secrets
            .0
            .extend((!value.is_empty()).then(|| value.to_owned()));
        // Longest first: one secret may contain another.
        self.secrets
            .0
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        self
    }

    /// Redacts matches of a regular expression, too.
    pub fn pattern(mut self, pattern: Regex) -> Self {
        self.patterns.push(pattern);
        self
    }

    /// Redacts a result and limits its size.
    pub fn check(&self, result: &mut CheckResult) {
        let before = result.without_waiver.as_mut();
        let before = before.and_then(|before| before.reason.as_mut());
        for text in result.reason.iter_mut().chain(before) {
            *text = self.text(text);
        }
        for mismatch in &mut result.mismatches {
            for text in [
                &mut mismatch.place,
                &mut mismatch.expected,
                &mut mismatch.found,
            ] {
                *text = self.text(text);
                truncate(text, QUOTED);
            }
        }
        for evidence in &mut result.evidence {
            self.evidence(evidence);
        }
    }

    /// Redacts an exchange and limits its size.
    pub fn evidence(&self, evidence: &mut Evidence) {
        self.half(&mut evidence.request);
        for response in evidence.response.iter_mut() {
            self.half(response);
        }
        for failure in evidence.failure.iter_mut() {
            *failure = self.text(failure);
        }
    }

    /// Redacts the description of the target.
    pub fn target(&self, target: &mut Target) {
        let Target {
            role: _,
            place,
            name,
            version,
            server,
            interfaces,
        } = target;
        let texts = [place, name, version]
            .into_iter()
            .chain(server)
            .chain(interfaces);
        for text in texts {
            *text = self.text(text);
            truncate(text, QUOTED);
        }
    }

    /// Returns a text with its secrets redacted.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets.0 {
            text = text.replace(secret, REDACTED);
        }
        text = shown_text(&text).into_owned();
        for pattern in &self.patterns {
            text = pattern.replace_all(&text, NoExpand(REDACTED)).into_owned();
        }
        text
    }

    fn half(&self, half: &mut HttpMessage) {
        half.start = self.text(&half.start);
        truncate(&mut half.start, QUOTED);
        for (name, value) in &mut half.headers {
            let is_secret = is_secret_name(name) || self.headers.contains(&name.to_lowercase());
            *value = match is_secret {
                true => without_credentials(value),
                false => self.text(value),
            };
            truncate(value, QUOTED);
        }
        half.body = self.text(&half.body);
        half.left_out += truncate(&mut half.body, BODY);
        let mut room = EVENTS;
        for (_, event) in &mut half.events {
            *event = self.text(event);
            half.left_out += truncate(event, room);
            room -= event.len();
        }
        half.events.retain(|(_, event)| !event.is_empty());
    }
}

/// Bytes of a body that are kept.
const BODY: usize = 64 * 1024;

/// Bytes of the events of a stream that are kept.
const EVENTS: usize = 256 * 1024;

/// Bytes of a header, or of a mismatched value, that are kept.
const QUOTED: usize = 4 * 1024;

/// Authentication schemes whose names are kept.
const SCHEMES: &[&str] = &["Bearer", "Basic", "Digest", "DPoP"];

fn without_credentials(value: &str) -> String {
    let scheme = value.split_whitespace().next().unwrap_or_default();
    match SCHEMES
        .iter()
        .find(|known| known.eq_ignore_ascii_case(scheme))
    {
        Some(known) => format!("{known} {REDACTED}"),
        None => REDACTED.to_owned(),
    }
}

/// Cuts a text to `bytes` bytes and returns the number of bytes left out.
fn truncate(text: &mut String, bytes: usize) -> usize {
    let (kept, left_out) = head(text, bytes);
    text.truncate(kept.len());
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Redaction::default().text(text), expected);
    }

    #[test]
    fn secrets_are_redacted_in_place() {
        check(
            r#"{"token": "ab\"cd", "pageToken": "p"}"#,
            r#"{"token": "***", "pageToken": "p"}"#,
        );
        check(
            r#"{"credentials":"x","clientSecret":"y"}"#,
            r#"{"credentials":"***","clientSecret":"***"}"#,
        );
        check(
            r#""got {\"token\":\"abc\",\"id\":1}""#,
            r#""got {\"token\":\"***\",\"id\":1}""#,
        );
        check(
            "GET http://me:pass@host/a?token=abc&n=1",
            "GET http://***@host/a?token=***&n=1",
        );
        check("access_token=abc&x=1", "access_token=***&x=1");
        check(
            "you sent Bearer abcdefghijklmnop1234==.",
            "you sent Bearer ***.",
        );
        check(
            "Bearer authentication is required",
            "Bearer authentication is required",
        );
        check("mail me@host", "mail me@host");
    }

    #[test]
    fn user_patterns_are_redacted() {
        let redaction = Redaction::default()
            .secret("hunter2")
            .secret("hunter")
            .secret("")
            .pattern(Regex::new(r"id-\d+").unwrap());
        assert_eq!(redaction.text("hunter2 hunter id-42 $1"), "*** *** *** $1");
        assert!(!format!("{redaction:?}").contains("hunter"));
    }

    #[test]
    fn header_credentials_are_redacted_and_the_scheme_stays() {
        let headers = [
            ("Authorization", "bearer abc", "Bearer ***"),
            ("AUTHORIZATION", "abc def", "***"),
            ("Set-Cookie", "a=b; Path=/", "***"),
            ("X-Mine", "abc", "***"),
            ("X-Access-Token", "abc", "***"),
            ("DPoP", "abc", "***"),
            ("Location", "/x?access_token=abc", "/x?access_token=***"),
            ("Accept", "abc", "abc"),
        ];
        let sent = headers.map(|(name, value, _)| (name.to_owned(), value.to_owned()));
        let mut evidence = Evidence {
            request: HttpMessage {
                headers: sent.to_vec(),
                ..HttpMessage::default()
            },
            ..Evidence::default()
        };
        Redaction::default()
            .header("X-Mine")
            .evidence(&mut evidence);
        for ((_, kept), (name, _, expected)) in evidence.request.headers.iter().zip(headers) {
            assert_eq!(kept, expected, "{name}");
        }
    }

    #[test]
    fn kept_text_is_bounded() {
        let mut evidence = Evidence {
            request: HttpMessage {
                body: "é".repeat(500_000),
                ..HttpMessage::default()
            },
            response: Some(HttpMessage {
                events: (0..10).map(|at| (at, "x".repeat(100_000))).collect(),
                ..HttpMessage::default()
            }),
            ..Evidence::default()
        };
        Redaction::default().evidence(&mut evidence);
        assert_eq!(evidence.request.body.len(), 65_536);
        assert_eq!(evidence.request.left_out, 1_000_000 - 65_536);
        let response = evidence.response.unwrap();
        assert_eq!(response.left_out, 1_000_000 - 262_144);
        assert_eq!(response.events.len(), 3);
    }
}
