//! Limits on reading a peer's document.

/// The bounds on one JSON document, enforced while it is scanned and before memory is spent on it.
/// Begin with [`Default`] and set the fields.
///
/// ```
/// # use a2a_jsonrpc::Limits;
/// let mut small = Limits::default();
/// small.bytes = 64 * 1024;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest text, in bytes. 4 MiB by default.
    pub bytes: usize,
    /// Number of arrays and objects that may be open at once. 64 by default; a number beyond 126 counts
    /// as 126, because `serde_json` itself stops soon after.
    pub depth: usize,
    /// Bytes of heap that the document may take as a tree of values. 16 MiB by default.
    ///
    /// The memory of a [`serde_json::Value`] with the allocator of glibc: 640 bytes for the first members of an object, up
    /// to eleven, and as much for every seven more; 32 for every place of an array, whose places double from four on;
    /// and for a string or a key its length and some 16 more.
    pub heap: usize,
}

impl Limits {
    /// Returns the number of arrays and objects that may be open at once.
    pub(crate) fn max_depth(&self) -> usize {
        self.depth.min(MAX_DEPTH)
    }
}

/// One below the limit of `serde_json`, so that ours is always met first.
const MAX_DEPTH: usize = 126;

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 * 1024 * 1024,
            depth: 64,
            heap: 16 * 1024 * 1024,
        }
    }
}
