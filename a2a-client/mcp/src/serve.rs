//! Transports of a bridge: standard input and output, and streamable HTTP.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::bridge::Bridge;
use crate::handler::Handler;

/// A client that did not speak MCP.
#[derive(Debug, thiserror::Error)]
#[error("the client does not speak MCP: {0}")]
pub struct ServeError(String);

impl Bridge {
    /// Serves one client by standard input and output, until it closes them or `stop` resolves.
    pub async fn serve_stdio(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let (input, output) = rmcp::transport::stdio();
        self.serve(input, output, stop).await
    }

    /// Serves one client by a pair of streams, a message a line, until it closes them or `stop` resolves. Then the tasks of
    /// calls that still run are canceled.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let bridge = Arc::new(self);
        let handler = Handler::new(&bridge);
        let serving = async {
            let serving = match ServiceExt::serve(handler, (input, output)).await {
                Ok(serving) => serving,
                // A client that says nothing.
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
                Err(error) => return Err(ServeError(error.to_string())),
            };
            let ended = serving.waiting().await;
            ended
                .map(drop)
                .map_err(|error| ServeError(error.to_string()))
        };
        let served = tokio::select! {
            served = serving => served,
            () = stop => Ok(()),
        };
        bridge.calls.cancel_all().await;
        served
    }

    /// Returns the service for streamable HTTP. It answers requests for these hosts, like `127.0.0.1`; with none, for
    /// any host, so that a page in a browser could reach it by DNS rebinding. It refuses requests with the header `Origin`.
    pub fn into_http_service(
        self,
        hosts: impl IntoIterator<Item = impl Into<String>>,
    ) -> HttpService {
        let bridge = Arc::new(self);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .enforce_origin_validation();
        let end = config.cancellation_token.clone();
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(KEEP_ALIVE);
        let shared = Arc::clone(&bridge);
        let handler = move || Ok(Handler::new(&shared));
        let service = StreamableHttpService::new(handler, Arc::new(sessions), config);
        HttpService {
            service,
            bridge,
            end,
        }
    }
}

/// Time after which a session of a client of 2025-11-25 ends if nothing was said: its calls and questions end with it.
const KEEP_ALIVE: Duration = Duration::from_secs(3600);

/// Streamable HTTP of a [`Bridge`], as a service of hyper.
#[derive(Clone)]
pub struct HttpService {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    bridge: Arc<Bridge>,
    /// Ends all sessions and streams.
    end: CancellationToken,
}

impl HttpService {
    /// Ends all calls, waits until their tasks are canceled, and ends all sessions.
    pub async fn shutdown(&self) {
        self.bridge.calls.cancel_all().await;
        self.end.cancel();
    }
}

impl<B> hyper::service::Service<Request<B>> for HttpService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    type Response = Response<BoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let service = self.service.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}
