//! Credentials of a caller for an agent.

use std::fmt::Debug;

use http::header::HeaderMap;
use http::request::Parts;

use crate::{BoxFuture, Error};

/// Credentials of a caller: a token, a key, a name and password.
///
/// They go to one origin only. The caller that attaches them to an [`HttpTransport`](crate::http::HttpTransport)
/// must make sure that it is the agent they are meant for. `Debug` must not show secrets.
pub trait Credentials: Debug + Send + Sync + 'static {
    /// Puts them into the head of a request: a header, or a part of the URL's query.
    ///
    /// Errors: [`Error::Credentials`] says why there are none; then nothing is sent.
    fn attach<'a>(&'a self, head: &'a mut Parts) -> BoxFuture<'a, Result<(), Error>>;

    /// Reports that the agent answered 401 to a request that was `sent` with these headers, with this
    /// `WWW-Authenticate` header. Returns whether others are available now, so that the request is worth
    /// a second try.
    fn refused<'a>(
        &'a self,
        sent: &'a HeaderMap,
        challenge: Option<&'a str>,
    ) -> BoxFuture<'a, bool> {
        let _ = (sent, challenge);
        Box::pin(std::future::ready(false))
    }

    /// Returns the bytes of memory that are freed with the last reference to these credentials, for a holder that
    /// keeps many.
    fn size(&self) -> usize {
        0
    }
}
