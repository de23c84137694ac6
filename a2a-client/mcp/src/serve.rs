//! Transports of a bridge: standard input and output, and streamable HTTP.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::bridge::Bridge;

/// A client that did not speak MCP.
#[derive(Debug, thiserror::Error)]
#[error("the client does not speak MCP: {0}")]
pub struct ServeError(String);

impl Bridge {
    /// Serves one client by standard input and output, until it closes them.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let (input, output) = rmcp::transport::stdio();
        self.serve(input, output).await
    }

    /// Serves one client by a pair of streams, a message a line, until it closes them.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let failed = |error: &dyn std::fmt::Display| ServeError(error.to_string());
        let serving = ServiceExt::serve(Arc::new(self), (input, output)).await;
        let serving = serving.map_err(|error| failed(&error))?;
        serving.waiting().await.map_err(|error| failed(&error))?;
        Ok(())
    }

    /// Returns the service for streamable HTTP. It answers requests for these hosts, like `127.0.0.1`, and refuses those of
    /// pages in browsers.
    pub fn into_http_service(
        self,
        hosts: impl IntoIterator<Item = impl Into<String>>,
    ) -> HttpService {
        let bridge = Arc::new(self);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .enforce_origin_validation();
        let sessions = Arc::new(LocalSessionManager::default());
        HttpService(StreamableHttpService::new(
            move || Ok(Arc::clone(&bridge)),
            sessions,
            config,
        ))
    }
}

/// Streamable HTTP of a [`Bridge`], as a service of hyper.
#[derive(Clone)]
pub struct HttpService(StreamableHttpService<Arc<Bridge>, LocalSessionManager>);

impl<B> hyper::service::Service<Request<B>> for HttpService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    type Response = Response<BoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}
