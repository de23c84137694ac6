//! Client certificates: mutual TLS.

use a2a_transport::http::{AuthChallenge, ClientCertificates};
use a2a_transport::{BoxFuture, Principal};
use a2a_types::{MutualTlsSecurityScheme, SecurityScheme};
use http::request::Parts;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::scheme::{AuthOutcome, Scheme};

/// Scheme of client certificates. The server has verified their chain in the handshake of TLS, by the
/// authorities that it was given: here the certificate becomes a principal.
///
/// Its name is the first URI among the alternative names of the certificate, as in SPIFFE; otherwise `dns:` and
/// the first DNS name; otherwise `subject:` and the subject.
pub struct ClientCertificate {
    principal: PrincipalOf,
    scopes: Vec<Box<str>>,
}

/// Function from the names of a certificate to a principal.
type PrincipalOf = Box<dyn Fn(&CertificateNames) -> Option<Principal> + Send + Sync>;

/// Names in a certificate.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct CertificateNames {
    /// URIs among the alternative names.
    pub uris: Vec<String>,
    /// Names of the DNS among the alternative names.
    pub dns: Vec<String>,
    /// The subject, like `CN=ada,O=Example` (RFC 4514); empty if it has none.
    pub subject: String,
}

impl CertificateNames {
    /// Reads the names of a certificate in DER.
    fn read(der: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?.tbs_certificate;
        let mut names = Self {
            subject: certificate.subject.to_string(),
            ..Self::default()
        };
        let alternatives = certificate.get::<SubjectAltName>().ok()?;
        let alternatives = alternatives.into_iter().flat_map(|(_, names)| names.0);
        for alternative in alternatives {
            match alternative {
                GeneralName::UniformResourceIdentifier(uri) => names.uris.push(uri.to_string()),
                GeneralName::DnsName(name) => names.dns.push(name.to_string()),
                _ => {}
            }
        }
        Some(names)
    }

    /// Returns the principal that a certificate stands for by default.
    fn principal(&self) -> Option<Principal> {
        let name = match (self.uris.first(), self.dns.first(), self.subject.as_str()) {
            (Some(uri), ..) => uri.clone(),
            (None, Some(name), _) => format!("dns:{name}"),
            (None, None, "") => return None,
            (None, None, subject) => format!("subject:{subject}"),
        };
        Some(Principal::named(name))
    }
}

impl Default for ClientCertificate {
    fn default() -> Self {
        Self::new()
    }
}

impl ClientCertificate {
    /// Takes any certificate that the handshake let through.
    pub fn new() -> Self {
        Self {
            principal: Box::new(CertificateNames::principal),
            scopes: Vec::new(),
        }
    }

    /// Sets the function that makes the principal of a certificate; `None` refuses it.
    pub fn principal(
        mut self,
        principal: impl Fn(&CertificateNames) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.principal = Box::new(principal);
        self
    }

    /// Sets the scopes of principals that have none by the function; none by default.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    fn verdict(&self, head: &Parts) -> AuthOutcome {
        let Some(certificates) = head.extensions.get::<ClientCertificates>() else {
            return AuthOutcome::Absent;
        };
        let names = CertificateNames::read(certificates.end_entity());
        let principal = names.and_then(|names| (self.principal)(&names));
        match principal {
            None => AuthOutcome::Invalid,
            Some(principal) if principal.scopes().next().is_some() => AuthOutcome::Valid(principal),
            Some(principal) => {
                AuthOutcome::Valid(principal.with_scopes(self.scopes.iter().cloned()))
            }
        }
    }
}

impl Scheme for ClientCertificate {
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome> {
        Box::pin(std::future::ready(self.verdict(head)))
    }

    fn describe(&self) -> SecurityScheme {
        SecurityScheme::MtlsSecurityScheme(MutualTlsSecurityScheme::default())
    }

    /// HTTP has no scheme of certificates. RFC 9110 §15.5.2 requires a challenge, and this one says what to do.
    fn challenge(&self) -> Option<AuthChallenge> {
        Some(AuthChallenge::new("ClientCertificate"))
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};

    use super::*;

    fn certificate(uris: &[&str], dns: &[&str], subject: Option<&str>) -> Vec<u8> {
        let mut params = CertificateParams::default();
        let uris = uris
            .iter()
            .map(|uri| SanType::URI((*uri).try_into().unwrap()));
        let dns = dns
            .iter()
            .map(|name| SanType::DnsName((*name).try_into().unwrap()));
        params.subject_alt_names = uris.chain(dns).collect();
        params.distinguished_name = DistinguishedName::new();
        if let Some(subject) = subject {
            params.distinguished_name.push(DnType::CommonName, subject);
        }
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    fn verdict(scheme: &ClientCertificate, der: Option<Vec<u8>>) -> AuthOutcome {
        let (mut head, ()) = http::Request::new(()).into_parts();
        if let Some(der) = der {
            head.extensions.insert(ClientCertificates::new(der, []));
        }
        scheme.verdict(&head)
    }

    #[test]
    fn a_certificate_has_a_principal() {
        let (spiffe, other) = ("spiffe://example.org/ada", "https://example.org/");
        let scheme = ClientCertificate::new();
        let check = |uris: &[&str], dns: &[&str], subject, expected: Option<&str>| {
            let found = verdict(&scheme, Some(certificate(uris, dns, subject)));
            let expected = expected.map_or(AuthOutcome::Invalid, |name| {
                AuthOutcome::Valid(Principal::named(name))
            });
            assert_eq!(found, expected);
        };
        check(
            &[spiffe, other],
            &["ada.example"],
            Some("ada"),
            Some(spiffe),
        );
        check(
            &[],
            &["ada.example", "b"],
            Some("ada"),
            Some("dns:ada.example"),
        );
        check(&[], &[], Some("ada"), Some("subject:CN=ada"));
        check(&[], &[], None, None);
        assert_eq!(verdict(&scheme, None), AuthOutcome::Absent);
        assert_eq!(
            verdict(&scheme, Some(b"no certificate".to_vec())),
            AuthOutcome::Invalid
        );
    }

    #[test]
    fn the_program_may_choose_the_principal() {
        let scheme = ClientCertificate::new().scopes(["a"]).principal(|names| {
            let name = names.subject.strip_prefix("CN=")?;
            Some(Principal::named(name))
        });
        let found = verdict(&scheme, Some(certificate(&[], &["x"], Some("ada"))));
        let AuthOutcome::Valid(principal) = found else {
            panic!("{found:?}");
        };
        assert_eq!(principal.name(), Some("ada"));
        assert!(principal.has_scope("a"));
        let found = verdict(&scheme, Some(certificate(&["u:x"], &[], None)));
        assert_eq!(found, AuthOutcome::Invalid);
    }
}
