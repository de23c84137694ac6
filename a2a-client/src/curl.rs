//! Shell commands that send a request again, with `curl` or `grpcurl`.

use http::Uri;

use crate::terminal::is_unsafe;

/// A request that a command sends again.
#[derive(Clone, Debug, Default)]
pub struct CurlRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The URL.
    pub url: &'a str,
    /// The URL as a word of the shell, if it is not just [`quoted`].
    pub url_word: Option<String>,
    /// Names of headers, each with its header as a word of the shell, like [`header`] makes it.
    pub headers: Vec<(&'a str, String)>,
    /// The body.
    pub body: &'a str,
    /// Number of bytes of the body that are left out.
    pub omitted: u64,
    /// The answer is a stream.
    pub is_stream: bool,
}

impl CurlRequest<'_> {
    /// Returns the command for a POSIX shell; for bash, if a word has control or invisible characters.
    pub fn command(&self) -> String {
        let mut command = String::from("curl -sSi");
        if self.is_stream {
            command += " -N";
        }
        if self.url.contains(['[', ']', '{', '}']) {
            command += " -g";
        }
        if self.url.contains("/.") {
            command += " --path-as-is";
        }
        match (self.method, self.body.is_empty()) {
            ("GET", true) | ("POST", false) => {}
            ("HEAD", true) => command += " --head",
            (method, _) => command += &format!(" -X {}", quoted(method)),
        }
        command.push(' ');
        match &self.url_word {
            Some(word) => command += word,
            None => command += &quoted(self.url),
        }
        let mut has_type = false;
        for (name, word) in &self.headers {
            let is = |other: &&str| name.eq_ignore_ascii_case(other);
            has_type |= is(&"content-type");
            // `-H @name` would read a file.
            if !COMPUTED.iter().any(is) && !name.starts_with('@') {
                command += &format!(" -H {word}");
            }
        }
        if !self.body.is_empty() {
            if !has_type {
                command += " -H Content-Type:";
            }
            command += &format!(" --data-raw {}", quoted(self.body));
        }
        if self.omitted > 0 {
            command += &format!("  # {} bytes of the body are left out", self.omitted);
        }
        command
    }
}

/// A call by gRPC that a command makes again. The agent has to offer reflection, as agents of this project do.
#[derive(Clone, Debug, Default)]
pub struct GrpcurlRequest<'a> {
    /// The URL, whose path is the method.
    pub url: &'a str,
    /// Names of headers, each with its header `name: value` as a word of the shell.
    pub headers: Vec<(&'a str, String)>,
    /// The message, as JSON.
    pub message: &'a str,
    /// Number of bytes of the request that are left out.
    pub omitted: u64,
}

impl GrpcurlRequest<'_> {
    /// Returns the command for a POSIX shell; for bash, if a word has control or invisible characters.
    pub fn command(&self) -> String {
        let mut command = String::from("grpcurl");
        let uri = self.url.parse::<Uri>().unwrap_or_default();
        let port = match uri.scheme_str() {
            Some("https") => 443,
            _ => {
                command += " -plaintext";
                80
            }
        };
        for (name, word) in &self.headers {
            if !COMPUTED_BY_GRPCURL.contains(name) {
                command += &format!(" -H {word}");
            }
        }
        if !self.message.is_empty() {
            command += &format!(" -d {}", quoted(self.message));
        }
        let port = uri.port_u16().unwrap_or(port);
        let address = quoted(&format!("{}:{port}", uri.host().unwrap_or_default()));
        let method = quoted(uri.path().trim_start_matches('/'));
        command += &format!(" {address} {method}");
        if self.omitted > 0 {
            command += &format!("  # {} bytes of the body are left out", self.omitted);
        }
        command
    }
}

/// Headers that grpcurl sets itself.
const COMPUTED_BY_GRPCURL: [&str; 7] = [
    "content-type",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-timeout",
    "host",
    "te",
    "user-agent",
];

/// Headers that curl sets itself.
const COMPUTED: [&str; 3] = ["connection", "content-length", "transfer-encoding"];

/// Returns a header as a word of the shell.
pub fn header(name: &str, value: &str) -> String {
    match value.is_empty() {
        true => quoted(&format!("{name};")),
        false => quoted(&format!("{name}: {value}")),
    }
}

/// Quotes a word for a POSIX shell; for bash, if it has control or invisible characters.
pub fn quoted(word: &str) -> String {
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
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
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

    #[track_caller]
    fn check(
        method: &str,
        url: &str,
        headers: &[(&'static str, &str)],
        body: &str,
        expected: &str,
    ) {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, header(name, value)));
        let request = CurlRequest {
            method,
            url,
            headers: headers.collect(),
            body,
            ..CurlRequest::default()
        };
        assert_eq!(request.command(), expected);
    }

    #[test]
    fn a_request_is_one_line() {
        check(
            "POST",
            "http://h:1/",
            &[
                ("Content-Type", "application/json"),
                ("Content-Length", "2"),
            ],
            "{}",
            "curl -sSi http://h:1/ -H 'Content-Type: application/json' --data-raw '{}'",
        );
        check(
            "GET",
            "http://h/a?b=1&c",
            &[],
            "",
            "curl -sSi 'http://h/a?b=1&c'",
        );
        check(
            "DELETE",
            "http://h/../a[1]",
            &[("A", ""), ("@file", "b")],
            "",
            "curl -sSi -g --path-as-is -X DELETE 'http://h/../a[1]' -H 'A;'",
        );
        check(
            "POST",
            "http://h/",
            &[],
            "@it's",
            r"curl -sSi http://h/ -H Content-Type: --data-raw '@it'\''s'",
        );
    }

    #[test]
    fn streams_are_unbuffered_and_omissions_are_noted() {
        let request = CurlRequest {
            method: "POST",
            url: "http://h/",
            headers: vec![("content-type", header("content-type", "a"))],
            body: "long",
            omitted: 9,
            is_stream: true,
            ..CurlRequest::default()
        };
        assert_eq!(
            request.command(),
            "curl -sSi -N http://h/ -H 'content-type: a' --data-raw long  # 9 bytes of the body are left out"
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
