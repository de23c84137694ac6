//! A server that authenticates.

use a2a_client::{Client, HttpTransport, ProtocolVersion};
use a2a_server::demo::Reference;
use a2a_server::{AuthChallenge, AuthError, Authenticator, Principal};
use a2a_transport::Binding;
use grpc_peer::Connection;
use grpc_peer::tonic::{Code, Request};
use grpc_peer::v0_3;
use grpc_peer::v1_0::{GetExtendedAgentCardRequest, SendMessageRequest};
use http::request::Parts;

use super::{builder, serve};
use crate::v1_0::check_error;

/// Admits the bearer of one token.
struct OneToken;

impl Authenticator for OneToken {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let token = head.headers.get("authorization");
        match token.is_some_and(|token| token == "Bearer secret") {
            true => Ok(Principal::named("alice")),
            false => Err(AuthError::unauthenticated(AuthChallenge::new("Bearer"))),
        }
    }
}

async fn start() -> String {
    let server = builder()
        .authenticator(OneToken)
        .extended_card(Reference::card());
    serve(server.build().unwrap().http()).await
}

async fn connect() -> Connection {
    grpc_peer::plain(&start().await).await.unwrap()
}

fn with_token<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    let token = "Bearer secret".parse().unwrap();
    request.metadata_mut().insert("authorization", token);
    request
}

#[tokio::test]
async fn caller_without_credentials_is_challenged() {
    let connection = connect().await;
    let request = SendMessageRequest::text("echo");
    let response = connection.v1_0().send_message(request.clone()).await;
    let error = response.unwrap_err();
    check_error(&error, Code::Unauthenticated, "UNAUTHENTICATED");
    assert_eq!(error.metadata().get("www-authenticate").unwrap(), "Bearer");
    let response = connection.v1_0().send_streaming_message(request).await;
    let error = response.unwrap_err();
    check_error(&error, Code::Unauthenticated, "UNAUTHENTICATED");

    let request = v0_3::SendMessageRequest::text("echo");
    let error = connection.v0_3().send_message(request).await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthenticated);
    assert_eq!(error.metadata().get("www-authenticate").unwrap(), "Bearer");
}

#[tokio::test]
async fn caller_with_credentials_is_admitted() {
    let connection = connect().await;
    let request = with_token(SendMessageRequest::text("echo"));
    connection.v1_0().send_message(request).await.unwrap();
}

#[tokio::test]
async fn extended_card_names_the_interfaces_of_grpc() {
    let connection = connect().await;
    let request = with_token(GetExtendedAgentCardRequest::default());
    let card = connection.v1_0().get_extended_agent_card(request).await;
    let card = card.unwrap().into_inner();
    let interfaces = card.supported_interfaces.iter();
    let versions = interfaces
        .filter(|it| it.protocol_binding == "GRPC" && it.url.starts_with("127.0.0.1:"))
        .map(|it| it.protocol_version.as_str());
    assert_eq!(versions.collect::<Vec<_>>(), ["1.0", "0.3"]);

    let request = with_token(v0_3::GetAgentCardRequest {});
    let card = connection.v0_3().get_agent_card(request).await;
    let card = card.unwrap().into_inner();
    assert_eq!(card.name, "Reference");
    let interfaces = card.additional_interfaces.iter();
    let urls: Vec<_> = interfaces
        .filter(|it| it.transport == "GRPC")
        .map(|it| it.url.as_str())
        .collect();
    assert!(
        urls.iter().any(|url| url.starts_with("127.0.0.1:")),
        "{card:?}"
    );
}

#[tokio::test]
async fn our_client_learns_that_it_is_refused() {
    let url = start().await;
    for version in [ProtocolVersion::V1_0, ProtocolVersion::V0_3] {
        let transport = HttpTransport::new(&url, version).unwrap();
        let transport = transport.binding(Binding::Grpc);
        let error = Client::new(transport.clone()).send("echo").await;
        let Err(a2a_client::Error::Refused { status, challenge }) = error else {
            panic!("not refused: {error:?}");
        };
        assert_eq!((status, challenge.as_deref()), (401, Some("Bearer")));
        let token = "Bearer secret".parse().unwrap();
        let transport = transport.header(http::header::AUTHORIZATION, token);
        Client::new(transport).send("echo").await.unwrap();
    }
}
