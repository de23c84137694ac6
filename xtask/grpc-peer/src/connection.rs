//! Connections of the generated clients.

use tonic::codec::CompressionEncoding;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Error};

use crate::health::HealthClient;
use crate::reflection::ServerReflectionClient;
use crate::{v0_3, v1_0};

/// Connects to an `http://` URL by HTTP/2 with prior knowledge.
pub async fn plain(url: &str) -> Result<Connection, Error> {
    Endpoint::from_shared(url.to_owned())?
        .connect()
        .await
        .map(Connection::new)
}

/// Connects to an `https://` URL by HTTP/2, and trusts the certificates of this CA only.
pub async fn tls(url: &str, ca_pem: impl AsRef<[u8]>) -> Result<Connection, Error> {
    let config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca_pem));
    Endpoint::from_shared(url.to_owned())?
        .tls_config(config)?
        .connect()
        .await
        .map(Connection::new)
}

/// A connection, and the clients on it. Clients share the connection.
#[derive(Clone, Debug)]
pub struct Connection {
    channel: Channel,
    compresses: bool,
}

impl Connection {
    /// Uses a channel that was made otherwise.
    pub fn new(channel: Channel) -> Self {
        Self {
            channel,
            compresses: false,
        }
    }

    /// Makes clients of A2A compress requests with gzip and accept compressed responses.
    pub fn gzip(mut self) -> Self {
        self.compresses = true;
        self
    }

    /// Returns the channel, for requests that the generated clients cannot make.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Returns a client of A2A 1.0.
    pub fn v1_0(&self) -> v1_0::a2a_service_client::A2aServiceClient<Channel> {
        let client = v1_0::a2a_service_client::A2aServiceClient::new(self.channel());
        match self.compresses {
            true => client
                .send_compressed(CompressionEncoding::Gzip)
                .accept_compressed(CompressionEncoding::Gzip),
            false => client,
        }
    }

    /// Returns a client of A2A 0.3.
    pub fn v0_3(&self) -> v0_3::a2a_service_client::A2aServiceClient<Channel> {
        let client = v0_3::a2a_service_client::A2aServiceClient::new(self.channel());
        match self.compresses {
            true => client
                .send_compressed(CompressionEncoding::Gzip)
                .accept_compressed(CompressionEncoding::Gzip),
            false => client,
        }
    }

    /// Returns a client of `grpc.health.v1`.
    pub fn health(&self) -> HealthClient<Channel> {
        HealthClient::new(self.channel())
    }

    /// Returns a client of `grpc.reflection.v1`.
    pub fn reflection(&self) -> ServerReflectionClient<Channel> {
        ServerReflectionClient::new(self.channel())
    }
}
