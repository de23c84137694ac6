//! Connections to receivers: resolved once, checked, and made to the address that was checked.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_transport::http::{Http1Tls, TlsConfigError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Host;

use super::address_ranges;
use super::outcome::Reason;
use super::refusal::Refusal;
use super::url_policy::{Target, WebhookPolicy};

/// Connects to targets that the guard let pass, and checks once more: a name means nothing until it is
/// resolved. It reads no proxy settings, since a proxy would resolve names on its own.
pub(super) struct Connector {
    names: Arc<dyn Resolve>,
    network: Arc<dyn Network>,
    tls: Http1Tls,
}

/// Finds the addresses of a name.
pub(super) trait Resolve: Send + Sync + 'static {
    /// Every address that the name has now.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Reaches addresses.
pub(super) trait Network: Send + Sync + 'static {
    /// A connection to exactly this address.
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn ByteStream>>>;
}

/// Bytes in both directions.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// The resolver and the sockets of this machine.
pub(super) struct SystemNetwork;

impl Connector {
    /// Fails if there is no authority to check certificates by, or one of the policy is not a
    /// certificate.
    pub(super) fn new(
        policy: &WebhookPolicy,
        names: Arc<dyn Resolve>,
        network: Arc<dyn Network>,
    ) -> Result<Self, TlsConfigError> {
        Ok(Self {
            names,
            network,
            tls: policy.tls.http1()?,
        })
    }

    /// A connection to a target, protected if its URL says so.
    pub(super) async fn connect(&self, target: &Target) -> Result<Box<dyn ByteStream>, Reason> {
        let connected = timeout(CONNECT, async {
            let wire = self.reach(target).await?;
            match target.encrypted {
                true => self.protect(target, wire).await,
                false => Ok(wire),
            }
        });
        connected.await.unwrap_or(Err(Reason::Timeout))
    }

    /// The first of a target's addresses that answers.
    async fn reach(&self, target: &Target) -> Result<Box<dyn ByteStream>, Reason> {
        let addresses = self.addresses(target).await?;
        let tried = addresses.len().min(MAX_ADDRESSES);
        let mut reason = Reason::Connect;
        for address in &addresses[..tried] {
            let address = SocketAddr::new(*address, target.port);
            let share = CONNECT / tried as u32;
            reason = match timeout(share, self.network.connect(address)).await {
                Ok(Ok(wire)) => return Ok(wire),
                Ok(Err(_)) => Reason::Connect,
                Err(_) => Reason::Timeout,
            };
        }
        Err(reason)
    }

    /// The addresses that a target has at this moment, if all of them may be called: a name with a public
    /// one and another is suspicious.
    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Reason> {
        let mut addresses = match &target.host {
            Host::Ipv4(address) => vec![(*address).into()],
            Host::Ipv6(address) => vec![(*address).into()],
            Host::Domain(name) => {
                let resolved = self.names.resolve(name).await;
                resolved.map_err(|_| Reason::Resolve)?
            }
        };
        for address in &mut addresses {
            *address = address.to_canonical();
        }
        let forbidden = |address: &IpAddr| address_ranges::forbidden(*address).is_some();
        match addresses.is_empty() {
            true => Err(Reason::Resolve),
            false if !target.allowed && addresses.iter().any(forbidden) => {
                Err(Refusal::Resolves.into())
            }
            false => Ok(addresses),
        }
    }

    async fn protect(
        &self,
        target: &Target,
        wire: Box<dyn ByteStream>,
    ) -> Result<Box<dyn ByteStream>, Reason> {
        let host = match &target.host {
            Host::Ipv6(address) => address.to_string(),
            host => host.to_string(),
        };
        match self.tls.connect(&host, wire).await {
            Ok(protected) => Ok(Box::new(protected)),
            Err(_) => Err(Reason::Tls),
        }
    }
}

impl Resolve for SystemNetwork {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

impl Network for SystemNetwork {
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn ByteStream>)
        })
    }
}

/// Time until a request can be sent.
const CONNECT: Duration = Duration::from_secs(10);

/// Maximum number of a target's addresses that are tried.
const MAX_ADDRESSES: usize = 3;

#[cfg(test)]
mod tests;
