//! Replay of the documented answers to our client, whose results are compared with the documented ones.

use a2a_client::Client;
use a2a_transport::binding::ReadOptions;
use a2a_transport::binding::jsonrpc::read_call;
use a2a_transport::http::HttpTransport;
use a2a_transport::{Answer, Call, Error, Transport};
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, Dialect, Operation, Request, Response, v0_2};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

use super::ends::Ends;
use super::profile::{self, value};
use super::result::{Direction, ReplayResult};
use crate::documents::compare::{Bindings, Rules, compare};
use crate::documents::corpus::{Corpus, Example, Exchange, ExchangeStep};
use crate::documents::printed_example;
use crate::wire::caller::SILENCE_TIMEOUT;
use crate::wire::exchange::set_header;
use crate::wire::server::ScriptedServer;

/// Replays one exchange with its answers as corrected and as printed.
pub(super) async fn replay(
    corpus: &Corpus,
    exchange: &Exchange,
    ends: &dyn Ends,
) -> Vec<ReplayResult> {
    let mut outcomes = Vec::new();
    for direction in [Direction::ClientCorrected, Direction::ClientPrinted] {
        let mut problems = Vec::new();
        for step in &exchange.steps {
            let play = StepReplay {
                corpus,
                exchange,
                step,
                as_printed: direction == Direction::ClientPrinted,
                ends,
            };
            let label = step
                .request
                .as_ref()
                .or(step.get.as_ref())
                .map_or("", String::as_str);
            match tokio::time::timeout(3 * SILENCE_TIMEOUT, play.run()).await {
                Ok(Ok(found)) => problems.extend(found),
                Ok(Err(problem)) => problems.push(format!("{label}: {problem}")),
                Err(_) => problems.push(format!("{label}: the client hangs")),
            }
        }
        outcomes.push(ReplayResult {
            document: exchange.id.split('-').next().unwrap_or_default().to_owned(),
            id: exchange.id.clone(),
            direction,
            problems,
        });
    }
    outcomes
}

/// One step, played by a scripted server.
struct StepReplay<'a> {
    corpus: &'a Corpus,
    exchange: &'a Exchange,
    step: &'a ExchangeStep,
    as_printed: bool,
    ends: &'a dyn Ends,
}

impl StepReplay<'_> {
    async fn run(&self) -> Result<Vec<String>, String> {
        match (&self.step.request, &self.step.get) {
            (Some(request), _) => self.ask(self.corpus.example(request)).await,
            (None, Some(path)) if path.contains("/.well-known/") => self.discover().await,
            (None, Some(path)) => self.extended_card(path).await,
            (None, None) => Err("the step asks for nothing".to_owned()),
        }
    }

    async fn ask(&self, request: &Example) -> Result<Vec<String>, String> {
        let call = call_of(request)?;
        let operation = call.request.operation();
        let answers = self.answers();
        let script: Vec<_> = answers
            .iter()
            .map(|answer| self.script_of(answer))
            .collect();
        let streams = operation.is_stream();
        let substitute = !self.as_printed;
        let server = ScriptedServer::start(move |captured| {
            let id =
                serde_json::from_slice::<Value>(captured.body()).unwrap_or_default()["id"].take();
            let texts = script.iter().map(|text| match substitute {
                true => with_id(text, &id, streams),
                false => text.clone(),
            });
            let body: String = texts.collect();
            let media_type = if streams {
                "text/event-stream"
            } else {
                "application/json"
            };
            respond(200, media_type, body)
        });
        let server = server.await.map_err(|error| error.to_string())?;
        let mode = if self.as_printed {
            Mode::Lenient
        } else {
            Mode::Strict
        };
        let url = format!("http://{}/", server.address);
        let transport =
            HttpTransport::new(&url, self.exchange.dialect).map_err(|error| error.to_string())?;
        let transport = self.ends.transport(transport.mode(mode));

        let mut problems = Vec::new();
        let received = match self.exchange.profile {
            true => {
                let (declares, open) = (self.step.declares, self.step.open);
                profile::ask(transport, call.request, declares, open).await
            }
            false => collect_reply(transport.call(call).await, self.step.open).await,
        };
        let declares = self.step.declares;
        problems.extend(check_request(request, declares, &server.take_requests())?);
        if answers.is_empty() {
            return Ok(problems);
        }
        let readable = !self.as_printed || answers.iter().all(|answer| printed_is_readable(answer));
        match (received, readable) {
            (Ok(received), true) => {
                problems.extend(self.check_answers(operation, &answers, received))
            }
            (Ok(received), false) => problems.push(format!(
                "{}: $: expected a typed error, found {} answers",
                answers[0].id,
                received.len()
            )),
            (Err(Error::Malformed(_) | Error::NotA2a { .. }), false) => {}
            (Err(error), _) => problems.push(format!("{}: {error}", answers[0].id)),
        }
        Ok(problems)
    }

    fn answers(&self) -> Vec<&Example> {
        let ids = self.step.answer.iter().chain(&self.step.events);
        ids.map(|id| self.corpus.example(id)).collect()
    }

    /// Returns the server's answer for an example: its printed bytes, or the corrected message.
    fn script_of(&self, answer: &Example) -> String {
        match self.as_printed {
            true => printed_example::read(&answer.printed).text,
            false => answer.corrected.clone().unwrap_or_default(),
        }
    }

    fn check_answers(
        &self,
        operation: Operation,
        answers: &[&Example],
        received: Vec<Value>,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        if received.len() != answers.len() {
            problems.push(format!(
                "{}: $: expected {} answers, found {}",
                answers[0].id,
                answers.len(),
                received.len()
            ));
        }
        for (answer, found) in answers.iter().zip(&received) {
            let Some(mut expected) = answer.canonical_value() else {
                continue;
            };
            let plain = self.as_printed && !self.exchange.profile;
            if plain && answer.quirks.contains("NOAPPEND") {
                // An update without `append` is not read as a chunk, unless the peer declared the profile.
                expected["artifactUpdate"]
                    .as_object_mut()
                    .map(|update| update.remove("append"));
            }
            if operation == Operation::CancelTask || operation == Operation::GetTask {
                expected = unwrapped(expected);
            }
            let mut bindings = Bindings::default();
            bindings.keep_ids_of(&expected);
            let rules = Rules {
                exact_times: true,
                ..Rules::default()
            };
            let differences = compare(&expected, found, &mut bindings, rules);
            problems.extend(
                differences
                    .into_iter()
                    .map(|difference| format!("{}: {difference}", answer.id)),
            );
        }
        problems
    }

    /// The client looks for the card where the later versions have it, then where this one has.
    async fn discover(&self) -> Result<Vec<String>, String> {
        let answers = self.answers();
        let card = match answers.first() {
            Some(answer) => self.script_of(answer),
            None => {
                let card =
                    AgentCard::new("Reference", "Shown in no document").at("http://127.0.0.1:9/");
                json!(v0_2::AgentCard::from(card)).to_string()
            }
        };
        let server = ScriptedServer::start(move |captured| match captured.uri().path() {
            "/.well-known/agent.json" => respond(200, "application/json", card.clone()),
            _ => respond(404, "text/plain", String::new()),
        });
        let server = server.await.map_err(|error| error.to_string())?;
        let found = Client::connect(&format!("http://{}", server.address)).await;
        let paths: Vec<_> = server
            .take_requests()
            .iter()
            .map(|captured| captured.uri().path().to_owned())
            .collect();
        let mut problems = Vec::new();
        if paths != ["/.well-known/agent-card.json", "/.well-known/agent.json"] {
            problems.push(format!(
                "{}: the card was looked for at {paths:?}",
                self.exchange.id
            ));
        }
        let Some(answer) = answers.first() else {
            problems.extend(
                found
                    .err()
                    .map(|error| format!("{}: {error}", self.exchange.id)),
            );
            return Ok(problems);
        };
        let readable = !self.as_printed || printed_is_readable(answer);
        match (found, readable) {
            (Err(Error::Malformed(_)), false) => {}
            // The documented address is out of reach here: it speaks https.
            (Err(Error::Address { .. }), true) => {
                problems.extend(check_card(answer, &self.script_of(answer)))
            }
            (Ok(client), true) => {
                let found = serde_json::to_value(client.card().as_deref()).unwrap_or_default();
                problems.extend(differences(answer, &found));
            }
            (Ok(_), false) => problems.push(format!(
                "{}: expected a typed error, found a card",
                answer.id
            )),
            (Err(error), _) => problems.push(format!("{}: {error}", answer.id)),
        }
        Ok(problems)
    }

    /// 0.2 fetches the extended card by GET, with the caller's credentials.
    async fn extended_card(&self, path: &str) -> Result<Vec<String>, String> {
        let status = self.step.status.unwrap_or(200);
        let card = AgentCard::new("Reference", "The longer card").at("http://127.0.0.1:9/");
        let body = json!(v0_2::AgentCard::from(card)).to_string();
        let server = ScriptedServer::start(move |_| {
            let mut response = respond(status, "application/json", body.clone());
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            response
        });
        let server = server.await.map_err(|error| error.to_string())?;
        let url = format!("http://{}/a2a/v1", server.address);
        let mut transport =
            HttpTransport::new(&url, Dialect::V0_2).map_err(|error| error.to_string())?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.step.headers {
            set_header(&mut headers, name, Some(value))?;
        }
        for (name, value) in &headers {
            transport = transport.header(name.clone(), value.clone());
        }
        let found = Client::new(transport).extended_card().await;
        let mut problems = Vec::new();
        match (found, status) {
            (Ok(_), 200) => {}
            (
                Err(Error::Refused {
                    status: 401,
                    challenge,
                }),
                401,
            ) if challenge.as_deref() == Some("Bearer") => {}
            (found, _) => problems.push(format!("{path}: expected HTTP {status}, found {found:?}")),
        }
        let captured = server.take_requests();
        let Some(captured) = captured.first() else {
            return Err("the client asked for nothing".to_owned());
        };
        let (method, sent) = (captured.method(), captured.uri().path());
        if method != Method::GET || sent != path {
            problems.push(format!("{path}: the client asked for {method} {sent}"));
        }
        for (name, value) in &self.step.headers {
            let sent = captured
                .headers()
                .get(name.as_str())
                .and_then(|value| value.to_str().ok());
            if sent != Some(value) {
                problems.push(format!(
                    "{path}: {name}: expected {value:?}, found {sent:?}"
                ));
            }
        }
        Ok(problems)
    }
}

fn respond(status: u16, media_type: &'static str, body: String) -> http::Response<String> {
    let mut response = http::Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// The canonical request of an example, as a call.
fn call_of(request: &Example) -> Result<Call, String> {
    let canonical = request
        .canonical_value()
        .ok_or("the request has no canonical value")?;
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": canonical["operation"], "params": canonical["params"],
    });
    let question = read_call(
        message.to_string().as_bytes(),
        Some("1.0"),
        &ReadOptions::default(),
    );
    let request: Request = question.map_err(|refused| refused.error.message)?.request;
    Ok(Call::new(request))
}

/// Everything that an answer brings, in the canonical spelling. An `open` stream may end any time.
async fn collect_reply(
    reply: Result<a2a_transport::Reply, Error>,
    open: bool,
) -> Result<Vec<Value>, Error> {
    match reply?.answer {
        Answer::Once(response) => Ok(vec![canonical_of(&response)]),
        Answer::Stream(mut updates) => {
            let mut received = Vec::new();
            while let Some(update) = updates.next().await {
                match update {
                    // The document does not show how the stream ends.
                    Err(Error::Unfinished) if open => {}
                    update => received.push(value(&*update?.event)),
                }
            }
            Ok(received)
        }
    }
}

fn canonical_of(response: &Response) -> Value {
    match response {
        Response::SendMessage(response) => value(response),
        Response::GetTask(task) | Response::CancelTask(task) => value(task),
        Response::CreateTaskPushNotificationConfig(config)
        | Response::GetTaskPushNotificationConfig(config) => value(config),
        other => json!(format!("{other:?}")),
    }
}

/// Returns the value inside `{"task": …}`, or the canonical value itself.
fn unwrapped(mut expected: Value) -> Value {
    match expected.get_mut("task") {
        Some(task) => task.take(),
        None => expected,
    }
}

/// The message with the id that the client made up, framed as its exchange needs it.
fn with_id(text: &str, id: &Value, streams: bool) -> String {
    let mut message: Value = serde_json::from_str(text).unwrap_or_default();
    message["id"] = id.clone();
    match streams {
        true => format!("data: {message}\n\n"),
        false => message.to_string(),
    }
}

/// The client must have sent what the document shows, but for ids that it makes up.
fn check_request(
    request: &Example,
    declares: bool,
    captured: &[http::Request<Bytes>],
) -> Result<Vec<String>, String> {
    let [captured] = captured else {
        return Err(format!("expected one request, found {}", captured.len()));
    };
    let found: Value =
        serde_json::from_slice(captured.body()).map_err(|error| error.to_string())?;
    let mut expected = request.corrected_value().unwrap_or_default();
    expected["id"] = found["id"].clone();
    if declares {
        profile::declare_in(&mut expected);
    }
    let mut bindings = Bindings::default();
    bindings.keep_ids_of(&expected);
    let differences = compare(&expected, &found, &mut bindings, Rules::default());
    let mut problems: Vec<_> = differences
        .into_iter()
        .map(|difference| format!("{}: {difference}", request.id))
        .collect();
    if captured.method() != Method::POST {
        problems.push(format!("{}: sent by {}", request.id, captured.method()));
    }
    Ok(problems)
}

/// Returns whether a client can read the printed answer: the extraction of the text is the only reason for
/// repairs.
fn printed_is_readable(answer: &Example) -> bool {
    let text_only = ["GLUE", "GUTTER"];
    printed_example::read(&answer.printed)
        .repairs
        .iter()
        .all(|code| text_only.contains(code))
}

fn check_card(answer: &Example, text: &str) -> Vec<String> {
    match a2a_client::read_card(text) {
        Ok(card) => differences(answer, &value(&card)),
        Err(violation) => vec![format!("{}: {violation}", answer.id)],
    }
}

fn differences(answer: &Example, found: &Value) -> Vec<String> {
    let expected = answer.canonical_value().unwrap_or_default();
    let mut bindings = Bindings::default();
    bindings.keep_ids_of(&expected);
    let differences = compare(&expected, found, &mut bindings, Rules::default());
    differences
        .into_iter()
        .map(|difference| format!("{}: {difference}", answer.id))
        .collect()
}
