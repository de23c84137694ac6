//! Fast path of reading a message: enough for nearly every one.
//!
//! Without it, a send takes 8 % more instructions and a get 9 % more.

use crate::Limits;
use crate::memory_budget::MemoryBudget;

/// Returns whether a document is plainly JSON within the limits. `false` decides nothing: only the walk
/// refuses a document and gives the reason.
pub(crate) fn is_plain(bytes: &[u8], limits: &Limits) -> bool {
    FastPath::at(bytes, limits).is_some_and(|mut fast| fast.document(FastPath::value).is_some())
}

/// Calls `visit` with each member of a message, its name and the text of its value, if the message is plainly
/// a JSON object within the limits. `None` decides nothing, even if `visit` was called before.
///
/// Plain are strings with the short escapes, keys without any, numbers without an exponent, and
/// objects of few members. Every document that passes here also passes the walk.
pub(crate) fn members<'a>(
    bytes: &'a [u8],
    limits: &Limits,
    visit: impl FnMut(&'a str, &'a str),
) -> Option<()> {
    FastPath::at(bytes, limits)?.document(|fast| match fast.next()? {
        b'{' => fast.object(visit),
        _ => None,
    })
}

/// Position of the fast path in a document. Its methods return `None` at the first thing that is not plain.
struct FastPath<'a> {
    text: &'a str,
    at: usize,
    heap: MemoryBudget,
    /// Number of arrays and objects that may still be opened.
    depth: usize,
}

impl<'a> FastPath<'a> {
    fn at(bytes: &'a [u8], limits: &Limits) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        (bytes.len() <= limits.bytes).then_some(Self {
            text,
            at: 0,
            heap: MemoryBudget::new(limits.heap),
            depth: limits.max_depth(),
        })
    }

    /// Reads a value with nothing but space around it.
    fn document(&mut self, value: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.space();
        value(self)?;
        self.space();
        (self.at == self.text.len()).then_some(())
    }

    fn value(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => {
                let (text, _) = self.string()?;
                self.heap.text(text.len()).ok()
            }
            b'{' => self.object(|_, _| ()),
            b'[' => self.array(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => None,
        }
    }

    fn object(&mut self, mut visit: impl FnMut(&'a str, &'a str)) -> Option<()> {
        let mut keys = [""; MAX_FAST_MEMBERS];
        self.enter()?;
        for index in 0.. {
            self.space();
            if index == 0 && self.take(b'}') {
                break;
            }
            let (key, is_escaped) = self.string()?;
            if is_escaped || keys.get(..index)?.contains(&key) {
                return None;
            }
            *keys.get_mut(index)? = key;
            self.heap.member(index).ok()?;
            self.heap.text(key.len()).ok()?;
            self.space();
            self.take(b':').then_some(())?;
            self.space();
            let begin = self.at;
            self.value()?;
            visit(key, self.text.get(begin..self.at)?);
            if self.is_last(b'}')? {
                break;
            }
        }
        self.depth += 1;
        Some(())
    }

    fn array(&mut self) -> Option<()> {
        self.enter()?;
        for index in 0.. {
            self.space();
            if index == 0 && self.take(b']') {
                break;
            }
            self.value()?;
            self.heap.element(index).ok()?;
            if self.is_last(b']')? {
                break;
            }
        }
        self.depth += 1;
        Some(())
    }

    /// Reads a string; returns the text between its quotes, and whether there is an escape in it.
    fn string(&mut self) -> Option<(&'a str, bool)> {
        self.take(b'"').then_some(())?;
        let (begin, mut is_escaped) = (self.at, false);
        loop {
            self.at += plain_prefix(self.rest());
            match self.next()? {
                b'"' => break,
                b'\\' => is_escaped = true,
                _ => return None,
            }
            self.at += 1;
            matches!(
                self.next()?,
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'
            )
            .then_some(())?;
            self.at += 1;
        }
        let text = self.text.get(begin..self.at)?;
        self.at += 1;
        Some((text, is_escaped))
    }

    /// Reads digits, perhaps with a sign and a fraction: few enough for an `f64` to hold.
    fn number(&mut self) -> Option<()> {
        self.take(b'-');
        let zero = self.next()? == b'0';
        match self.digits() {
            1 => {}
            2..=MAX_DIGITS if !zero => {}
            _ => return None,
        }
        // An exponent is left unread, and no caller accepts it.
        let is_whole = !self.take(b'.') || self.digits() > 0;
        is_whole.then_some(())
    }

    fn digits(&mut self) -> usize {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit());
        let count = digits.count();
        self.at += count;
        count
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let is_there = self.rest().starts_with(word.as_bytes());
        self.at += word.len();
        is_there.then_some(())
    }

    /// Enters an array or an object.
    fn enter(&mut self) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        self.at += 1;
        Some(())
    }

    /// Skips what follows an element or a member; returns whether it was the last.
    fn is_last(&mut self, end: u8) -> Option<bool> {
        self.space();
        let is_last = self.take(end);
        (is_last || self.take(b',')).then_some(is_last)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.next() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.next() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

/// Returns the number of bytes before the first that ends a string, begins an escape or is illegal:
/// eight at a time, as most strings are short.
fn plain_prefix(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    let mut count = 0;
    for word in words {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return count + marks.trailing_zeros() as usize / 8;
        }
        count += 8;
    }
    let is_plain_byte = |byte: &&u8| !matches!(byte, b'"' | b'\\' | ..=0x1F);
    count + rest.iter().take_while(is_plain_byte).count()
}

/// Marks the highest bit of the first byte, counted from the lowest, that is not plain; above it,
/// plain bytes may be marked, too.
fn marks(word: u64) -> u64 {
    let each = |byte: u8| u64::from_ne_bytes([byte; 8]);
    // Subtraction borrows only beyond a byte that is marked already.
    let below = |word: u64, limit: u8| word.wrapping_sub(each(limit)) & !word;
    let quote = below(word ^ each(b'"'), 1);
    let escape = below(word ^ each(b'\\'), 1);
    (below(word, 0x20) | quote | escape) & each(0x80)
}

/// Members of an object whose keys are compared one by one.
const MAX_FAST_MEMBERS: usize = 16;
/// Digits before the point.
const MAX_DIGITS: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::walk;

    /// Its six-character escape and its exponent are not plain.
    const SAMPLE: &str = r#" {"id":-10.50,"a":{"b":[{"text":"\u00e9 \"é\" \\ 0123456789"},[0,1e3,true,null,{},[]]],"c":{"b":[[1]]}}}"#;

    fn found<'a>(bytes: &'a [u8], limits: &Limits) -> Option<Vec<(&'a str, &'a str)>> {
        let mut found = Vec::new();
        members(bytes, limits, |key, value| found.push((key, value)))?;
        Some(found)
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&[(&str, &str)]>) {
        let found = found(text.as_bytes(), &Limits::default());
        assert_eq!(found.as_deref(), expected, "{text}");
        assert_eq!(
            is_plain(text.as_bytes(), &Limits::default()),
            expected.is_some()
        );
    }

    #[test]
    fn plain_documents_are_read() {
        check("{}", Some(&[]));
        check(
            r#" { "a" : [ 1 , -0.5 ] , "b" : {"c":"d"} , "" : "\n\"" } "#,
            Some(&[
                ("a", "[ 1 , -0.5 ]"),
                ("b", r#"{"c":"d"}"#),
                ("", r#""\n\"""#),
            ]),
        );
        check(
            r#"{"a":true,"b":false,"c":null,"d":""}"#,
            Some(&[("a", "true"), ("b", "false"), ("c", "null"), ("d", "\"\"")]),
        );
    }

    #[test]
    fn other_documents_are_left_to_the_walk() {
        for text in [
            r#"{"a":1e2}"#,
            r#"{"a":1234567890123456789}"#,
            r#"{"a":"\u0061"}"#,
            r#"{"\n":1}"#,
        ] {
            assert!(walk(text.as_bytes(), &Limits::default()).is_ok(), "{text}");
            check(text, None);
        }
        let many: Vec<_> = (0..17).map(|key| format!(r#""{key}":0"#)).collect();
        check(&format!("{{{}}}", many.join(",")), None);
    }

    /// Replaces each byte by every other, inserts every byte everywhere, and cuts everywhere.
    #[test]
    fn documents_refused_by_the_walk_do_not_pass() {
        let sample = SAMPLE.replace("\\u00e9", "\\n").replace("1e3", "13");
        let small = Limits {
            bytes: 256,
            depth: 6,
            heap: 4 * 1024,
        };
        let mut passed = 0;
        let mut compare = |bytes: &[u8]| {
            for limits in [&small, &Limits::default()] {
                let plain = is_plain(bytes, limits);
                let members = found(bytes, limits);
                if plain || members.is_some() {
                    let text = String::from_utf8_lossy(bytes);
                    assert_eq!(walk(bytes, limits), Ok(()), "{text}");
                    passed += 1;
                }
                if let Some(members) = members {
                    let whole: serde_json::Map<_, _> = serde_json::from_slice(bytes).unwrap();
                    assert_eq!(members.len(), whole.len());
                    for (key, value) in members {
                        let value: serde_json::Value = serde_json::from_str(value).unwrap();
                        assert_eq!(whole.get(key), Some(&value));
                    }
                }
            }
        };
        for sample in [sample.as_str(), SAMPLE] {
            for position in 0..sample.len() {
                compare(&sample.as_bytes()[..position]);
                for byte in 0..=u8::MAX {
                    let mut bytes = sample.as_bytes().to_vec();
                    bytes[position] = byte;
                    compare(&bytes);
                    bytes[position] = sample.as_bytes()[position];
                    bytes.insert(position, byte);
                    compare(&bytes);
                }
            }
        }
        assert!(passed > 10_000, "{passed}");
    }

    #[test]
    fn plain_bytes_are_counted_up_to_the_first_that_is_not() {
        let is_plain_byte = |byte: &u8| !matches!(byte, b'"' | b'\\' | ..=0x1F);
        for around in [b' ', b'!', b'#', b'[', b']', 0x7F, 0x80, 0xA2, 0xDC, 0xFF] {
            for (position, byte) in (0..20).flat_map(|at| (0..=u8::MAX).map(move |it| (at, it))) {
                let mut bytes = [around; 20];
                bytes[position] = byte;
                let count = bytes.iter().take_while(|byte| is_plain_byte(byte)).count();
                assert_eq!(plain_prefix(&bytes), count, "{bytes:?}");
            }
        }
        assert_eq!(plain_prefix(&[b'"'; 8]), 0);
    }

    /// The fast path and the walk accept the same documents at each limit.
    #[test]
    fn limits_equal_the_limits_of_the_walk() {
        for depth in [7, 8] {
            for heap in (0..8 * 1024).step_by(8) {
                let limits = Limits {
                    depth,
                    heap,
                    ..Limits::default()
                };
                let text = br#"{"a":[[[[[{"b":"c","d":"e","f":[1,2,3]}]]]]],"g":"hijkl"}"#;
                assert_eq!(
                    is_plain(text, &limits),
                    walk(text, &limits).is_ok(),
                    "{limits:?}"
                );
            }
        }
    }
}
