//! The one seam between the two ends.

use std::sync::Arc;

use crate::{BoxFuture, CallRequest, CallResponse, Error};

/// An asynchronous function from a [`CallRequest`] to a [`CallResponse`].
///
/// A server is one, a connection to a remote agent is one, and so is whatever wraps one of them:
/// middleware, a gateway, a recorder.
pub trait Transport: Send + Sync + 'static {
    /// Sends a call and returns its reply.
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>>;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        (**self).call(call)
    }
}
