//! The descriptors of the files are whole, and define what they say.

use std::collections::BTreeSet;

use a2a_protobuf::{
    HEALTH_CHECK_REQUEST, HEALTH_CHECK_RESPONSE, Method, SERVER_REFLECTION_REQUEST,
    SERVER_REFLECTION_RESPONSE, STATUS, file_descriptors, services,
};
use prost_reflect::DescriptorPool;

/// Returns the types of the files. Fails if a file comes before one that it imports, or twice.
fn pool() -> DescriptorPool {
    let mut pool = DescriptorPool::new();
    for file in file_descriptors() {
        pool.decode_file_descriptor_proto(file.bytes()).unwrap();
    }
    pool
}

#[track_caller]
fn defining(symbol: &str) -> Vec<&'static str> {
    let files = file_descriptors().iter().filter(|it| it.defines(symbol));
    files.map(|file| file.name()).collect()
}

#[test]
fn files_have_their_names_and_imports() {
    let pool = pool();
    assert_eq!(pool.files().len(), file_descriptors().len());
    for file in file_descriptors() {
        let descriptor = pool.get_file_by_name(file.name()).unwrap();
        let imports: Vec<_> = descriptor.dependencies().collect();
        let imports: Vec<_> = imports.iter().map(|file| file.name()).collect();
        assert_eq!(file.dependencies(), imports, "{}", file.name());
    }
}

#[test]
fn services_are_those_of_the_files() {
    assert_eq!(
        services(),
        [
            "a2a.v1.A2AService",
            "lf.a2a.v1.A2AService",
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
        ]
    );
    let pool = pool();
    let found: BTreeSet<_> = pool
        .services()
        .map(|it| it.full_name().to_owned())
        .collect();
    assert_eq!(found, services().iter().map(|&it| it.to_owned()).collect());
    let methods = pool.services().filter(|it| it.name() == "A2AService");
    let methods: usize = methods.map(|service| service.methods().count()).sum();
    assert_eq!(Method::all().len(), methods);
}

#[test]
fn symbols_are_found_in_the_file_that_defines_them() {
    for (symbol, file) in [
        ("lf.a2a.v1.A2AService", "a2a_v1.proto"),
        ("lf.a2a.v1.A2AService.GetTask", "a2a_v1.proto"),
        ("lf.a2a.v1.Task", "a2a_v1.proto"),
        ("lf.a2a.v1.Task.id", "a2a_v1.proto"),
        ("lf.a2a.v1.TaskState", "a2a_v1.proto"),
        ("lf.a2a.v1.TASK_STATE_WORKING", "a2a_v1.proto"),
        ("lf.a2a.v1.Part.content", "a2a_v1.proto"),
        ("a2a.v1.Task", "a2a_v0_3.proto"),
        ("google.protobuf.Any", "google/protobuf/any.proto"),
        ("google.protobuf.NULL_VALUE", "google/protobuf/struct.proto"),
        (
            "google.rpc.BadRequest.FieldViolation",
            "google/rpc/error_details.proto",
        ),
        (
            "grpc.health.v1.HealthCheckResponse.ServingStatus",
            "grpc/health/v1/health.proto",
        ),
        (
            "grpc.health.v1.HealthCheckResponse.SERVING",
            "grpc/health/v1/health.proto",
        ),
        (
            "grpc.reflection.v1.ServerReflection.ServerReflectionInfo",
            "grpc/reflection/v1/reflection.proto",
        ),
    ] {
        assert_eq!(defining(symbol), [file], "{symbol}");
    }
    for symbol in [
        "",
        ".",
        "lf.a2a.v1",
        "lf.a2a.v1.",
        "lf.a2a.v1.Tas",
        "lf.a2a.v1..Task",
        ".lf.a2a.v1.Task",
        "lf.a2a.v1Task",
        "Task",
    ] {
        assert_eq!(defining(symbol), [""; 0], "{symbol}");
    }
}

#[test]
fn every_symbol_is_found_once() {
    let pool = pool();
    let mut symbols = Vec::new();
    for message in pool.all_messages() {
        symbols.push(message.full_name().to_owned());
        symbols.extend(message.fields().map(|it| it.full_name().to_owned()));
        symbols.extend(message.oneofs().map(|it| it.full_name().to_owned()));
    }
    for of in pool.all_enums() {
        symbols.push(of.full_name().to_owned());
        symbols.extend(of.values().map(|it| it.full_name().to_owned()));
    }
    for service in pool.services() {
        symbols.push(service.full_name().to_owned());
        symbols.extend(service.methods().map(|it| it.full_name().to_owned()));
    }
    assert!(symbols.len() > 500, "{}", symbols.len());
    for symbol in symbols {
        assert_eq!(defining(&symbol).len(), 1, "{symbol}");
    }
}

#[test]
fn public_types_have_the_names_of_the_originals() {
    for (message_type, name) in [
        (&STATUS, "google.rpc.Status"),
        (&HEALTH_CHECK_REQUEST, "grpc.health.v1.HealthCheckRequest"),
        (&HEALTH_CHECK_RESPONSE, "grpc.health.v1.HealthCheckResponse"),
        (
            &SERVER_REFLECTION_REQUEST,
            "grpc.reflection.v1.ServerReflectionRequest",
        ),
        (
            &SERVER_REFLECTION_RESPONSE,
            "grpc.reflection.v1.ServerReflectionResponse",
        ),
    ] {
        assert_eq!(message_type.name(), name);
    }
}
