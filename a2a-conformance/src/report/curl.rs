//! Shell command that repeats an exchange.

use crate::record::visible::is_unsafe;
use crate::record::{Evidence, HttpMessage};

/// Returns the command that sends the request of an exchange again, or `None` if it has no URL. The
/// user has to fill in redacted values.
pub fn curl(evidence: &Evidence) -> Option<String> {
    let HttpMessage {
        start,
        headers,
        body,
        left_out,
        ..
    } = &evidence.request;
    let (method, url) = start.split_once(' ')?;
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"))?;
    let named = |wanted: &str| {
        headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let mut line = String::from("curl -sSi");
    if is_stream(evidence) {
        line.push_str(" -N");
    }
    if url.contains(['[', ']', '{', '}']) {
        line.push_str(" -g");
    }
    if rest.contains("/.") {
        line.push_str(" --path-as-is");
    }
    match (method, body.is_empty()) {
        ("GET", true) | ("POST", false) => {}
        ("HEAD", true) => line.push_str(" --head"),
        (method, _) => word(&mut line, "-X", method),
    }
    line.push(' ');
    line.push_str(&quoted(url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    for (name, value) in headers {
        let computed = COMPUTED
            .iter()
            .any(|computed| name.eq_ignore_ascii_case(computed));
        let is_in_url = name.eq_ignore_ascii_case("host") && value == authority;
        // `-H @name` would read a file.
        if computed || is_in_url || name.starts_with('@') {
            continue;
        }
        match value.is_empty() {
            true => word(&mut line, "-H", &format!("{name};")),
            false => word(&mut line, "-H", &format!("{name}: {value}")),
        }
    }
    if !body.is_empty() {
        if !named("content-type") {
            word(&mut line, "-H", "Content-Type:");
        }
        word(&mut line, "--data-raw", body);
    }
    if *left_out > 0 {
        line += &format!("  # {left_out} bytes of the body are left out");
    }
    Some(line)
}

/// Headers that curl sets itself.
const COMPUTED: &[&str] = &["content-length", "transfer-encoding", "connection"];

fn is_stream(evidence: &Evidence) -> bool {
    let streams = |half: &HttpMessage| !half.events.is_empty();
    evidence.response.as_ref().is_some_and(streams)
}

fn word(line: &mut String, option: &str, value: &str) {
    line.push(' ');
    line.push_str(option);
    line.push(' ');
    line.push_str(&quoted(value));
}

/// Quotes a word for a POSIX shell; for bash, if it has invisible characters.
fn quoted(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "_-./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains(is_unsafe) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = String::from("$'");
    for character in word.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\'' | '\\' => quoted.extend(['\\', character]),
            _ if !is_unsafe(character) => quoted.push(character),
            _ if character.is_ascii() => quoted += &format!("\\x{:02x}", u32::from(character)),
            _ => quoted += &format!("\\U{:08x}", u32::from(character)),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(start: &str, headers: &[(&str, &str)], body: &str) -> Evidence {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let request = HttpMessage {
            start: start.to_owned(),
            headers: headers.iter().map(owned).collect(),
            body: body.to_owned(),
            ..HttpMessage::default()
        };
        Evidence {
            request,
            ..Evidence::default()
        }
    }

    #[track_caller]
    fn check(evidence: &Evidence, expected: Option<&str>) {
        assert_eq!(curl(evidence).as_deref(), expected);
    }

    #[test]
    fn a_request_is_a_line() {
        let json = ("Content-Type", "application/json");
        let computed = ("Content-Length", "2");
        let sent = evidence("POST http://h:1/", &[("Host", "h:1"), json, computed], "{}");
        check(
            &sent,
            Some("curl -sSi http://h:1/ -H 'Content-Type: application/json' --data-raw '{}'"),
        );
        check(
            &evidence("GET http://h/a?b=1&c", &[], ""),
            Some("curl -sSi 'http://h/a?b=1&c'"),
        );
        check(
            &evidence(
                "DELETE http://h/../a[1]",
                &[("A", ""), ("Host", "other")],
                "",
            ),
            Some("curl -sSi -g --path-as-is -X DELETE 'http://h/../a[1]' -H 'A;' -H 'Host: other'"),
        );
        check(
            &evidence("POST http://h/", &[], "@it's"),
            Some(r"curl -sSi http://h/ -H Content-Type: --data-raw '@it'\''s'"),
        );
        check(&evidence("POST /relative", &[], ""), None);
        check(&evidence("", &[], ""), None);
    }

    #[test]
    fn streams_are_unbuffered_and_omissions_are_noted() {
        let mut sent = evidence("POST http://h/", &[("Content-Type", "a")], "long");
        sent.request.left_out = 9;
        let events = vec![(1, "{}".to_owned())];
        sent.response = Some(HttpMessage {
            events,
            ..HttpMessage::default()
        });
        check(
            &sent,
            Some(
                "curl -sSi -N http://h/ -H 'Content-Type: a' --data-raw long  # 9 bytes of the body are left out",
            ),
        );
    }

    #[test]
    #[cfg(unix)]
    fn shell_reads_back_quoted_words() {
        let words = [
            "",
            "plain",
            "it's",
            "$HOME `id` \"x\" \\n !!",
            "a\nb\tc\r",
            "\u{1b}[31m'\\",
            "\u{202e}中文",
            "\u{9b}1",
            "~",
            "*",
            "a;b|c&d>e",
            "\u{7f}f",
        ];
        for word in words {
            let script = format!("printf %s {}", quoted(word));
            let shell = std::process::Command::new("bash")
                .env("LC_ALL", "C.UTF-8")
                .args(["-c", &script])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&shell.stdout), word, "{script}");
            assert!(!script.contains(['\u{1b}', '\u{202e}', '\r']), "{script:?}");
        }
    }
}
