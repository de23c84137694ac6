//! Shell command that sends a request again.

use a2a_client::credentials::shown_header;
use a2a_client::terminal::is_unsafe;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue};

use super::exchange::{Exchange, MASK, is_secret};

/// Returns the command for a POSIX shell that sends the request of an exchange again. Secrets stand in variables
/// of the shell: `$A2A_AUTHORIZATION` for the credentials of `Authorization`.
pub(crate) fn curl(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let mut command = String::from("curl -sSi");
    if exchange
        .response
        .as_ref()
        .is_some_and(|response| response.is_stream())
    {
        command.push_str(" -N");
    }
    let url = &request.shown_url;
    if url.contains(['[', ']', '{', '}']) {
        command.push_str(" -g");
    }
    if url.contains("/.") {
        command.push_str(" --path-as-is");
    }
    let body = request.body.shown_text();
    match (request.method.as_str(), body.is_empty()) {
        ("GET", true) | ("POST", false) => {}
        ("HEAD", true) => command.push_str(" --head"),
        (method, _) => command += &format!(" -X {}", quoted(method)),
    }
    command += &format!(" {}", shell_url(url));
    for (name, value) in &request.headers {
        if !COMPUTED.contains(name) {
            command += &format!(" -H {}", header(name, value));
        }
    }
    if !body.is_empty() {
        command += &format!(" --data-raw {}", quoted(&body));
    }
    match request.body.omitted() {
        0 => command,
        omitted => command + &format!("  # {omitted} bytes of the body are left out"),
    }
}

/// Headers that curl sets itself.
const COMPUTED: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];

/// Schemes of `Authorization`, which are shown.
const SCHEMES: [&str; 4] = ["Basic", "Bearer", "Digest", "DPoP"];

fn header(name: &HeaderName, value: &HeaderValue) -> String {
    if !is_secret(name, value) {
        let text = shown_header(name.as_str(), value);
        return match text.is_empty() {
            true => quoted(&format!("{name};")),
            false => quoted(&format!("{name}: {text}")),
        };
    }
    let text = String::from_utf8_lossy(value.as_bytes());
    let scheme = text.split_once(' ').map(|(scheme, _)| scheme);
    let scheme = SCHEMES
        .into_iter()
        .find(|known| scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(known)));
    let prefix = match scheme {
        Some(scheme) => format!("{name}: {scheme} "),
        None => format!("{name}: "),
    };
    format!("{}{}", quoted(&prefix), variable(name.as_str()))
}

/// Returns a URL as a word; its masked parameters as variables.
fn shell_url(url: &str) -> String {
    let mut parts = url.split(MASK);
    let mut word = String::new();
    let mut before = parts.next().unwrap_or_default();
    for after in parts {
        let name = before.rsplit(['?', '&']).next().unwrap_or_default();
        word += &quoted(before);
        word += &variable(name.trim_end_matches('='));
        before = after;
    }
    if !before.is_empty() {
        word += &quoted(before);
    }
    word
}

/// Returns the expansion of the variable that holds a secret.
fn variable(name: &str) -> String {
    let upper = name.chars().map(|character| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => character.to_ascii_uppercase(),
        _ => '_',
    });
    format!("\"$A2A_{}\"", upper.collect::<String>())
}

/// Quotes a word for a POSIX shell; for bash, if it has control or invisible characters.
fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_-./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.contains(is_unsafe) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = String::from("$'");
    for character in word.chars() {
        match character {
            '\'' | '\\' => quoted.extend(['\\', character]),
            _ if !is_unsafe(character) => quoted.push(character),
            _ if character.is_ascii() => quoted += &format!("\\x{:02x}", u32::from(character)),
            _ => quoted += &format!("\\U{:08x}", u32::from(character)),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_variables() {
        let bearer = HeaderValue::from_static("bearer abc");
        let name = HeaderName::from_static("authorization");
        assert_eq!(
            header(&name, &bearer),
            r#"'authorization: Bearer '"$A2A_AUTHORIZATION""#
        );
        let name = HeaderName::from_static("x-api-key");
        let key = HeaderValue::from_static("abc");
        assert_eq!(header(&name, &key), r#"'x-api-key: '"$A2A_X_API_KEY""#);
        assert_eq!(
            shell_url("http://h/?a=1&api-key=***&b=2"),
            r#"'http://h/?a=1&api-key='"$A2A_API_KEY"'&b=2'"#
        );
        assert_eq!(shell_url("http://h/?k=***"), r#"'http://h/?k='"$A2A_K""#);
        assert_eq!(shell_url("http://h/"), "http://h/");
    }

    #[test]
    #[cfg(unix)]
    fn a_shell_reads_back_quoted_words() {
        let words = [
            "",
            "plain",
            "it's",
            "$HOME `id` \"x\" \\n !!",
            "a\nb\t\r",
            "\u{1b}[31m'\\",
            "\u{202e}中文",
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
