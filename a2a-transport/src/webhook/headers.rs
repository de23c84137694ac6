//! Names of headers, paths and query parameters.

use http::HeaderName;

/// The token of the config, as 0.1 to 1.0.0 and most senders spell its header.
pub const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// The token's header as anybody spells it; a sender sends it in both.
pub const TOKEN_HEADERS: [HeaderName; 2] = [
    TOKEN,
    // a2a-go.
    HeaderName::from_static("a2a-notification-token"),
];

/// Standard Webhooks: the id of the notification, the same each time it is sent.
pub const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");

/// Standard Webhooks: time of this attempt, in seconds since the Unix epoch.
pub const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");

/// Standard Webhooks: the signatures, a space between each two.
pub const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// The query parameter of the challenge that a 0.1 agent sends to a URL before it uses it.
pub const CHALLENGE: &str = "validationToken";

/// Path of an agent's public keys, from its origin.
pub const AGENT_JWKS_PATH: &str = "/.well-known/jwks.json";
