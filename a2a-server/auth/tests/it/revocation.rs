//! Revocation of client certificates by removal, with certificates made by openssl.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use a2a_auth::{AnyOf, ClientCertificate};
use a2a_server::{Authenticator, ClientAuth, Principal, ServerTls};
use a2a_transport::http::{HttpClient, Tls};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tempfile::TempDir;

use crate::fixture::builder;

/// Files of certificates and keys, `NAME.pem` and `NAME-key.pem`.
struct Certificates {
    directory: TempDir,
}

impl Certificates {
    /// Makes an authority, and a certificate of a server; `None` if openssl is not installed, which is printed and
    /// fails in CI.
    fn new() -> Option<Self> {
        let found = Command::new("openssl").arg("version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            let text = "openssl IS NOT INSTALLED: the test with it has tested NOTHING. \
                        Install it (Debian: openssl).";
            eprintln!("{text}");
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci.is_empty()),
                "{text}"
            );
            return None;
        }
        let certificates = Self {
            directory: TempDir::new().unwrap(),
        };
        certificates.make("authority", AUTHORITY);
        certificates.issue("localhost", "subjectAltName=DNS:localhost", "authority");
        Some(certificates)
    }

    /// Makes a certificate that is signed by its own key.
    fn make(&self, name: &str, options: &[&str]) {
        let mut openssl = Command::new("openssl");
        openssl
            .args(["req", "-x509", "-nodes", "-days", "30", "-newkey", "ec"])
            .args(["-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-subj", &format!("/CN={name}"), "-keyout"])
            .arg(self.path(&format!("{name}-key")))
            .arg("-out")
            .arg(self.path(name))
            .args(options);
        let output = openssl.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {text}");
    }

    /// Makes a certificate of an authority.
    fn issue(&self, name: &str, names: &str, authority: &str) {
        let (ca, key) = (self.path(authority), self.path(&format!("{authority}-key")));
        let [ca, key] = [&ca, &key].map(|path| path.to_str().unwrap());
        let leaf = ["-addext", LEAF, "-addext", names, "-CA", ca, "-CAkey", key];
        self.make(name, &leaf);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(format!("{name}.pem"))
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Writes these certificates into one file.
    fn bundle(&self, names: &[&str]) -> PathBuf {
        let all: Vec<_> = names.iter().map(|name| self.read(name)).collect();
        std::fs::write(self.path("clients"), all.concat()).unwrap();
        self.path("clients")
    }

    /// Returns a client without connections that has this certificate.
    fn client(&self, name: &str) -> HttpClient {
        let tls = Tls::default().trust(&self.read("authority")).unwrap();
        let key = self.read(&format!("{name}-key"));
        let tls = tls.identity(&self.read(name), &key).unwrap();
        HttpClient::builder().tls(tls).build()
    }

    /// Starts a server for clients with certificates of these authorities, and returns its URL.
    async fn serve(
        &self,
        authorities: &[&str],
        authenticator: impl Authenticator,
    ) -> (ServerTls, String) {
        let bundle = self.bundle(authorities);
        let tls = ServerTls::builder(self.path("localhost"), self.path("localhost-key"))
            .client_authorities(bundle, ClientAuth::Required)
            .build()
            .unwrap();
        let http = builder(authenticator).build().unwrap().http();
        let http = http.tls(tls.clone()).any_host();
        let bound = http.bind("127.0.0.1:0").await.unwrap();
        let url = format!(
            "https://localhost:{}/rest/tasks/t",
            bound.local_addr().port()
        );
        tokio::spawn(bound.run(std::future::pending()));
        (tls, url)
    }
}

/// Options of certificates that issue others.
const AUTHORITY: &[&str] = &["-addext", "keyUsage=critical,keyCertSign"];
/// Extension of certificates that issue no others.
const LEAF: &str = "basicConstraints=critical,CA:FALSE";

/// Asks for a task that does not exist.
///
/// Errors: the handshake failed.
async fn ask(client: &HttpClient, url: &str) -> Result<u16, a2a_transport::Error> {
    let request = Request::get(url).header("a2a-version", "1.0");
    let request = request.body(Full::<Bytes>::default()).unwrap();
    Ok(client.fetch(request).await?.status().as_u16())
}

const ADMITTED: u16 = 404;
const REFUSED: u16 = 401;

/// The change counts from the next connection on.
#[tokio::test]
async fn certificate_of_a_removed_authority_is_refused_until_it_is_added_again() {
    let Some(certificates) = Certificates::new() else {
        return;
    };
    for (name, authority) in [("ada", "first"), ("bob", "second")] {
        certificates.make(authority, AUTHORITY);
        let names = format!("subjectAltName=DNS:{name}.example");
        certificates.issue(name, &names, authority);
    }
    let authenticator = AnyOf::new(("cert", ClientCertificate::new()));
    let (tls, url) = certificates
        .serve(&["first", "second"], authenticator)
        .await;
    let client = |name| certificates.client(name);
    let (open, bobs) = (client("ada"), client("bob"));
    assert_eq!(ask(&open, &url).await.unwrap(), ADMITTED);
    assert_eq!(ask(&bobs, &url).await.unwrap(), ADMITTED);

    certificates.bundle(&["second"]);
    tls.reload().unwrap();
    let refused = ask(&client("ada"), &url).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(ask(&client("bob"), &url).await.unwrap(), ADMITTED);
    // A connection that is open goes on.
    assert_eq!(ask(&open, &url).await.unwrap(), ADMITTED);

    // A client cannot be its own authority: it could issue certificates of any name.
    certificates.bundle(&["second", "ada"]);
    let error = tls.reload().unwrap_err().to_string();
    assert!(
        error.contains("2 (`CN=ada`) is not an authority"),
        "{error}"
    );
    assert!(ask(&client("ada"), &url).await.is_err());

    certificates.bundle(&["second", "first"]);
    tls.reload().unwrap();
    assert_eq!(ask(&client("ada"), &url).await.unwrap(), ADMITTED);
}

/// The change counts from the next request on.
#[tokio::test]
async fn certificate_removed_from_the_list_is_refused_until_it_is_added_again() {
    let Some(certificates) = Certificates::new() else {
        return;
    };
    let uri = |name| format!("spiffe://example.org/{name}");
    for name in ["ada", "bob"] {
        let names = format!("subjectAltName=URI:{}", uri(name));
        certificates.issue(name, &names, "authority");
    }
    let list = Arc::new(Mutex::new(BTreeSet::from([uri("ada"), uri("bob")])));
    let allowed = Arc::clone(&list);
    let listed = ClientCertificate::new().principal(move |names| {
        let uri = names.uris.first()?;
        let is_allowed = allowed.lock().unwrap().contains(uri);
        is_allowed.then(|| Principal::named(uri.clone()))
    });
    let authenticator = AnyOf::new(("cert", listed));
    let (_, url) = certificates.serve(&["authority"], authenticator).await;
    let (ada, bob) = (certificates.client("ada"), certificates.client("bob"));
    let check = async |expected| {
        // On the open connection, and on a new one.
        assert_eq!(ask(&ada, &url).await.unwrap(), expected);
        let another = certificates.client("ada");
        assert_eq!(ask(&another, &url).await.unwrap(), expected);
        assert_eq!(ask(&bob, &url).await.unwrap(), ADMITTED);
    };
    check(ADMITTED).await;
    list.lock().unwrap().remove(&uri("ada"));
    check(REFUSED).await;
    list.lock().unwrap().insert(uri("ada"));
    check(ADMITTED).await;
}
