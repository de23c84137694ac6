//! The one seam between the two ends.

use std::sync::Arc;

use crate::{BoxFuture, Call, Error, Reply};

/// An asynchronous function from a [`Call`] to a [`Reply`].
///
/// A server is one, a connection to a remote agent is one, and so is whatever wraps one of them:
/// middleware, a gateway, a recorder.
pub trait Transport: Send + Sync + 'static {
    /// Sends a call and returns its reply.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>>;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        (**self).call(call)
    }
}
