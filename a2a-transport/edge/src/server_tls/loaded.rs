//! TLS settings made of the contents of files.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{Ticketer, default_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore, ServerConfig};
use x509_cert::certificate::{Certificate, Version};
use x509_cert::der::Decode;
use x509_cert::ext::pkix::BasicConstraints;

use super::error::ServerTlsError;
use super::files::{ClientAuth, Content, Contents};
use super::resolver::CertificateResolver;

/// Settings for new connections.
pub(crate) struct Loaded {
    pub(crate) config: Arc<ServerConfig>,
    /// `None` if clients are not asked for certificates.
    pub(crate) client_verifier: Option<Arc<dyn ClientCertVerifier>>,
    pub(super) not_after: Option<SystemTime>,
}

impl Loaded {
    pub(super) fn new(contents: Contents<'_>) -> Result<Self, ServerTlsError> {
        let provider = Arc::new(default_provider());
        let mut keys = Vec::with_capacity(contents.certificates.len());
        let mut not_after = None;
        for (chain, key) in &contents.certificates {
            let loaded = certified_key(chain, key, &provider)?;
            let expiry = loaded.cert.first().and_then(expiry);
            if let Some(expiry) = expiry.filter(|expiry| *expiry <= SystemTime::now()) {
                let file = chain.file.display();
                tracing::warn!(%file, ?expiry, "the certificate has expired");
            }
            not_after = [not_after, expiry].into_iter().flatten().min();
            keys.push(Arc::new(loaded));
        }
        let verifier = contents.client_authorities.as_ref();
        let verifier = verifier.map(|(file, auth)| client_verifier(file, *auth, &provider));
        let verifier = verifier.transpose()?;
        let file = contents
            .certificates
            .first()
            .map_or(Path::new(""), |(chain, _)| chain.file);
        Ok(Self {
            config: Arc::new(config(keys, verifier.clone(), provider).map_err(unusable(file))?),
            client_verifier: verifier,
            not_after,
        })
    }

    /// Returns when the first of the certificates expires, in seconds of Unix time.
    pub(super) fn expiry(&self) -> Option<usize> {
        let since = self.not_after?.duration_since(UNIX_EPOCH).ok()?;
        since.as_secs().try_into().ok()
    }
}

fn config(
    keys: Vec<Arc<CertifiedKey>>,
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    provider: Arc<CryptoProvider>,
) -> Result<ServerConfig, rustls::Error> {
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = match verifier {
        Some(verifier) => config.with_client_cert_verifier(verifier),
        None => config.with_no_client_auth(),
    };
    let mut config = config.with_cert_resolver(Arc::new(CertificateResolver(keys)));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // Tickets keep sessions with their clients. New keys with each load: no session outlives a change of
    // the authorities that vouch for clients.
    config.ticketer = Ticketer::new()?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(config)
}

fn certified_key(
    chain: &Content<'_>,
    key: &Content<'_>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, ServerTlsError> {
    let certificates = certificates(chain)?;
    let no_key = |_| ServerTlsError::NoKey {
        file: key.file.to_owned(),
    };
    let secret = PrivateKeyDer::from_pem_slice(&key.bytes).map_err(no_key)?;
    let secret = provider.key_provider.load_private_key(secret);
    let secret = secret.map_err(unusable(key.file))?;
    let certified = CertifiedKey::new(certificates, secret);
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(certified),
        Err(rustls::Error::InconsistentKeys(_)) => Err(ServerTlsError::KeyMismatch {
            chain: chain.file.to_owned(),
            key: key.file.to_owned(),
        }),
        Err(error) => Err(unusable(chain.file)(error)),
    }
}

fn client_verifier(
    file: &Content<'_>,
    auth: ClientAuth,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, ServerTlsError> {
    let mut roots = RootCertStore::empty();
    for (index, certificate) in certificates(file)?.into_iter().enumerate() {
        if let Some(subject) = subject_without_authority(&certificate) {
            let number = index + 1;
            let problem = format!(
                "certificate {number} (`{subject}`) is not an authority: expected the basic constraints `CA:TRUE`; \
                 clients are chosen by an authenticator of their names"
            );
            return Err(unusable(file.file)(problem));
        }
        roots.add(certificate).map_err(unusable(file.file))?;
    }
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let verifier = match auth {
        ClientAuth::Optional => verifier.allow_unauthenticated(),
        ClientAuth::Required => verifier,
    };
    verifier.build().map_err(unusable(file.file))
}

/// Returns the subject of a certificate that must not issue others (RFC 5280 §4.2.1.9). As a trust anchor it would: its
/// holder could make certificates of any name.
fn subject_without_authority(certificate: &CertificateDer<'_>) -> Option<String> {
    let certificate = Certificate::from_der(certificate).ok()?.tbs_certificate;
    let constraints = certificate.get::<BasicConstraints>().ok()?;
    let is_authority = constraints.is_some_and(|(_, constraints)| constraints.ca);
    // Earlier versions have no constraints.
    let is_bound = certificate.version == Version::V3;
    (is_bound && !is_authority).then(|| certificate.subject.to_string())
}

fn certificates(content: &Content<'_>) -> Result<Vec<CertificateDer<'static>>, ServerTlsError> {
    let certificates =
        CertificateDer::pem_slice_iter(&content.bytes).collect::<Result<Vec<_>, _>>();
    let certificates = certificates
        .ok()
        .filter(|certificates| !certificates.is_empty());
    certificates.ok_or_else(|| ServerTlsError::NoCertificate {
        file: content.file.to_owned(),
    })
}

/// Returns when a certificate expires; `None` if that cannot be read.
fn expiry(certificate: &CertificateDer<'_>) -> Option<SystemTime> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let validity = certificate.tbs_certificate.validity;
    UNIX_EPOCH.checked_add(validity.not_after.to_unix_duration())
}

fn unusable<E: ToString>(file: &Path) -> impl FnOnce(E) -> ServerTlsError {
    move |error| ServerTlsError::Unusable {
        file: file.to_owned(),
        problem: error.to_string(),
    }
}
