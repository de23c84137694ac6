//! Certificates of clients.

use std::time::{Duration, SystemTime};

use a2a_transport::Principal;
use a2a_transport::http::{AuthError, Authenticator, ClientAuth, ClientCertificates, HttpService};
use http::request::Parts;
use rustls::HandshakeKind;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::tls::{
    Authority, Files, H2, HTTP1, Identity, NoTasks, PATIENCE, VERSIONS, ask, ask_http1, connect,
    fetch, serve, start,
};

fn der((chain, _): &Identity) -> Value {
    let certificate = CertificateDer::from_pem_slice(chain.as_bytes()).unwrap();
    json!(certificate.to_vec())
}

#[tokio::test]
async fn certificates_of_clients_are_verified_and_known_to_requests() {
    let (authority, callers) = (Authority::new(), Authority::new());
    let files = Files::new(&authority.vouch_for("localhost"));
    let pem = files.write("clients.pem", callers.pem());
    let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
    let ada = callers.vouch_for("ada");
    let stranger = authority.vouch_for("ada");
    let expired = callers.vouch_until(&["ada"], yesterday);
    for (auth, without) in [(ClientAuth::Optional, true), (ClientAuth::Required, false)] {
        let tls = files.tls().client_authorities(&pem, auth).build().unwrap();
        let address = start(&tls).await;
        for version in VERSIONS {
            for alpn in [H2, HTTP1] {
                let asking = async |identity| {
                    ask(address, &authority.config(&[version], &[alpn], identity)).await
                };
                let answer = asking(Some(&ada)).await.unwrap();
                assert_eq!(
                    (&answer["client"], &answer["others"]),
                    (&der(&ada), &json!(0))
                );
                for refused in [&stranger, &expired] {
                    asking(Some(refused)).await.unwrap_err();
                }
                let answer = asking(None).await;
                assert_eq!(answer.is_ok(), without, "{auth:?}: {answer:?}");
                assert!(answer.is_ok_and(|answer| answer["client"].is_null()) == without);
            }
        }
    }
}

#[tokio::test]
async fn sessions_are_resumed_with_the_certificates_of_their_clients() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let pem = files.write("clients.pem", authority.pem());
    let tls = files.tls().client_authorities(&pem, ClientAuth::Required);
    let tls = tls.build().unwrap();
    let address = start(&tls).await;
    let ada = authority.vouch_for("ada");
    for version in VERSIONS {
        let config = authority.config(&[version], &[HTTP1], Some(&ada));
        let shake = async || {
            let stream = connect(address, "localhost", &config).await.unwrap();
            let kind = stream.get_ref().1.handshake_kind().unwrap();
            let answer = ask_http1(stream).await.unwrap();
            assert_eq!(answer["client"], der(&ada));
            kind
        };
        assert_eq!(shake().await, HandshakeKind::Full);
        assert_eq!(shake().await, HandshakeKind::Resumed);
        // The trusted authorities may have changed.
        tls.reload().unwrap();
        assert_eq!(shake().await, HandshakeKind::Full);
        assert_eq!(shake().await, HandshakeKind::Resumed);
    }
}

/// A session that began with a valid certificate does not outlive it.
#[tokio::test]
async fn no_session_is_resumed_once_the_certificate_of_its_client_has_expired() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let pem = files.write("clients.pem", authority.pem());
    let tls = files.tls().client_authorities(&pem, ClientAuth::Required);
    let address = start(&tls.build().unwrap()).await;
    let soon = SystemTime::now() + Duration::from_secs(5);
    let ada = authority.vouch_until(&["ada"], soon);
    let sessions = VERSIONS.map(|version| authority.config(&[version], &[HTTP1], Some(&ada)));
    for config in &sessions {
        ask(address, config).await.unwrap();
    }
    let waiting = async {
        while ask(address, &authority.config(&VERSIONS, &[HTTP1], Some(&ada)))
            .await
            .is_ok()
        {}
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
    for config in &sessions {
        let refused = ask(address, config).await;
        assert!(refused.is_err(), "{refused:?}");
    }
}

/// Lets in clients that have shown a certificate.
struct ByCertificate;

impl Authenticator for ByCertificate {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        match head.extensions.get::<ClientCertificates>() {
            Some(_) => Ok(Principal::anonymous()),
            None => Err(AuthError::forbidden()),
        }
    }
}

#[tokio::test]
async fn authenticators_see_the_certificates_of_clients() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let pem = files.write("clients.pem", authority.pem());
    let tls = files.tls().client_authorities(&pem, ClientAuth::Optional);
    let service = HttpService::new(NoTasks).authenticator(ByCertificate);
    let address = serve(tls.build().unwrap(), service).await;
    let ada = authority.vouch_for("ada");
    for (identity, expected) in [(Some(&ada), "404"), (None, "403")] {
        let config = authority.config(&VERSIONS, &[HTTP1], identity);
        let answer = fetch(address, &config, "/rest/tasks/t").await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {expected}")),
            "{answer}"
        );
    }
}
