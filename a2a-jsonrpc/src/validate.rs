//! Validation of a document against JSON and the limits, in one walk that keeps nothing.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::fast_path::is_plain;
use crate::memory_budget::{BudgetExceeded, MemoryBudget};
use crate::path::{Path, clip};
use crate::text::Text;
use crate::{Fault, Limits, Reason};

/// Walks one JSON document and refuses it at the first thing that is not JSON or not within the limits.
///
/// Refused besides what RFC 8259 refuses: a byte order mark, text after the document, a key that an
/// object has already (keys are compared decoded, so `"a"` and `"\u0061"` are one), a lone surrogate
/// such as `"\ud800"`, and a number that overflows an `f64`, such as `1e400`.
///
/// The walk borrows from `bytes`; it keeps only the keys of the objects that are open.
pub fn check(bytes: &[u8], limits: &Limits) -> Result<(), Fault> {
    match is_plain(bytes, limits) {
        true => Ok(()),
        false => walk(bytes, limits),
    }
}

/// Does the same by the full walk alone.
pub(crate) fn walk(bytes: &[u8], limits: &Limits) -> Result<(), Fault> {
    if bytes.len() > limits.bytes {
        let reason = Reason::TooLarge {
            limit: limits.bytes,
        };
        return Err(Fault {
            path: Path::Root.to_string(),
            line: 0,
            column: 0,
            reason,
        });
    }

    let mut validator = Validator::new(limits);
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let visitor = ValueVisitor {
        validator: &mut validator,
        here: &Path::Root,
    };
    visitor
        .deserialize(&mut json)
        .and_then(|()| json.end())
        .map_err(|error| Fault {
            path: validator.path.unwrap_or_else(|| Path::Root.to_string()),
            line: error.line(),
            column: error.column(),
            reason: validator.reason.unwrap_or_else(|| syntax(bytes, &error)),
        })
}

/// State of the walk.
///
/// If a dependent enables `serde_json/arbitrary_precision`, numbers look like objects of one member:
/// they count as one level and are charged as such, so fewer fit; and `1e400` is a number then.
#[derive(Debug)]
struct Validator<'l> {
    limits: &'l Limits,
    heap: MemoryBudget,
    /// Number of open arrays and objects.
    depth: usize,
    /// Place where the walk ended, noted by the innermost value that saw the error.
    path: Option<String>,
    /// Reason for which the walk ended, unless `serde_json` ended it.
    reason: Option<Reason>,
}

impl<'l> Validator<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            heap: MemoryBudget::new(limits.heap),
            depth: 0,
            path: None,
            reason: None,
        }
    }

    fn refuse<E: de::Error>(&mut self, reason: Reason) -> E {
        self.reason = Some(reason);
        // Never shown: the caller reads `reason`; the error only ends the walk.
        E::custom("refused")
    }

    fn pay<E: de::Error>(&mut self, paid: Result<(), BudgetExceeded>) -> Result<(), E> {
        let limit = self.limits.heap;
        paid.map_err(|BudgetExceeded| self.refuse(Reason::TooHeavy { limit }))
    }

    fn text<E: de::Error>(&mut self, text: &str) -> Result<(), E> {
        let paid = self.heap.text(text.len());
        self.pay(paid)
    }

    fn enter<E: de::Error>(&mut self) -> Result<(), E> {
        let limit = self.limits.max_depth();
        if self.depth >= limit {
            return Err(self.refuse(Reason::TooDeep { limit }));
        }
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// Walks one value.
#[derive(Debug)]
struct ValueVisitor<'s, 'l> {
    validator: &'s mut Validator<'l>,
    here: &'s Path<'s>,
}

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { validator, here } = self;
        let walked = deserializer.deserialize_any(ValueVisitor {
            validator: &mut *validator,
            here,
        });
        walked.inspect_err(|_| {
            validator.path.get_or_insert_with(|| here.to_string());
        })
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.validator.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self { validator, here } = self;
        validator.enter()?;
        for index in 0.. {
            let here = Path::Element(here, index);
            let visitor = ValueVisitor {
                validator: &mut *validator,
                here: &here,
            };
            if elements.next_element_seed(visitor)?.is_none() {
                break;
            }
            let paid = validator.heap.element(index);
            validator.pay(paid)?;
        }
        validator.leave();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { validator, here } = self;
        validator.enter()?;
        let mut keys = HashSet::new();
        while let Some(Text(key)) = members.next_key()? {
            if keys.contains(&key) {
                return Err(validator.refuse(Reason::DuplicateKey(clip(&key))));
            }
            let paid = validator.heap.member(keys.len());
            validator.pay(paid)?;
            validator.text(&key)?;
            let here = Path::Member(here, &key);
            members.next_value_seed(ValueVisitor {
                validator: &mut *validator,
                here: &here,
            })?;
            keys.insert(key);
        }
        validator.leave();
        Ok(())
    }
}

/// Returns the reason in the words of `serde_json`, unless ours explain more.
fn syntax(bytes: &[u8], error: &serde_json::Error) -> Reason {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return Reason::Syntax("a byte order mark stands before the document".to_owned());
    }
    // The walk ends at the first fault, so bytes that are not UTF-8 are to blame only up to there.
    if let Err(utf8) = std::str::from_utf8(bytes)
        && utf8.valid_up_to() < offset(bytes, error)
    {
        return Reason::NotUtf8;
    }
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    Reason::Syntax(
        message
            .strip_suffix(&position)
            .unwrap_or(&message)
            .to_owned(),
    )
}

/// Returns the number of bytes that had been scanned when the error arose.
fn offset(bytes: &[u8], error: &serde_json::Error) -> usize {
    let earlier = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take(error.line().saturating_sub(1));
    earlier.map(<[u8]>::len).sum::<usize>() + error.column()
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: impl AsRef<[u8]>, expected: Result<(), &str>) {
        let found = super::check(document.as_ref(), &Limits::default());
        assert_eq!(found, walk(document.as_ref(), &Limits::default()));
        let found = found.map_err(|fault| format!("{} at {}", fault.reason, fault.path));
        assert_eq!(found.as_ref().copied().map_err(String::as_str), expected);
    }

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    #[test]
    fn valid_documents_pass() {
        check("null", Ok(()));
        check(
            " [true, false, -1, 1.5e3, 18446744073709551615, \"\\ud83d\\ude00\"]\n",
            Ok(()),
        );
        check(r#"{"a":{"a":{"a":[]}},"b":[{"a":1},{"a":2}]}"#, Ok(()));
        check(r#"{"n":123456789012345678901234567890}"#, Ok(()));
    }

    #[test]
    fn other_text_is_refused() {
        check("", Err("EOF while parsing a value at $"));
        check("  ", Err("EOF while parsing a value at $"));
        check("1 2", Err("trailing characters at $"));
        check("[1,]", Err("trailing comma at $"));
        check("{a:1}", Err("key must be a string at $"));
        check(r#"{"a":[0,{"b":tru}]}"#, Err("expected ident at $.a[1].b"));
        check(r#"{"a":{"b":[1"#, Err("EOF while parsing a list at $.a.b"));
        check(
            "\u{feff}{}",
            Err("a byte order mark stands before the document at $"),
        );
        check("[NaN]", Err("expected value at $[0]"));
        check("[1e400]", Err("number out of range at $[0]"));
    }

    #[test]
    fn text_is_utf8_without_lone_surrogates() {
        check(b"{\"a\":[\"\xff\"]}", Err("not UTF-8 at $.a[0]"));
        check(b"{\"a\":1,\n\"\xc3\x28\":1}", Err("not UTF-8 at $"));
        check(b"[\xff]", Err("not UTF-8 at $[0]"));
        check(b"[tru,\"\xff\"]", Err("expected ident at $[0]"));
        check(r#"["\ud800"]"#, Err("unexpected end of hex escape at $[0]"));
        check(
            r#"["\udc00"]"#,
            Err("lone leading surrogate in hex escape at $[0]"),
        );
        check(r#"{"\ud800":1}"#, Err("unexpected end of hex escape at $"));
    }

    #[test]
    fn keys_are_unique_at_every_level() {
        check(r#"{"a":1,"b":2,"a":3}"#, Err("duplicate key `a` at $"));
        check(
            r#"{"x":[{"a":1,"\u0061":2}]}"#,
            Err("duplicate key `a` at $.x[0]"),
        );
        check(r#"{"\u0061":1,"a":2}"#, Err("duplicate key `a` at $"));
        check(r#"{"":1,"":2}"#, Err("duplicate key `` at $"));
        check(r#"{"a":1,"A":2}"#, Ok(()));

        let members: Vec<_> = (0..200).map(|n| format!("\"k{n}\":0")).collect();
        let members = members.join(",");
        check(format!("{{{members}}}"), Ok(()));
        check(
            format!("{{{members},\"k3\":0}}"),
            Err("duplicate key `k3` at $"),
        );
        check(
            format!("{{{members},\"k\\u003199\":0}}"),
            Err("duplicate key `k199` at $"),
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "$".to_owned() + &"[0]".repeat(64);
        let too_deep = format!("nested deeper than 64 levels at {deep}");
        check(nested(64), Ok(()));
        check(nested(65), Err(&too_deep));
        check("[".repeat(100_000), Err(&too_deep));
        check(
            "{\"a\":".repeat(100_000),
            Err(&too_deep.replace("[0]", ".a")),
        );
    }

    #[test]
    fn the_limit_of_serde_json_is_never_met() {
        let limits = Limits {
            depth: usize::MAX,
            ..Limits::default()
        };
        assert_eq!(super::check(nested(126).as_bytes(), &limits), Ok(()));
        let fault = super::check(nested(127).as_bytes(), &limits).unwrap_err();
        assert_eq!(fault.reason, Reason::TooDeep { limit: 126 });
    }

    #[test]
    fn small_text_that_makes_a_big_tree_is_refused() {
        let bomb = |unit: &str| format!("[{}0]", format!("{unit},").repeat(1_000_000 / unit.len()));
        let heavy = "more than 16777216 bytes would be needed to hold the values at ";
        // 640 for the node, and 32,768 places of 32: 24,575 of them are 16 MiB.
        check(bomb(r#"{"":0}"#), Err(&format!("{heavy}$[24575]")));
        check(bomb("[0]"), Err(&format!("{heavy}$[87381]")));
        check(bomb("0"), Err(&format!("{heavy}$")));
        check(bomb(r#""""#), Err(&format!("{heavy}$")));
        check(bomb("[]"), Err(&format!("{heavy}$")));
    }

    #[test]
    fn long_strings_cost_their_length() {
        check(format!("\"{}\"", "x".repeat(4_000_000)), Ok(()));
    }

    #[test]
    fn length_is_checked_before_the_content() {
        let limits = Limits {
            bytes: 3,
            ..Limits::default()
        };
        assert_eq!(super::check(b"[1]", &limits), Ok(()));
        let fault = super::check(b"[[[[", &limits).unwrap_err();
        assert_eq!(fault.reason, Reason::TooLarge { limit: 3 });
        assert_eq!(fault.to_string(), "the body is longer than 3 bytes");
    }

    #[test]
    fn the_position_is_in_lines_and_columns() {
        let fault = super::check(b"{\n  \"a\": x\n}", &Limits::default()).unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 8));
    }
}
