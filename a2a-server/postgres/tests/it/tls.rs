//! TLS: only a server with a certificate of a trusted authority is accepted.

use a2a_postgres::{PostgresError, PostgresOptions, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::NamedTempFile;

use crate::database::Database;

/// Returns the certificate of an authority, and its issuer.
fn authority() -> (String, Issuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), Issuer::new(params, key))
}

fn file(content: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(&file, content).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn server_is_checked_and_bound_to_the_password() {
    let (roots, issuer) = authority();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    // Outside the range of ephemeral ports, so that no other process gets it before the server
    // binds it.
    let port = 10_000 + std::process::id() % 20_000;
    let settings = [
        "ssl=on",
        "listen_addresses=localhost",
        "password_encryption=scram-sha-256",
    ];
    let mut settings: Vec<_> = settings.map(str::to_owned).into();
    settings.push(format!("port={port}"));
    let files = [
        ("server.crt", certificate.pem()),
        ("server.key", key.serialize_pem()),
        (
            "pg_hba.conf",
            "local all all trust\nhostssl all all all scram-sha-256\n".to_owned(),
        ),
    ];
    let Some(database) = Database::start_with(settings, &files) else {
        return;
    };
    database.psql("alter role a2a password 'secret'");
    let (roots, others) = (file(&roots), file(&authority().0));
    let password = file("secret\n");
    let url = |host: &str, mode: &str| {
        format!("postgres://a2a@{host}:{port}/postgres?sslmode={mode}&channel_binding=require")
    };
    let open = |url: String, roots: &NamedTempFile| {
        let options = PostgresOptions::new(&url).unwrap().root_certificates(roots);
        PostgresStore::open(options.password_file(&password))
    };
    for mode in ["prefer", "require", "verify-full"] {
        open(url("localhost", mode), &roots).await.unwrap();
    }
    // Another authority, another name, and no TLS at all.
    let refused = [
        open(url("localhost", "verify-full"), &others).await,
        open(url("127.0.0.1", "require"), &roots).await,
        open(url("localhost", "disable"), &roots).await,
    ];
    for refused in refused {
        assert!(
            matches!(refused, Err(PostgresError::NoConnection(..))),
            "{refused:?}"
        );
    }
}
