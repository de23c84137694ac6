//! Settings of a receiver that contradict each other.

/// Settings that make no receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// An empty secret protects nothing.
    #[error("an empty token or Authorization value admits every sender: expected a value")]
    Empty,
    /// `Authorization` holds one value.
    #[error("Authorization cannot have a fixed value and a JSON Web Token at once")]
    TwoAuthorizations,
    /// Without TLS, the keys can be replaced in transit.
    #[error(
        "the agent's keys would be fetched without TLS: expected an `https` URL, or `JwksUrl::allow_http`"
    )]
    KeysInClear,
}
