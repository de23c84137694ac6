//! Several agents at one origin.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response};

use super::catalog;
use super::cors;
use super::http_service::HttpService;
use super::settings::{CATALOG, Settings};
use crate::http::documents::security::ProtectedResource;
use crate::http::message::answer::not_allowed;
use crate::http::message::body::Body;
use crate::http::message::receive::TrackedBody;
use crate::{BoxFuture, Transport};

/// Services of several agents at one origin, each at a path of its own.
///
/// `GET /.well-known/ai-catalog.json` lists their public cards. A path that belongs to none of them is served by the
/// first.
pub struct Agents<T> {
    first: HttpService<T>,
    others: Arc<[HttpService<T>]>,
}

impl<T: Transport> Agents<T> {
    /// Puts these services together.
    pub fn new(first: HttpService<T>, others: impl IntoIterator<Item = HttpService<T>>) -> Self {
        Self {
            first,
            others: others.into_iter().collect(),
        }
    }

    /// Answers one request.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let service = self.at(head.uri.path());
        if head.uri.path() == CATALOG {
            return self.catalog(&head);
        }
        service.answer(&head, pin!(TrackedBody::new(body))).await
    }

    /// Returns the service with the longest path that the path of a request is at or below.
    fn at(&self, path: &str) -> &HttpService<T> {
        let path = path.strip_prefix(ProtectedResource::PATH).unwrap_or(path);
        let all = std::iter::once(&self.first).chain(&*self.others);
        let found = all.filter(|service| service.settings.has(path));
        let found = found.max_by_key(|service| service.settings.path.len());
        found.unwrap_or(&self.first)
    }

    /// Answers a request for the catalog.
    fn catalog(&self, head: &Parts) -> Response<Body> {
        let Settings { hosts, origins, .. } = &*self.first.settings;
        let origin = origins.of(head);
        let mut answer = match hosts.check(head, origin.is_some()) {
            Err(refusal) => refusal,
            Ok(()) if head.method != Method::GET && head.method != Method::HEAD => {
                not_allowed("GET, HEAD")
            }
            Ok(()) => {
                let all = std::iter::once(&self.first).chain(&*self.others);
                catalog::of(all.map(|service| &*service.settings), head)
            }
        };
        if let Some(origin) = origin {
            cors::expose(origin, &mut answer);
        }
        answer
    }
}

impl<T> Clone for Agents<T> {
    fn clone(&self) -> Self {
        Self {
            first: self.first.clone(),
            others: Arc::clone(&self.others),
        }
    }
}

impl<T, B> hyper::service::Service<Request<B>> for Agents<T>
where
    T: Transport,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let agents = self.clone();
        #[cfg(feature = "grpc")]
        if agents.first.is_reflection(request.uri().path()) {
            let (head, body) = request.into_parts();
            let answer = agents.first.reflect(&head, body);
            return Box::pin(std::future::ready(Ok(answer)));
        }
        Box::pin(async move { Ok(agents.handle(request).await) })
    }
}
