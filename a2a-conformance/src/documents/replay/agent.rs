//! Replay of the documented requests to our server, whose answers are compared with the documented ones.

use std::collections::BTreeMap;
use std::path::Path;

#[cfg(not(feature = "sqlite"))]
use a2a_server::MemoryStore;
#[cfg(feature = "sqlite")]
use a2a_server::SqliteStore;
use a2a_server::{AuthError, Authenticator, Principal, Server};
use a2a_transport::BoxFuture;
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, schema};
use http::request::Parts;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::ends::Ends;
use super::profile;
use super::result::{Direction, ReplayResult};
use crate::documents::compare::{Bindings, Rules, compare};
use crate::documents::corpus::{
    Corpus, Example, Exchange, ExchangeStep, MatchMode, Release, StrictVerdict,
};
use crate::documents::printed_example;
use crate::documents::reference::Reference;
use crate::documents::verdict::{operation_of, validate};
use crate::wire::caller::{IncomingResponse, PlainCaller, SILENCE_TIMEOUT};

/// Replays one exchange in every form of its requests.
pub(super) async fn replay(
    corpus: &Corpus,
    exchange: &Exchange,
    ends: &dyn Ends,
) -> Vec<ReplayResult> {
    let mut outcomes = Vec::new();
    for direction in [
        Direction::AgentCorrected,
        Direction::AgentPrinted,
        Direction::AgentStrict,
    ] {
        let mode = match direction {
            Direction::AgentPrinted => Mode::Lenient,
            _ => Mode::Strict,
        };
        let problems = match ReplayServer::start(corpus, exchange, mode, ends).await {
            Ok(mut server) => {
                let run = async {
                    match direction {
                        Direction::AgentStrict => server.refusals().await,
                        _ => server.play(direction == Direction::AgentPrinted).await,
                    }
                };
                match tokio::time::timeout(6 * SILENCE_TIMEOUT, run).await {
                    Ok(()) => std::mem::take(&mut server.problems),
                    Err(_) => vec![format!("{}: the exchange does not end", exchange.id)],
                }
            }
            Err(problem) => vec![format!("{}: {problem}", exchange.id)],
        };
        outcomes.push(ReplayResult {
            document: exchange.id.split('-').next().unwrap_or_default().to_owned(),
            id: exchange.id.clone(),
            direction,
            problems,
        });
    }
    outcomes
}

/// A server with the reference agent on a real socket, and a caller.
struct ReplayServer<'a> {
    corpus: &'a Corpus,
    exchange: &'a Exchange,
    reference: Reference,
    caller: PlainCaller,
    path: &'static str,
    bindings: Bindings,
    problems: Vec<String>,
    server: JoinHandle<()>,
    /// Directory in which the server keeps its tasks.
    _directory: TempDir,
}

/// Opens the store of a server: a file in this directory.
#[cfg(feature = "sqlite")]
fn open_store(directory: &Path) -> Result<SqliteStore, a2a_server::StoreError> {
    SqliteStore::open(directory.join("tasks.db"))
}

/// Opens the store of a server: in memory.
#[cfg(not(feature = "sqlite"))]
fn open_store(_: &Path) -> Result<MemoryStore, std::convert::Infallible> {
    Ok(MemoryStore::default())
}

impl Drop for ReplayServer<'_> {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl<'a> ReplayServer<'a> {
    async fn start(
        corpus: &'a Corpus,
        exchange: &'a Exchange,
        mode: Mode,
        ends: &dyn Ends,
    ) -> Result<Self, String> {
        let message = |error: &dyn std::fmt::Display| error.to_string();
        let reference = Reference::new(exchange.agent.clone());
        let mut card = card_of(corpus, exchange);
        if exchange.profile {
            profile::declare_on(&mut card);
        }
        let directory = tempfile::tempdir().map_err(|error| message(&error))?;
        let store = open_store(directory.path());
        let store = store.map_err(|error| message(&error))?;
        let server = Server::builder(card.clone(), reference.clone()).store(store);
        let server = match card.capabilities.extended_agent_card {
            Some(true) => server.extended_card(card),
            _ => server,
        };
        let server = server.build().map_err(|error| message(&error))?;
        let path = match exchange.steps.iter().any(|step| {
            step.get
                .as_deref()
                .is_some_and(|get| get.starts_with("/a2a"))
        }) {
            true => "/a2a/v1",
            false => "/",
        };
        let bound = server
            .bind("127.0.0.1:0")
            .await
            .map_err(|error| message(&error))?;
        let bound = bound.path(path).mode(mode).authenticator(TokenForCard);
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .map_err(|error| message(&error))?;
        let address = listener.local_addr().map_err(|error| message(&error))?;
        Ok(Self {
            corpus,
            exchange,
            reference,
            caller: PlainCaller::new(address),
            path,
            bindings: Bindings::default(),
            problems: Vec::new(),
            server: tokio::spawn(ends.serve(listener, bound.service())),
            _directory: directory,
        })
    }

    fn problem(&mut self, example: &str, problem: impl std::fmt::Display) {
        self.problems.push(format!("{example}: {problem}"));
    }

    async fn post(
        &self,
        text: String,
        headers: &BTreeMap<String, String>,
    ) -> Result<IncomingResponse, String> {
        let sent = self.caller.send(Method::POST, self.path, headers, text);
        sent.await
    }

    /// Plays the whole exchange, with its requests as printed or as corrected.
    async fn play(&mut self, as_printed: bool) {
        for id in &self.exchange.given {
            if let Err(problem) = self.give(self.corpus.example(id)).await {
                self.problem(id, problem);
            }
        }
        for step in &self.exchange.steps {
            if step.release == Some(Release::Before) {
                self.reference.release();
                self.reference.ended(1).await;
            }
            let label = step
                .request
                .as_ref()
                .or(step.get.as_ref())
                .map_or("", String::as_str);
            let played = match (&step.request, &step.get) {
                (Some(request), _) => {
                    let request = self.corpus.example(request);
                    self.ask(step, request, as_printed).await
                }
                (None, Some(path)) => self.fetch(step, path).await,
                (None, None) => Err("the step asks for nothing".to_owned()),
            };
            if let Err(problem) = played {
                self.problem(label, problem);
            }
        }
    }

    /// Sends a request and ignores its answer.
    async fn give(&mut self, request: &Example) -> Result<(), String> {
        let text = request.corrected.clone().unwrap_or_default();
        self.bindings
            .keep_ids_of(&serde_json::from_str(&text).unwrap_or_default());
        let reply = self.post(text, &BTreeMap::new()).await?;
        match operation_of(request).is_some_and(a2a_types::Operation::is_stream) {
            // The caller disconnects while the agent works.
            true => self.reference.held().await,
            false => {
                reply.json().await?;
            }
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        step: &ExchangeStep,
        request: &Example,
        as_printed: bool,
    ) -> Result<(), String> {
        let printed = printed_example::read(&request.printed);
        let mut text = request.corrected.clone().unwrap_or_default();
        if as_printed && printed.is_json() {
            text = printed.text;
        } else if as_printed {
            let reply = self.post(printed.text, &step.headers).await?;
            let answer = reply.json().await?;
            if answer["error"]["code"] != -32700 {
                return Err(format!("$.error.code: expected -32700, found {answer}"));
            }
        }
        let mut sent: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        self.bindings.keep_ids_of(&sent["params"]);
        if let Some(id) = &step.id {
            sent["id"] = id.clone();
            text = sent.to_string();
        }
        if step.declares {
            profile::declare_in(&mut sent);
            text = sent.to_string();
        }
        let text = self.bindings.apply(&text);
        let id = sent.get("id").cloned().unwrap_or(Value::Null);
        let reply = self.post(text, &step.headers).await?;
        let status = reply.head.status;
        if status != StatusCode::OK {
            return Err(format!("HTTP status: expected 200, found {status}"));
        }
        match operation_of(request).is_some_and(a2a_types::Operation::is_stream) {
            true => self.check_stream(step, request, reply, &id).await,
            false => self.check_answer(step, request, reply, &id).await,
        }
    }

    async fn check_answer(
        &mut self,
        step: &ExchangeStep,
        request: &Example,
        reply: IncomingResponse,
        id: &Value,
    ) -> Result<(), String> {
        if reply.media_type() != "application/json" {
            return Err(format!(
                "content-type: expected application/json, found {:?}",
                reply.media_type()
            ));
        }
        let found = reply.json().await?;
        match &step.answer {
            Some(answer) => {
                let expected = self
                    .corpus
                    .example(answer)
                    .corrected_value()
                    .unwrap_or_default();
                self.check_message(answer, step, request, expected, &found, id);
            }
            None => {
                let result = step.result.as_ref().unwrap_or(&found["result"]);
                let expected = json!({"jsonrpc": "2.0", "id": id, "result": result});
                self.check_message(&request.id, step, request, expected, &found, id);
            }
        }
        Ok(())
    }

    async fn check_stream(
        &mut self,
        step: &ExchangeStep,
        request: &Example,
        mut reply: IncomingResponse,
        id: &Value,
    ) -> Result<(), String> {
        if reply.media_type() != "text/event-stream" {
            return Err(format!(
                "content-type: expected text/event-stream, found {:?}",
                reply.media_type()
            ));
        }
        let before = step.before.iter().map(|result| {
            (
                request.id.clone(),
                json!({"jsonrpc": "2.0", "id": id, "result": result}),
            )
        });
        let events = step.events.iter().map(|event| {
            (
                event.clone(),
                self.corpus
                    .example(event)
                    .corrected_value()
                    .unwrap_or_default(),
            )
        });
        let expected: Vec<_> = before.chain(events).collect();
        let first = reply.event().await?;
        if step.release == Some(Release::Subscribed) {
            self.reference.release();
        }
        let mut found = first;
        for (label, expected) in expected {
            let Some(event) = found else {
                return Err(format!(
                    "{label}: $: expected an event, found the end of the stream"
                ));
            };
            self.check_message(&label, step, request, expected, &event, id);
            found = match step.open && step.events.last() == Some(&label) {
                true => return Ok(()),
                false => reply.event().await?,
            };
        }
        // An exchange without documented events only has to end.
        while let Some(event) = found {
            if !step.events.is_empty() {
                return Err(format!("$: expected the end of the stream, found {event}"));
            }
            found = reply.event().await?;
        }
        Ok(())
    }

    fn check_message(
        &mut self,
        label: &str,
        step: &ExchangeStep,
        request: &Example,
        mut expected: Value,
        found: &Value,
        id: &Value,
    ) {
        expected["id"] = id.clone();
        if let Some(Value::Array(history)) = expected.pointer_mut("/result/history") {
            history.splice(0..0, step.history_first.iter().cloned());
        }
        let rules = Rules {
            allow: &step.allow,
            ..Rules::default()
        };
        for difference in compare(&expected, found, &mut self.bindings, rules) {
            self.problem(label, difference);
        }
        let definition =
            operation_of(request).and_then(|op| schema::response_definition(request.dialect, op));
        // The id of an answer to a request without one is null, which the schemas do not foresee.
        if let Some(definition) = definition.filter(|_| !id.is_null())
            && let Err(violation) = validate(request.dialect, definition, found)
        {
            self.problem(label, violation);
        }
    }

    async fn fetch(&mut self, step: &ExchangeStep, path: &str) -> Result<(), String> {
        let reply = self
            .caller
            .send(Method::GET, path, &step.headers, String::new());
        let reply = reply.await?;
        let (status, found) = (step.status.unwrap_or(200), reply.head.status);
        if found != status {
            return Err(format!("HTTP status: expected {status}, found {found}"));
        }
        if status == 401 && !reply.head.headers.contains_key("www-authenticate") {
            return Err("WWW-Authenticate: missing".to_owned());
        }
        if status != 200 {
            return Ok(());
        }
        let found = reply.json().await?;
        validate(self.exchange.dialect, "AgentCard", &found)?;
        if let Some(answer) = &step.answer {
            let expected = self
                .corpus
                .example(answer)
                .corrected_value()
                .unwrap_or_default();
            let rules = Rules {
                allow: &step.allow,
                matching: Some(step.matching.unwrap_or(MatchMode::Contains)),
                ..Rules::default()
            };
            for difference in compare(&expected, &found, &mut self.bindings, rules) {
                self.problem(answer, difference);
            }
        }
        Ok(())
    }

    /// Sends the printed requests that a strict server must refuse.
    async fn refusals(&mut self) {
        let requests = self
            .exchange
            .steps
            .iter()
            .filter_map(|step| step.request.as_ref());
        for id in requests {
            let request = self.corpus.example(id);
            if request.strict == StrictVerdict::Accept {
                continue;
            }
            if let Err(problem) = self.refusal(request).await {
                self.problem(id, problem);
            }
        }
    }

    async fn refusal(&self, request: &Example) -> Result<(), String> {
        let printed = printed_example::read(&request.printed);
        let reply = self.post(printed.text.clone(), &BTreeMap::new()).await?;
        let error = reply.json().await?["error"].take();
        let (code, path) = match (&request.refused, printed.is_json()) {
            (_, false) => (-32700, ""),
            (Some(refusal), true) => (refusal.code, refusal.path.as_str()),
            (None, true) => {
                return Err(format!(
                    "the corpus does not say how it is refused; it is by {error}"
                ));
            }
        };
        if error["code"] != code {
            return Err(format!("$.error.code: expected {code}, found {error}"));
        }
        let message = error["message"].as_str().unwrap_or_default();
        match message.contains(&format!("{path}:")) || path.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "$.error.message: expected it to name {path}, found {message:?}"
            )),
        }
    }
}

/// The card that the exchange fetches, else one that offers everything.
fn card_of(corpus: &Corpus, exchange: &Exchange) -> AgentCard {
    let fetched = exchange
        .steps
        .iter()
        .filter(|step| step.get.is_some())
        .find_map(|step| step.answer.as_ref());
    let documented =
        fetched.and_then(|id| AgentCard::deserialize(corpus.example(id).canonical_value()?).ok());
    documented.unwrap_or_else(|| {
        let mut card = AgentCard::new("Reference", "Does what the documents say");
        card.capabilities.push_notifications = Some(true);
        card.capabilities.extended_agent_card = Some(true);
        card
    })
}

/// Every caller is admitted, but the extended card requires a token.
struct TokenForCard;

impl Authenticator for TokenForCard {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, AuthError>> {
        let token = head
            .headers
            .get("authorization")
            .and_then(|value| value.to_str().ok());
        let bearer = token.is_some_and(|token| token.starts_with("Bearer "));
        let needed = head
            .uri
            .path()
            .ends_with("/agent/authenticatedExtendedCard");
        let outcome = match (bearer, needed) {
            (true, _) => Ok(Principal::named("reader")),
            (false, false) => Ok(Principal::anonymous()),
            (false, true) => Err(AuthError::unauthenticated("Bearer")),
        };
        Box::pin(std::future::ready(outcome))
    }
}
