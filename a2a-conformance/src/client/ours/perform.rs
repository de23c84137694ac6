//! One operation, by our client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2a_client::credentials::Keyring;
use a2a_client::{
    Cards, Client, ClientBuilder, Error, HttpClient, HttpClientBuilder, Origin, Proxy, Retries,
    StreamExt, Timeouts, Tls, Updates,
};
use a2a_transport::Binding;
use a2a_transport::sse::Bounds;
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, ListTasksRequest, Message, SecurityScheme, TaskState};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Line, digest, unimplemented};
use crate::client::jws::{self, Rules};
use crate::mutant::client::{Bug, Meddler, Subject, meddling};

/// Our client, perhaps wrong or odd.
pub(super) struct Performer {
    pub(super) subject: Subject,
    /// What stands between the client and all that it calls.
    pub(super) meddler: Option<Arc<Meddler>>,
    /// The cards of each agent.
    pub(super) cards: Mutex<HashMap<String, Cards>>,
}

/// What is told while something goes on.
type Say = mpsc::UnboundedSender<Value>;

impl Performer {
    /// Does what the line says: the last word.
    pub(super) async fn perform(&self, line: &Line, say: Say) -> Value {
        let outcome = match self.has(Bug::Unending) {
            // It gives its caller no way to stop it, either.
            true => self.ask(line, &say).await,
            false => {
                let limit = 20 * patience(line);
                let outcome = tokio::time::timeout(limit, self.ask(line, &say)).await;
                outcome.unwrap_or_else(|_| Ok(json!({"error": {"kind": "TIMEOUT"}})))
            }
        };
        let last = outcome.unwrap_or_else(|error| digest::error(&error));
        self.misread(line, last).await
    }

    fn has(&self, bug: Bug) -> bool {
        self.subject.has(bug)
    }

    async fn ask(&self, line: &Line, say: &Say) -> Result<Value, Error> {
        if line.verify
            && let Err(problem) = self.verified(line).await?
        {
            return Ok(json!({"error": {"kind": "SIGNATURE", "message": problem}}));
        }
        if line.op == "fetch_card" {
            let card = self.cards(line).find(&line.url).await?;
            return Ok(json!({"result": {"card": digest::card(&card)}}));
        }
        let client = self.client(line).await?;
        let task = || line.task.clone().unwrap_or_default();
        let result = match line.op.as_str() {
            "send_message" => {
                let mut sending = client.send(message(line));
                if let Some(extension) = &line.extension {
                    sending = sending.extensions([extension]);
                }
                digest::response(&sending.await?)
            }
            "stream" => return tell(client.stream(message(line)).await?, say).await,
            "subscribe" => return tell(client.subscribe(task()).await?, say).await,
            "get_task" => {
                json!({"task": digest::task(&client.get_task(task(), line.history).await?)})
            }
            "cancel_task" => json!({"task": digest::task(&client.cancel_task(task()).await?)}),
            "list_tasks" => {
                let mut tasks = Vec::new();
                let mut asked = ListTasksRequest::default();
                loop {
                    let page = client.list_tasks(asked.clone()).await?;
                    tasks.extend(page.tasks.iter().map(digest::task));
                    if page.next_page_token.is_empty() {
                        break json!({"tasks": tasks});
                    }
                    asked.page_token = page.next_page_token;
                }
            }
            "create_push_config" => {
                let config = line.config.clone().unwrap_or_default();
                json!({"config": digest::config(&client.create_push_config(config).await?)})
            }
            "get_push_config" => {
                let config = client.push_config(task(), Some("config-1".into())).await?;
                json!({"config": digest::config(&config)})
            }
            "list_push_configs" => {
                let all = client.push_configs(task()).await?;
                json!({"configs": all.iter().map(digest::config).collect::<Vec<_>>()})
            }
            "delete_push_config" => {
                client.delete_push_config(task(), "config-1").await?;
                json!({})
            }
            "extended_card" => json!({"card": digest::card(&*client.extended_card().await?)}),
            other => return Ok(unimplemented(&format!("no operation `{other}`"))),
        };
        Ok(json!({"result": result}))
    }

    /// Every agent's cards are kept for as long as it allows.
    fn cards(&self, line: &Line) -> Cards {
        // Every change is one insertion, so a panic elsewhere leaves the map whole.
        let mut cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        let cards = cards.entry(line.url.clone());
        cards
            .or_insert_with(|| Cards::new(self.http(line).build()))
            .clone()
    }

    async fn client(&self, line: &Line) -> Result<Client, Error> {
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
        let mut builder = Client::builder(&line.url)
            .http(self.http(line))
            .dialect(line.dialect())
            .binding(binding)
            .mode(match self.has(Bug::AnyResponseId) {
                true => Mode::Lenient,
                false => Mode::Strict,
            })
            .keyring(keyring);
        if self.has(Bug::UnboundedLine) {
            builder = builder.bounds(Bounds {
                line: usize::MAX,
                event: usize::MAX,
            });
        }
        let credulous = [Bug::ForeignOrigin, Bug::Downgrade, Bug::AnyHeader];
        if credulous.into_iter().any(|bug| self.has(bug)) {
            builder = self.credulous(line, builder).await?;
        }
        if let Subject::Mutant(bug) = self.subject {
            builder = builder.wrap(move |inner| meddling(bug, inner));
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

    fn http(&self, line: &Line) -> HttpClientBuilder {
        let patience = match self.has(Bug::Unending) {
            true => Duration::from_secs(3600),
            false => patience(line),
        };
        let mut http = HttpClient::builder().timeouts(Timeouts {
            connect: Duration::from_secs(2),
            first_byte: patience,
            idle: patience,
            body: 10 * patience,
        });
        if self.has(Bug::UnboundedBody) {
            http = http.limit(1 << 40);
        }
        if let Some(pem) = &line.ca
            && let Ok(tls) = Tls::default().trust(pem.as_bytes())
        {
            http = http.tls(tls);
        }
        if let Some(meddler) = &self.meddler
            && let Ok(proxy) = Proxy::at(meddler.url())
        {
            http = http.proxy(proxy);
        }
        http
    }

    /// Whether one of the trusted keys has signed the card.
    async fn verified(&self, line: &Line) -> Result<Result<(), String>, Error> {
        let url = format!(
            "{}{}",
            line.url.trim_end_matches('/'),
            line.dialect().card_path()
        );
        let http = self.http(line).build();
        let fetched = http.get(&url, &HeaderMap::new()).await?;
        let card: Value = serde_json::from_slice(&fetched.body).unwrap_or_default();
        let mut keys = line.keys.keys.clone();
        if self.has(Bug::AnyKeyUrl)
            && let Some(url) = jws::key_url(&card)
        {
            let fetched = http.get(&url, &HeaderMap::new()).await?;
            let found: super::Keys = serde_json::from_slice(&fetched.body).unwrap_or_default();
            keys.extend(found.keys);
        }
        let rules = Rules {
            any_algorithm: self.has(Bug::AnyAlgorithm),
            any_signature: self.has(Bug::BadSignature),
        };
        Ok(jws::verify(&card, &keys, rules))
    }

    /// Believes what a card says about whom to show credentials, and how.
    async fn credulous(
        &self,
        line: &Line,
        mut builder: ClientBuilder,
    ) -> Result<ClientBuilder, Error> {
        let card = Cards::new(self.http(line).build()).find(&line.url).await?;
        let is_plain = line.url.starts_with("http://");
        let bug = if is_plain {
            Bug::ForeignOrigin
        } else {
            Bug::Downgrade
        };
        if self.has(bug) {
            for interface in &card.supported_interfaces {
                if Origin::of(&interface.url).is_ok() {
                    builder = builder.trust_origin(&interface.url);
                }
            }
        }
        if self.has(Bug::AnyHeader)
            && let (Some(key), Some(name)) = (&line.credentials.api_key, key_header(&card))
            && let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(key),
            )
        {
            builder = builder.keyring(Keyring::default()).header(name, value);
        }
        Ok(builder)
    }

    /// What a client with a bug makes of the end.
    async fn misread(&self, line: &Line, last: Value) -> Value {
        let refused = last.pointer("/error/message").and_then(Value::as_str);
        if self.has(Bug::ErrorIsSuccess)
            && line.op == "send_message"
            && let Some(text) = refused.filter(|text| text.starts_with("the agent answered"))
        {
            return json!({"result": {"message": {"text": text}}});
        }
        if self.has(Bug::KnownStatesOnly) && last["result"]["task"]["state"] == "unknown" {
            return json!({"error": {"kind": "MALFORMED", "message": "an unknown state"}});
        }
        if self.has(Bug::NeverDone)
            && last["done"] == true
            && let Some(meddler) = &self.meddler
        {
            meddler.all_ended().await;
        }
        last
    }
}

async fn tell(mut updates: Updates, say: &Say) -> Result<Value, Error> {
    while let Some(event) = updates.next().await {
        // Nobody listens any more once the suite has hung up.
        let _ = say.send(json!({"event": digest::event(&event?)}));
    }
    Ok(
        json!({"done": true, "state": updates.task().map(|task| task.status.state == TaskState::Completed)}),
    )
}

fn message(line: &Line) -> Message {
    let mut message = Message::user(line.text.clone().unwrap_or_else(|| "hello".to_owned()));
    message.task_id = line.task.clone().map(Into::into);
    message.context_id = line.context.clone().map(Into::into);
    message
}

fn patience(line: &Line) -> Duration {
    Duration::from_millis(line.patience_ms.unwrap_or(3000))
}

/// The header that a card wants a key in.
fn key_header(card: &AgentCard) -> Option<String> {
    card.security_schemes
        .values()
        .find_map(|scheme| match scheme {
            SecurityScheme::ApiKeySecurityScheme(scheme) => Some(scheme.name.clone()),
            _ => None,
        })
}
