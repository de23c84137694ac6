//! Over a socket, where the server knows the address of its peer.

use a2a_auth::{AnyOf, ClientCertificate, RateLimits};
use a2a_server::{AuthError, Authenticator, ClientAuth, Principal, ServerTls};
use a2a_transport::http::{HttpClient, PeerAddress, Tls};
use http::HeaderMap;
use http::request::Parts;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use serde_json::Value;

use crate::fixture::builder;

/// Names each caller by its address.
struct ByAddress;

impl Authenticator for ByAddress {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let PeerAddress(address) = head.extensions.get().unwrap();
        let principal = Principal::named(address.ip().to_string());
        Ok(principal)
    }
}

#[tokio::test]
async fn the_address_of_a_connection_is_that_of_its_requests() {
    let server = builder(ByAddress).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = format!("{}agent/authenticatedExtendedCard", bound.url());
    let running = tokio::spawn(bound.run(std::future::pending()));
    let response = HttpClient::default().get(&url, &HeaderMap::new()).await;
    let card: Value = serde_json::from_slice(&response.unwrap().body).unwrap();
    assert_eq!(card["name"], "Asker of 127.0.0.1");
    running.abort();
}

#[tokio::test]
async fn a_certificate_of_the_client_is_its_principal() {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let signed = |name: SanType| {
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![name];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        (certificate.pem(), key.serialize_pem())
    };
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let (chain, key) = signed(SanType::DnsName("localhost".try_into().unwrap()));
    let tls = ServerTls::builder(file("cert.pem", &chain), file("key.pem", &key));
    let authorities = file("ca.pem", &authority.pem());
    let tls = tls.client_authorities(authorities, ClientAuth::Optional);
    let authenticator = AnyOf::new(("mtls", ClientCertificate::new()));
    let server = builder(RateLimits::new(authenticator)).build().unwrap();
    let http = server.http().tls(tls.build().unwrap()).any_host();
    let bound = http.bind("127.0.0.1:0").await.unwrap();
    let port = bound.local_addr().port();
    let running = tokio::spawn(bound.run(std::future::pending()));

    let trusting = Tls::default().trust(authority.pem().as_bytes()).unwrap();
    let spiffe = "spiffe://example.org/ada";
    let (chain, key) = signed(SanType::URI(spiffe.try_into().unwrap()));
    let known = trusting.clone().identity(chain.as_bytes(), key.as_bytes());
    let get = async |tls: Tls, path: &str| {
        let client = HttpClient::builder().tls(tls).build();
        let url = format!("https://localhost:{port}/{path}");
        let response = client.get(&url, &HeaderMap::new()).await.unwrap();
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        (response.status.as_u16(), response.headers, body)
    };
    let (status, _, card) = get(known.unwrap(), "agent/authenticatedExtendedCard").await;
    assert_eq!(
        (status, &card["name"]),
        (200, &format!("Asker of {spiffe}").into())
    );
    assert_eq!(card["url"], format!("https://localhost:{port}/"));
    let (status, headers, _) = get(trusting.clone(), "agent/authenticatedExtendedCard").await;
    assert_eq!(status, 401);
    assert_eq!(headers["www-authenticate"], "ClientCertificate");
    let (_, _, card) = get(trusting, ".well-known/agent-card.json").await;
    assert_eq!(card["securitySchemes"]["mtls"]["type"], "mutualTLS");
    running.abort();
}
