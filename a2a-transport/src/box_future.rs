//! Futures on the heap.

use std::pin::Pin;

/// A future on the heap, for traits that are used as `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
