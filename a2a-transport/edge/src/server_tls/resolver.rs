//! Choice of a certificate by the name that a client calls.

use std::sync::Arc;

use rustls::client::verify_server_name;
use rustls::pki_types::ServerName;
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Certificates of a server.
#[derive(Debug)]
pub(super) struct CertificateResolver(pub(super) Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for CertificateResolver {
    /// Returns the first certificate for the name, else the first; of those alone whose keys the client can
    /// verify.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let schemes = hello.signature_schemes();
        let is_usable = |it: &&Arc<CertifiedKey>| it.key.choose_scheme(schemes).is_some();
        let name = hello
            .server_name()
            .and_then(|name| ServerName::try_from(name).ok());
        let is_for = |it: &&Arc<CertifiedKey>| name.as_ref().is_some_and(|name| is_for(it, name));
        let usable = || self.0.iter().filter(is_usable);
        let named = usable().find(is_for);
        named.or_else(|| usable().next()).cloned()
    }
}

/// Returns whether the names of a certificate include this one.
fn is_for(key: &CertifiedKey, name: &ServerName<'_>) -> bool {
    let certificate = key.end_entity_cert().and_then(ParsedCertificate::try_from);
    certificate.is_ok_and(|certificate| verify_server_name(&certificate, name).is_ok())
}
