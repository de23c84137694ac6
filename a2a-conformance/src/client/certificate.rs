//! Certificates of agents behind TLS.

use std::io;
use std::sync::{Arc, LazyLock};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

use super::case::Tls;

/// An authority that is made when it is first needed, and a certificate of it for this machine.
pub(super) struct Authority {
    made: Result<(String, TlsAcceptor), String>,
}

impl Authority {
    /// The one whose certificate an agent shows.
    pub(super) fn of(tls: Tls) -> &'static Self {
        static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
        static UNTRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
        match tls {
            Tls::Trusted => &TRUSTED,
            Tls::Untrusted => &UNTRUSTED,
        }
    }

    fn new() -> Self {
        Self {
            made: make().map_err(|error| error.to_string()),
        }
    }

    /// Its own certificate, PEM: what a client is told to trust.
    pub(super) fn pem(&self) -> &str {
        self.made.as_ref().map_or("", |(pem, _)| pem)
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        match &self.made {
            Ok((_, acceptor)) => acceptor.accept(stream).await,
            Err(problem) => Err(io::Error::other(problem.clone())),
        }
    }
}

fn make() -> Result<(String, TlsAcceptor), Box<dyn std::error::Error>> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
    let certificate = params.signed_by(&key, &authority)?;
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der())?,
        )?;
    Ok((authority.pem(), TlsAcceptor::from(Arc::new(config))))
}
