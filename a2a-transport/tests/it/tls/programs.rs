//! Programs that others use: openssl and curl.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, SystemTime};

use a2a_transport::http::{ClientAuth, ServerTls};
use tokio::process::Command;

use crate::tls::{Authority, Files, PATIENCE, start};

/// Returns a program, or `None` if it is not installed, which is printed and fails in CI.
fn program(name: &str) -> Option<Command> {
    let found = std::process::Command::new(name)
        .arg(if name == "openssl" {
            "version"
        } else {
            "--version"
        })
        .stdout(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return Some(Command::new(name));
    }
    let text = format!(
        "{name} IS NOT INSTALLED: the test with it has tested NOTHING. Install it (Debian: {name})."
    );
    eprintln!("{text}");
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci.is_empty()),
        "{text}"
    );
    None
}

async fn run(command: &mut Command) -> (bool, String) {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let Output {
        status,
        stdout,
        stderr,
    } = tokio::time::timeout(PATIENCE, output)
        .await
        .unwrap()
        .unwrap();
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (status.success(), text.concat())
}

/// Runs curl at a server that it calls by this name; returns what it prints, or `None` if there is no curl.
async fn curl(
    address: SocketAddr,
    name: &str,
    ca: &Path,
    options: &[&str],
) -> Option<(bool, String)> {
    let mut curl = program("curl")?;
    let port = address.port();
    curl.args(["--silent", "--show-error", "--noproxy", "*", "--cacert"])
        .arg(ca);
    curl.arg("--resolve")
        .arg(format!("{name}:{port}:127.0.0.1"));
    curl.args(options).arg(format!("https://{name}:{port}/"));
    Some(run(&mut curl).await)
}

#[tokio::test]
async fn curl_speaks_each_version_and_refuses_what_it_must() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let ca = files.write("ca.pem", authority.pem());
    let address = start(&files.tls().build().unwrap()).await;
    for (options, expected) in [
        (&["--http2", "--tlsv1.3"][..], "HTTP/2.0"),
        (&["--http2", "--tls-max", "1.2"], "HTTP/2.0"),
        (&["--http1.1", "--tlsv1.3"], "HTTP/1.1"),
        (&["--http1.1", "--tls-max", "1.2"], "HTTP/1.1"),
        (&["--no-alpn"], "HTTP/1.1"),
    ] {
        let Some((success, text)) = curl(address, "localhost", &ca, options).await else {
            return;
        };
        assert!(success, "{options:?}: {text}");
        assert!(text.contains(expected), "{options:?}: {text}");
        assert!(text.contains(r#""scheme":"https""#), "{options:?}: {text}");
    }
    let old = ["--tls-max", "1.1", "--ciphers", "ALL:@SECLEVEL=0"];
    let (success, text) = curl(address, "localhost", &ca, &old).await.unwrap();
    assert!(!success, "{text}");
    let (success, text) = curl(address, "other.example", &ca, &[]).await.unwrap();
    assert!(!success && text.contains("other.example"), "{text}");
    let stranger = files.write("stranger.pem", Authority::new().pem());
    let (success, text) = curl(address, "localhost", &stranger, &[]).await.unwrap();
    assert!(!success && text.contains("certificate"), "{text}");

    let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
    let expired = Files::new(&authority.vouch_until(&["localhost"], yesterday));
    let address = start(&expired.tls().build().unwrap()).await;
    let (success, text) = curl(address, "localhost", &ca, &[]).await.unwrap();
    assert!(!success && text.contains("expired"), "{text}");
}

#[tokio::test]
async fn curl_shows_a_certificate_where_one_is_required() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let ca = files.write("ca.pem", authority.pem());
    let tls = files.tls().client_authorities(&ca, ClientAuth::Required);
    let address = start(&tls.build().unwrap()).await;
    let (chain, key) = authority.vouch_for("ada");
    let (chain, key) = (
        files.write("ada.pem", chain),
        files.write("ada-key.pem", key),
    );
    let (chain, key) = (chain.to_str().unwrap(), key.to_str().unwrap());
    for version in ["1.2", "1.3"] {
        for http in ["--http1.1", "--http2"] {
            let without = [http, "--tls-max", version];
            let with = [http, "--tls-max", version, "--cert", chain, "--key", key];
            let Some((success, text)) = curl(address, "localhost", &ca, &with).await else {
                return;
            };
            assert!(
                success && !text.contains(r#""client":null"#),
                "{with:?}: {text}"
            );
            let (success, text) = curl(address, "localhost", &ca, &without).await.unwrap();
            assert!(!success, "{without:?}: {text}");
        }
    }
}

#[tokio::test]
async fn openssl_negotiates_each_version_and_resumes_sessions() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let ca = files.write("ca.pem", authority.pem());
    let (chain, key) = authority.vouch_for("b.example");
    let (chain, key) = (files.write("b.pem", chain), files.write("b-key.pem", key));
    let address = start(&files.tls().certificate(chain, key).build().unwrap()).await;
    let shake = async |name: &str, options: &[&str]| {
        let mut openssl = program("openssl")?;
        openssl
            .args(["s_client", "-verify_return_error", "-CAfile"])
            .arg(&ca);
        openssl.args(["-connect", &address.to_string(), "-servername", name]);
        openssl.args(["-verify_hostname", name]).args(options);
        Some(run(&mut openssl).await)
    };
    for version in ["-tls1_2", "-tls1_3"] {
        for alpn in ["h2", "http/1.1"] {
            for name in ["localhost", "b.example"] {
                let Some((success, text)) = shake(name, &[version, "-alpn", alpn]).await else {
                    return;
                };
                assert!(success, "{version} {alpn} {name}: {text}");
                let protocol = format!("ALPN protocol: {alpn}");
                assert!(text.contains(&protocol), "{version} {alpn}: {text}");
            }
        }
        for refused in [
            &[version, "-alpn", "h3"][..],
            &["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
        ] {
            let (success, text) = shake("localhost", refused).await.unwrap();
            assert!(!success, "{refused:?}: {text}");
        }
        let (success, text) = shake("c.example", &[version]).await.unwrap();
        assert!(!success, "{text}");
    }
    // It reconnects five times with the same session. TLS 1.3 sends tickets after the handshake, which it
    // does not wait for.
    let (success, text) = shake("localhost", &["-tls1_2", "-reconnect"])
        .await
        .unwrap();
    assert!(
        success && text.matches("Reused, TLSv1.2").count() == 5,
        "{text}"
    );
}

/// Keys and certificates in the forms that openssl writes.
#[tokio::test]
async fn files_made_by_openssl_are_read() {
    let files = tempfile::TempDir::new().unwrap();
    let path = |name: &str| files.path().join(name);
    for (name, options) in [
        ("rsa", &["-newkey", "rsa:2048"][..]),
        (
            "ec",
            &["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
        ),
        ("ed", &["-newkey", "ed25519"]),
    ] {
        let (chain, key) = (
            path(&format!("{name}.pem")),
            path(&format!("{name}-key.pem")),
        );
        let Some(mut openssl) = program("openssl") else {
            return;
        };
        openssl.args([
            "req",
            "-x509",
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/CN=localhost",
        ]);
        openssl
            .args(["-addext", "subjectAltName=DNS:localhost"])
            .args(options);
        openssl.arg("-keyout").arg(&key).arg("-out").arg(&chain);
        let (success, text) = run(&mut openssl).await;
        assert!(success, "{name}: {text}");
        let tls = ServerTls::builder(&chain, &key).build().unwrap();
        let left = tls
            .not_after()
            .unwrap()
            .duration_since(SystemTime::now())
            .unwrap();
        let days = left.as_secs_f64() / (24.0 * 3600.0);
        assert!((29.0..=30.0).contains(&days), "{days}");
    }
    // The forms before PKCS #8.
    for (name, command) in [("rsa", "rsa"), ("ec", "ec")] {
        let old = path("old-key.pem");
        let mut openssl = program("openssl").unwrap();
        openssl
            .arg(command)
            .arg("-in")
            .arg(path(&format!("{name}-key.pem")));
        if command == "rsa" {
            openssl.arg("-traditional");
        }
        let (success, text) = run(openssl.arg("-out").arg(&old)).await;
        assert!(success, "{text}");
        ServerTls::builder(path(&format!("{name}.pem")), &old)
            .build()
            .unwrap();
    }
    let mut openssl = program("openssl").unwrap();
    openssl.args(["pkcs8", "-topk8", "-passout", "pass:secret", "-in"]);
    openssl
        .arg(path("rsa-key.pem"))
        .arg("-out")
        .arg(path("locked.pem"));
    let (success, text) = run(&mut openssl).await;
    assert!(success, "{text}");
    let locked = ServerTls::builder(path("rsa.pem"), path("locked.pem")).build();
    let error = locked.unwrap_err().to_string();
    assert!(
        error.contains("locked.pem") && error.contains("not encrypted"),
        "{error}"
    );
}
