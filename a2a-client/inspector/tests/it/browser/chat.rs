//! Screen of conversations.

use a2a_server::{Agent, Failure, Turn};
use a2a_types::{AgentCard, Content, Message, Part, TaskState};
use serde_json::json;

use super::browse;
use super::stream::say;
use crate::harness::{builder, joker, reference, started};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_the_agent_is_answered_and_the_conversation_is_read_again() {
    browse(async |window| {
        window.connect(&joker().await).await;
        window.go("/chat").await;
        window
            .click_text("[data-action=suggestion]", "tell me a joke")
            .await;
        window.click("[data-action=send]").await;
        let asked = "[data-row=task][data-state=input-required]";
        window.see_text(asked, "What about: chickens").await;
        let form = "[data-form=input-required]";
        window
            .fill(&format!("{form} [data-field=answer]"), "chickens")
            .await;
        window.click(&format!("{form} [data-action=answer]")).await;
        let ended = "[data-row=task][data-state=completed] [data-row=artifact]";
        window.see_text(ended, "To get to the other side.").await;
        window.see_text("[data-row=message]", "chickens").await;
        window.see_none("[data-form]").await;
        // The turn of the question and the turn of the joke.
        assert_eq!(window.count("[data-row=task]").await, 2);

        window.reload().await;
        window.see_text(ended, "To get to the other side.").await;
        window
            .see_text("[data-row=message]", "tell me a joke")
            .await;
        window.see_text("[data-row=message]", "chickens").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_files_and_data_reach_the_agent() {
    browse(async |window| {
        window.connect(&reference().await).await;
        window.go("/chat").await;
        let notes = window.file("notes.txt", b"the content of the notes");
        window.attach("[data-field=files]", &notes).await;
        window.see_text(".composer-files", "notes.txt").await;
        window.click("[data-action=add-data]").await;
        window
            .fill("[data-field=data]", r#"{"city": "Delft"}"#)
            .await;
        say(window, "parts of a message").await;
        // The agent sends back what it has received.
        let artifact = "[data-row=task][data-state=completed] [data-row=artifact]";
        for part in [
            "parts of a message",
            "notes.txt",
            "text/plain · 24 B",
            "the content of the notes",
            r#""city": "Delft""#,
        ] {
            window.see_text(artifact, part).await;
        }
        window
            .click(&format!("{artifact} [data-action=save-file]"))
            .await;
        let (name, text) = window.downloaded(".txt").await;
        assert_eq!(
            (name.as_str(), text.as_str()),
            ("notes.txt", "the content of the notes")
        );
        window.see_none(".composer-files .file-card").await;

        window.fill("[data-field=data]", "{\"city\": Delft}").await;
        window.click("[data-action=send]").await;
        window.see_text(".composer-data", "This is not JSON").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markdown_code_and_json_are_shown() {
    browse(async |window| {
        window.connect(&reference().await).await;
        window.go("/chat").await;
        say(window, MARKDOWN).await;
        let body = "[data-row=task][data-state=completed] .artifact-body";
        for (element, text) in [
            (".level-1", "Title"),
            ("strong", "bold"),
            ("ul li", "one"),
            ("figure.code figcaption", "rust"),
            ("figure.code code", "fn main() {}"),
            ("td", "cell"),
            ("a[href='https://example.org/'][rel~=noopener]", "link"),
        ] {
            window.see_text(&format!("{body} {element}"), text).await;
        }
        window.see_none(&format!("{body} script")).await;
        window.click("[data-action=plain]").await;
        window
            .see_text(&format!("{body} pre.plain-text"), "**bold**")
            .await;
        window.see_none(&format!("{body} strong")).await;

        window.click("[data-action=new-conversation]").await;
        say(window, "data").await;
        window
            .see_text(&format!("{body} .json"), r#""answer": 42"#)
            .await;
    })
    .await;
}

const MARKDOWN: &str = "echo # Title\n\nA **bold** word and a [link](https://example.org/).\n\n- one\n- two\n\n\
    ```rust\nfn main() {}\n```\n\n| head |\n|---|\n| cell |\n\n<script>alert(1)</script>";

/// Asks for an authorization, then with a form; ends with the data that it was given.
struct Form;

impl Agent for Form {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let message = turn.message();
        if let Some(data) = message
            .parts
            .iter()
            .find(|part| matches!(part.content, Content::Data(_)))
        {
            return Ok(turn.artifact("form").part(data.clone()).finish().await?);
        }
        let (state, part) = match turn.text().as_str() {
            "Authorized." => (
                TaskState::InputRequired,
                Part::data(json!({"schema": {
                    "properties": {
                        "amount": {"type": "integer", "title": "Amount"},
                        "currency": {"enum": ["EUR", "USD"], "title": "Currency"},
                    },
                    "required": ["amount"],
                }})),
            ),
            _ => (
                TaskState::AuthRequired,
                Part::text("Sign in at https://login.example/start"),
            ),
        };
        let mut question = Message::agent("");
        question.parts = vec![part];
        Ok(turn.status(state, Some(question)).await?)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_authorization_and_a_form_are_given() {
    browse(async |window| {
        let card = AgentCard::new("Form", "Asks");
        window.connect(&started(builder(card, Form)).await).await;
        window.go("/chat").await;
        say(window, "begin").await;
        let asked = "[data-state=auth-required] [data-form=auth-required]";
        window
            .see_text(
                &format!("{asked} a[href='https://login.example/start']"),
                "login.example",
            )
            .await;
        window.click(&format!("{asked} [data-action=answer]")).await;

        let form = "[data-state=input-required] [data-form=input-required]";
        window.click(&format!("{form} [data-action=answer]")).await;
        window.see_text(form, "The agent needs this value.").await;
        window
            .fill(&format!("{form} [data-field=amount]"), "12")
            .await;
        window
            .choose(&format!("{form} [data-field=currency]"), "\"EUR\"")
            .await;
        window.click(&format!("{form} [data-action=answer]")).await;
        let artifact = "[data-state=completed] [data-row=artifact]";
        window.see_text(artifact, r#""amount": 12"#).await;
        window.see_text(artifact, r#""currency": "EUR""#).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_agents_answer_side_by_side() {
    browse(async |window| {
        let one = window.connect(&reference().await).await;
        let other = window.connect(&joker().await).await;
        window.go(&format!("/chat/{other}")).await;
        window.click("[data-action=side-by-side]").await;
        window.click_text("[role=menuitem]", "Reference").await;
        window.see(&format!("[data-agent='{one}']")).await;
        say(window, "echo a chicken").await;
        for (agent, text) in [(one, "a chicken"), (other, "To get to the other side.")] {
            let artifact =
                format!("[data-agent='{agent}'] [data-state=completed] [data-row=artifact]");
            window.see_text(&artifact, text).await;
        }
        window.click("[data-action=single]").await;
        window.see("[data-action=side-by-side]").await;
        assert_eq!(window.count("[data-agent]").await, 1);
    })
    .await;
}
