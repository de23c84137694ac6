//! The two ends that the examples are replayed to.

use std::sync::Arc;

use a2a_server::Server;
use a2a_transport::http::{HttpService, HttpTransport, ServeOptions, serve};
use a2a_transport::{BoxFuture, Transport};
use tokio::net::TcpListener;

/// The server and the client that the examples are replayed to. A test of the replay breaks one of them.
pub trait Ends: Send + Sync {
    /// Serves an agent until the future is dropped.
    fn serve(&self, listener: TcpListener, agent: HttpService<Server>) -> BoxFuture<'static, ()> {
        let never = std::future::pending();
        Box::pin(serve(listener, agent, ServeOptions::default(), never))
    }

    /// Returns the transport of the client.
    fn transport(&self, transport: HttpTransport) -> Arc<dyn Transport> {
        Arc::new(transport)
    }
}

/// Our server and client as they are.
pub(super) struct OurEnds;

impl Ends for OurEnds {}
