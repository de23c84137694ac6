//! The same message many times at once is one message: one task, one run of the agent, one answer.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use a2a_client::{Client, Retries, SendMessageResponse};
use a2a_server::{Agent, Failure as AgentFailure, Server, ServerBuilder, SqliteStore, Turn};
use a2a_types::{
    ListTasksRequest, Message, MessageId, ProtocolVersion, SendMessageConfiguration,
    SendMessageRequest,
};
use clap::Args;
use fastrand::Rng;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::Failure;
use crate::report::Report;
use crate::serve::{card, directory};

/// Options of the experiment.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of messages for each store and kind of answer.
    #[arg(long, value_name = "N", default_value_t = 100)]
    groups: usize,
    /// Number of times that each is sent, all at once.
    #[arg(long = "twins", value_name = "N", default_value_t = 100)]
    copies: usize,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask duplicates                                40,000 sends of 400 messages
  cargo xtask duplicates --groups 10 --twins 1000       fewer, all at once";

pub(crate) async fn run(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let directory = directory(None)?;
    let begun = Instant::now();
    let mut total = SendTotals::default();
    for answer in ["task", "reply"] {
        let agent = MessageCounter::default();
        let in_memory = Server::builder(card(), agent.clone());
        total.add(send_groups(in_memory, agent, answer, &options, &mut rng).await?);
        let agent = MessageCounter::default();
        let store = open(&directory.path().join(answer))?;
        let in_a_file = Server::builder(card(), agent.clone()).store(store);
        total.add(send_groups(in_a_file, agent, answer, &options, &mut rng).await?);
    }

    let groups = 2 * options.groups;
    let mut report = Report::new("duplicates");
    report.exactly("sends answered", 2 * groups * options.copies, total.answers);
    report.exactly("messages whose agent ran", 2 * groups, total.received);
    report.exactly("runs of agents", 2 * groups, total.runs);
    report.exactly("tasks", groups, total.tasks);
    report.exactly("messages with two answers", 0, total.contradictions);
    report.exactly("errors", 0, total.errors);
    report.note("seconds", begun.elapsed().as_secs_f64().round());
    report.remark(total.remarks);
    Ok(report)
}

fn open(file: &Path) -> Result<SqliteStore, Failure> {
    Ok(SqliteStore::open(file)?)
}

/// Counts how often it gets each message.
#[derive(Clone, Default)]
struct MessageCounter {
    received: Arc<Mutex<HashMap<MessageId, usize>>>,
}

impl Agent for MessageCounter {
    async fn run(&self, turn: Turn) -> Result<(), AgentFailure> {
        {
            let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
            *received
                .entry(turn.message().message_id.clone())
                .or_default() += 1;
        }
        let text = turn.text();
        let pause = text
            .split(' ')
            .nth(1)
            .and_then(|number| number.parse().ok());
        let pause = Duration::from_millis(pause.unwrap_or(0));
        drop(tokio::time::timeout(pause, turn.canceled()).await);
        match text.starts_with("reply") {
            true => turn.reply(Message::agent(text)).await?,
            false => turn.artifact("echo").text(text).finish().await?,
        }
        Ok(())
    }
}

/// Results of the experiment.
#[derive(Default)]
struct SendTotals {
    answers: usize,
    received: usize,
    runs: usize,
    tasks: usize,
    contradictions: usize,
    errors: usize,
    remarks: Vec<String>,
}

impl SendTotals {
    fn add(&mut self, other: Self) {
        self.answers += other.answers;
        self.received += other.received;
        self.runs += other.runs;
        self.tasks += other.tasks;
        self.contradictions += other.contradictions;
        self.errors += other.errors;
        self.remarks.extend(other.remarks);
    }
}

/// Every message to one server, group after group.
async fn send_groups(
    builder: ServerBuilder,
    agent: MessageCounter,
    answer: &str,
    options: &Options,
    rng: &mut Rng,
) -> Result<SendTotals, Failure> {
    let bound = builder.build()?.bind("127.0.0.1:0").await?;
    let url = bound.url();
    let serving = tokio::spawn(bound.run(std::future::pending()));
    let mut totals = SendTotals::default();
    for number in 0..options.groups {
        let protocol_version = [
            ProtocolVersion::V1_0,
            ProtocolVersion::V0_3,
            ProtocolVersion::V0_2,
        ][number % 3];
        let client = Client::at(&url, protocol_version)?.retries(Retries::none());
        let request = SendMessageRequest {
            message: Message::user(format!("{answer} {}", rng.u64(..4))),
            configuration: Some(SendMessageConfiguration {
                return_immediately: rng.u8(..4) == 0,
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        };
        totals.add(group(&client, request, options.copies).await?);
    }
    let client = Client::at(&url, ProtocolVersion::V1_0)?.retries(Retries::none());
    let tasks = client.list_tasks(ListTasksRequest::default()).await?;
    totals.tasks = usize::try_from(tasks.total_size)?;
    let received = agent
        .received
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    (totals.received, totals.runs) = (received.len(), received.values().sum());
    serving.abort();
    Ok(totals)
}

/// Sends `copies` copies of a message concurrently.
async fn group(
    client: &Client,
    request: SendMessageRequest,
    copies: usize,
) -> Result<SendTotals, Failure> {
    let start = Arc::new(Barrier::new(copies));
    let mut sends = JoinSet::new();
    for _ in 0..copies {
        let (client, request, start) = (client.clone(), request.clone(), Arc::clone(&start));
        sends.spawn(async move {
            start.wait().await;
            client.send(request).await
        });
    }
    let mut totals = SendTotals::default();
    let mut answers = HashSet::new();
    while let Some(sent) = sends.join_next().await {
        match sent? {
            Ok(SendMessageResponse::Task(task)) => answers.insert(format!("task {}", task.id)),
            Ok(SendMessageResponse::Message(reply)) => {
                answers.insert(format!("reply {}", reply.message_id))
            }
            Err(error) => {
                totals.errors += 1;
                totals.remarks.push(error.to_string());
                continue;
            }
        };
        totals.answers += 1;
    }
    if answers.len() > 1 {
        totals.contradictions += 1;
        totals
            .remarks
            .push(format!("{}: {answers:?}", request.message.message_id));
    }
    Ok(totals)
}
