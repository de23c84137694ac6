//! Reasons to refuse a webhook.

/// Rule that a webhook breaks. The text can be sent to the caller that registers it: it contains nothing of
/// the URL, of the credentials, or of what other hosts answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The URL is too long.
    #[error("the webhook's URL is longer than {0} bytes")]
    TooLong(usize),
    /// It is not a URL, though browsers may repair it into one.
    #[error("the webhook's URL is not well formed: expected `https://host[:port][/path][?query]`")]
    Malformed,
    /// The URL is of another scheme.
    #[error("the webhook's URL must begin with `https://`")]
    Scheme,
    /// The URL contains a user name or a password.
    #[error("the webhook's URL must not contain a user name or a password")]
    Credentials,
    /// The host is neither a name nor an address.
    #[error("the webhook's URL has no host that is a name or an address")]
    Host,
    /// The name of the host ends with a dot.
    #[error("the name of the webhook's host must not end with a dot")]
    TrailingDot,
    /// The name of the host has no meaning, or another one on every network.
    #[error("the name of the webhook's host is not a public one")]
    LocalName,
    /// The host is spelled so that it seems to be another.
    #[error("the webhook's host must be written plainly: a name, or an address as `a.b.c.d`")]
    Disguised,
    /// The port is not one of the accepted ports.
    #[error("the webhook's port {0} is not allowed")]
    Port(u16),
    /// The host is an address that is not public, but of this kind.
    #[error("the webhook's host is not a public address ({0})")]
    Address(&'static str),
    /// The host resolves to an address that is not public.
    #[error("the webhook's host does not resolve to public addresses only")]
    Resolves,
    /// This member of the config cannot be sent as a header.
    #[error("`{0}` must be visible ASCII without spaces, and at most 4096 bytes long")]
    Header(&'static str),
    /// The receiver did not agree to be called.
    #[error("the webhook did not answer the validation request with its token")]
    Unverified,
}
