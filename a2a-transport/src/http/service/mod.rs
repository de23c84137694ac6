//! Service: a [`Transport`](crate::Transport) for callers by HTTP.

pub(super) mod agents;
pub(super) mod auth;
mod catalog;
pub(super) mod cors;
pub(super) mod denial;
pub(super) mod error_format;
pub(super) mod exchange;
pub(super) mod extension_methods;
#[cfg(feature = "grpc")]
mod grpc;
#[cfg(feature = "grpc")]
mod health;
pub(super) mod hosts;
pub(super) mod http_service;
#[cfg(feature = "webhooks")]
pub(super) mod notifications;
pub(super) mod passed_credentials;
mod peer_slots;
#[cfg(feature = "grpc")]
mod reflection;
pub(super) mod request_headers;
pub(super) mod routing;
pub(super) mod settings;
pub(super) mod tenants;
