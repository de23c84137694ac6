//! Strictness of a reader.

/// Strictness about deviations from the specification.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Accepts every known quirk in legal JSON, and reports it.
    #[default]
    Lenient,
    /// Refuses quirks, naming the path and the rule.
    Strict,
    /// Accepts every known quirk and, of what remains, everything that can be read: for answers, which a caller
    /// would lose otherwise. Each [`Deviation`](super::Deviation) is reported.
    Tolerant,
}
