//! The server: both versions on one port.

use std::sync::Arc;

use tokio::net::TcpListener;
use tonic::codec::CompressionEncoding;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Error, Identity, ServerTlsConfig};

use crate::agent::Agent;
use crate::agent_card::{card_v0_3, card_v1_0};
use crate::service_v0_3::ServiceV0_3;
use crate::service_v1_0::ServiceV1_0;
use crate::v0_3::a2a_service_server::A2aServiceServer as ServerV0_3;
use crate::v1_0::a2a_service_server::A2aServiceServer as ServerV1_0;

/// Serves the agent by HTTP/2 with prior knowledge, until the future is dropped. See [`Server`].
pub async fn serve(listener: TcpListener) -> Result<(), Error> {
    Server::default().serve(listener).await
}

/// Serves the agent by HTTP/2 over TLS, until the future is dropped. See [`Server`].
pub async fn serve_tls(
    listener: TcpListener,
    certificate_pem: impl AsRef<[u8]>,
    key_pem: impl AsRef<[u8]>,
) -> Result<(), Error> {
    let server = Server::default().tls(certificate_pem, key_pem);
    server.serve(listener).await
}

/// A server of A2A 1.0 and 0.3 with an agent in memory.
///
/// Both versions have the same tasks, of which it keeps the last 100,000. The text of a message decides what the
/// agent does:
///
/// | text | result |
/// |---|---|
/// | `message` | a message with the same text, and no task |
/// | `ask` | a task that needs input; its status has a message |
/// | `wait` | a task that is working until it is canceled or gets another message |
/// | `fail` | a failed task; its status has a message |
/// | anything else | a completed task with one artifact that has the text |
///
/// A streamed artifact has one chunk for each line of the text. Configurations of push notifications are kept, but
/// none is sent. All work is done under one mutex, at once.
///
/// The end of the future of [`serve`](Self::serve) closes the listener only: connections end with the runtime.
#[derive(Clone, Debug, Default)]
pub struct Server {
    identity: Option<Identity>,
    compresses: bool,
}

impl Server {
    /// Serves by TLS, with this certificate chain and its key.
    pub fn tls(mut self, certificate_pem: impl AsRef<[u8]>, key_pem: impl AsRef<[u8]>) -> Self {
        self.identity = Some(Identity::from_pem(certificate_pem, key_pem));
        self
    }

    /// Compresses responses with gzip for callers that accept it. Compressed requests are always accepted.
    pub fn gzip(mut self) -> Self {
        self.compresses = true;
        self
    }

    /// Serves until the future is dropped.
    pub async fn serve(self, listener: TcpListener) -> Result<(), Error> {
        let address = listener.local_addr().map(|it| it.to_string());
        let address = address.unwrap_or_default();
        let agent = Arc::new(Agent::default());
        let mut v1_0 = ServerV1_0::new(ServiceV1_0 {
            agent: Arc::clone(&agent),
            card: card_v1_0(&address),
        })
        .accept_compressed(CompressionEncoding::Gzip);
        let mut v0_3 = ServerV0_3::new(ServiceV0_3 {
            agent,
            card: card_v0_3(&address),
        })
        .accept_compressed(CompressionEncoding::Gzip);
        if self.compresses {
            v1_0 = v1_0.send_compressed(CompressionEncoding::Gzip);
            v0_3 = v0_3.send_compressed(CompressionEncoding::Gzip);
        }
        let mut server = tonic::transport::Server::builder();
        if let Some(identity) = self.identity {
            server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
        }
        let connections = TcpIncoming::from(listener).with_nodelay(Some(true));
        let router = server.add_service(v1_0).add_service(v0_3);
        router.serve_with_incoming(connections).await
    }
}
