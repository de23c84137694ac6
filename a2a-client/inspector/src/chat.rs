//! Messages to agents.

use axum::Router;

use crate::Inspector;

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
}
