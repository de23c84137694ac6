//! TLS trust anchors and client identity.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

/// Trust anchors and client identity for TLS connections.
///
/// Accepts certificates from the authorities that the platform trusts and from the authorities added here.
/// TLS 1.2 or 1.3.
#[derive(Clone, Default)]
pub struct Tls {
    settings: Arc<Settings>,
    /// Made when it is first needed: reading the platform's authorities takes a while.
    made: Arc<OnceLock<Result<Arc<ClientConfig>, TlsConfigError>>>,
}

#[derive(Clone, Default)]
struct Settings {
    roots: Vec<CertificateDer<'static>>,
    identity: Option<Arc<Identity>>,
    accepts_any: bool,
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// Fault of the settings.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsConfigError {
    /// There is no certificate in the text.
    #[error("no certificate found: expected PEM with `-----BEGIN CERTIFICATE-----`")]
    NoCertificate,
    /// There is no private key in the text.
    #[error("no private key found: expected PEM with `-----BEGIN PRIVATE KEY-----`")]
    NoKey,
    /// They do not fit.
    #[error("the certificates cannot be used: {0}")]
    Unusable(rustls::Error),
    /// This system has no certificate authorities, and none was added.
    #[error(
        "no certificate authority is known: install the system's package ca-certificates, or name a PEM file in SSL_CERT_FILE"
    )]
    NoAuthorities,
}

impl From<rustls::Error> for TlsConfigError {
    fn from(error: rustls::Error) -> Self {
        Self::Unusable(error)
    }
}

impl Tls {
    /// Trusts certificates of these authorities, too: PEM, one or more.
    pub fn trust(mut self, pem: &[u8]) -> Result<Self, TlsConfigError> {
        let roots = certificates(pem)?;
        self.change(|settings| settings.roots.extend(roots));
        Ok(self)
    }

    /// Trusts certificates of this authority, too, which is given as DER.
    pub fn trust_der(mut self, certificate: impl Into<Vec<u8>>) -> Self {
        let root = CertificateDer::from(certificate.into());
        self.change(|settings| settings.roots.push(root));
        self
    }

    /// Sets the certificate chain for agents that request one (mutual TLS): PEM, the own one first, with its
    /// private key.
    pub fn identity(mut self, chain: &[u8], key: &[u8]) -> Result<Self, TlsConfigError> {
        let chain = certificates(chain)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsConfigError::NoKey)?;
        self.change(|settings| settings.identity = Some(Arc::new(Identity { chain, key })));
        self.config()?;
        Ok(self)
    }

    /// Accepts every certificate of a server, with any signer and any name: an attacker on the way can then read and
    /// change everything. For development only.
    pub fn danger_accept_invalid_certificates(mut self) -> Self {
        self.change(|settings| settings.accepts_any = true);
        self
    }

    /// Removes the client identity.
    pub fn without_identity(mut self) -> Self {
        if self.settings.identity.is_some() {
            self.change(|settings| settings.identity = None);
        }
        self
    }

    /// Returns TLS for programs that connect on their own, to speak HTTP/1.1. Sessions are resumed within
    /// it only.
    ///
    /// Errors: [`TlsConfigError::Unusable`].
    pub fn http1(&self) -> Result<Http1Tls, TlsConfigError> {
        let mut config = ClientConfig::clone(&*self.config()?);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::default();
        Ok(Http1Tls(TlsConnector::from(Arc::new(config))))
    }

    fn change(&mut self, change: impl FnOnce(&mut Settings)) {
        change(Arc::make_mut(&mut self.settings));
        self.made = Arc::default();
    }

    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, TlsConfigError> {
        let Settings {
            roots,
            identity,
            accepts_any,
        } = &*self.settings;
        let is_plain = roots.is_empty() && identity.is_none() && !accepts_any;
        // All instances without settings share one configuration.
        static PLAIN: OnceLock<Result<Arc<ClientConfig>, TlsConfigError>> = OnceLock::new();
        let made = if is_plain { &PLAIN } else { &*self.made };
        made.get_or_init(|| self.settings.make()).clone()
    }
}

/// TLS of connections on which HTTP/1.1 is spoken: [`Tls::http1`]. Clones share it.
#[derive(Clone)]
pub struct Http1Tls(TlsConnector);

impl Http1Tls {
    /// Protects a connection to a host, whose certificate must have this name or IP address. Has no
    /// timeout.
    ///
    /// Errors: `host` is neither, the certificate is not trusted, or the connection breaks.
    pub async fn connect<S>(
        &self,
        host: &str,
        stream: S,
    ) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<S>>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin,
    {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}

impl fmt::Debug for Http1Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Http1Tls")
    }
}

impl Settings {
    fn make(&self) -> Result<Arc<ClientConfig>, TlsConfigError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let roots = self.roots.iter().cloned();
        let verifier: Arc<dyn ServerCertVerifier> = match self.accepts_any {
            true => Arc::new(AnyCertificate(provider.signature_verification_algorithms)),
            false => {
                let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&provider));
                Arc::new(verifier.map_err(|error| match error {
                    rustls::Error::General(_) if cfg!(target_os = "linux") => {
                        TlsConfigError::NoAuthorities
                    }
                    // One that was added cannot be read.
                    error => TlsConfigError::Unusable(error),
                })?)
            }
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &self.identity {
            None => config.with_no_client_auth(),
            Some(identity) => {
                let Identity { chain, key } = &**identity;
                config.with_client_auth_cert(chain.clone(), key.clone_key())?
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Verifier that accepts every certificate. The handshake must still be signed by its key.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsConfigError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.map_err(|_| TlsConfigError::NoCertificate)?;
    match certificates.is_empty() {
        true => Err(TlsConfigError::NoCertificate),
        false => Ok(certificates),
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("roots", &self.settings.roots.len())
            .field("identity", &self.settings.identity.is_some())
            .finish()
    }
}
