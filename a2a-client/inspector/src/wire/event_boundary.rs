//! Ends of events in a stream of bytes.

/// Finder of the ends of events in a stream of bytes, which holds none of them back.
#[derive(Debug, Default)]
pub(crate) struct EventBoundary {
    /// Bytes of the line so far.
    length: usize,
    /// Bytes of the line so far that spell `data`.
    matched: usize,
    /// The block has a line of data: it is an event, and no comment.
    has_data: bool,
    after_cr: bool,
}

/// End of a block of lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BlockEnd {
    /// Offset of the first byte behind it.
    pub(crate) offset: usize,
    /// It is an event, and no comment.
    pub(crate) is_event: bool,
}

impl EventBoundary {
    /// Reads bytes up to the end of a block, or all of them if no block ends.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Option<BlockEnd> {
        for (index, &byte) in bytes.iter().enumerate() {
            let follows_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            if byte == b'\n' && follows_cr {
                continue;
            }
            if byte != b'\n' && byte != b'\r' {
                if self.matched == self.length && DATA.get(self.length) == Some(&byte) {
                    self.matched += 1;
                }
                self.length = self.length.saturating_add(1);
                continue;
            }
            self.has_data |= self.matched == DATA.len();
            self.matched = 0;
            if std::mem::take(&mut self.length) == 0 {
                return Some(BlockEnd {
                    offset: index + 1,
                    is_event: std::mem::take(&mut self.has_data),
                });
            }
        }
        None
    }

    /// Reads bytes, and returns the number of events that end in them.
    pub(crate) fn count(&mut self, mut bytes: &[u8]) -> u64 {
        let mut events = 0;
        while let Some(end) = self.next(bytes) {
            events += u64::from(end.is_event);
            bytes = &bytes[end.offset..];
        }
        events
    }
}

const DATA: &[u8] = b"data";

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the blocks of a text, and whether each is an event; cut in two at every byte, too.
    #[track_caller]
    fn check(text: &str, expected: &[(&str, bool)]) {
        for split in 0..=text.len() {
            let mut boundary = EventBoundary::default();
            let mut found = Vec::new();
            let mut block = String::new();
            let (head, tail) = text.split_at(split);
            for mut part in [head, tail] {
                while let Some(end) = boundary.next(part.as_bytes()) {
                    block += &part[..end.offset];
                    found.push((std::mem::take(&mut block), end.is_event));
                    part = &part[end.offset..];
                }
                block += part;
            }
            let expected = expected.iter().map(|(text, is)| ((*text).to_owned(), *is));
            assert_eq!(found, expected.collect::<Vec<_>>(), "cut at {split}");
        }
    }

    #[test]
    fn blocks_end_with_blank_lines() {
        check(
            ": ping\n\nid: 1\ndata: a\n\ndata: b",
            &[(": ping\n\n", false), ("id: 1\ndata: a\n\n", true)],
        );
        check(
            "data: 1\r\rdata:2\r\r",
            &[("data: 1\r\r", true), ("data:2\r\r", true)],
        );
        // The line feed behind the last carriage return belongs to it, but is not waited for.
        check(
            "data: 1\r\n\r\ndata: 2\r\n\r",
            &[("data: 1\r\n\r", true), ("\ndata: 2\r\n\r", true)],
        );
        check(
            "dat: 1\n\n xdata: 1\n\n",
            &[("dat: 1\n\n", false), (" xdata: 1\n\n", false)],
        );
        check("", &[]);
    }
}
