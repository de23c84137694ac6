//! Keys that sign and verify cards, from files and URLs.

use std::path::Path;

use a2a_client::webhook::{Jwks, JwksUrl, KeySource};
use a2a_client::{Error, HttpClient};
use a2a_transport::webhook::{Jwk, SigningKey};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};

use crate::failure::Failure;

/// Reads a private key, in PEM.
pub(crate) fn signing_key(file: &Path) -> Result<SigningKey, Failure> {
    let name = file.display().to_string();
    let pem = std::fs::read(file).map_err(Failure::machine(&*name))?;
    let der = PrivateKeyDer::from_pem_slice(&pem).map_err(|error| {
        Failure::usage(format!("{name}: expected a private key in PEM: {error}"))
    })?;
    let key = SigningKey::from_der(der.secret_der());
    key.map_err(|error| Failure::usage(format!("{name}: {error}")))
}

/// Reads trusted public keys: a JSON Web Key Set from a file or URL, or one key from a file in PEM.
pub(crate) async fn trusted_keys(place: &str, http: HttpClient) -> Result<Jwks, Failure> {
    if place.starts_with("http://") || place.starts_with("https://") {
        let source = JwksUrl::new(place, http);
        if !source.is_protected() {
            let expected = "expected an `https` URL: keys can be replaced in transit";
            return Err(Failure::usage(format!("{place}: {expected}")));
        }
        return source
            .fetch()
            .await
            .map_err(|error| match error.downcast::<Error>() {
                Ok(error) => Failure::Call(*error),
                Err(error) => Failure::usage(format!("{place}: {error}")),
            });
    }
    let content = std::fs::read(place).map_err(Failure::machine(place))?;
    if let Ok(der) = SubjectPublicKeyInfoDer::from_pem_slice(&content) {
        let key = Jwk::from_spki(&der);
        let expected = "expected a public key of P-256 or Ed25519";
        let key = key.ok_or_else(|| Failure::usage(format!("{place}: {expected}")))?;
        return Ok(Jwks { keys: vec![key] });
    }
    Jwks::read(&content).map_err(|error| {
        let expected = "expected a JSON Web Key Set, or a public key in PEM";
        Failure::usage(format!("{place}: {expected}: {error}"))
    })
}
