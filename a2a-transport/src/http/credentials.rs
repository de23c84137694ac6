//! What shows an agent who calls it.

use std::fmt::Debug;

use http::request::Parts;

use crate::{BoxFuture, Error};

/// What shows an agent who calls it: a token, a key, a name and password.
///
/// They go to one origin only. Whoever attaches them to an [`HttpTransport`](super::HttpTransport)
/// answers for that it is the agent that they are meant for.
pub trait Credentials: Debug + Send + Sync + 'static {
    /// Puts them into the head of a request: a header, or a part of the URL's query.
    ///
    /// Errors: [`Error::Credentials`] says why there are none; then nothing is sent.
    fn attach<'a>(&'a self, head: &'a mut Parts) -> BoxFuture<'a, Result<(), Error>>;

    /// The agent answered 401 to what was attached, with this `WWW-Authenticate` header. Tells whether
    /// others are at hand now, so that the request is worth a second try.
    fn refused<'a>(&'a self, challenge: Option<&'a str>) -> BoxFuture<'a, bool> {
        let _ = challenge;
        Box::pin(std::future::ready(false))
    }
}
