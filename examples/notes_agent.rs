//! The whole agent of the book: it asks back, streams, keeps its tasks in a SQLite file and takes them up again after a
//! restart, lets in callers with an API key, and sends webhooks. Chapters: docs/first-agent.md to docs/webhooks.md.
//!
//! ```console
//! $ key=$(openssl rand -hex 16)
//! $ echo "$key ada scopes=tasks:read,tasks:write" > keys.txt
//! $ cargo run --example notes_agent
//! $ a2a chat http://127.0.0.1:8080 --api-key "$key"
//! ```
//!
//! It reads keys.txt and writes notes.db in the working directory. An argument is the address to listen at, in place of
//! 127.0.0.1:8080.

use std::collections::BTreeSet;
use std::time::Duration;

use agent2agent::auth::{AnyOf, ApiKeys, OperationScopes};
use agent2agent::server::{Algorithm, Recovery, SigningKey, WebhookKeys, WebhookPolicy};
use agent2agent::types::Role;
use agent2agent::{Agent, AgentCard, Failure, Message, Server, SqliteStore, Turn};

struct Notes;

impl Agent for Notes {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        // The caller's messages in this task: the notes, and then an answer to each question.
        let history = turn.task().await?.history;
        let of_caller = history.iter().filter(|message| message.role == Role::User);
        let mut texts = of_caller.map(Message::text);
        let notes = texts.next().unwrap_or_default();
        if notes == "all" {
            return all(&turn).await;
        }
        let mut lines = Vec::new();
        for (owner, to_do) in to_dos(&notes) {
            let owner = match owner {
                "" => texts.next(),
                name => Some(name.to_owned()),
            };
            let Some(owner) = owner else {
                return ask(&turn, &notes, to_do).await;
            };
            let owner = named(&turn, owner);
            lines.push(format!("- {owner}: {to_do}\n"));
        }
        if lines.is_empty() {
            turn.reply("Send notes with lines like this one: TODO ada: book a room")
                .await?;
            return Ok(());
        }
        write(&turn, &lines).await
    }
}

/// Returns the owner, which may be empty, and the text of each line that begins with TODO.
fn to_dos(notes: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = notes.lines().filter_map(|line| line.strip_prefix("TODO"));
    lines.map(|line| {
        let (owner, to_do) = line.split_once(':').unwrap_or(("", line));
        (owner.trim(), to_do.trim())
    })
}

/// Returns the owner, or the name of the caller in place of "me".
fn named(turn: &Turn, owner: String) -> String {
    match turn.principal().name() {
        Some(caller) if owner == "me" => caller.to_owned(),
        _ => owner,
    }
}

/// Asks for the owner of a to-do: the answer begins the next turn.
async fn ask(turn: &Turn, notes: &str, to_do: &str) -> Result<(), Failure> {
    let owners = to_dos(notes).map(|(owner, _)| owner);
    let mut choices: BTreeSet<_> = owners.chain(["me"]).collect();
    choices.remove("");
    turn.ask_choice(format!("Who does this: {to_do}?"), choices)
        .await?;
    Ok(())
}

/// Appends lines to those of the artifact, one after the other, until the caller cancels the task.
async fn write(turn: &Turn, lines: &[String]) -> Result<(), Failure> {
    turn.working(format!("writing {} lines", lines.len()))
        .await?;
    let (mut list, written) = turn.resume_artifact("to-dos").await?;
    for line in lines.iter().skip(written.lines().count()) {
        tokio::select! {
            // Stands for the work on a line.
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
            () = turn.canceled() => return Ok(()),
        }
        list = list.text(line).send().await?;
    }
    list.complete_task().await?;
    Ok(())
}

/// Answers with the to-dos of the earlier tasks of this context.
async fn all(turn: &Turn) -> Result<(), Failure> {
    let messages = turn.conversation().await?;
    let of_agent = messages
        .iter()
        .filter(|message| message.role == Role::Agent);
    let texts: Vec<_> = of_agent.map(Message::text).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let to_dos: Vec<_> = lines.filter(|line| line.starts_with("- ")).collect();
    turn.reply(to_dos.join("\n")).await?;
    Ok(())
}

/// Makes the server.
fn server(agent: impl Agent) -> Result<Server, Box<dyn std::error::Error>> {
    let card = AgentCard::new("Notes", "Finds the to-dos in the notes of a meeting");
    let keys = ApiKeys::header("x-api-key")?.file("keys.txt")?;
    let builder = Server::builder(card, agent)
        .store(SqliteStore::open("notes.db")?)
        .recovery(Recovery::Resume)
        .authenticator(AnyOf::new(("key", keys)))
        .authorizer(OperationScopes::default())
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .sign_webhooks(WebhookKeys::new(SigningKey::generate(Algorithm::Es256)?));
    Ok(builder.build()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = std::env::args().nth(1);
    let address = argument.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let bound = server(Notes)?.bind(address).await?;
    println!("{}", bound.url());
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    bound.run(stop).await?;
    Ok(())
}
