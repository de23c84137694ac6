//! Tests of the programs in `examples`: each runs as a process of its own and is called over HTTP.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use agent2agent::client::credentials::Keyring;
use agent2agent::client::{Error, SendMessageBuilder, TaskEventStream};
use agent2agent::transport::TraceContext;
use agent2agent::types::extension::question::AnswerForm;
use agent2agent::types::{TaskId, TaskPushNotificationConfig};
use agent2agent::{
    AgentCard, Client, Event, Message, SendMessageResponse, Server, StreamExt, Task, TaskState,
    Turn,
};
use tokio::sync::Semaphore;

/// Limit of each wait for a line of a program, and of each call.
const LIMIT: Duration = Duration::from_secs(60);

const ANY_PORT: &str = "127.0.0.1:0";
const KEY: &str = "0123456789abcdef";

/// Chapters of the book, the examples that are the same program, and a line of each block of Rust that is part of it.
const CHAPTERS: [(&str, &str, &str, &[&str]); 5] = [
    (
        "first-agent",
        include_str!("../docs/first-agent.md"),
        include_str!("../examples/first_agent.rs"),
        &["impl Agent for Notes"],
    ),
    (
        "conversations",
        include_str!("../docs/conversations.md"),
        include_str!("../examples/conversation.rs"),
        &["impl Agent for Notes"],
    ),
    (
        "keeping-tasks",
        include_str!("../docs/keeping-tasks.md"),
        include_str!("../examples/notes_agent.rs"),
        &["fn server(", "async fn write("],
    ),
    (
        "who-may-call",
        include_str!("../docs/who-may-call.md"),
        include_str!("../examples/notes_agent.rs"),
        &["fn server(", "fn named("],
    ),
    (
        "webhooks",
        include_str!("../docs/webhooks.md"),
        include_str!("../examples/webhook_receiver.rs"),
        &["async fn print("],
    ),
];

/// A running example, killed when dropped.
struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    fn start(name: &str, directory: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(path_of(name))
            .args(arguments)
            .current_dir(directory)
            .env("API_KEY", KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("cannot start the example {name}, which `cargo test` builds: {error}")
            });
        let output = child.stdout.take().expect("the output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for the next line; panics if there is none.
    fn line(&self) -> String {
        let line = self.lines.recv_timeout(LIMIT);
        line.expect("the example prints another line in time")
    }

    /// Waits for a line that contains `text`.
    fn line_with(&self, text: &str) -> String {
        loop {
            let line = self.line();
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits until the program closes its output, and returns the lines since the last one that was read.
    fn rest(&self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => return lines,
                Err(RecvTimeoutError::Timeout) => panic!("the example goes on after {lines:?}"),
            }
        }
    }

    fn write(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("the input is piped");
        writeln!(input, "{line}").expect("the example reads its input");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn path_of(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test is known");
    let profile = test.parent().and_then(Path::parent);
    let examples = profile.expect("the test is in `deps`").join("examples");
    examples.join(format!("{example}{}", std::env::consts::EXE_SUFFIX))
}

fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let keys = format!("{KEY} ada scopes=tasks:read,tasks:write\n");
    std::fs::write(directory.path().join("keys.txt"), keys).expect("a file of keys");
    directory
}

fn start_agent(name: &str, directory: &Path) -> (Program, String) {
    let program = Program::start(name, directory, &[ANY_PORT]);
    let url = program.line();
    (program, url)
}

async fn connect(url: &str) -> Client {
    let builder = Client::builder(url).keyring(Keyring::default().api_key(KEY));
    builder.connect().await.expect("the agent has a card")
}

async fn task(call: SendMessageBuilder) -> Task {
    match call.deadline(LIMIT).await.expect("the agent answers") {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => panic!("not a task: {}", message.text()),
    }
}

#[test]
fn chapters_show_the_lines_of_the_examples() {
    for (name, chapter, example, parts) in CHAPTERS {
        let line_of = |line: &str| line.trim().trim_end_matches(';').to_owned();
        let known: HashSet<String> = example.lines().map(line_of).collect();
        let blocks: Vec<&str> = chapter.split("```rust").skip(1).collect();
        for part in parts {
            let block = blocks.iter().filter_map(|block| block.split("```").next());
            let block = block.into_iter().find(|block| block.contains(part));
            let block = block.unwrap_or_else(|| panic!("{name}: no block with `{part}`"));
            // The examples take addresses from their arguments, and need more names.
            let is_shared = |line: &&str| !line.contains("127.0.0.1") && !line.starts_with("use ");
            for line in block.lines().skip(1).filter(is_shared) {
                assert!(known.contains(&line_of(line)), "{name}, {part}: {line}");
            }
        }
    }
}

#[tokio::test]
async fn first_agent_answers() {
    let directory = directory();
    let (_agent, url) = start_agent("first_agent", directory.path());
    let client = connect(&url).await;
    let task = task(client.send("hello\nTODO ada: book a room")).await;
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(task.text(), "- ada: book a room");
    let help = client
        .send("hello")
        .deadline(LIMIT)
        .await
        .expect("a message");
    assert!(matches!(help, SendMessageResponse::Message(_)), "{help:?}");
}

#[tokio::test]
async fn conversation_asks_back_and_remembers_the_context() {
    let directory = directory();
    let (_agent, url) = start_agent("conversation", directory.path());
    let client = connect(&url).await;
    let asked = task(client.send("TODO ada: book a room\nTODO: order lunch")).await;
    assert_eq!(asked.status.state, TaskState::InputRequired);
    assert_eq!(asked.text(), "Who does this: order lunch?");

    let done = task(client.send("bob").task(asked.id)).await;
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(done.text(), "- ada: book a room\n- bob: order lunch\n");

    let context = done.context_id.expect("a context");
    let all = client.send("all").context(context).deadline(LIMIT).await;
    let all = all.expect("a message").text();
    assert_eq!(all, "- ada: book a room\n- bob: order lunch");
}

#[tokio::test]
async fn conversation_streams_until_it_is_canceled() {
    let directory = directory();
    let (_agent, url) = start_agent("conversation", directory.path());
    let client = connect(&url).await;
    let notes = "TODO ada: book a room\n".repeat(200);
    let mut events = client.send(notes).deadline(LIMIT).follow();
    let mut chunks = 0;
    while let Some(event) = events.next().await {
        if let Event::ArtifactUpdate(update) = event.expect("an event") {
            chunks += 1;
            if chunks == 2 {
                client.cancel_task(update.task_id).await.expect("canceled");
            }
        }
    }
    let task = events.task().expect("a task");
    assert_eq!(task.status.state, TaskState::Canceled);
    assert!((2..200).contains(&chunks), "{chunks}");
}

#[tokio::test]
async fn notes_agent_checks_keys() {
    let directory = directory();
    let (_agent, url) = start_agent("notes_agent", directory.path());
    let stranger = Client::connect(&url).await.expect("the card is public");
    let refused = stranger.send("TODO ada: book a room").deadline(LIMIT).await;
    let is_refused = matches!(
        refused,
        Err(Error::Refused { status: 401, .. } | Error::Credentials(_))
    );
    assert!(is_refused, "{refused:?}");
    let client = connect(&url).await;
    let message = Message::user("TODO me: book a room");
    let first = task(client.send(message.clone())).await;
    assert_eq!(first.text(), "- ada: book a room\n");
    // A message that is sent again gets the outcome of the first.
    assert_eq!(task(client.send(message)).await, first);
}

#[tokio::test]
async fn notes_agent_goes_on_after_a_kill_and_follow_misses_nothing() {
    let directory = directory();
    let (agent, url) = start_agent("notes_agent", directory.path());
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let notes: String = (0..6).map(|n| format!("TODO ada: number {n}\n")).collect();
    let follower = Program::start("follow", directory.path(), &[&url, &notes]);
    let mut lines = vec![follower.line_with("artifact")];
    drop(agent);
    let _agent = Program::start("notes_agent", directory.path(), &[address]);
    lines.extend(follower.rest());
    let text = lines.join("\n").replace("artifact ", "");
    for number in 0..6 {
        let line = format!("- ada: number {number}");
        assert_eq!(text.matches(&line).count(), 1, "{line} in: {text}");
    }
    assert!(text.contains("TASK_STATE_COMPLETED"), "{text}");
    assert!(!text.contains("after 0 reconnections"), "{text}");
}

#[tokio::test]
async fn webhook_receiver_verifies_and_prints_notifications() {
    let directory = directory();
    let (_agent, url) = start_agent("notes_agent", directory.path());
    let receiver = Program::start("webhook_receiver", directory.path(), &[&url, ANY_PORT]);
    let webhook = TaskPushNotificationConfig {
        url: receiver.line(),
        token: Some("token-of-the-hook".to_owned()),
        ..TaskPushNotificationConfig::default()
    };
    let call = connect(&url).await.send("TODO ada: book a room");
    task(call.webhook(webhook)).await;
    receiver.line_with("book a room");
    receiver.line_with("TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn client_answers_a_question_from_its_input() {
    let directory = directory();
    let (_agent, url) = start_agent("conversation", directory.path());
    let arguments = [&url, "TODO ada: book a room\nTODO: order lunch"];
    let mut client = Program::start("client", directory.path(), &arguments);
    client.line_with("TASK_STATE_INPUT_REQUIRED");
    client.line_with("Who does this: order lunch?");
    client.line_with("(ada, me)");
    client.write("ada");
    let rest = client.rest().join("\n");
    assert!(rest.contains("TASK_STATE_COMPLETED"), "{rest}");
    assert!(rest.contains("- ada: order lunch"), "{rest}");
}

/// A turn of an agent in this process.
struct Seen {
    task: TaskId,
    trace: Option<TraceContext>,
}

/// Serves an agent that says a word, and another after a permit of `gate`. Returns its URL, and its turns.
async fn serve_words(name: &str, gate: &Arc<Semaphore>) -> (String, Receiver<Seen>) {
    let (sender, seen) = channel();
    let gate = Arc::clone(gate);
    let agent = move |turn: Turn| {
        let (gate, sender) = (Arc::clone(&gate), sender.clone());
        async move {
            let (task, trace) = (turn.task_id().clone(), turn.trace().cloned());
            // The test may have ended.
            let _ = sender.send(Seen { task, trace });
            let words = turn.artifact("words").text("one ").send().await?;
            tokio::select! {
                permit = gate.acquire() => permit?.forget(),
                () = turn.canceled() => return Ok(()),
            }
            Ok(words.text("two").complete_task().await?)
        }
    };
    let server = Server::builder(AgentCard::new(name, "Says two words"), agent).build();
    let bound = server.expect("a server").bind(ANY_PORT).await;
    let bound = bound.expect("an address");
    let url = bound.url().to_string();
    tokio::spawn(bound.run(std::future::pending()));
    (url, seen)
}

/// Starts the orchestrator of two agents, and returns its client, too.
async fn orchestrate(directory: &Path, first: &str, second: &str) -> (Program, Client) {
    let program = Program::start("orchestrator", directory, &[first, second, ANY_PORT]);
    let client = connect(&program.line()).await;
    (program, client)
}

/// Reads events until there are chunks of `count` artifacts.
async fn read_chunks(events: &mut TaskEventStream, count: usize) {
    let mut artifacts = HashSet::new();
    while artifacts.len() < count {
        let event = events.next().await.expect("the stream goes on");
        if let Event::ArtifactUpdate(update) = event.expect("an event") {
            artifacts.insert(update.artifact.artifact_id);
        }
    }
}

/// Reads the other events, and returns the task.
async fn read_to_end(mut events: TaskEventStream) -> Task {
    while let Some(event) = events.next().await {
        event.expect("an event");
    }
    events.task().expect("a task").clone()
}

/// Returns the text of the artifact of a name.
fn artifact(task: &Task, name: &str) -> String {
    let mut artifacts = task.artifacts.iter();
    let artifact = artifacts.find(|artifact| artifact.name.as_deref() == Some(name));
    artifact
        .unwrap_or_else(|| panic!("no {name}: {task:?}"))
        .text()
}

#[tokio::test]
async fn orchestrator_passes_on_the_answers_of_two_agents() {
    let directory = directory();
    let (_agents, url) = start_agent("two_agents", directory.path());
    let (count, upper) = (format!("{url}/count"), format!("{url}/upper"));
    let (_program, client) = orchestrate(directory.path(), &count, &upper).await;
    let answer = task(client.send("one two three")).await;
    assert_eq!(answer.status.state, TaskState::Completed);
    assert_eq!(artifact(&answer, "Count"), "3 words");
    assert_eq!(artifact(&answer, "Upper"), "ONE TWO THREE");
}

#[tokio::test(flavor = "multi_thread")]
async fn orchestrator_merges_two_streams_in_one_trace() {
    let (directory, gate) = (directory(), Arc::new(Semaphore::new(0)));
    let (left, left_turns) = serve_words("Left", &gate).await;
    let (right, right_turns) = serve_words("Right", &gate).await;
    let (_program, client) = orchestrate(directory.path(), &left, &right).await;
    let trace = TraceContext::new([7; 16], [1; 8], true);
    let call = client.send("hello").trace(trace.clone());
    let mut events = call.deadline(LIMIT).follow();
    // Both agents wait after the first chunk: it is passed on at once.
    read_chunks(&mut events, 2).await;
    gate.add_permits(2);
    let task = read_to_end(events).await;
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(artifact(&task, "Left"), "one two");
    assert_eq!(artifact(&task, "Right"), "one two");
    for turns in [left_turns, right_turns] {
        let seen = turns.recv().expect("a turn").trace.expect("a trace");
        assert_eq!(
            Some(seen.trace_id()),
            trace.as_ref().map(TraceContext::trace_id)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orchestrator_cancels_both_agents() {
    let (directory, gate) = (directory(), Arc::new(Semaphore::new(0)));
    let (left, left_turns) = serve_words("Left", &gate).await;
    let (right, right_turns) = serve_words("Right", &gate).await;
    let (_program, client) = orchestrate(directory.path(), &left, &right).await;
    let mut events = client.send("hello").deadline(LIMIT).follow();
    read_chunks(&mut events, 2).await;
    let id = events.task().expect("a task").id.clone();
    let canceled = client.cancel_task(id).await.expect("canceled");
    assert_eq!(canceled.status.state, TaskState::Canceled);
    for (url, turns) in [(left, left_turns), (right, right_turns)] {
        let seen = turns.recv().expect("a turn");
        let remote = connect(&url).await.get_task(seen.task, None).await;
        let state = remote.expect("the task").status.state;
        assert_eq!(state, TaskState::Canceled, "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orchestrator_names_the_agent_that_was_killed_and_keeps_what_was_said() {
    let (directory, gate) = (directory(), Arc::new(Semaphore::new(0)));
    let (left, _turns) = serve_words("Left", &gate).await;
    let (notes, url) = start_agent("conversation", directory.path());
    let (_program, client) = orchestrate(directory.path(), &left, &url).await;
    let to_dos = "TODO ada: book a room\n".repeat(200);
    let mut events = client.send(to_dos).deadline(LIMIT).follow();
    read_chunks(&mut events, 2).await;
    drop(notes);
    gate.add_permits(1);
    let task = read_to_end(events).await;
    assert_eq!(task.status.state, TaskState::Failed);
    let reason = task.status.text();
    let expected = "the agent Notes did not finish: ";
    assert!(reason.starts_with(expected), "{reason}");
    assert_eq!(artifact(&task, "Left"), "one two");
    let written = artifact(&task, "Notes");
    assert!(written.starts_with("- ada: book a room\n"), "{written}");
}

/// Starts a service of chat completions that answers each request with the next list of deltas, and returns its URL.
fn chat_service(answers: &'static [&'static [&'static str]]) -> String {
    let service = std::net::TcpListener::bind(ANY_PORT).expect("a free port");
    let base_url = format!("http://{}/v1", service.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for deltas in answers {
            let (mut stream, _) = service.accept().expect("a connection");
            let mut request = BufReader::new(&stream).lines().map_while(Result::ok);
            let _ = request.find(|line| line.is_empty());
            let delta = |delta: &&str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
            let events: String = deltas.iter().map(delta).collect();
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = write!(stream, "{head}{events}data: [DONE]\n\n");
            // Until the agent closes the connection: it would be reset with a part of the request unread.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    base_url
}

#[tokio::test]
async fn model_agent_streams_the_answer_of_a_service() {
    let base_url = chat_service(&[&[r#"{"content":"It is "}"#, r#"{"content":"mild."}"#]]);
    let directory = directory();
    let arguments = [&*base_url, "tiny", ANY_PORT];
    let agent = Program::start("model_agent", directory.path(), &arguments);
    let answer = task(connect(&agent.line()).await.send("How is it?")).await;
    assert_eq!(answer.text(), "It is mild.");
}

#[tokio::test]
async fn model_with_tools_calls_a_tool_of_an_mcp_server() {
    let directory = directory();
    let (_first_agent, url) = start_agent("first_agent", directory.path());
    const CALL: &str = r#"{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"notes_main","arguments":"{\"message\":\"TODO ada: buy milk\"}"}}]}"#;
    let base_url = chat_service(&[&[CALL], &[r#"{"content":"It is noted."}"#]]);
    let bridge = path_of("mcp_bridge");
    let bridge = bridge.to_str().expect("a path in UTF-8");
    let arguments = [&*base_url, "tiny", ANY_PORT, bridge, &url];
    let agent = Program::start("model_with_tools", directory.path(), &arguments);
    let client = connect(&agent.line()).await;
    let answer = task(client.send("note milk")).await;
    assert_eq!(answer.text(), "It is noted.");
    let tasks = connect(&url).await.list_tasks(Default::default()).await;
    let tasks = tasks.expect("the tasks of the tool").tasks;
    let task = connect(&url)
        .await
        .get_task(tasks[0].id.clone(), None)
        .await;
    assert_eq!(
        task.expect("the task").history[0].text(),
        "TODO ada: buy milk"
    );
}

/// Makes the directory of the agent that deletes files, with two of them.
fn directory_with_files() -> tempfile::TempDir {
    let directory = directory();
    let files = directory.path().join("files");
    std::fs::create_dir(&files).expect("a directory");
    for name in ["a.tmp", "b.tmp", "c.txt"] {
        std::fs::write(files.join(name), "").expect("a file");
    }
    directory
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory.join("files")).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn approval_deletes_what_was_approved_also_after_a_kill() {
    let directory = directory_with_files();
    let (agent, url) = start_agent("approval", directory.path());
    let asked = task(connect(&url).await.send("delete .tmp")).await;
    assert_eq!(asked.status.state, TaskState::InputRequired);
    assert_eq!(asked.status.text(), "Delete 2 files? a.tmp, b.tmp");
    let question = asked.status.message.as_deref();
    let form = question.and_then(AnswerForm::of);
    let choices = ["approve", "decline"].map(str::to_owned).to_vec();
    assert_eq!(form, Some(AnswerForm::Choices(choices)));
    drop(agent);
    std::fs::write(directory.path().join("files/d.tmp"), "").expect("a file");

    let (_agent, url) = start_agent("approval", directory.path());
    let done = task(connect(&url).await.send("approve").task(asked.id)).await;
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(files(directory.path()), ["c.txt", "d.tmp"]);
}

#[tokio::test]
async fn approval_deletes_nothing_after_another_answer() {
    let directory = directory_with_files();
    let (_agent, url) = start_agent("approval", directory.path());
    let client = connect(&url).await;
    for answer in ["decline", "do not approve", ""] {
        let asked = task(client.send("delete .tmp")).await;
        let done = task(client.send(answer).task(asked.id)).await;
        assert_eq!(done.status.state, TaskState::Completed, "{answer}");
        assert_eq!(done.status.text(), "Declined: nothing was deleted");
    }
    // Without a question there is nothing to approve.
    let answer = client.send("approve").deadline(LIMIT).await;
    let answer = answer.expect("a message").text();
    assert!(answer.starts_with("Send a message"), "{answer}");
    assert_eq!(files(directory.path()), ["a.tmp", "b.tmp", "c.txt"]);
}

#[tokio::test]
async fn authenticator_lets_in_its_token_only() {
    let directory = directory();
    let (_agent, url) = start_agent("authenticator", directory.path());
    let refused = connect(&url).await.send("hello").deadline(LIMIT).await;
    assert!(
        matches!(refused, Err(Error::Refused { status: 401, .. })),
        "{refused:?}"
    );
    let bearer = agent2agent::client::credentials::bearer("token-of-ada").expect("a token");
    let client = connect(&url).await;
    let answer = task(client.send("hello").credentials(bearer)).await;
    assert_eq!(answer.text(), "Hello ada, you said: hello");
}
