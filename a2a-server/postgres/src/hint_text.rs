//! Text format of hints between servers.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

/// Logs that a server has appended to, with their new lengths.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Hint {
    /// Name of the server that sends it.
    pub(crate) from: u32,
    /// Time of the first append, in milliseconds since the Unix epoch.
    pub(crate) at: u64,
    /// `true` if it has posted a command.
    pub(crate) command: bool,
    pub(crate) heads: Vec<(Uuid, u64)>,
}

impl Hint {
    /// Writes the hint, or `*` if it is too long: receivers then poll all followed tasks.
    pub(crate) fn write(&self) -> String {
        let command = if self.command { "m" } else { "-" };
        let mut text = format!("{:x} {} {command}", self.from, self.at);
        for (key, sequence) in &self.heads {
            let key = URL_SAFE_NO_PAD.encode(key.as_bytes());
            // Writing to a string does not fail.
            let _ = write!(text, " {key}{sequence}");
            if text.len() > MAX_BYTES {
                return "*".to_owned();
            }
        }
        text
    }

    /// Reads a hint, if it is one.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let from = u32::from_str_radix(words.next()?, 16).ok()?;
        let at = words.next()?.parse().ok()?;
        let command = words.next()? == "m";
        let head = |word: &str| {
            let (key, sequence) = word.split_at_checked(KEY_CHARACTERS)?;
            let bytes: [u8; 16] = URL_SAFE_NO_PAD.decode(key).ok()?.try_into().ok()?;
            Some((Uuid::from_bytes(bytes), sequence.parse().ok()?))
        };
        let heads = words.map(head).collect::<Option<_>>()?;
        Some(Self {
            from,
            at,
            command,
            heads,
        })
    }
}

/// Number of characters of a key.
const KEY_CHARACTERS: usize = 22;
/// Maximum number of bytes of a hint: the payload of `NOTIFY` is shorter than 8,000.
const MAX_BYTES: usize = 7900;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_is_read_as_it_was_written() {
        let key = |number: u128| Uuid::from_u128(number);
        for heads in [vec![], vec![(key(1), 7), (key(u128::MAX), u64::MAX)]] {
            let hint = Hint {
                from: 0xdead_beef,
                at: 12,
                command: true,
                heads,
            };
            assert_eq!(Hint::read(&hint.write()), Some(hint));
        }
    }

    #[test]
    fn hint_that_is_too_long_names_no_task() {
        let heads: Vec<_> = (0..1000)
            .map(|number| (Uuid::from_u128(number), 1))
            .collect();
        let hint = Hint {
            from: 1,
            at: 2,
            command: false,
            heads,
        };
        assert_eq!(hint.write(), "*");
        for text in [
            "*",
            "",
            "1 2",
            "1 2 - short",
            "x 2 -",
            "1 2 - ü234567890123456789012",
        ] {
            assert_eq!(Hint::read(text), None, "{text}");
        }
    }
}
