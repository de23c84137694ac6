//! Callers by TLS, and the files of the server that they call.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use a2a_server::{ServerTls, ServerTlsError};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::load::{Caller, Connection, ConnectionCaller};
use crate::machine::Failure;
use crate::request_template::RequestTemplate;

/// A certificate, which vouches for itself, and its key.
pub(crate) struct Files {
    pub(crate) directory: TempDir,
    certificate: CertificateDer<'static>,
}

impl Files {
    pub(crate) fn new() -> Result<Self, Failure> {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        let directory = TempDir::new()?;
        std::fs::write(directory.path().join(CHAIN), made.cert.pem())?;
        std::fs::write(directory.path().join(KEY), made.signing_key.serialize_pem())?;
        Ok(Self {
            directory,
            certificate: made.cert.der().clone(),
        })
    }
}

/// Reads the files of this directory, as the server.
pub(crate) fn load(directory: &Path) -> Result<ServerTls, ServerTlsError> {
    ServerTls::builder(directory.join(CHAIN), directory.join(KEY)).build()
}

/// Creates a caller for each request template, each with its own connection, which has shaken
/// hands.
pub(crate) async fn callers(
    address: SocketAddr,
    files: &Files,
    orders: Vec<RequestTemplate>,
) -> Result<Vec<impl Caller + use<>>, Failure> {
    let mut roots = RootCertStore::empty();
    roots.add(files.certificate.clone())?;
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
    let mut callers = Vec::with_capacity(orders.len());
    for order in orders {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let stream = connector
            .connect(ServerName::try_from(NAME)?, stream)
            .await?;
        let connection = Connection::over(stream);
        callers.push(ConnectionCaller { connection, order });
    }
    Ok(callers)
}

const NAME: &str = "localhost";
const CHAIN: &str = "chain.pem";
const KEY: &str = "key.pem";
