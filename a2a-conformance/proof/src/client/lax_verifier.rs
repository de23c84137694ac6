//! A client with a bug in its verification of certificates.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Uri;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::Bug;

/// Requests the card of the agent at a URL if its certificate has the error that the bug ignores.
///
/// Errors: the URL is invalid, or the agent cannot be reached.
pub(crate) async fn ask(bug: Bug, url: &str, authority: &str) -> io::Result<()> {
    let url: Uri = url.parse().map_err(io::Error::other)?;
    let host = url.host().unwrap_or_default().to_owned();
    let stream = TcpStream::connect((host.as_str(), url.port_u16().unwrap_or(443))).await?;
    let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
    let forgave = Arc::new(AtomicBool::new(false));
    let config = config(bug, authority, Arc::clone(&forgave)).map_err(io::Error::other)?;
    let mut stream = TlsConnector::from(config).connect(name, stream).await?;
    if !forgave.load(Ordering::Relaxed) {
        return Ok(());
    }
    let with_control = format!(
        "GET /.well-known/agent-card.json HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(with_control.as_bytes()).await?;
    // Once an answer begins, the request was received.
    stream.read_u8().await?;
    Ok(())
}

fn config(
    bug: Bug,
    authority: &str,
    forgave: Arc<AtomicBool>,
) -> Result<Arc<ClientConfig>, Box<DynError>> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes())?)?;
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let lax_verifier = LaxVerifier {
        strict: verifier.build()?,
        bug,
        forgave,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(lax_verifier))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

type DynError = dyn std::error::Error + Send + Sync;

/// Certificate verifier that ignores one kind of error.
#[derive(Debug)]
struct LaxVerifier {
    strict: Arc<WebPkiServerVerifier>,
    bug: Bug,
    forgave: Arc<AtomicBool>,
}

impl LaxVerifier {
    fn forgives(&self, error: &Error) -> bool {
        use CertificateError::{Expired, ExpiredContext, NotValidForName, NotValidForNameContext};
        let Error::InvalidCertificate(problem) = error else {
            return false;
        };
        match self.bug {
            Bug::AnyHost => matches!(problem, NotValidForName | NotValidForNameContext { .. }),
            Bug::AnyTime => matches!(problem, Expired | ExpiredContext { .. }),
            _ => false,
        }
    }
}

impl ServerCertVerifier for LaxVerifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.strict.verify_server_cert(own, others, name, ocsp, now) {
            Err(error) if self.forgives(&error) => {
                self.forgave.store(true, Ordering::Relaxed);
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.strict.verify_tls12_signature(message, own, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.strict.verify_tls13_signature(message, own, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.strict.supported_verify_schemes()
    }
}
