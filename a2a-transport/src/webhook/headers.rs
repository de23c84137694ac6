//! The names that stand in headers, paths and queries.

use http::HeaderName;

/// The token of the config, as 0.1 to 1.0.0 and most senders spell its header.
pub const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// The token's header as anybody spells it; a sender sends it in both.
pub const TOKENS: [HeaderName; 2] = [
    TOKEN,
    // a2a-go.
    HeaderName::from_static("a2a-notification-token"),
];

/// Standard Webhooks: names the notification, the same each time it is sent.
pub const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");

/// Standard Webhooks: when it was sent this time, in seconds since the Unix epoch.
pub const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");

/// Standard Webhooks: the signatures, a space between each two.
pub const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// The query parameter of the challenge that a 0.1 agent puts to a URL before it uses it.
pub const CHALLENGE: &str = "validationToken";

/// Where an agent publishes its public keys, from its origin.
pub const AGENT_JWKS_PATH: &str = "/.well-known/jwks.json";
