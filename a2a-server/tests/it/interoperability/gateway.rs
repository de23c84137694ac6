//! Every caller through a gateway to an agent of every protocol version.

use a2a_client::{Binding, Error, HttpTransport, StreamExt};
use a2a_gateway::Gateway;
use a2a_transport::http::{HttpService, ServeOptions, serve};
use a2a_types::{ErrorKind, ProtocolVersion, TaskState};
use tokio::net::TcpListener;

use crate::interoperability::{
    BINDINGS, PoemAgent, PoemStream, client, first, recited, reciter, task, to,
};

/// A gateway to the agent at `url`, which is spoken to in one way only.
async fn gateway(url: &str, (protocol_version, binding): (ProtocolVersion, Binding)) -> String {
    let agent = HttpTransport::new(url, protocol_version)
        .unwrap()
        .binding(binding);
    let service = HttpService::new(Gateway::new(agent, protocol_version));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn every_caller_reaches_every_agent() {
    let bound = reciter(PoemAgent::default()).await;
    let agent = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    for spoken in BINDINGS {
        let url = gateway(&agent, spoken).await;
        for (protocol_version, binding) in BINDINGS {
            check(
                &url,
                protocol_version,
                binding,
                &format!("{protocol_version} {binding} to {spoken:?}"),
            )
            .await;
        }
    }
}

/// Checks everything that a caller may expect of its own protocol version.
async fn check(url: &str, protocol_version: ProtocolVersion, binding: Binding, pair: &str) {
    let client = client(url, protocol_version, binding);

    let done = task(
        client
            .send(first(protocol_version, "recite"))
            .await
            .unwrap(),
    );
    assert_eq!(done.status.state, TaskState::Completed, "{pair}");
    assert_eq!(
        recited(&done),
        crate::interoperability::POEM.concat(),
        "{pair}"
    );

    let message = first(protocol_version, "recite");
    let named = message.task_id.clone();
    let mut updates = client.stream(message).await.unwrap();
    let begun = updates.next().await.unwrap().unwrap();
    if protocol_version == ProtocolVersion::V1_0 {
        assert!(
            matches!(begun, a2a_client::Event::Task(_)),
            "{pair}: {begun:?}"
        );
    }
    let id = begun.task_id().unwrap().clone();
    assert!(
        named.is_none_or(|named| named == id),
        "{pair}: its own name"
    );
    let streamed = PoemStream::from(updates).await.unwrap();
    assert_eq!(streamed, PoemStream::all(), "{pair}");

    let whole = client.get_task(id.clone(), Some(10)).await.unwrap();
    assert_eq!(
        (&whole.id, recited(&whole)),
        (&id, crate::interoperability::POEM.concat()),
        "{pair}"
    );
    assert_eq!(whole.history[0].text(), "recite", "{pair}");
    let shy = client.get_task(id.clone(), Some(0)).await.unwrap();
    assert!(shy.history.is_empty(), "{pair}");

    let asked = task(client.send(first(protocol_version, "sing")).await.unwrap());
    assert_eq!(asked.status.state, TaskState::InputRequired, "{pair}");
    if !protocol_version.rules().follows_waiting_tasks {
        // Until 0.3 the stream ends here, though a subscription of 1.0 goes on.
        let mut waiting = client.subscribe(asked.id.clone()).await.unwrap();
        let mut last = None;
        while let Some(event) = waiting.next().await {
            last = event.unwrap().status().map(|status| status.state);
        }
        assert_eq!(last, Some(TaskState::InputRequired), "{pair}");
    }
    let done = task(client.send(to(&asked, "recite")).await.unwrap());
    assert_eq!(
        (&done.id, done.status.state),
        (&asked.id, TaskState::Completed),
        "{pair}"
    );

    let ended = client.subscribe(id.clone()).await;
    match protocol_version.rules().subscribes_to_ended_tasks {
        true => assert!(
            PoemStream::from(ended.unwrap()).await.unwrap().completed,
            "{pair}"
        ),
        false => assert_kind(refusal(ended).await, ErrorKind::UnsupportedOperation, pair),
    }
    if protocol_version != ProtocolVersion::V0_1 {
        let again = client.send(to(&done, "recite")).await.err();
        assert_kind(again, ErrorKind::UnsupportedOperation, pair);
        let mut unknown = to(&done, "recite");
        unknown.task_id = Some("unknown".into());
        let unknown = client.send(unknown).await.err();
        assert_kind(unknown, ErrorKind::TaskNotFound, pair);
    }
    let cancel = client.cancel_task(id).await.err();
    assert_kind(cancel, ErrorKind::TaskNotCancelable, pair);
    let unknown = client.get_task("unknown", None).await.err();
    assert_kind(unknown, ErrorKind::TaskNotFound, pair);
}

/// With JSON-RPC a stream is refused by its first event.
async fn refusal(asked: Result<a2a_client::TaskEventStream, Error>) -> Option<Error> {
    match asked {
        Ok(mut updates) => updates.next().await?.err(),
        Err(error) => Some(error),
    }
}

#[track_caller]
fn assert_kind(error: Option<Error>, kind: ErrorKind, pair: &str) {
    match error {
        Some(Error::Agent(error)) => assert_eq!(error.kind, kind, "{pair}: {error}"),
        other => panic!("{pair}: expected {kind:?}, got {other:?}"),
    }
}
