//! The words of a header that lists challenges (RFC 9110 §5.6).

/// Reads a header from start to end. Skips what does not parse.
pub(super) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of a header and ignores what follows the first 8 KiB.
    pub(super) fn new(header: &'a str) -> Self {
        let mut end = header.len().min(MAX_BYTES);
        while !header.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            rest: &header[..end],
        }
    }

    /// Returns the next token: the name of a scheme or of a parameter.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        loop {
            self.rest = self
                .rest
                .trim_start_matches(|char| !is_token(char) && char != '"');
            match self.rest.starts_with('"') {
                // A value without a name.
                true => drop(self.quoted()),
                false => break,
            }
        }
        let word = self.take(is_token);
        (!word.is_empty()).then_some(word)
    }

    /// Returns the value if `=` follows; an empty one if nothing follows the `=`.
    pub(super) fn value(&mut self) -> Option<String> {
        let after = self.rest.trim_start_matches(BLANKS).strip_prefix('=')?;
        self.rest = after.trim_start_matches(BLANKS);
        if self.rest.starts_with('"') {
            return Some(self.quoted());
        }
        Some(
            self.take(|char| !BLANKS.contains(&char) && char != ',')
                .to_owned(),
        )
    }

    /// Returns the `token68` after a scheme, as in `Negotiate YII=`, or `None` if parameters follow.
    pub(super) fn token68(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start_matches(BLANKS);
        let end = rest.find(',').unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches(BLANKS);
        let body = word.trim_end_matches('=');
        let is_token68 = !body.is_empty() && body.chars().all(is_of_token68);
        if rest.len() == self.rest.len() || !is_token68 {
            return None;
        }
        self.rest = &rest[end..];
        Some(word)
    }

    fn quoted(&mut self) -> String {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        chars.next();
        while let Some(char) = chars.next() {
            match char {
                '"' => break,
                '\\' => text.extend(chars.next()),
                _ => text.push(char),
            }
        }
        self.rest = chars.as_str();
        text
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|char| !belongs(char));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }
}

/// Number of bytes read.
const MAX_BYTES: usize = 8 << 10;

const BLANKS: &[char] = &[' ', '\t'];

fn is_token(char: char) -> bool {
    char.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(char)
}

fn is_of_token68(char: char) -> bool {
    char.is_ascii_alphanumeric() || "-._~+/".contains(char)
}
