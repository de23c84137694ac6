//! Health and reflection of our server.

use std::collections::BTreeMap;

use grpc_peer::health::{HealthCheckRequest, ServingStatus};
use grpc_peer::prost::Message;
use grpc_peer::prost_types::FileDescriptorProto;
use grpc_peer::reflection::{MessageRequest, MessageResponse, ServerReflectionRequest};
use grpc_peer::tonic::Code;
use tokio_stream::StreamExt;

use super::connect;

const SERVICES: [&str; 4] = [
    "a2a.v1.A2AService",
    "lf.a2a.v1.A2AService",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
];

fn health_of(service: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: service.to_owned(),
    }
}

#[tokio::test]
async fn every_service_is_healthy() {
    let mut health = connect().await.health();
    for service in SERVICES.iter().chain(&[""]) {
        let response = health.check(health_of(service)).await.unwrap();
        assert_eq!(response.into_inner().status(), ServingStatus::Serving);
    }
    let error = health.check(health_of("other.Service")).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
}

#[tokio::test]
async fn health_cannot_be_watched() {
    let mut health = connect().await.health();
    let error = health.watch(health_of("")).await.unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
}

/// Asks on one stream.
async fn reflect(requests: Vec<MessageRequest>) -> Vec<MessageResponse> {
    let mut reflection = connect().await.reflection();
    let requests: Vec<_> = requests
        .into_iter()
        .map(|request| ServerReflectionRequest {
            host: "host".to_owned(),
            message_request: Some(request),
        })
        .collect();
    let responses = reflection.server_reflection_info(tokio_stream::iter(requests.clone()));
    let responses = responses.await.unwrap().into_inner();
    let responses: Vec<_> = responses.map(Result::unwrap).collect().await;
    let repeated = responses
        .iter()
        .map(|it| it.original_request.clone().unwrap());
    assert_eq!(repeated.collect::<Vec<_>>(), requests);
    let responses = responses.into_iter();
    responses
        .map(|response| response.message_response.unwrap())
        .collect()
}

#[tokio::test]
async fn services_are_listed() {
    let responses = reflect(vec![MessageRequest::ListServices(String::new())]).await;
    let [MessageResponse::ListServicesResponse(list)] = &responses[..] else {
        panic!("not a list: {responses:?}");
    };
    let names = list.service.iter().map(|it| it.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), SERVICES);
}

#[tokio::test]
async fn descriptors_of_every_service_are_complete() {
    let requests = SERVICES.map(|name| MessageRequest::FileContainingSymbol(name.to_owned()));
    let responses = reflect(requests.into()).await;
    for (response, service) in responses.iter().zip(SERVICES) {
        let MessageResponse::FileDescriptorResponse(response) = response else {
            panic!("no file for {service}: {response:?}");
        };
        let files = response.file_descriptor_proto.iter();
        let files = files.map(|bytes| FileDescriptorProto::decode(bytes.as_slice()).unwrap());
        let files: BTreeMap<_, _> = files.map(|file| (file.name().to_owned(), file)).collect();
        let is_defined = files.values().any(|file| {
            let mut services = file.service.iter();
            services.any(|it| format!("{}.{}", file.package(), it.name()) == service)
        });
        assert!(is_defined, "{service}");
        let imports = files.values().flat_map(|file| &file.dependency);
        let missing: Vec<_> = imports.filter(|name| !files.contains_key(*name)).collect();
        assert!(missing.is_empty(), "{service}: {missing:?}");
    }
}

#[tokio::test]
async fn files_and_symbols_are_found_by_name() {
    let responses = reflect(vec![
        MessageRequest::FileContainingSymbol("lf.a2a.v1.Task".to_owned()),
        MessageRequest::FileContainingSymbol("lf.a2a.v1.A2AService.GetTask".to_owned()),
        MessageRequest::FileByFilename("google/protobuf/struct.proto".to_owned()),
        MessageRequest::FileContainingSymbol("other.Service".to_owned()),
        MessageRequest::FileByFilename("other.proto".to_owned()),
        MessageRequest::AllExtensionNumbersOfType("lf.a2a.v1.Task".to_owned()),
    ])
    .await;
    let kinds = responses.iter().map(|response| match response {
        MessageResponse::FileDescriptorResponse(_) => "file",
        MessageResponse::AllExtensionNumbersResponse(_) => "numbers",
        MessageResponse::ErrorResponse(error) if error.error_code == Code::NotFound as i32 => {
            "not found"
        }
        _ => "other",
    });
    let expected = ["file", "file", "file", "not found", "not found", "numbers"];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
}
