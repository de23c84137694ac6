//! Credentials of a caller, and their selection for an agent.
//!
//! ```text
//! Keyring ─ for_card ─► what the card wants, of what is there ─► put into every request
//!                         key, password, token ── as they are
//!                         OAuth client, device, provider ── a token is fetched, kept, renewed
//!                         401 ── another token, once
//! ```
//!
//! Secrets go only to the agent that the caller named, never elsewhere because a card says so. That
//! holds for the secret of an OAuth client too: a card may name a token endpoint of the agent's own
//! origin; the caller must name any other ([`OAuthClient::token_url`], [`OAuthClient::allow_issuer`]).
//! Without TLS, secrets go to the local machine only.
//!
//! ```
//! use a2a_client::credentials::{Keyring, OAuthClient};
//! use a2a_client::{Error, HttpClient, Origin, read_card};
//!
//! let card = r#"{"name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
//!     "defaultInputModes": [], "defaultOutputModes": [], "supportedInterfaces": [
//!         {"url": "https://agent.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
//!     "securitySchemes": {
//!         "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
//!         "corp": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {
//!             "tokenUrl": "https://login.example/token", "scopes": {}}}}}},
//!     "securityRequirements": [{"schemes": {"corp": {"list": ["ask"]}}}, {"schemes": {"key": {}}}]}"#;
//! let card = read_card(card).map_err(Error::Malformed)?;
//! let (agent, http) = (Origin::of("https://agent.example/")?, HttpClient::default());
//!
//! let client = OAuthClient::new("me", "s3cret");
//! // The card names a token endpoint at another origin: the secret does not go there unasked.
//! let keyring = Keyring::default().oauth_client(client.clone());
//! let refused = keyring.for_card(&card, &agent, &http).unwrap_err();
//! assert!(refused.to_string().contains("https://login.example/token is not of the agent's origin"));
//!
//! let client = client.allow_issuer("https://login.example");
//! let keyring = Keyring::default().oauth_client(client);
//! // For `ClientBuilder::credentials`.
//! let credentials = keyring.for_card(&card, &agent, &http)?;
//! assert!(credentials.is_some());
//! # Ok::<_, Error>(())
//! ```
//!
//! A server that acts for many users gives each call its user's credentials
//! ([`SendMessageBuilder::credentials`](crate::SendMessageBuilder::credentials),
//! [`Client::with_credentials`](crate::Client::with_credentials)): a [`bearer`] token, tokens of a
//! [`TokenExchange`], or what [`Keyring::for_card`] returns. They go where the client's own go and to no
//! other call. After a 401 a call is repeated once, with a new token, if there is a source of tokens;
//! calls that were refused at the same time share the fetch, and a source replaces refused tokens at
//! most every ten seconds.
//!
//! Absent on purpose: flows through the browser (authorization code) and with the user's password;
//! tokens that are bound to a key (DPoP). A token obtained by other means is added by
//! [`Keyring::bearer`] or [`Keyring::bearer_from`].

mod challenge;
mod device;
mod endpoint;
mod header;
mod keyring;
mod oauth_client;
mod origin_policy;
mod placement;
mod redact;
mod requirements;
mod sanitize;
mod scanner;
mod secret;
mod selection;
mod token;
mod token_exchange;
mod token_key;
mod token_request;
mod tokens;

pub use challenge::Challenge;
pub use device::DevicePrompt;
pub use keyring::Keyring;
pub use oauth_client::OAuthClient;
pub use placement::bearer;
pub use redact::{is_secret_name, shown_header, shown_text, shown_url};
pub use selection::is_open;
pub use token::{AccessToken, BoxError, TokenProvider};
pub use token_exchange::{SecurityToken, TokenExchange};
