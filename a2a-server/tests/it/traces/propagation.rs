//! Traces that go on as they came, without a listener to spans.

use a2a_client::{Client, Error};
use a2a_server::TraceContext;
use a2a_types::{ListTasksRequest, SendMessageResponse};

use crate::traces::traced_agents::{BINDINGS, NOTIFICATIONS, TracedAgents, streamed};

fn trace(id: u8) -> TraceContext {
    let trace = TraceContext::new([id; 16], [0xf0; 8], id.is_multiple_of(2)).unwrap();
    trace.with_state("far=1,near=2")
}

/// Every request that was sent is of this trace.
#[track_caller]
fn check(agents: &TracedAgents, expected: Option<&TraceContext>, least: usize, what: &str) {
    let sent = agents.sent.take();
    assert!(sent.len() >= least, "{what}: {} requests", sent.len());
    for headers in sent {
        let read = TraceContext::read(&headers);
        assert_eq!(read.as_ref(), expected, "{what}");
        let state = expected.and_then(TraceContext::tracestate);
        assert_eq!(
            headers.get("tracestate").map(|it| it.to_str().unwrap()),
            state,
            "{what}"
        );
    }
}

#[tokio::test]
async fn trace_reaches_the_far_agent_and_the_webhook() {
    for way in BINDINGS {
        let mut agents = TracedAgents::start(way).await;
        for (stream, given) in [
            (false, Some(trace(1))),
            (true, Some(trace(2))),
            (true, None),
        ] {
            let what = format!("{way:?} stream: {stream}, {given:?}");
            let sending = agents.send("hello").trace(given.clone());
            let task = match stream {
                true => streamed(sending).await,
                false => match sending.await.unwrap() {
                    SendMessageResponse::Task(task) => task.id,
                    message => panic!("{message:?}"),
                },
            };
            for _ in 0..NOTIFICATIONS {
                assert_eq!(agents.notification().await.trace, given, "{what}");
            }
            let turns = std::mem::take(&mut *agents.turns.lock().unwrap());
            assert_eq!(turns, [given.clone(), given.clone()], "{what}");
            // To the gateway, from there to the near agent, and from there to the far one.
            check(&agents, given.as_ref(), 3, &what);

            let client = agents.client.with_trace_context(given.clone());
            let asked = ask(&client, task).await;
            check(&agents, given.as_ref(), 2 * asked, &what);
        }
    }
}

/// Everything that has an answer, whatever it is; yields how often the agent was asked at least.
async fn ask(client: &Client, task: a2a_types::TaskId) -> usize {
    let answered = [
        client.get_task(task.clone(), None).await.err(),
        client.cancel_task(task.clone()).await.err(),
        client.push_configs(task.clone()).await.err(),
        client.subscribe(task.clone()).await.err(),
        client.list_tasks(ListTasksRequest::default()).await.err(),
        client.extended_card().await.err(),
    ];
    let sent = |error: &Option<Error>| !matches!(error, Some(Error::NotSupported { .. }));
    // Operations that the agent's protocol version lacks are not asked.
    answered.iter().filter(|error| sent(error)).count() - 1
}
