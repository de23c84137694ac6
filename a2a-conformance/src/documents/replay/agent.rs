//! Replay of the documented requests to our server, whose answers are compared with the documented ones.

use std::collections::BTreeMap;

use a2a_server::{AuthError, Authenticator, Principal, Server};
use a2a_types::extension::trpc::Version;
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, Operation, ProtocolVersion, schema};
use http::request::Parts;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::ends::Ends;
use super::result::Direction;
use crate::documents::compare::{Bindings, Rules, compare};
use crate::documents::corpus::{Corpus, Example, Exchange, ExchangeStep, Release, StrictVerdict};
use crate::documents::printed_example;
use crate::documents::reference::Reference;
use crate::lint::violations;
use crate::wire::caller::{IncomingResponse, PlainCaller, SILENCE_TIMEOUT};

/// Replays one exchange with its requests in the form of the direction, and returns the problems.
pub(super) async fn replay(
    corpus: &Corpus,
    exchange: &Exchange,
    direction: Direction,
    ends: &dyn Ends,
) -> Vec<String> {
    let as_printed = direction == Direction::AgentPrinted;
    let mode = if as_printed {
        Mode::Lenient
    } else {
        Mode::Strict
    };
    let mut replay = match AgentReplay::start(corpus, exchange, mode, ends).await {
        Ok(replay) => replay,
        Err(problem) => return vec![format!("{}: {problem}", exchange.id)],
    };
    let run = async {
        match direction {
            Direction::AgentStrict => replay.refusals().await,
            _ => replay.play(as_printed).await,
        }
    };
    match tokio::time::timeout(6 * SILENCE_TIMEOUT, run).await {
        Ok(()) => replay.problems,
        Err(_) => vec![format!("{}: the exchange does not end", exchange.id)],
    }
}

/// A server with the reference agent on a real socket, and a caller.
struct AgentReplay<'a> {
    corpus: &'a Corpus,
    exchange: &'a Exchange,
    reference: Reference,
    caller: PlainCaller,
    path: &'static str,
    bindings: Bindings,
    problems: Vec<String>,
    _server: JoinSet<()>,
}

impl<'a> AgentReplay<'a> {
    async fn start(
        corpus: &'a Corpus,
        exchange: &'a Exchange,
        mode: Mode,
        ends: &dyn Ends,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let reference = Reference::new(exchange.agent.clone());
        let mut card = card_of(corpus, exchange);
        if exchange.profile {
            Version::CURRENT.declare(&mut card);
        }
        let mut server =
            Server::builder(card.clone(), reference.clone()).authenticator(TokenForCard);
        if card.capabilities.extended_agent_card == Some(true) {
            server = server.extended_card(card);
        }
        let mut paths = exchange.steps.iter().filter_map(|step| step.get.as_ref());
        let path = match paths.any(|path| path.starts_with("/a2a")) {
            true => "/a2a/v1",
            false => "/",
        };
        let service = server.build()?.http().path(path).mode(mode).service();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let caller = PlainCaller::new(listener.local_addr()?);
        let mut server = JoinSet::new();
        server.spawn(ends.serve(listener, service));
        Ok(Self {
            corpus,
            exchange,
            reference,
            caller,
            path,
            bindings: Bindings::default(),
            problems: Vec::new(),
            _server: server,
        })
    }

    fn note(&mut self, label: &str, problems: impl IntoIterator<Item = String>) {
        let problems = problems.into_iter();
        self.problems
            .extend(problems.map(|problem| format!("{label}: {problem}")));
    }

    /// Plays the whole exchange, with its requests as printed or as corrected.
    async fn play(&mut self, as_printed: bool) {
        for id in &self.exchange.given {
            let given = self.give(self.corpus.example(id)).await;
            self.note(id, given.err());
        }
        for step in &self.exchange.steps {
            if step.release == Some(Release::Before) {
                self.reference.release();
                self.reference.ended().await;
            }
            let played = match &step.request {
                Some(request) => {
                    let request = self.corpus.example(request);
                    self.ask(step, request, as_printed).await
                }
                None => self.fetch(step).await,
            };
            self.note(step.label(), played.err());
        }
    }

    async fn post(
        &self,
        text: String,
        headers: &BTreeMap<String, String>,
    ) -> Result<IncomingResponse, String> {
        let sent = self.caller.send(Method::POST, self.path, headers, text);
        sent.await
    }

    /// Sends a request and ignores its answer.
    async fn give(&mut self, request: &Example) -> Result<(), String> {
        self.bindings.keep_ids_of(&request.corrected_value());
        let text = request.corrected.clone().unwrap_or_default();
        let response = self.post(text, &BTreeMap::new()).await?;
        match request.operation().is_some_and(Operation::is_stream) {
            // The caller disconnects while the agent works.
            true => self.reference.held().await,
            false => drop(response.json().await?),
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
            let answer = self.post(printed.text, &step.headers).await?.json().await?;
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
            declare_in(&mut sent);
            text = sent.to_string();
        }
        let text = self.bindings.apply(&text);
        let response = self.post(text, &step.headers).await?;
        let status = response.head.status;
        if status != StatusCode::OK {
            return Err(format!("HTTP status: expected 200, found {status}"));
        }
        let streams = request.operation().is_some_and(Operation::is_stream);
        let (found, expected) = match streams {
            true => (response.media_type(), "text/event-stream"),
            false => (response.media_type(), "application/json"),
        };
        if found != expected {
            return Err(format!(
                "content-type: expected {expected}, found {found:?}"
            ));
        }
        let messages = self.messages(step, request, &sent["id"]);
        if streams {
            return self.check_stream(step, request, response, messages).await;
        }
        let found = response.json().await?;
        let (label, expected) = messages.into_iter().next().unwrap_or_else(|| {
            let any = undocumented(&sent["id"], &found["result"]);
            (request.id.clone(), any)
        });
        self.check_message(&label, step, request, &expected, &found);
        Ok(())
    }

    /// Returns the messages that answer a request, each with the example that shows it, or else with the request.
    fn messages(&self, step: &ExchangeStep, request: &Example, id: &Value) -> Vec<(String, Value)> {
        let before = step.before.iter().chain(&step.result);
        let before = before.map(|result| (request.id.clone(), undocumented(id, result)));
        let documented = step.events.iter().chain(&step.answer).map(|example| {
            let mut message = self.corpus.example(example).corrected_value();
            message["id"] = id.clone();
            (example.clone(), message)
        });
        let mut messages: Vec<_> = before.chain(documented).collect();
        for (_, message) in &mut messages {
            if let Some(Value::Array(history)) = message.pointer_mut("/result/history") {
                history.splice(0..0, step.history_first.iter().cloned());
            }
        }
        messages
    }

    async fn check_stream(
        &mut self,
        step: &ExchangeStep,
        request: &Example,
        mut response: IncomingResponse,
        messages: Vec<(String, Value)>,
    ) -> Result<(), String> {
        let mut found = response.event().await?;
        if step.release == Some(Release::Subscribed) {
            self.reference.release();
        }
        for (label, expected) in messages {
            let Some(event) = found else {
                return Err(format!(
                    "{label}: $: expected an event, found the end of the stream"
                ));
            };
            self.check_message(&label, step, request, &expected, &event);
            if step.open && step.events.last() == Some(&label) {
                return Ok(());
            }
            found = response.event().await?;
        }
        // An exchange without documented events only has to end.
        while let Some(event) = found {
            if !step.events.is_empty() {
                return Err(format!("$: expected the end of the stream, found {event}"));
            }
            found = response.event().await?;
        }
        Ok(())
    }

    fn check_message(
        &mut self,
        label: &str,
        step: &ExchangeStep,
        request: &Example,
        expected: &Value,
        found: &Value,
    ) {
        let rules = Rules {
            allow: &step.allow,
            ..Rules::default()
        };
        let differences = compare(expected, found, &mut self.bindings, rules);
        self.note(label, differences);
        let operation = request.operation();
        let definition =
            operation.and_then(|it| schema::response_definition(request.protocol_version, it));
        // The id of an answer to a request without one is null, which the schemas do not foresee.
        if let Some(definition) = definition.filter(|_| !expected["id"].is_null()) {
            let invalid = validate(request.protocol_version, definition, found);
            self.note(label, invalid.err());
        }
    }

    async fn fetch(&mut self, step: &ExchangeStep) -> Result<(), String> {
        let (path, body) = (step.label(), String::new());
        let response = self.caller.send(Method::GET, path, &step.headers, body);
        let response = response.await?;
        let (status, found) = (step.status.unwrap_or(200), response.head.status);
        if found != status {
            return Err(format!("HTTP status: expected {status}, found {found}"));
        }
        if status == 401 && !response.head.headers.contains_key("www-authenticate") {
            return Err("WWW-Authenticate: missing".to_owned());
        }
        if status != 200 {
            return Ok(());
        }
        let found = response.json().await?;
        validate(self.exchange.protocol_version, "AgentCard", &found)?;
        if let Some(answer) = &step.answer {
            let expected = self.corpus.example(answer).corrected_value();
            let rules = Rules {
                allow: &step.allow,
                more: true,
                ..Rules::default()
            };
            let differences = compare(&expected, &found, &mut self.bindings, rules);
            self.note(answer, differences);
        }
        Ok(())
    }

    /// Sends the printed requests that a strict server must refuse.
    async fn refusals(&mut self) {
        let steps = self.exchange.steps.iter();
        for id in steps.filter_map(|step| step.request.as_ref()) {
            let request = self.corpus.example(id);
            if request.strict != StrictVerdict::Accept {
                let refused = self.refusal(request).await;
                self.note(id, refused.err());
            }
        }
    }

    async fn refusal(&self, request: &Example) -> Result<(), String> {
        let printed = printed_example::read(&request.printed);
        let is_json = printed.is_json();
        let response = self.post(printed.text, &BTreeMap::new()).await?;
        let error = response.json().await?["error"].take();
        let (code, path) = match &request.refused {
            _ if !is_json => (-32700, ""),
            Some(refusal) => (refusal.code, refusal.path.as_str()),
            None => {
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

/// Declares the profile in the message of a request, as callers do.
pub(super) fn declare_in(request: &mut Value) {
    let metadata = &mut request["params"]["message"]["metadata"];
    metadata["interaction_spec_version"] = json!(Version::CURRENT.to_string());
}

/// Returns the message with a result that no document shows.
fn undocumented(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Validates a value by a definition of our schema.
fn validate(
    protocol_version: ProtocolVersion,
    definition: &'static str,
    value: &Value,
) -> Result<(), String> {
    match violations(protocol_version, definition, value)?.first() {
        None => Ok(()),
        Some(violation) => Err(format!("{violation} ({definition})")),
    }
}

/// Returns the card that the exchange fetches, else one that offers everything.
fn card_of(corpus: &Corpus, exchange: &Exchange) -> AgentCard {
    let mut fetched = exchange.steps.iter().filter(|step| step.get.is_some());
    let documented = fetched.find_map(|step| {
        let card = corpus.example(step.answer.as_ref()?).canonical_value();
        AgentCard::deserialize(card).ok()
    });
    documented.unwrap_or_else(|| {
        let mut card = AgentCard::new("Reference", "Does what the documents say");
        card.capabilities.push_notifications = Some(true);
        card.capabilities.extended_agent_card = Some(true);
        card
    })
}

/// Admits every caller, but requires a token for the extended card.
struct TokenForCard;

impl Authenticator for TokenForCard {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let token = head.headers.get("authorization");
        let bearer = token.is_some_and(|token| token.as_bytes().starts_with(b"Bearer "));
        let path = head.uri.path();
        match (bearer, path.ends_with("/agent/authenticatedExtendedCard")) {
            (true, _) => Ok(Principal::named("reader")),
            (false, false) => Ok(Principal::anonymous()),
            (false, true) => Err(AuthError::unauthenticated("Bearer")),
        }
    }
}
