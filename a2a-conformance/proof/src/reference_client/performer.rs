//! Performance of one operation by our client.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_client::credentials::Keyring;
use a2a_client::{
    Cards, Client, Error, HttpClient, HttpClientBuilder, Proxy, Retries, StreamExt, Timeouts, Tls,
    Updates,
};
use a2a_transport::Binding;
use a2a_transport::sse::Bounds;
use a2a_types::TaskState;
use a2a_types::reading::Mode;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::instruction::{InstructionLine, unimplemented};
use super::reports;
use crate::client::{Bug, ClientSubject, TamperingProxy, lax_verifier, tampering};

/// Our client, with the bug or peculiarity of its subject.
pub(super) struct Performer {
    pub(super) subject: ClientSubject,
    /// Proxy between the client and everything that it calls.
    pub(super) proxy: Option<Arc<TamperingProxy>>,
    /// State that lasts for one case.
    pub(super) session: Mutex<Session>,
}

/// State that lasts for one case.
#[derive(Default)]
pub(super) struct Session {
    /// Case, version, binding and URL: the port of an earlier agent may be used again.
    of: [String; 4],
    cards: Option<Cards>,
    client: Option<Client>,
    /// Card that a client with a bug keeps forever.
    old_card: Option<Value>,
    /// Counter of a client with a bug.
    count: u128,
}

impl Session {
    /// Drops the state of another case.
    fn begin(&mut self, line: &InstructionLine) {
        let of = [&line.case, &line.dialect, &line.binding, &line.url].map(String::clone);
        if self.of != of {
            *self = Self {
                of,
                ..Self::default()
            };
        }
    }
}

/// Channel for reports while an operation is in progress.
type ReportSender = mpsc::UnboundedSender<Value>;

impl Performer {
    /// Performs the instruction of a line, and returns the final report.
    pub(super) async fn perform(&self, line: &InstructionLine, sender: ReportSender) -> Value {
        self.session().begin(line);
        let outcome = match self.has(Bug::Unending) {
            // It gives its caller no way to stop it, either.
            true => self.ask(line, &sender).await,
            false => {
                let limit = 20 * silence_timeout(line);
                let outcome = tokio::time::timeout(limit, self.ask(line, &sender)).await;
                outcome.unwrap_or_else(|_| Ok(json!({"error": {"kind": "TIMEOUT"}})))
            }
        };
        if let Some(proxy) = &self.proxy
            && proxy.saw_late_events()
        {
            // The receiver is gone once the suite has closed the conversation.
            let _ = sender.send(json!({"event": {"status": {"state": "working"}}}));
        }
        let last = outcome.unwrap_or_else(|error| reports::error(&error));
        self.misread(line, last).await
    }

    pub(super) fn has(&self, bug: Bug) -> bool {
        self.subject.has(bug)
    }

    async fn ask(&self, line: &InstructionLine, sender: &ReportSender) -> Result<Value, Error> {
        if line.verify
            && let Err(problem) = self.verified(line).await?
        {
            return Ok(json!({"error": {"kind": "SIGNATURE", "message": problem}}));
        }
        if let (Some(bug @ (Bug::AnyHost | Bug::AnyTime)), Some(authority)) =
            (self.subject.bug(), &line.ca)
        {
            // The outcome does not matter: the client must not send this request at all.
            drop(lax_verifier::ask(bug, &line.url, authority).await);
        }
        if line.op == "fetch_card" {
            let old = self.session().old_card.clone();
            let card = match old {
                Some(card) => card,
                None => reports::card(&*self.cards(line).find(&line.url).await?),
            };
            self.session().old_card = self.has(Bug::OldCard).then(|| card.clone());
            return Ok(json!({"result": {"card": card}}));
        }
        let connected = self.session().client.clone();
        let client = match connected {
            Some(client) => client,
            None => self.client(line).await?,
        };
        self.session().client = Some(client.clone());
        let (task, detail) = (line.task.clone().unwrap_or_default(), line.detail);
        let result = match line.op.as_str() {
            "send_message" => reports::response(&self.sending(line, &client).await?, detail),
            "stream" => {
                let updates = self.sending(line, &client).follow();
                return follow_updates(updates, detail, sender).await;
            }
            "subscribe" => {
                return follow_updates(client.subscribe(task).await?, detail, sender).await;
            }
            "send_and_wait" => self.send_and_wait(line, &client).await?,
            "assemble" => self.assemble(line, &client).await?,
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
                let config = client.create_push_config(self.config(line)).await?;
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
                if self.has(Bug::PublicCard) {
                    self.session().client = None;
                }
                json!({"card": reports::card(&card)})
            }
            other => return Ok(unimplemented(&format!("no operation `{other}`"))),
        };
        Ok(json!({"result": result}))
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        // Every change is of one member, so a panic elsewhere leaves it whole.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next number, from 1.
    pub(super) fn count(&self) -> u128 {
        let mut session = self.session();
        session.count += 1;
        session.count
    }

    /// Returns the cards of the case, which are kept for as long as the agent allows.
    fn cards(&self, line: &InstructionLine) -> Cards {
        let mut session = self.session();
        let make = || Cards::new(self.http(line).build());
        session.cards.get_or_insert_with(make).clone()
    }

    async fn client(&self, line: &InstructionLine) -> Result<Client, Error> {
        let binding = match line.binding.as_str() {
            "HTTP+JSON" => Binding::HttpJson,
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
            keyring = match self.has(Bug::BearsPassword) {
                true => keyring.basic(password, user),
                false => keyring.basic(user, password),
            };
        }
        let mut builder = Client::builder(&line.url)
            .http(self.http(line))
            .binding(binding)
            .mode(match self.has(Bug::AnyResponseId) {
                true => Mode::Lenient,
                false => Mode::Strict,
            })
            .keyring(keyring);
        if !self.has(Bug::AnyVersion) {
            builder = builder.dialect(line.dialect());
        }
        let mut bounds = Bounds::default();
        let most = match self.has(Bug::UnboundedLine) {
            true => usize::MAX,
            false => MAX_BODY,
        };
        (bounds.line, bounds.event) = (most, most);
        builder = builder.bounds(bounds);
        let credulous = [Bug::ForeignOrigin, Bug::Downgrade, Bug::AnyHeader];
        if credulous.into_iter().any(|bug| self.has(bug)) {
            builder = self.credulous(line, builder).await?;
        }
        if let ClientSubject::Mutant(bug) = self.subject {
            builder = builder.wrap(move |inner| tampering(bug, inner));
        }
        let retries = match self.has(Bug::ReconnectStorm) {
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

    pub(super) fn http(&self, line: &InstructionLine) -> HttpClientBuilder {
        let silence_timeout = match self.has(Bug::Unending) {
            true => Duration::from_secs(3600),
            false => silence_timeout(line),
        };
        let mut timeouts = Timeouts::default();
        timeouts.connect = Duration::from_secs(10);
        timeouts.first_byte = silence_timeout;
        timeouts.idle = silence_timeout;
        timeouts.body = 10 * silence_timeout;
        let most = match self.has(Bug::UnboundedBody) {
            true => 1 << 40,
            false => MAX_BODY,
        };
        let mut http = HttpClient::builder().timeouts(timeouts).limit(most);
        if let Some(pem) = &line.ca
            && let Ok(tls) = Tls::default().trust(pem.as_bytes())
        {
            http = http.tls(tls);
        }
        if let Some(proxy) = &self.proxy
            && let Ok(proxy) = Proxy::at(proxy.url())
        {
            http = http.proxy(proxy);
        }
        http
    }
}

/// Maximum bytes of an answer or an event.
const MAX_BODY: usize = 2 << 20;

async fn follow_updates(
    mut updates: Updates,
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

fn silence_timeout(line: &InstructionLine) -> Duration {
    Duration::from_millis(line.patience_ms.unwrap_or(9000))
}
