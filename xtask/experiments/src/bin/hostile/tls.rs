//! TLS of the server that is measured: files of an authority of our own, and clients that trust it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_server::{ServerTls, ServerTlsError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::TrialError;
use crate::peers::exchange;

/// Files of the server, and the authority that vouches for it.
pub(crate) struct Files {
    pub(crate) directory: TempDir,
    authority: CertificateDer<'static>,
}

impl Files {
    pub(crate) fn new() -> Result<Self, TrialError> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let params = CertificateParams::new([NAME.to_owned()])?;
        let certificate = params.signed_by(&key, &issuer)?;
        let directory = TempDir::new()?;
        std::fs::write(directory.path().join(CHAIN), certificate.pem())?;
        std::fs::write(directory.path().join(KEY), key.serialize_pem())?;
        Ok(Self {
            directory,
            authority: issuer.der().clone(),
        })
    }

    /// Returns a client that shakes hands in full each time.
    pub(crate) fn connector(&self) -> Result<TlsConnector, TrialError> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone())?;
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut config = config.with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// Reads the files of this directory, as the server.
pub(crate) fn load(directory: &Path) -> Result<ServerTls, ServerTlsError> {
    ServerTls::builder(directory.join(CHAIN), directory.join(KEY)).build()
}

/// Sends a good request on a connection of its own, by TLS; returns the time until the answer is complete.
pub(crate) async fn ask(
    address: SocketAddr,
    connector: TlsConnector,
) -> Result<Duration, TrialError> {
    let begun = Instant::now();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(NAME)?;
    exchange(connector.connect(name, stream).await?).await?;
    Ok(begun.elapsed())
}

const NAME: &str = "localhost";
const CHAIN: &str = "chain.pem";
const KEY: &str = "key.pem";
