//! Recordings of our client with our server: they pass in every protocol version and binding, while a
//! file that is not A2A fails.

use std::process::Command;
use std::sync::Arc;

use a2a_client::{Binding, Client, HttpClient, ProtocolVersion, Recorder, StreamExt};
use a2a_conformance::recorded::check;
use a2a_server::Server;
use a2a_server::demo::Reference;

#[tokio::test]
async fn exchanges_of_client_and_server_conform() {
    let server = Server::builder(Reference::card(), Reference)
        .build()
        .unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    let directory = tempfile::tempdir().unwrap();
    let versions = [
        (ProtocolVersion::V0_1, Binding::JsonRpc),
        (ProtocolVersion::V0_2, Binding::JsonRpc),
        (ProtocolVersion::V0_3, Binding::JsonRpc),
        (ProtocolVersion::V0_3, Binding::HttpJson),
        (ProtocolVersion::V0_3, Binding::Grpc),
        (ProtocolVersion::V1_0, Binding::JsonRpc),
        (ProtocolVersion::V1_0, Binding::HttpJson),
        (ProtocolVersion::V1_0, Binding::Grpc),
    ];
    for (protocol_version, binding) in versions {
        let recorder = Arc::new(Recorder::into(directory.path()).unwrap());
        let client = Client::builder(&url)
            .http(HttpClient::builder().wire_observer(recorder))
            .protocol_version(protocol_version)
            .binding(binding)
            .connect()
            .await
            .unwrap();
        client.send("echo hello").await.unwrap();
        let mut updates = client.stream("chunks 3").await.unwrap();
        while let Some(event) = updates.next().await {
            event.unwrap();
        }
        let id = updates.task().unwrap().id.clone();
        client.get_task(id, None).await.unwrap();
        client.get_task("nothing", None).await.unwrap_err();
    }
    let mut operations = std::collections::BTreeMap::new();
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let found = check(&serde_json::from_str(&text).unwrap());
        assert!(found.passes(), "{found:?}: {text}");
        assert_eq!(found.mended, [""; 0], "{text}");
        *operations.entry(found.operation.unwrap()).or_insert(0) += 1;
    }
    let expected = [
        ("GetAgentCard", 8),
        ("GetTask", 16),
        ("SendMessage", 8),
        ("SendStreamingMessage", 8),
    ];
    assert_eq!(operations, expected.into());

    let program = || Command::new(env!("CARGO_BIN_EXE_a2a-conformance"));
    let replayed = program()
        .arg("replay")
        .arg(directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8(replayed.stdout).unwrap();
    assert!(text.contains("40 of 40 exchanges green"), "{text}");
    assert_eq!(replayed.status.code(), Some(0));

    // The inspector exports a list.
    let files = std::fs::read_dir(directory.path()).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let texts: Vec<_> = texts.collect();
    let list = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(list.path(), format!("[{}, {{}}]", texts.join(","))).unwrap();
    let replayed = program().arg("replay").arg(list.path()).output().unwrap();
    let text = String::from_utf8(replayed.stdout).unwrap();
    assert!(text.contains("not a recorded exchange"), "{text}");
    std::fs::write(list.path(), format!("[{}]", texts.join(","))).unwrap();
    let replayed = program().arg("replay").arg(list.path()).output().unwrap();
    let text = String::from_utf8(replayed.stdout).unwrap();
    assert!(text.contains("#40 "), "{text}");
    assert!(text.contains("40 of 40 exchanges green"), "{text}");

    std::fs::write(directory.path().join("9999.json"), "{}").unwrap();
    let replayed = program()
        .arg("replay")
        .arg(directory.path())
        .output()
        .unwrap();
    assert_eq!(replayed.status.code(), Some(1));
    let none = program()
        .args(["replay", "/nonexistent.txt"])
        .output()
        .unwrap();
    assert_eq!(none.status.code(), Some(2));
}
