//! Events and answers that are larger than the client's limits.

use Operation::{GetTask, SendStreamingMessage, SubscribeToTask};
use TaskState::{Completed, Working};
use a2a_client::{Bounds, Client, Error, HttpClient, ProtocolVersion, Retries};
use a2a_types::{Operation, TaskState};

use crate::streams::every_version::collect;
use crate::streams::scripted_agent::{
    ScriptedAgent, StreamEnd, chunk, events, looked, message, snapshot, status,
};

fn client(agent: &ScriptedAgent, protocol_version: ProtocolVersion) -> Client {
    let http = HttpClient::builder().limit(10_000);
    let mut bounds = Bounds::default();
    bounds.line = 2000;
    bounds.event = 2000;
    let client = Client::builder(&agent.url).http(http).bounds(bounds);
    let retries = Retries::default().base(std::time::Duration::from_millis(5));
    client
        .connect_at(protocol_version)
        .unwrap()
        .retries(retries)
}

#[tokio::test]
async fn an_event_that_is_too_large_is_read_from_the_task() {
    for &protocol_version in ProtocolVersion::ALL {
        let large = "2".repeat(3000);
        let script = [
            events(
                [status(Working), chunk("1"), chunk(&large)],
                StreamEnd::Open,
            ),
            looked(Working, &["1", &large]),
            looked(Completed, &["1", &large, "3"]),
        ];
        let agent = ScriptedAgent::new(protocol_version, script).await;
        let client = client(&agent, protocol_version);
        let (events, error) = collect(&mut client.send(message(protocol_version)).follow()).await;
        let expected = ["Working", "=1", &format!("+{large}"), "+3", "Completed"];
        assert_eq!(events, expected, "{protocol_version}: {error:?}");
        assert!(error.is_none(), "{protocol_version}: {error:?}");
        assert_eq!(
            agent.operations(),
            [SendStreamingMessage, GetTask, GetTask],
            "{protocol_version}"
        );
    }
}

#[tokio::test]
async fn a_snapshot_that_is_too_large_to_stream_is_read() {
    let large = "1".repeat(3000);
    let script = [
        events([snapshot(Working, &[&large])], StreamEnd::Open),
        looked(Completed, &[&large]),
    ];
    let agent = ScriptedAgent::new(ProtocolVersion::V1_0, script).await;
    let client = client(&agent, ProtocolVersion::V1_0);
    let mut updates = client.subscribe("t").await.unwrap();
    let (events, error) = collect(&mut updates).await;
    assert_eq!(events, [format!("Completed[{large}]")], "{error:?}");
    assert_eq!(agent.operations(), [SubscribeToTask, GetTask]);
}

#[tokio::test]
async fn a_task_that_is_too_large_to_read_names_the_setting() {
    let large = "2".repeat(11_000);
    let script = [
        events(
            [status(Working), chunk("1"), chunk(&large)],
            StreamEnd::Open,
        ),
        looked(Working, &["1", &large]),
    ];
    let agent = ScriptedAgent::new(ProtocolVersion::V1_0, script).await;
    let client = client(&agent, ProtocolVersion::V1_0);
    let (_, error) = collect(&mut client.send("go").follow()).await;
    match error {
        Some(error @ Error::TooLarge { what: "body", .. }) => assert_eq!(
            error.to_string(),
            "the body is larger than 10000 bytes: raise `HttpClientBuilder::limit`"
        ),
        other => panic!("{other:?}"),
    }
}
