//! Connected agents.

use std::path::PathBuf;

use axum::Router;

use crate::Inspector;
use crate::changes::Changes;
use crate::wire::ExchangeLog;

/// The agents that are connected. Clones share them.
#[derive(Clone)]
pub(crate) struct Agents {}

impl Agents {
    pub(crate) fn new(_: Option<PathBuf>, _: ExchangeLog, _: Changes) -> Self {
        Self {}
    }
}

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
}
