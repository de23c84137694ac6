//! Clients of the services that operators expect: health and reflection.

use grpc_peer::health::{HealthCheckRequest, ServingStatus};
use grpc_peer::prost::Message;
use grpc_peer::prost_types::{FileDescriptorProto, FileDescriptorSet};
use grpc_peer::reflection::{MessageRequest, MessageResponse, ServerReflectionRequest};
use grpc_peer::tonic::transport::Server;
use grpc_peer::tonic::transport::server::TcpIncoming;
use tokio::net::TcpListener;
use tokio_stream::StreamExt;

/// Returns the descriptors of 1.0 and of what it imports.
fn descriptors() -> FileDescriptorSet {
    let files: [&[u8]; 4] = [
        include_bytes!("../../../../a2a-transport/protobuf/proto/google/protobuf/empty.bin"),
        include_bytes!("../../../../a2a-transport/protobuf/proto/google/protobuf/struct.bin"),
        include_bytes!("../../../../a2a-transport/protobuf/proto/google/protobuf/timestamp.bin"),
        include_bytes!("../../../../a2a-transport/protobuf/proto/a2a_v1.bin"),
    ];
    let files = files.map(|file| FileDescriptorProto::decode(file).unwrap());
    FileDescriptorSet { file: files.into() }
}

#[tokio::test]
async fn health_and_reflection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (_, health) = tonic_health::server::health_reporter();
    let reflection = tonic_reflection::server::Builder::configure()
        .register_file_descriptor_set(descriptors())
        .build_v1()
        .unwrap();
    let router = Server::builder()
        .add_service(health)
        .add_service(reflection);
    tokio::spawn(router.serve_with_incoming(TcpIncoming::from(listener)));
    let connection = grpc_peer::plain(&url).await.unwrap();

    let request = HealthCheckRequest::default();
    let response = connection.health().check(request).await.unwrap();
    assert_eq!(response.into_inner().status(), ServingStatus::Serving);

    let request = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..ServerReflectionRequest::default()
    };
    let mut reflection = connection.reflection();
    let responses = reflection.server_reflection_info(tokio_stream::once(request));
    let response = responses.await.unwrap().into_inner().next().await;
    let response = response.unwrap().unwrap().message_response;
    let Some(MessageResponse::ListServicesResponse(list)) = response else {
        panic!("not a list: {response:?}");
    };
    let names = list.service.iter().map(|it| it.name.as_str());
    assert!(names.into_iter().any(|it| it == "lf.a2a.v1.A2AService"));
}
