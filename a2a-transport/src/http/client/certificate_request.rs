//! Notice of agents that request a client certificate where there is none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};

/// Request of an agent for a certificate that the client does not have, as long as the agent has not answered since.
/// Clones share it.
///
/// In TLS 1.3 such an agent ends the connection after the handshake, often without a reason that arrives.
#[derive(Clone, Debug, Default)]
pub(super) struct CertificateRequest(Arc<AtomicBool>);

impl CertificateRequest {
    /// Returns the configuration, which takes notice of requests if it has no certificate.
    pub(super) fn watch(&self, config: Arc<ClientConfig>) -> Arc<ClientConfig> {
        if config.client_auth_cert_resolver.has_certs() {
            return config;
        }
        let mut config = ClientConfig::clone(&config);
        config.client_auth_cert_resolver = Arc::new(self.clone());
        Arc::new(config)
    }

    /// Forgets the request: the agent answers without a certificate.
    pub(super) fn answered(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Returns whether an agent requested a certificate and has not answered.
    pub(super) fn is_unanswered(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ResolvesClientCert for CertificateRequest {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}
