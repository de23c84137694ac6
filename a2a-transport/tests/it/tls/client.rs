//! The client: only peers that an authority vouches for, HTTP/2 where both can, and an identity where one is
//! requested.

use std::sync::Arc;

use a2a_transport::http::{Tls, TlsConfigError};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::tls::{Authority, causes, get};

impl Authority {
    /// Starts a server at `localhost`. Its answer is the HTTP version, and whether the caller has shown a
    /// certificate: one of the authority `callers`, if that is given.
    async fn serve(&self, callers: Option<&Authority>) -> String {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = match callers {
            None => config.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.0.der().clone()).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                config.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let chain = vec![certificate.der().clone()];
        let mut config = config.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that does not trust the server hangs up.
                let Ok(stream) = acceptor.accept(stream).await else {
                    continue;
                };
                let shown = stream.get_ref().1.peer_certificates().is_some();
                let answer = service_fn(move |request: Request<Incoming>| async move {
                    let version = format!("{:?}", request.version());
                    let body = serde_json::json!({"version": version, "shown": shown});
                    Ok::<_, std::convert::Infallible>(Response::new(Full::<Bytes>::from(
                        body.to_string(),
                    )))
                });
                tokio::spawn(async move {
                    let server = auto::Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        format!("https://localhost:{port}/")
    }
}

#[tokio::test]
async fn only_certificates_of_trusted_authorities_are_accepted() {
    let (authority, other) = (Authority::new(), Authority::new());
    let url = authority.serve(None).await;
    let trusting = Tls::default().trust(&authority.pem()).unwrap();
    let answer = get(&url, trusting.clone()).await.unwrap();
    assert_eq!(answer, r#"{"shown":false,"version":"HTTP/2.0"}"#);

    for tls in [Tls::default(), Tls::default().trust(&other.pem()).unwrap()] {
        let refused = get(&url, tls).await.unwrap_err();
        assert!(
            causes(&refused).contains("certificate"),
            "{}",
            causes(&refused)
        );
    }
    let by_address = url.replace("localhost", "127.0.0.1");
    let refused = get(&by_address, trusting).await.unwrap_err();
    assert!(causes(&refused).contains("name"), "{}", causes(&refused));
}

#[tokio::test]
async fn an_identity_is_shown_where_one_is_wanted() {
    let (authority, callers) = (Authority::new(), Authority::new());
    let url = authority.serve(Some(&callers)).await;
    let stranger = Tls::default().trust(&authority.pem()).unwrap();
    let (chain, key) = callers.vouch_for("ada");
    let ada = stranger.clone().identity(chain.as_bytes(), key.as_bytes());
    let ada = ada.unwrap();
    let answer = get(&url, ada.clone()).await.unwrap();
    assert_eq!(answer, r#"{"shown":true,"version":"HTTP/2.0"}"#);
    for unknown in [stranger, ada.without_identity()] {
        get(&url, unknown).await.unwrap_err();
    }
}

#[test]
fn invalid_certificates_and_keys_are_refused() {
    let (chain, key) = Authority::new().vouch_for("ada");
    let (chain, key) = (chain.as_bytes(), key.as_bytes());
    let trust = |pem| Tls::default().trust(pem).map(drop);
    assert!(matches!(trust(b""), Err(TlsConfigError::NoCertificate)));
    assert!(matches!(trust(key), Err(TlsConfigError::NoCertificate)));
    let identity = |chain, key| Tls::default().identity(chain, key).map(drop);
    assert!(matches!(
        identity(chain, b"nonsense"),
        Err(TlsConfigError::NoKey)
    ));
    assert!(matches!(
        identity(key, key),
        Err(TlsConfigError::NoCertificate)
    ));
    let (_, other) = Authority::new().vouch_for("bob");
    let unfit = identity(chain, other.as_bytes());
    assert!(
        matches!(unfit, Err(TlsConfigError::Unusable(_))),
        "{unfit:?}"
    );
}
