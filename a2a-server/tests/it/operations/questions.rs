//! Questions that say how they can be answered, and what a turn knows of its caller's wishes.

use a2a_client::Client;
use a2a_server::{Failure, Server, Turn};
use a2a_types::extension::question::AnswerForm;
use a2a_types::{Message, Part, Role, TaskState};
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
    use a2a_client::StreamExt;
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
