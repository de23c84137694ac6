//! Integration tests of the authenticators.

mod cards;
mod credentials;
mod fixture;
mod forged_tokens;
mod issuer;
mod keys;
mod logs;
mod matrix;
mod metadata;
mod mounted;
mod passwords;
mod principals;
mod rates;
mod revocation;
mod tokens;
