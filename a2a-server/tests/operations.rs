//! What every operation does, asked in each generation over a socket and in process.

use std::sync::Arc;

use a2a_client::{Client, Error, Event, HttpTransport, SendMessageResponse, StreamExt};
use a2a_server::{Agent, Failure, Principal, Server, Transport, Turn};
use a2a_transport::{BoxFuture, Call, Reply};
use a2a_types::{
    AgentCard, Dialect, ErrorKind, Message, Part, SendMessageConfiguration, SendMessageRequest,
    Task, TaskPushNotificationConfig, TaskState,
};
use tokio::sync::Notify;

/// Does what it is told.
#[derive(Clone, Default)]
struct Obedient {
    go_on: Arc<Notify>,
}

impl Agent for Obedient {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        let (command, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match command {
            "echo" => turn.artifact("echo").text(rest).done().await?,
            "ask" => turn.ask(rest).await?,
            "reply" => turn.reply(Message::agent(rest)).await?,
            "reject" => turn.reject(rest).await?,
            "fail" => return Err("the secret reason".into()),
            "panic" => panic!("the secret reason"),
            "wait" => {
                turn.working("waiting").await?;
                turn.canceled().await;
            }
            "detach" => {
                turn.working("this takes long").await?;
                turn.detach().await?;
                self.go_on.notified().await;
            }
            "count" => {
                let mut numbers = turn.artifact("numbers");
                for number in 0..rest.parse::<u32>()? {
                    numbers = numbers.text(number.to_string()).send().await?;
                }
                numbers.done().await?;
            }
            "late" => {
                turn.complete().await?;
                let refused = turn.working("too late").await.unwrap_err().to_string();
                assert!(refused.contains("TASK_STATE_COMPLETED"), "{refused}");
            }
            other => return Err(format!("unknown command {other}").into()),
        }
        Ok(())
    }
}

fn card() -> AgentCard {
    let mut card = AgentCard::new("Obedient", "Does what it is told");
    card.capabilities.push_notifications = Some(true);
    card
}

/// A client of each generation to one server, over a socket.
async fn clients(agent: Obedient, dialects: &[Dialect]) -> Vec<(Dialect, Client)> {
    let server = Server::builder(card(), agent).build().unwrap();
    let mut clients = Vec::new();
    for &dialect in dialects {
        let bound = server.bind("127.0.0.1:0").await.unwrap().prefer(dialect);
        clients.push((dialect, Client::connect(&bound.url(), dialect).unwrap()));
        tokio::spawn(bound.run(std::future::pending()));
    }
    clients
}

const ALL: &[Dialect] = Dialect::ALL;
const SINCE_0_2: &[Dialect] = &[Dialect::V0_2, Dialect::V0_3, Dialect::V1_0];

fn task(response: SendMessageResponse) -> Task {
    match response {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => panic!("expected a task, got {message:?}"),
    }
}

fn to(task: &Task, text: &str) -> Message {
    Message {
        task_id: Some(task.id.clone()),
        context_id: task.context_id.clone(),
        ..Message::user(text)
    }
}

/// A first message; in 0.1 its sender names the task.
fn first(dialect: Dialect, text: &str) -> Message {
    Message {
        task_id: (dialect == Dialect::V0_1).then(a2a_types::TaskId::random),
        ..Message::user(text)
    }
}

#[track_caller]
fn assert_kind<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind) {
    match result {
        Err(Error::Agent(error)) => assert_eq!(error.kind, kind, "{error}"),
        other => panic!("expected {kind:?}, got {other:?}"),
    }
}

#[tokio::test]
async fn a_message_is_answered_by_a_task() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let task = task(client.send(first(dialect, "echo hello")).await.unwrap());
        assert_eq!(task.status.state, TaskState::Completed, "{dialect}");
        assert_eq!(task.artifacts[0].parts, [Part::text("hello")], "{dialect}");
        let kept = usize::from(dialect != Dialect::V0_1);
        assert_eq!(task.history.len(), kept, "{dialect}");

        let whole = client.get_task(task.id.clone(), Some(10)).await.unwrap();
        assert_eq!(whole.history[0].text(), "echo hello", "{dialect}");
        let none = client.get_task(task.id.clone(), Some(0)).await.unwrap();
        assert!(none.history.is_empty(), "{dialect}");
        assert_kind(
            client.get_task("unknown", None).await,
            ErrorKind::TaskNotFound,
        );
    }
}

#[tokio::test]
async fn a_message_is_answered_by_a_message() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let message = match client.send(first(dialect, "reply hello")).await.unwrap() {
            SendMessageResponse::Message(message) => message,
            // 0.1 knows no direct answer.
            SendMessageResponse::Task(task) => {
                assert_eq!(
                    (dialect, task.status.state),
                    (Dialect::V0_1, TaskState::Completed)
                );
                task.status.message.unwrap()
            }
        };
        assert_eq!(message.text(), "hello", "{dialect}");
        let mut updates = client.stream(first(dialect, "reply hello")).await.unwrap();
        let mut last = None;
        while let Some(event) = updates.next().await {
            last = Some(event.unwrap());
        }
        let message = match last.unwrap() {
            Event::Message(message) => message,
            Event::StatusUpdate(update) => update.status.message.unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(message.text(), "hello", "{dialect}");
    }
}

#[tokio::test]
async fn a_stream_tells_everything_in_order() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let mut updates = client.stream(first(dialect, "count 100")).await.unwrap();
        let mut text = String::new();
        let mut chunks = 0;
        let mut last = None;
        while let Some(event) = updates.next().await {
            match event.unwrap() {
                Event::ArtifactUpdate(update) => {
                    assert_eq!(update.append, chunks > 0, "{dialect}");
                    chunks += 1;
                    let parts = update.artifact.parts.iter();
                    text.extend(parts.filter_map(Part::as_text));
                }
                Event::StatusUpdate(update) => last = Some(update.status.state),
                Event::Task(task) => {
                    assert_eq!(task.status.state, TaskState::Submitted, "{dialect}")
                }
                Event::Message(message) => panic!("{message:?}"),
            }
        }
        assert_eq!(
            text,
            (0..100)
                .map(|number| number.to_string())
                .collect::<String>(),
            "{dialect}"
        );
        assert_eq!(chunks, 101, "{dialect}");
        assert_eq!(last, Some(TaskState::Completed), "{dialect}");
    }
}

#[tokio::test]
async fn an_agent_asks_back() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let asked = task(
            client
                .send(first(dialect, "ask which phone?"))
                .await
                .unwrap(),
        );
        assert_eq!(asked.status.state, TaskState::InputRequired, "{dialect}");
        assert_eq!(
            asked.status.message.as_ref().unwrap().text(),
            "which phone?"
        );
        let done = task(client.send(to(&asked, "echo android")).await.unwrap());
        assert_eq!(
            (&done.id, done.status.state),
            (&asked.id, TaskState::Completed),
            "{dialect}"
        );
        let whole = client.get_task(done.id, Some(10)).await.unwrap();
        let said: Vec<_> = whole.history.iter().map(Message::text).collect();
        assert_eq!(
            said,
            ["ask which phone?", "which phone?", "echo android"],
            "{dialect}"
        );

        let mut stranger = to(&asked, "echo x");
        stranger.context_id = Some("another".into());
        assert_kind(client.send(stranger).await, ErrorKind::InvalidParams);
    }
}

#[tokio::test]
async fn an_ended_task_takes_no_message_but_in_0_1() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let ended = task(client.send(first(dialect, "echo one")).await.unwrap());
        let again = client.send(to(&ended, "echo two")).await;
        if dialect == Dialect::V0_1 {
            let again = task(again.unwrap());
            assert_eq!(again.status.state, TaskState::Completed);
            assert_eq!(again.artifacts.len(), 2);
        } else {
            assert_kind(again, ErrorKind::UnsupportedOperation);
            let unknown = Message {
                task_id: Some("unknown".into()),
                ..Message::user("echo x")
            };
            assert_kind(client.send(unknown).await, ErrorKind::TaskNotFound);
        }
    }
}

#[tokio::test]
async fn a_task_is_canceled() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let mut updates = client.stream(first(dialect, "wait")).await.unwrap();
        let id = updates
            .next()
            .await
            .unwrap()
            .unwrap()
            .task_id()
            .unwrap()
            .clone();
        let canceled = client.cancel_task(id.clone()).await.unwrap();
        assert_eq!(canceled.status.state, TaskState::Canceled, "{dialect}");
        let mut last = None;
        while let Some(event) = updates.next().await {
            last = event.unwrap().status().map(|status| status.state);
        }
        assert_eq!(
            last,
            Some(TaskState::Canceled),
            "{dialect}: every open stream is told"
        );
        // Once more changes nothing.
        assert_eq!(
            client.cancel_task(id).await.unwrap().status.state,
            TaskState::Canceled
        );

        let waits = task(client.send(first(dialect, "ask ?")).await.unwrap());
        assert_eq!(
            client.cancel_task(waits.id).await.unwrap().status.state,
            TaskState::Canceled
        );
        let ended = task(client.send(first(dialect, "echo x")).await.unwrap());
        assert_kind(
            client.cancel_task(ended.id).await,
            ErrorKind::TaskNotCancelable,
        );
        assert_kind(client.cancel_task("unknown").await, ErrorKind::TaskNotFound);
    }
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_stopped() {
    let deaf = |turn: Turn| async move {
        turn.working("deaf").await?;
        std::future::pending::<()>().await;
        Ok::<(), Failure>(())
    };
    let server = Server::builder(card(), deaf);
    let server = server
        .cancel_grace(std::time::Duration::from_millis(10))
        .build()
        .unwrap();
    let client = Client::new(server);
    let mut updates = client.stream("go").await.unwrap();
    let id = updates
        .next()
        .await
        .unwrap()
        .unwrap()
        .task_id()
        .unwrap()
        .clone();
    assert_eq!(
        client.cancel_task(id).await.unwrap().status.state,
        TaskState::Canceled
    );
}

#[tokio::test]
async fn a_failure_is_opaque() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        for command in ["fail", "panic"] {
            let failed = task(client.send(first(dialect, command)).await.unwrap());
            assert_eq!(
                failed.status.state,
                TaskState::Failed,
                "{dialect} {command}"
            );
            let told = format!("{failed:?}");
            assert!(
                !told.contains("secret") && told.contains("Correlation id"),
                "{told}"
            );
        }
        let rejected = task(client.send(first(dialect, "reject no")).await.unwrap());
        assert_eq!(rejected.status.state, TaskState::Rejected, "{dialect}");
        let late = task(client.send(first(dialect, "late")).await.unwrap());
        assert_eq!(late.status.state, TaskState::Completed, "{dialect}");
    }
}

#[tokio::test]
async fn who_does_not_want_to_wait_does_not() {
    for (dialect, client) in clients(Obedient::default(), SINCE_0_2).await {
        let at_once = SendMessageRequest {
            message: Message::user("wait"),
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        };
        let task = task(client.send_with(at_once).await.unwrap());
        assert!(!task.status.state.is_terminal(), "{dialect}");
        client.cancel_task(task.id).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_lets_waiting_callers_go() {
    let agent = Obedient::default();
    for (dialect, client) in clients(agent.clone(), &[Dialect::V0_1, Dialect::V0_2]).await {
        let working = task(client.send(first(dialect, "detach")).await.unwrap());
        assert_eq!(working.status.state, TaskState::Working, "{dialect}");
        let mut updates = client.subscribe(working.id.clone()).await.unwrap();
        assert!(updates.next().await.unwrap().is_ok());
        agent.go_on.notify_one();
        let mut last = None;
        while let Some(event) = updates.next().await {
            last = event.unwrap().status().map(|status| status.state);
        }
        assert_eq!(last, Some(TaskState::Completed), "{dialect}");
    }
}

#[tokio::test]
async fn an_ended_task_is_followed_as_its_generation_says() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let ended = task(client.send(first(dialect, "echo x")).await.unwrap());
        let followed = client.subscribe(ended.id).await;
        if dialect == Dialect::V1_0 {
            // The error comes before the stream does.
            assert_kind(followed.map(|_| ()), ErrorKind::UnsupportedOperation);
            continue;
        }
        let mut updates = followed.unwrap();
        let mut last = None;
        while let Some(event) = updates.next().await {
            last = event.unwrap().status().map(|status| status.state);
        }
        assert_eq!(last, Some(TaskState::Completed), "{dialect}");
    }
}

#[tokio::test]
async fn a_message_to_a_busy_agent_is_its_next_turn() {
    let ask_or_answer = |turn: Turn, go_on: Arc<Notify>| async move {
        if turn.text() == "begin" {
            turn.working("busy").await?;
            turn.detach().await?;
            go_on.notified().await;
            turn.ask("more?").await?;
        } else {
            turn.artifact("answer").text(turn.text()).done().await?;
        }
        Ok::<(), Failure>(())
    };
    for dialect in [Dialect::V0_1, Dialect::V0_2] {
        let go_on = Arc::new(Notify::new());
        let release = Arc::clone(&go_on);
        let server = Server::builder(card(), move |turn| ask_or_answer(turn, Arc::clone(&go_on)))
            .build()
            .unwrap();
        let bound = server.bind("127.0.0.1:0").await.unwrap().prefer(dialect);
        let client = Client::connect(&bound.url(), dialect).unwrap();
        tokio::spawn(bound.run(std::future::pending()));

        let busy = task(client.send(first(dialect, "begin")).await.unwrap());
        let mut updates = client.subscribe(busy.id.clone()).await.unwrap();
        updates.next().await.unwrap().unwrap();
        let second = client.send(to(&busy, "second"));
        let (second, ()) = tokio::join!(second, async { release.notify_one() });
        drop(second);
        // The first turn asks, the message that waited answers, the second turn completes.
        loop {
            let now = client.get_task(busy.id.clone(), Some(10)).await.unwrap();
            if now.status.state.is_terminal() {
                assert_eq!(now.artifacts[0].parts, [Part::text("second")], "{dialect}");
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn webhooks_are_kept() {
    for (dialect, client) in clients(Obedient::default(), ALL).await {
        let ended = task(client.send(first(dialect, "echo x")).await.unwrap());
        let config = |id: &str, url: &str| TaskPushNotificationConfig {
            id: id.into(),
            task_id: ended.id.clone(),
            url: url.to_owned(),
            token: Some("token".to_owned()),
            ..TaskPushNotificationConfig::default()
        };
        let made = client
            .create_push_config(config("", "https://a.example/"))
            .await
            .unwrap();
        assert!(!made.id.is_empty(), "{dialect}: without an id it gets one");
        client
            .create_push_config(config("two", "https://b.example/"))
            .await
            .unwrap();
        let read = client
            .push_config(ended.id.clone(), Some(made.id.clone()))
            .await
            .unwrap();
        let several = dialect != Dialect::V0_1;
        let expected = if several {
            "https://a.example/"
        } else {
            "https://b.example/"
        };
        assert_eq!(read.url, expected, "{dialect}: 0.1 has but one");
        assert_eq!(read.token.as_deref(), Some("token"));
        if several {
            assert_eq!(
                client.push_configs(ended.id.clone()).await.unwrap().len(),
                2,
                "{dialect}"
            );
            client
                .delete_push_config(ended.id.clone(), "two")
                .await
                .unwrap();
            client
                .delete_push_config(ended.id.clone(), "two")
                .await
                .unwrap();
            assert_eq!(
                client.push_configs(ended.id.clone()).await.unwrap().len(),
                1,
                "{dialect}"
            );
        } else {
            let listed = client.push_configs(ended.id.clone()).await;
            assert!(
                matches!(listed, Err(Error::NotSupported { .. })),
                "{listed:?}"
            );
        }
        let unknown = TaskPushNotificationConfig {
            task_id: "unknown".into(),
            ..config("", "https://a.example/")
        };
        assert_kind(
            client.create_push_config(unknown).await,
            ErrorKind::TaskNotFound,
        );
    }
}

#[tokio::test]
async fn what_the_card_does_not_promise_is_refused() {
    let mut card = AgentCard::new("Plain", "No streams, no webhooks");
    card.capabilities.streaming = None;
    let client = Client::new(Server::builder(card, Obedient::default()).build().unwrap());
    assert_kind(
        client.stream("echo x").await.map(|_| ()),
        ErrorKind::UnsupportedOperation,
    );
    assert_kind(
        client.subscribe("t").await.map(|_| ()),
        ErrorKind::UnsupportedOperation,
    );
    assert_kind(
        client.push_configs("t").await,
        ErrorKind::PushNotificationNotSupported,
    );
    assert_kind(
        client.extended_card().await,
        ErrorKind::UnsupportedOperation,
    );
    let picture = SendMessageRequest {
        message: Message::user("echo x"),
        configuration: Some(SendMessageConfiguration {
            accepted_output_modes: vec!["image/png".to_owned()],
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    };
    assert_kind(
        client.send_with(picture).await,
        ErrorKind::ContentTypeNotSupported,
    );
}

#[tokio::test]
async fn another_callers_task_is_not_there() {
    /// Calls a server in somebody's name.
    struct As(Server, &'static str);
    impl Transport for As {
        fn call(&self, mut call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
            call.context.principal = Principal::named(self.1);
            self.0.call(call)
        }
    }
    let server = Server::builder(card(), Obedient::default())
        .build()
        .unwrap();
    let alice = Client::new(As(server.clone(), "alice"));
    let mallory = Client::new(As(server, "mallory"));
    let mut updates = alice.stream("wait").await.unwrap();
    let id = updates
        .next()
        .await
        .unwrap()
        .unwrap()
        .task_id()
        .unwrap()
        .clone();
    let config = TaskPushNotificationConfig {
        task_id: id.clone(),
        url: "https://m.example/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    let message = Message {
        task_id: Some(id.clone()),
        ..Message::user("echo mine")
    };
    assert_kind(
        mallory.get_task(id.clone(), None).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.cancel_task(id.clone()).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.subscribe(id.clone()).await.map(|_| ()),
        ErrorKind::TaskNotFound,
    );
    assert_kind(mallory.send(message).await, ErrorKind::TaskNotFound);
    assert_kind(
        mallory.create_push_config(config).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.push_config(id.clone(), None).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.push_configs(id.clone()).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.delete_push_config(id.clone(), "x").await,
        ErrorKind::TaskNotFound,
    );
    let mine = alice.cancel_task(id).await.unwrap();
    assert_eq!(mine.status.state, TaskState::Canceled);
}

#[tokio::test]
async fn every_follower_sees_the_same_at_its_own_pace() {
    let agent = Obedient::default();
    let server = Server::builder(card(), agent.clone()).build().unwrap();
    let client = Client::new(server);
    let mut first = client.stream("count 1000").await.unwrap();
    let id = first
        .next()
        .await
        .unwrap()
        .unwrap()
        .task_id()
        .unwrap()
        .clone();
    let mut followers = Vec::new();
    for number in 0..32_u32 {
        let (client, id) = (client.clone(), id.clone());
        followers.push(tokio::spawn(async move {
            let Ok(mut updates) = client.subscribe_after(id, Some(1)).await else {
                return None;
            };
            let mut seen = vec![1];
            while let Some(event) = updates.next().await {
                event.unwrap();
                seen.extend(updates.generation());
                if seen.len() as u32 % (number + 1) == 0 {
                    tokio::task::yield_now().await;
                }
            }
            Some(seen)
        }));
    }
    while first.next().await.is_some() {}
    let all: Vec<u64> = (1..=1003).collect();
    for follower in followers {
        // A follower that came after the end was refused, as 1.0 says.
        if let Some(seen) = follower.await.unwrap() {
            assert_eq!(seen, all);
        }
    }
}

#[tokio::test]
async fn nobody_leaving_stops_the_agent() {
    let agent = Obedient::default();
    for (dialect, client) in clients(agent.clone(), &[Dialect::V0_1, Dialect::V0_2]).await {
        let mut updates = client.stream(first(dialect, "detach")).await.unwrap();
        let id = updates
            .next()
            .await
            .unwrap()
            .unwrap()
            .task_id()
            .unwrap()
            .clone();
        drop(updates);
        agent.go_on.notify_one();
        let mut again = client.subscribe(id).await.unwrap();
        let mut last = None;
        while let Some(event) = again.next().await {
            last = event.unwrap().status().map(|status| status.state);
        }
        assert_eq!(last, Some(TaskState::Completed), "{dialect}");
    }
}

#[tokio::test]
async fn a_client_finds_its_way_by_the_card() {
    let server = Server::builder(card(), Obedient::default())
        .build()
        .unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    let client = Client::discover(&url).await.unwrap();
    assert_eq!(client.card().unwrap().name, "Obedient");
    assert_eq!(
        task(client.send("echo found").await.unwrap()).artifacts[0].parts,
        [Part::text("found")]
    );
    let nobody = HttpTransport::new("http://127.0.0.1:1/", Dialect::V0_2).unwrap();
    let refused = Client::new(nobody).send("x").await;
    assert!(matches!(refused, Err(Error::Connection(_))), "{refused:?}");
}
