//! A network in memory for deliveries, whose clock can be paused.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock};

use a2a_transport::BoxFuture;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};

use super::connector::{ByteStream, Network, Resolve};
use super::sender::WebhookSender;
use super::url_policy::WebhookPolicy;

/// Names, receivers, and the addresses that were reached.
pub(super) struct Fixture {
    names: Names,
    receiver: Receiver,
    holes: Vec<IpAddr>,
    closed: Vec<IpAddr>,
    connected: Mutex<Vec<SocketAddr>>,
}

type Names = Box<dyn Fn(&str) -> Vec<IpAddr> + Send + Sync>;

type Receiver = Box<dyn Fn(DuplexStream) -> BoxFuture<'static, ()> + Send + Sync>;

impl Fixture {
    /// Every name is at one public address; this receiver takes the connections.
    pub(super) fn new<F>(receiver: impl Fn(DuplexStream) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            names: Box::new(|_| vec![PUBLIC]),
            receiver: Box::new(move |wire| Box::pin(receiver(wire))),
            holes: Vec::new(),
            closed: Vec::new(),
            connected: Mutex::default(),
        }
    }

    /// Receivers read a request, and answer with this text.
    pub(super) fn answering(answer: impl Into<String>) -> Self {
        let answer: Arc<str> = answer.into().into();
        Self::new(move |mut wire| {
            let answer = Arc::clone(&answer);
            async move {
                read_request(&mut wire).await;
                let _ = wire.write_all(answer.as_bytes()).await;
            }
        })
    }

    /// Resolves names by this function.
    pub(super) fn names(
        mut self,
        names: impl Fn(&str) -> Vec<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        self.names = Box::new(names);
        self
    }

    /// Connections to this address hang.
    pub(super) fn hole(mut self, address: &str) -> Self {
        self.holes.push(address.parse().unwrap());
        self
    }

    /// Connections to this address are refused.
    pub(super) fn closed(mut self, address: &str) -> Self {
        self.closed.push(address.parse().unwrap());
        self
    }

    /// A sender on this fixture that trusts its authority.
    pub(super) fn sender(self: &Arc<Self>, policy: WebhookPolicy) -> WebhookSender {
        let policy = policy.trust_issuer(Authority::known().certificate());
        WebhookSender::through(policy, Arc::clone(self) as _, Arc::clone(self) as _).unwrap()
    }

    /// Every address that was reached so far.
    pub(super) fn connected(&self) -> Vec<SocketAddr> {
        self.connected.lock().unwrap().clone()
    }
}

impl Resolve for Fixture {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok((self.names)(name)) })
    }
}

impl Network for Fixture {
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            self.connected.lock().unwrap().push(address);
            if self.closed.contains(&address.ip()) {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            if self.holes.contains(&address.ip()) {
                std::future::pending::<()>().await;
            }
            let (ours, theirs) = tokio::io::duplex(16 << 10);
            tokio::spawn((self.receiver)(theirs));
            Ok(Box::new(ours) as Box<dyn ByteStream>)
        })
    }
}

/// Reads a whole request, and returns it as text.
pub(super) async fn read_request(wire: &mut (impl AsyncRead + Unpin)) -> String {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        if wire.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}

/// Answers by TLS, as a host whose certificate an authority has issued.
pub(super) async fn answer_by_tls(
    config: Arc<ServerConfig>,
    wire: impl AsyncRead + AsyncWrite + Unpin,
    answer: &str,
) {
    let acceptor = tokio_rustls::TlsAcceptor::from(config);
    if let Ok(mut wire) = acceptor.accept(wire).await {
        read_request(&mut wire).await;
        let _ = wire.write_all(answer.as_bytes()).await;
        let _ = wire.shutdown().await;
    }
}

/// Issuer of certificates.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// Creates an authority that no client trusts.
    pub(super) fn unknown() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// The authority that senders on a fixture trust.
    pub(super) fn known() -> &'static Self {
        static KNOWN: OnceLock<Authority> = OnceLock::new();
        KNOWN.get_or_init(Self::unknown)
    }

    /// Its own certificate, as DER.
    pub(super) fn certificate(&self) -> Vec<u8> {
        self.0.der().to_vec()
    }

    /// Returns the TLS configuration of a host, with a certificate for this name or address that is valid
    /// until the end of a year.
    pub(super) fn issue(&self, host: &str, until: i32) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(until, 12, 31);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Arc::new(config)
    }
}

/// Address of every name, unless a fixture has another.
pub(super) const PUBLIC: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(93, 184, 216, 34));
