//! Costs of the parts of a request: `cargo bench --package a2a-bench`, or one of them by its name, such as
//! `cargo bench --package a2a-bench -- decode`.

#[path = "../src/serve/agent.rs"]
mod agent;
#[allow(dead_code, reason = "no age of a chunk is measured here")]
#[path = "../src/timestamp.rs"]
mod timestamp;

use std::hint::black_box;

use a2a_server::{Server, Transport};
use a2a_transport::binding::{EventReader, EventWriter, IncomingCall, ReadOptions, jsonrpc};
use a2a_transport::sse::{self, Decoder};
use a2a_transport::{CallRequest, ResponseBody, SharedEvent};
use a2a_types::{
    AgentCard, Artifact, ContextId, Event, Message, Part, ProtocolVersion, Request, Response,
    SendMessageRequest, SendMessageResponse, Task, TaskArtifactUpdateEvent, TaskId, TaskState,
    TaskStatusUpdateEvent, v0_1, v0_2,
};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use futures_util::StreamExt;
use tokio::runtime::Runtime;

criterion_group!(micro, decode, encode, convert, events, apply, follow);
criterion_main!(micro);

/// The text of a request to the request in the canonical model.
fn decode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for send in VERSIONED_SENDS {
        group.bench_function(send.name, |bencher| bencher.iter(|| send.question()));
    }
}

/// A response in the canonical model to the text of the answer.
fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    for send in VERSIONED_SENDS {
        let envelope = send.question().envelope;
        let answer = || Response::SendMessage(SendMessageResponse::Task(completed()));
        group.bench_function(send.name, |bencher| {
            bencher.iter_batched(
                answer,
                |answer| jsonrpc::write_reply(&envelope, Ok(answer)),
                BatchSize::SmallInput,
            );
        });
    }
}

/// A task of the canonical model to that of an older protocol version, and back.
fn convert(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("convert");
    let size = BatchSize::SmallInput;
    group.bench_function("1.0 to 0.1", |bencher| {
        bencher.iter_batched(completed, v0_1::Task::from, size);
    });
    group.bench_function("1.0 to 0.2", |bencher| {
        bencher.iter_batched(completed, v0_2::Task::from, size);
    });
    group.bench_function("0.1 to 1.0", |bencher| {
        bencher.iter_batched(|| v0_1::Task::from(completed()), Task::from, size);
    });
    group.bench_function("0.2 to 1.0", |bencher| {
        bencher.iter_batched(|| v0_2::Task::from(completed()), Task::from, size);
    });
}

/// An event to its text on a stream, and back.
fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("events");
    let event = SharedEvent::from(chunk(&working()));
    for send in VERSIONED_SENDS {
        let envelope = send.question().envelope;
        let mut writer = EventWriter::new(&envelope);
        let mut block = || {
            let blocks = writer.write(black_box(&event)).into_iter();
            let blocks = blocks.map(|line| sse::encode(Some(7), line.name, &line.json()));
            blocks.collect::<Vec<_>>().concat()
        };
        let read = block();
        group.bench_function(format!("encode {}", send.name), |bencher| {
            bencher.iter(&mut block);
        });
        let reading = ReadOptions::default();
        group.bench_function(format!("decode {}", send.name), |bencher| {
            let mut reader = EventReader::new(envelope.clone(), reading.mode, reading.limits);
            let mut decoder = Decoder::default();
            bencher.iter(|| {
                let events = decoder.push(black_box(&read)).expect("it is a stream");
                let read = events.iter().map(|event| reader.read(event.data.as_ref()));
                read.collect::<Result<Vec<_>, _>>()
                    .expect("they are events")
            });
        });
    }
}

/// An event to the task that it happens to.
fn apply(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("apply");
    let task = working();
    let status = Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: TaskState::Completed.into(),
        metadata: None,
    });
    for (name, event) in [("a status", status), ("a chunk", chunk(&task))] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || task.clone(),
                |task| task.apply(&event).expect("it may happen"),
                BatchSize::SmallInput,
            );
        });
    }
}

/// The events of an agent, through its store, to a follower.
fn follow(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("follow");
    group.throughput(Throughput::Elements(CHUNKS));
    let runtime = Runtime::new().expect("there are threads");
    let _inside = runtime.enter();
    group.bench_function(format!("{CHUNKS} chunks"), |bencher| {
        bencher.iter_batched(
            server,
            |server| {
                let events = runtime.block_on(count_events(&server));
                assert!(events as u64 > CHUNKS, "{events} events");
                server
            },
            BatchSize::PerIteration,
        );
    });
}

/// Returns the number of events of a stream of chunks.
async fn count_events(server: &Server) -> usize {
    let asked = Request::SendStreamingMessage(SendMessageRequest {
        message: Message::user(format!("chunks {CHUNKS}")),
        ..SendMessageRequest::default()
    });
    let reply = server.call(CallRequest::new(asked)).await;
    match reply.expect("it answers").answer {
        ResponseBody::Stream(updates) => updates.count().await,
        ResponseBody::Once(answer) => panic!("not a stream: {answer:?}"),
    }
}

fn server() -> Server {
    let mut card = AgentCard::new("Echo", "Echoes the message");
    card.capabilities.streaming = Some(true);
    Server::builder(card, agent::Echo::new())
        .merge_chunks(false)
        .build()
        .expect("its parts fit together")
}

/// Number of chunks of the stream.
const CHUNKS: u64 = 1000;

/// A send in one protocol version.
struct VersionedSend {
    name: &'static str,
    protocol_version: ProtocolVersion,
    version: Option<&'static str>,
    body: &'static str,
}

const VERSIONED_SENDS: [VersionedSend; 3] = [
    VersionedSend {
        name: "1.0",
        protocol_version: ProtocolVersion::V1_0,
        version: Some("1.0"),
        body: include_str!("../requests/send-1.0.json"),
    },
    VersionedSend {
        name: "0.2",
        protocol_version: ProtocolVersion::V0_2,
        version: None,
        body: include_str!("../requests/send-0.2.json"),
    },
    VersionedSend {
        name: "0.1",
        protocol_version: ProtocolVersion::V0_1,
        version: None,
        body: include_str!("../requests/send-0.1.json"),
    },
];

impl VersionedSend {
    fn question(&self) -> IncomingCall {
        let mut reading = ReadOptions::default();
        reading.prefer = Some(self.protocol_version);
        let question = jsonrpc::read_call(black_box(self.body.as_bytes()), self.version, &reading);
        question.expect("it is a request")
    }
}

/// Returns a task whose agent works, and has sent a part of an artifact.
fn working() -> Task {
    let mut task = Task::submitted(TaskId::random(), ContextId::random());
    task.status = TaskState::Working.into();
    task.history = vec![Message::user(TEXT)];
    task.artifacts = vec![artifact()];
    task
}

/// Returns the task that the echo has completed.
fn completed() -> Task {
    let mut task = working();
    task.status.state = TaskState::Completed;
    task
}

/// Returns the next chunk of the artifact of that task.
fn chunk(task: &Task) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        artifact: artifact(),
        append: true,
        last_chunk: false,
        metadata: None,
    })
}

fn artifact() -> Artifact {
    Artifact {
        artifact_id: "echo".into(),
        parts: vec![Part::text(TEXT)],
        ..Artifact::default()
    }
}

const TEXT: &str = "say this back to me";
