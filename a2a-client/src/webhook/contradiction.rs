//! Settings of a receiver that contradict each other.

/// Settings that make no receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// An empty secret protects nothing.
    #[error("an empty token or Authorization keeps nobody out")]
    Empty,
    /// `Authorization` holds one value.
    #[error("Authorization cannot have a fixed value and a JSON Web Token at once")]
    TwoAuthorizations,
    /// Without TLS, the keys can be replaced in transit.
    #[error("the agent's keys come without TLS: expected an `https` URL, or `JwksUrl::allow_http`")]
    KeysInClear,
}
