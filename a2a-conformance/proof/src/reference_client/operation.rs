//! Performance of one operation by our client.

use std::time::Duration;

use a2a_client::credentials::Keyring;
use a2a_client::{Client, Error, Retries, StreamExt, TaskEventStream};
use a2a_transport::Binding;
use a2a_transport::sse::Bounds;
use a2a_types::TaskState;
use a2a_types::reading::Mode;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::instruction::{InstructionLine, unimplemented};
use super::performer::{MAX_BODY, Performer, silence_timeout};
use super::{faulty_reports, reports, tasks, trust};
use crate::client::{Bug, ClientSubject, lax_verifier, tampering};

/// Channel for reports while an operation is in progress.
type ReportSender = mpsc::UnboundedSender<Value>;

/// Performs the instruction of a line, and returns the final report.
pub(super) async fn perform(
    performer: &Performer,
    line: &InstructionLine,
    sender: ReportSender,
) -> Value {
    performer.session().begin(line);
    let outcome = match performer.has(Bug::Unending) {
        // It gives its caller no way to stop it, either.
        true => ask(performer, line, &sender).await,
        false => {
            let limit = 20 * silence_timeout(line);
            let outcome = tokio::time::timeout(limit, ask(performer, line, &sender)).await;
            outcome.unwrap_or_else(|_| Ok(json!({"error": {"kind": "TIMEOUT"}})))
        }
    };
    if let Some(proxy) = &performer.proxy
        && proxy.saw_late_events()
    {
        // The receiver is gone once the suite has closed the conversation.
        let _ = sender.send(json!({"event": {"status": {"state": "working"}}}));
    }
    let last = outcome.unwrap_or_else(|error| reports::error(&error));
    faulty_reports::misread(performer, line, last).await
}

async fn ask(
    performer: &Performer,
    line: &InstructionLine,
    sender: &ReportSender,
) -> Result<Value, Error> {
    if line.verify
        && let Err(problem) = trust::verified(performer, line).await?
    {
        return Ok(json!({"error": {"kind": "SIGNATURE", "message": problem}}));
    }
    if let (Some(bug @ (Bug::AnyHost | Bug::AnyTime)), Some(authority)) =
        (performer.subject.bug(), &line.ca)
    {
        // The outcome does not matter: the client must not send this request at all.
        drop(lax_verifier::ask(bug, &line.url, authority).await);
    }
    if line.op == "fetch_card" {
        let old = performer.session().old_card.clone();
        let card = match old {
            Some(card) => card,
            None => reports::card(&*performer.cards(line).find(&line.url).await?),
        };
        performer.session().old_card = performer.has(Bug::OldCard).then(|| card.clone());
        return Ok(json!({"result": {"card": card}}));
    }
    let connected = performer.session().client.clone();
    let client = match connected {
        Some(client) => client,
        None => client(performer, line).await?,
    };
    performer.session().client = Some(client.clone());
    let (task, detail) = (line.task.clone().unwrap_or_default(), line.detail);
    let result = match line.op.as_str() {
        "send_message" => {
            reports::response(&tasks::sending(performer, line, &client).await?, detail)
        }
        "stream" => {
            let updates = tasks::sending(performer, line, &client).follow();
            return follow_updates(updates, detail, sender).await;
        }
        "subscribe" => {
            return follow_updates(client.subscribe(task).await?, detail, sender).await;
        }
        "send_and_wait" => tasks::send_and_wait(performer, line, &client).await?,
        "assemble" => tasks::assemble(performer, line, &client).await?,
        "get_task" => {
            json!({"task": reports::task(&client.get_task(task, line.history).await?, detail)})
        }
        "cancel_task" => {
            json!({"task": reports::task(&client.cancel_task(task).await?, detail)})
        }
        "list_tasks" => {
            let mut tasks = Vec::new();
            let mut listing = line.list.clone();
            loop {
                let page = client.list_tasks(listing.clone()).await?;
                tasks.extend(page.tasks.iter().map(|task| reports::task(task, detail)));
                if page.next_page_token.is_empty() {
                    break json!({"tasks": tasks});
                }
                listing.page_token = page.next_page_token;
            }
        }
        "create_push_config" => {
            let config = client
                .create_push_config(tasks::config(performer, line))
                .await?;
            json!({"config": reports::config(&config)})
        }
        "get_push_config" => {
            let config = client.push_config(task, Some("config-1".into())).await?;
            json!({"config": reports::config(&config)})
        }
        "list_push_configs" => {
            let all = client.push_configs(task).await?;
            json!({"configs": all.iter().map(reports::config).collect::<Vec<_>>()})
        }
        "delete_push_config" => {
            client.delete_push_config(task, "config-1").await?;
            json!({})
        }
        "extended_card" => {
            let card = client.extended_card().await?;
            if performer.has(Bug::PublicCard) {
                performer.session().client = None;
            }
            json!({"card": reports::card(&card)})
        }
        other => return Ok(unimplemented(&format!("no operation `{other}`"))),
    };
    Ok(json!({"result": result}))
}

async fn client(performer: &Performer, line: &InstructionLine) -> Result<Client, Error> {
    let binding = match line.binding.as_str() {
        "HTTP+JSON" => Binding::HttpJson,
        "GRPC" => Binding::Grpc,
        _ => Binding::JsonRpc,
    };
    let mut keyring = Keyring::default();
    if let Some(token) = &line.credentials.bearer {
        keyring = keyring.bearer(token);
    }
    if let Some(key) = &line.credentials.api_key {
        keyring = keyring.api_key(key);
    }
    if let (Some(user), Some(password)) = (&line.credentials.user, &line.credentials.password) {
        keyring = match performer.has(Bug::BearsPassword) {
            true => keyring.basic(password, user),
            false => keyring.basic(user, password),
        };
    }
    let mut builder = Client::builder(&line.url)
        .http(performer.http(line))
        .binding(binding)
        .mode(match performer.has(Bug::AnyResponseId) {
            true => Mode::Lenient,
            false => Mode::Strict,
        })
        .keyring(keyring);
    if !performer.has(Bug::AnyVersion) {
        builder = builder.protocol_version(line.protocol_version());
    }
    let mut bounds = Bounds::default();
    let most = match performer.has(Bug::UnboundedLine) {
        true => usize::MAX,
        false => MAX_BODY,
    };
    (bounds.line, bounds.event) = (most, most);
    builder = builder.bounds(bounds);
    let credulous = [Bug::ForeignOrigin, Bug::Downgrade, Bug::AnyHeader];
    if credulous.into_iter().any(|bug| performer.has(bug)) {
        builder = trust::credulous(performer, line, builder).await?;
    }
    if let ClientSubject::Mutant(bug) = performer.subject {
        builder = builder.wrap(move |inner| tampering(bug, inner));
    }
    let retries = match performer.has(Bug::ReconnectStorm) {
        true => Retries::default()
            .reconnections(u32::MAX)
            .base(Duration::ZERO),
        false => Retries::default()
            .attempts(3)
            .reconnections(3)
            .base(Duration::from_millis(40)),
    };
    Ok(builder.connect().await?.retries(retries))
}

async fn follow_updates(
    mut updates: TaskEventStream,
    detail: bool,
    sender: &ReportSender,
) -> Result<Value, Error> {
    while let Some(event) = updates.next().await {
        // The receiver is gone once the suite has closed the conversation.
        let _ = sender.send(json!({"event": reports::event(&event?, detail)}));
    }
    let state = updates.task().map(|task| task.status.state);
    Ok(json!({"done": true, "completed": state.map(|state| state == TaskState::Completed)}))
}
