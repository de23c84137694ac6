//! Questions that say how they can be answered, and the circumstances that a turn knows: extensions, usage, the conversation.

use a2a_client::{Client, StreamExt};
use a2a_server::{Failure, Server, Turn};
use a2a_types::extension::question::AnswerForm;
use a2a_types::extension::usage::TokenUsage;
use a2a_types::{Event, Message, Part, Role, SendMessageResponse, TaskState};
use serde::Deserialize;
use serde_json::json;

use crate::engine::{card, task};

#[derive(Deserialize)]
struct Trip {
    city: String,
}

async fn travel_agent(turn: Turn) -> Result<(), Failure> {
    match turn.text().as_str() {
        "begin" => turn.ask_choice("By train?", ["yes", "no"]).await?,
        "yes" => {
            let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
            let schema = schema.as_object().cloned().unwrap_or_default();
            turn.ask_form("Where to?", schema).await?;
        }
        _ => {
            let trip: Trip = turn.answer()?;
            turn.artifact("ticket")
                .text(trip.city)
                .complete_task()
                .await?;
        }
    }
    Ok(())
}

/// Returns the form of the answer to a task's question.
fn form(task: &a2a_types::Task) -> Option<AnswerForm> {
    assert_eq!(task.status.state, TaskState::InputRequired);
    AnswerForm::of(task.status.message.as_ref()?)
}

#[tokio::test]
async fn choices_and_forms_are_asked_for_and_answered() {
    let server = Server::builder(card(), travel_agent).build().unwrap();
    let client = Client::new(server);
    let asked = task(client.send("begin").await.unwrap());
    let choices = ["yes", "no"].map(str::to_owned).to_vec();
    assert_eq!(form(&asked), Some(AnswerForm::Choices(choices)));
    let asked = task(client.send("yes").task(asked.id).await.unwrap());
    assert!(matches!(form(&asked), Some(AnswerForm::Schema(_))));
    let form = Message::new(Role::User, vec![Part::data(json!({"city": "Ulm"}))]);
    let done = task(client.send(form).task(asked.id).await.unwrap());
    assert_eq!(
        (done.status.state, done.text().as_str()),
        (TaskState::Completed, "Ulm")
    );
    // Without a data part the text is read.
    let done = task(client.send(r#"{"city": "Bonn"}"#).await.unwrap());
    assert_eq!(done.text(), "Bonn");
    let failed = task(client.send("somewhere").await.unwrap());
    assert_eq!(failed.status.state, TaskState::Failed);
}

#[tokio::test]
async fn a_turn_knows_the_extensions_that_its_caller_wants() {
    let agent = async |turn: Turn| Ok::<_, Failure>(turn.reply(turn.extensions().join(" ")).await?);
    let client = Client::new(Server::builder(card(), agent).build().unwrap());
    let sent = client.send("go").extensions(["urn:one", "urn:two"]);
    assert_eq!(sent.await.unwrap().text(), "urn:one urn:two");
}

#[tokio::test]
async fn all_tasks_are_streamed_page_by_page() {
    use a2a_types::ListTasksRequest;

    let agent = async |turn: Turn| Ok::<_, Failure>(turn.working("on it").await?);
    let client = Client::new(Server::builder(card(), agent).build().unwrap());
    for _ in 0..5 {
        client.send("go").await.unwrap();
    }
    let pages = ListTasksRequest {
        page_size: Some(2),
        ..ListTasksRequest::default()
    };
    let tasks: Vec<_> = client.tasks(pages).collect().await;
    assert_eq!(tasks.len(), 5);
    assert!(tasks.iter().all(Result::is_ok));
}

/// Uses tokens, and asks once: `ask` first, then anything.
async fn counting_agent(turn: Turn) -> Result<(), Failure> {
    turn.usage(TokenUsage::new(100, 7));
    turn.usage(TokenUsage::new(10, 1));
    match turn.text().as_str() {
        "ask" => turn.ask("Which one?").await?,
        "reply" => turn.reply("short").await?,
        "complete" => {
            let artifact = turn.artifact("answer").text("long");
            artifact.complete_task().await?;
        }
        "fail" => return Err("the model is away".into()),
        _ => {}
    }
    Ok(())
}

#[tokio::test]
async fn the_usage_of_all_turns_is_summed_in_the_last_status_and_in_the_task() {
    let server = Server::builder(card(), counting_agent).build().unwrap();
    let client = Client::new(server);
    for text in ["complete", "return", "fail"] {
        let done = task(client.send(text).await.unwrap());
        assert_eq!(done.usage(), Some(TokenUsage::new(110, 8)), "{text}");
    }
    let asked = task(client.send("ask").await.unwrap());
    assert_eq!(asked.usage(), Some(TokenUsage::new(110, 8)));
    let events: Vec<_> = client
        .send("complete")
        .task(asked.id)
        .follow()
        .collect()
        .await;
    let Some(Ok(Event::StatusUpdate(last))) = events.last() else {
        panic!("{events:?}");
    };
    let usage = TokenUsage::of(last.metadata.as_ref());
    assert_eq!(usage, Some(TokenUsage::new(220, 16)));
    let SendMessageResponse::Message(reply) = client.send("reply").await.unwrap() else {
        panic!("expected a message");
    };
    let usage = TokenUsage::of(reply.metadata.as_ref());
    assert_eq!(usage, Some(TokenUsage::new(110, 8)));
}

/// Answers with the conversation, a message a line.
async fn remembering_agent(turn: Turn) -> Result<(), Failure> {
    let messages = turn.conversation().await?;
    let line = |message: &Message| format!("{:?}: {}", message.role, message.text());
    let lines: Vec<_> = messages.iter().map(line).collect();
    let question = turn.question().await?.map(|question| question.text());
    assert_eq!(question.is_some(), turn.text() == "all");
    assert!(question.is_none_or(|text| text == "Which one?"));
    if turn.text() == "ask" {
        turn.ask("Which one?").await?;
    } else if turn.text() == "all" {
        let artifact = turn.artifact("lines").text(lines.join("\n"));
        artifact.complete_task().await?;
    } else {
        let artifact = turn.artifact("echo").text(turn.text().to_uppercase());
        artifact.complete_task().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_turn_reads_the_conversation_of_its_context() {
    let server = Server::builder(card(), remembering_agent).build().unwrap();
    let client = Client::new(server);
    let first = task(client.send("one").await.unwrap());
    let context = first.context_id.unwrap();
    let asked = task(client.send("ask").context(context.clone()).await.unwrap());
    client.send("elsewhere").await.unwrap();
    let all = task(client.send("all").task(asked.id).await.unwrap());
    let lines = [
        "User: one",
        "Agent: ONE",
        "User: ask",
        "Agent: Which one?",
        "User: all",
    ];
    assert_eq!(all.text(), lines.join("\n"));
}
