//! Words and punctuation of Rust source.

/// Returns the tokens of a source, without comments, literals and lifetimes. A token is a word, `::`, or one
/// character.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => block_comment(rest),
            '"' => 1 + string(&rest[1..]),
            '\'' => quote(rest),
            _ if is_of_word(first) => {
                let length = word(rest);
                match literal_after(&rest[..length], &rest[length..]) {
                    Some(literal) => length + literal,
                    None => {
                        if !first.is_ascii_digit() {
                            tokens.push(&rest[..length]);
                        }
                        length
                    }
                }
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let length = match rest.starts_with("::") {
                    true => 2,
                    false => first.len_utf8(),
                };
                tokens.push(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    tokens
}

pub(crate) fn is_word(token: &str) -> bool {
    token.starts_with(is_of_word)
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn word(text: &str) -> usize {
    let end = text.find(|letter| !is_of_word(letter));
    end.unwrap_or(text.len())
}

/// Length of the literal that a prefix begins, if it begins one: `r#"…"#`, `b"…"`, `b'…'`.
fn literal_after(prefix: &str, rest: &str) -> Option<usize> {
    let is_raw = matches!(prefix, "r" | "br" | "cr");
    match rest.chars().next()? {
        '"' if is_raw => Some(1 + raw_string(&rest[1..], "\"")),
        '"' if matches!(prefix, "b" | "c") => Some(1 + string(&rest[1..])),
        '\'' if prefix == "b" => Some(quote(rest)),
        '#' if is_raw => {
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            let text = rest[hashes..].strip_prefix('"')?;
            let end = format!("\"{}", &rest[..hashes]);
            Some(hashes + 1 + raw_string(text, &end))
        }
        _ => None,
    }
}

/// Length of a string's text and closing quote.
fn string(text: &str) -> usize {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return at + 1,
            '\\' => _ = letters.next(),
            _ => {}
        }
    }
    text.len()
}

fn raw_string(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |at| at + end.len())
}

/// Length of a character in quotes, or of the quote that begins a lifetime with its name.
fn quote(text: &str) -> usize {
    let inner = &text[1..];
    let mut letters = inner.chars();
    match (letters.next(), letters.next()) {
        (Some('\\'), Some(escaped)) => {
            let after = 1 + escaped.len_utf8();
            inner[after..]
                .find('\'')
                .map_or(text.len(), |at| 1 + after + at + 1)
        }
        (Some(letter), Some('\'')) => 2 + letter.len_utf8(),
        _ => 1 + word(inner),
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        at += match rest {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(tokens(text).join(" "), expected);
    }

    #[test]
    fn comments_literals_and_lifetimes_are_left_out() {
        check("a::b(c) // use d;\n", "a :: b ( c )");
        check("/* x /* y */ use z; */ e", "e");
        check(r##"let s = r#"use "f";"#; g"##, "let s = ; g");
        check(r#""use \"h\";" b"i" j"#, "j");
        check(
            r"k<'l>('m', '\'', '\u{1f}', b'n', ' ') o",
            "k < > ( , , , , ) o",
        );
        check("p.0.q(1_000u32)", "p . . q ( )");
    }
}
