//! Replay of the documented answers to our client, whose results are compared with the documented ones.

use std::sync::Arc;

use a2a_client::{Client, Retries};
use a2a_transport::binding::ReadOptions;
use a2a_transport::binding::jsonrpc::read_call;
use a2a_transport::http::HttpTransport;
use a2a_transport::{CallRequest, Error, ResponseBody, Transport};
use a2a_types::extension::trpc::Version;
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, Event, Operation, ProtocolVersion, Request, Response, v0_2};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio_stream::{Stream, StreamExt};

use super::agent::declare_in;
use super::ends::Ends;
use super::result::Direction;
use crate::documents::compare::compare_exactly;
use crate::documents::corpus::{Corpus, Example, Exchange, ExchangeStep};
use crate::documents::printed_example;
use crate::wire::caller::SILENCE_TIMEOUT;
use crate::wire::exchange::set_header;
use crate::wire::server::ScriptedServer;

/// The problems of a step. Errors: the step cannot be replayed.
type Problems = Result<Vec<String>, Box<dyn std::error::Error + Send + Sync>>;

/// Replays one exchange with its answers in the form of the direction, and returns the problems.
pub(super) async fn replay(
    corpus: &Corpus,
    exchange: &Exchange,
    direction: Direction,
    ends: &dyn Ends,
) -> Vec<String> {
    let mut problems = Vec::new();
    for step in &exchange.steps {
        let replay = StepReplay {
            corpus,
            exchange,
            step,
            as_printed: direction == Direction::ClientPrinted,
            ends,
        };
        let label = step.label();
        match tokio::time::timeout(3 * SILENCE_TIMEOUT, replay.run()).await {
            Ok(Ok(found)) => problems.extend(found),
            Ok(Err(problem)) => problems.push(format!("{label}: {problem}")),
            Err(_) => problems.push(format!("{label}: the client hangs")),
        }
    }
    problems
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
    async fn run(&self) -> Problems {
        match &self.step.request {
            Some(request) => self.ask(self.corpus.example(request)).await,
            None if self.step.label().contains("/.well-known/") => self.discover().await,
            None => self.extended_card().await,
        }
    }

    async fn ask(&self, request: &Example) -> Problems {
        let call = call_of(request)?;
        let operation = call.request.operation();
        let answers = self.answers();
        let script = answers.iter().map(|answer| self.script_of(answer));
        let script: Vec<_> = script.collect();
        let (as_printed, streams) = (self.as_printed, operation.is_stream());
        let server = ScriptedServer::start(move |asked| {
            let asked: Value = serde_json::from_slice(asked.body()).unwrap_or_default();
            let texts = script.iter().map(|text| match as_printed {
                true => text.clone(),
                false => with_id(text, &asked["id"], streams),
            });
            let media_type = if streams {
                "text/event-stream"
            } else {
                "application/json"
            };
            respond(200, media_type, texts.collect())
        });
        let server = server.await?;
        let mode = if as_printed {
            Mode::Lenient
        } else {
            Mode::Strict
        };
        let url = format!("http://{}/", server.address);
        let transport = HttpTransport::new(&url, self.exchange.protocol_version)?.mode(mode);
        let transport = self.ends.transport(transport);
        let received = match self.exchange.profile {
            true => ask_in_profile(transport, call.request, self.step).await,
            false => answer_to(transport.call(call).await, self.step.open).await,
        };
        let mut problems = self.check_request(request, &server.take_requests())?;
        let Some(first) = answers.first() else {
            return Ok(problems);
        };
        let readable = !as_printed || answers.iter().all(|answer| is_readable(answer));
        match (received, readable) {
            (Ok(received), true) => {
                problems.extend(self.check_answers(operation, &answers, &received));
            }
            (Ok(received), false) => problems.push(format!(
                "{}: $: expected a typed error, found {} answers",
                first.id,
                received.len()
            )),
            (Err(Error::Malformed(_) | Error::NotA2a { .. }), false) => {}
            (Err(error), _) => problems.push(format!("{}: {error}", first.id)),
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

    /// The client must have sent what the document shows, but for ids that it makes up.
    fn check_request(&self, request: &Example, asked: &[http::Request<Bytes>]) -> Problems {
        let [asked] = asked else {
            return Err(format!("expected one request, found {}", asked.len()).into());
        };
        let found: Value = serde_json::from_slice(asked.body())?;
        let mut expected = request.corrected_value();
        expected["id"] = found["id"].clone();
        if self.step.declares {
            declare_in(&mut expected);
        }
        let mut problems = compare_exactly(&request.id, &expected, &found);
        if asked.method() != Method::POST {
            problems.push(format!("{}: sent by {}", request.id, asked.method()));
        }
        Ok(problems)
    }

    fn check_answers(
        &self,
        operation: Operation,
        answers: &[&Example],
        received: &[Value],
    ) -> Vec<String> {
        let mut problems = Vec::new();
        let (expected, found) = (answers.len(), received.len());
        if found != expected {
            problems.push(format!(
                "{}: $: expected {expected} answers, found {found}",
                answers[0].id
            ));
        }
        for (answer, found) in answers.iter().zip(received) {
            let mut expected = answer.canonical_value();
            let plain = self.as_printed && !self.exchange.profile;
            if plain && answer.quirks.contains("NOAPPEND") {
                // An update without `append` is not read as a chunk, unless the peer declared the profile.
                expected["artifactUpdate"]
                    .as_object_mut()
                    .map(|update| update.remove("append"));
            }
            let is_bare = matches!(operation, Operation::CancelTask | Operation::GetTask);
            if let Some(task) = expected.get_mut("task").filter(|_| is_bare) {
                expected = task.take();
            }
            problems.extend(compare_exactly(&answer.id, &expected, found));
        }
        problems
    }

    /// The client looks for the card where the later versions have it, then where this one has.
    async fn discover(&self) -> Problems {
        let answers = self.answers();
        let answer = answers.first();
        let card = answer.map_or_else(undocumented_card, |answer| self.script_of(answer));
        let text = card.clone();
        let server = ScriptedServer::start(move |asked| match asked.uri().path() {
            "/.well-known/agent.json" => respond(200, "application/json", text.clone()),
            _ => respond(404, "text/plain", String::new()),
        });
        let server = server.await?;
        let found = Client::connect(&format!("http://{}", server.address)).await;
        let asked = server.take_requests();
        let paths: Vec<_> = asked.iter().map(|asked| asked.uri().path()).collect();
        let mut problems = Vec::new();
        if paths != ["/.well-known/agent-card.json", "/.well-known/agent.json"] {
            problems.push(format!(
                "{}: the card was looked for at {paths:?}",
                self.exchange.id
            ));
        }
        let id = answer.map_or(&self.exchange.id, |answer| &answer.id);
        let readable = !self.as_printed || answer.is_none_or(|answer| is_readable(answer));
        let found = match (found, readable) {
            (Err(Error::Malformed(_)), false) => return Ok(problems),
            // The documented address is out of reach here: it speaks https.
            (Err(Error::Address { .. }), true) if answer.is_some() => {
                let card = a2a_client::read_card(&card);
                card.map(|card| json!(card))
                    .map_err(|violation| violation.to_string())
            }
            (Ok(client), true) => Ok(json!(client.card().as_deref())),
            (Ok(_), false) => Err("expected a typed error, found a card".to_owned()),
            (Err(error), _) => Err(error.to_string()),
        };
        match (found, answer) {
            (Ok(found), Some(answer)) => {
                problems.extend(compare_exactly(id, &answer.canonical_value(), &found));
            }
            (Ok(_), None) => {}
            (Err(problem), _) => problems.push(format!("{id}: {problem}")),
        }
        Ok(problems)
    }

    /// 0.2 fetches the extended card by GET, with the caller's credentials.
    async fn extended_card(&self) -> Problems {
        let (path, status) = (self.step.label(), self.step.status.unwrap_or(200));
        let server = ScriptedServer::start(move |_| {
            let mut response = respond(status, "application/json", undocumented_card());
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            response
        });
        let server = server.await?;
        let url = format!("http://{}/a2a/v1", server.address);
        let mut transport = HttpTransport::new(&url, ProtocolVersion::V0_2)?;
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
        let asked = server.take_requests();
        let asked = asked.first().ok_or("the client asked for nothing")?;
        let (method, target) = (asked.method(), asked.uri().path());
        if method != Method::GET || target != path {
            problems.push(format!("{path}: the client asked for {method} {target}"));
        }
        for (name, value) in &self.step.headers {
            let sent = asked.headers().get(name.as_str());
            let sent = sent.and_then(|value| value.to_str().ok());
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

/// Returns a card that no document shows.
fn undocumented_card() -> String {
    let card = AgentCard::new("Reference", "Shown in no document").at("http://127.0.0.1:9/");
    json!(v0_2::AgentCard::from(card)).to_string()
}

/// Returns the message with the id that the client made up, framed as its exchange needs it.
fn with_id(text: &str, id: &Value, streams: bool) -> String {
    let mut message: Value = serde_json::from_str(text).unwrap_or_default();
    message["id"] = id.clone();
    match streams {
        true => format!("data: {message}\n\n"),
        false => message.to_string(),
    }
}

/// Returns whether a client can read the printed answer: the extraction of the text is the only reason for
/// repairs.
fn is_readable(answer: &Example) -> bool {
    let repairs = printed_example::read(&answer.printed).repairs;
    repairs.iter().all(|code| ["GLUE", "GUTTER"].contains(code))
}

/// Returns the canonical request of an example, as a call.
fn call_of(request: &Example) -> Result<CallRequest, String> {
    let canonical = request.canonical_value();
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": canonical["operation"], "params": canonical["params"],
    });
    let question = read_call(
        message.to_string().as_bytes(),
        Some("1.0"),
        &ReadOptions::default(),
    );
    let request: Request = question.map_err(|refused| refused.error.message)?.request;
    Ok(CallRequest::new(request))
}

/// Calls an agent that declares the profile, and returns everything that comes, in the canonical spelling.
async fn ask_in_profile(
    transport: Arc<dyn Transport>,
    request: Request,
    step: &ExchangeStep,
) -> Result<Vec<Value>, Error> {
    let mut card = AgentCard::new("Reference", "Speaks the profile");
    Version::CURRENT.declare(&mut card);
    let client = Client::with_card(transport, card.into()).retries(Retries::none());
    let send = |params| match step.declares {
        true => client.send(params).steps(),
        false => client.send(params),
    };
    match request {
        Request::SendMessage(params) => Ok(vec![json!(send(params).await?)]),
        Request::SendStreamingMessage(params) => events(send(params).follow(), step.open).await,
        other => Err(Error::NotSupported {
            operation: other.operation(),
            protocol_version: ProtocolVersion::V0_2,
        }),
    }
}

/// Returns everything that an answer brings, in the canonical spelling.
async fn answer_to(
    reply: Result<a2a_transport::CallResponse, Error>,
    open: bool,
) -> Result<Vec<Value>, Error> {
    match reply?.answer {
        ResponseBody::Once(response) => Ok(vec![match response {
            Response::SendMessage(response) => json!(response),
            Response::GetTask(task) | Response::CancelTask(task) => json!(task),
            Response::CreateTaskPushNotificationConfig(config)
            | Response::GetTaskPushNotificationConfig(config) => json!(config),
            other => json!(format!("{other:?}")),
        }]),
        ResponseBody::Stream(updates) => {
            let updates = updates.map(|update| update.map(|update| update.event.into_event()));
            events(updates, open).await
        }
    }
}

/// Returns the events of a stream, in the canonical spelling. An `open` stream may end any time, since its document does
/// not show how it ends.
async fn events(
    stream: impl Stream<Item = Result<Event, Error>>,
    open: bool,
) -> Result<Vec<Value>, Error> {
    let mut stream = std::pin::pin!(stream);
    let mut received = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Err(Error::Unfinished) if open => {}
            event => received.push(json!(event?)),
        }
    }
    Ok(received)
}
