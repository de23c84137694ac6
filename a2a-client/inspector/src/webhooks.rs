//! Receivers of push notifications.

use axum::Router;

use crate::Inspector;
use crate::changes::Changes;

/// The receivers that listen, and what they have received. Clones share them.
#[derive(Clone)]
pub(crate) struct Receivers {}

impl Receivers {
    pub(crate) fn new(_: Changes) -> Self {
        Self {}
    }
}

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
}
