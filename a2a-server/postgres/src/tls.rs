//! TLS to the database: the server is always verified, and SCRAM passwords are bound to the channel.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{PostgresError, PostgresOptions};

/// Makes the connector of a store.
///
/// Errors: [`PostgresError::Options`] if the root certificates cannot be read.
pub(crate) fn connector(options: &PostgresOptions) -> Result<MakeRustlsConnect, PostgresError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(PostgresError::options)?;
    let is_plain = options.config.get_ssl_mode() == SslMode::Disable;
    let config = match &options.roots {
        // The certificates of the system are not read: there may be none.
        None if is_plain => builder
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth(),
        None => {
            let verifier = Verifier::new(provider).map_err(PostgresError::options)?;
            let builder = builder.dangerous();
            builder
                .with_custom_certificate_verifier(Arc::new(verifier))
                .with_no_client_auth()
        }
        Some(file) => {
            let unreadable = |error| PostgresError::options(format!("{}: {error}", file.display()));
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
                let added = roots.add(certificate.map_err(unreadable)?);
                added.map_err(PostgresError::options)?;
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}
