//! Certificates of agents behind TLS.

use std::io;
use std::sync::{Arc, LazyLock};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

use super::case::Tls;

/// An authority that is made when it is first needed, and certificates of it.
pub struct Authority {
    made: Result<IssuedCertificates, String>,
}

struct IssuedCertificates {
    pem: String,
    /// For the host of the suite.
    good: TlsAcceptor,
    other_host: TlsAcceptor,
    expired: TlsAcceptor,
}

impl Authority {
    /// Returns the authority that issues the certificate of an agent.
    pub fn of(tls: Tls) -> &'static Self {
        static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
        static UNTRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
        match tls {
            Tls::Trusted | Tls::OtherHost | Tls::Expired => &TRUSTED,
            Tls::Untrusted => &UNTRUSTED,
        }
    }

    fn new() -> Self {
        Self {
            made: make().map_err(|error| error.to_string()),
        }
    }

    /// Makes the authority before it is needed, since generating keys takes time.
    ///
    /// Errors: it cannot be made.
    pub async fn prepare(tls: Tls) -> Result<(), String> {
        let made = tokio::task::spawn_blocking(move || Self::of(tls).made.as_ref().err().cloned());
        match made.await {
            Ok(None) => Ok(()),
            Ok(Some(problem)) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns its own certificate as PEM, for clients to trust; empty if it could not be made.
    pub fn pem(&self) -> &str {
        self.made.as_ref().map_or("", |made| &made.pem)
    }

    /// Accepts a connection, with the certificate that `tls` names; `http2` offers HTTP/2 besides HTTP/1.1.
    pub async fn accept(
        tls: Tls,
        http2: bool,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let made = Self::of(tls).made.as_ref();
        let made = made.map_err(|problem| io::Error::other(problem.clone()))?;
        let acceptor = match tls {
            Tls::Trusted | Tls::Untrusted => &made.good,
            Tls::OtherHost => &made.other_host,
            Tls::Expired => &made.expired,
        };
        if !http2 {
            return acceptor.accept(stream).await;
        }
        let mut config = ServerConfig::clone(acceptor.config());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config)).accept(stream).await
    }
}

fn make() -> Result<IssuedCertificates, Box<dyn std::error::Error>> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name = named("A2A conformance authority");
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let mut expired = certificate_for(HOST)?;
    expired.not_before = rcgen::date_time_ymd(2020, 1, 1);
    expired.not_after = rcgen::date_time_ymd(2021, 1, 1);
    Ok(IssuedCertificates {
        pem: authority.pem(),
        good: acceptor(certificate_for(HOST)?, &authority)?,
        other_host: acceptor(certificate_for("other.example")?, &authority)?,
        expired: acceptor(expired, &authority)?,
    })
}

/// Host of all agents.
const HOST: &str = "127.0.0.1";

fn certificate_for(host: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(vec![host.to_owned()])?;
    // A name unlike the authority's: otherwise OpenSSL takes the certificate for one that is signed by itself.
    params.distinguished_name = named(host);
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut whole = DistinguishedName::new();
    whole.push(DnType::CommonName, name);
    whole
}

fn acceptor(
    params: CertificateParams,
    authority: &CertifiedIssuer<'_, KeyPair>,
) -> Result<TlsAcceptor, Box<dyn std::error::Error>> {
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der())?,
        )?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
