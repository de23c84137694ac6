//! An agent over a language model.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use a2a_server::{Agent, Failure, Turn};
use a2a_transport::http::{HttpClient, Timeouts};
use a2a_types::extension::usage::TokenUsage;
use a2a_types::{Message, Object, TaskState};
use bytes::Bytes;
use http::{HeaderValue, Uri};
use serde_json::Value;

use crate::api::Api;
use crate::delta::{Call, CallBuffer, Delta};
use crate::error::ModelError;
use crate::history::{History, Media, Round, mark_failure};
use crate::output::Output;
use crate::service::Service;
use crate::toolbox::{MAX_TURN_OUTPUT, Toolbox};
use crate::tools::Tools;

/// An agent that answers with a language model.
///
/// Each turn sends the conversation so far, and streams the answer into one artifact. The caller gets a failure in a
/// sentence, and in a word in the message's metadata, under `modelError`: [`ModelError::name`]. The details go to the
/// log (`tracing`). What had arrived before a failure stays in the artifact.
///
/// A turn that is resumed after a crash begins again: its answer replaces what it had written, and tools may be called
/// twice.
#[derive(Clone)]
pub struct ModelAgent {
    client: HttpClient,
    base_url: String,
    model: String,
    api: Api,
    api_key: Option<String>,
    system: Option<String>,
    parameters: Object,
    tools: Vec<Arc<dyn Tools>>,
    max_rounds: usize,
    tool_timeout: Duration,
    history_bytes: usize,
    media: Media,
    max_attempts: u32,
    backoff: Duration,
    silence: Duration,
    max_output_bytes: usize,
}

impl ModelAgent {
    /// Creates an agent over the model of this name, of the service at this URL, such as `http://127.0.0.1:11434/v1`.
    ///
    /// Proxies are read from the environment: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let mut timeouts = Timeouts::default();
        // A timeout of this agent's own is shorter.
        timeouts.first_byte = Duration::from_secs(86_400);
        Self {
            client: HttpClient::builder()
                .timeouts(timeouts)
                .proxy_from_env()
                .build(),
            base_url: base_url.into(),
            model: model.into(),
            api: Api::default(),
            api_key: None,
            system: None,
            parameters: Object::new(),
            tools: Vec::new(),
            max_rounds: 8,
            tool_timeout: Duration::from_secs(120),
            history_bytes: 128 << 10,
            media: Media::default(),
            max_attempts: 4,
            backoff: Duration::from_millis(500),
            silence: Duration::from_secs(60),
            max_output_bytes: 1 << 20,
        }
    }

    /// Sets the API; chat completions by default.
    pub fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }

    /// Sets the API key, which is sent in the header `Authorization` alone.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Sets the system text: instructions that precede each conversation.
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Adds a member to each request, such as `temperature` or `max_tokens`. It replaces a member of this agent's own.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Adds tools. If two of them have the same name, the model gets the second under a name with a number, like `add_2`.
    pub fn tools(mut self, tools: impl Tools) -> Self {
        self.tools.push(Arc::new(tools));
        self
    }

    /// Sets the number of times that the model may call tools in one turn; 8 by default.
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Sets the timeout of a tool; 2 minutes by default. The model gets an error in place of the result. The list of tools
    /// has the same timeout; then the task fails.
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = timeout;
        self
    }

    /// Sets the bytes of the conversation that are sent; 128 KiB by default. The oldest messages are left out first, each
    /// tool call with its result. The message to answer is always sent; the system text and the tool calls of the turn
    /// are not counted. An image or a file counts as at most 4 KiB; the newest 16 MiB of those in earlier messages are sent.
    pub fn history_bytes(mut self, bytes: usize) -> Self {
        self.history_bytes = bytes;
        self
    }

    /// Sets the tokens of the conversation that are sent, in place of [bytes](Self::history_bytes). They are an estimate:
    /// 4 bytes are one token.
    pub fn history_tokens(self, tokens: usize) -> Self {
        self.history_bytes(tokens.saturating_mul(BYTES_PER_TOKEN))
    }

    /// Passes images to the model. By default it gets a note that there is one, as for each file. Callers
    /// choose the URLs from which the service then fetches images.
    pub fn images(mut self, pass: bool) -> Self {
        self.media.images = pass;
        self
    }

    /// Passes files to the model. Files at URLs are passed by [`Api::Responses`] only.
    pub fn files(mut self, pass: bool) -> Self {
        self.media.files = pass;
        self
    }

    /// Sets the number of attempts of a request that fails before it has output, for reasons that may pass: no
    /// connection, HTTP status 429 or 5xx; 4 by default.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Sets the delay before the second attempt; 500 ms by default. It doubles with each attempt, up to 30 s, and up to
    /// half of it is left out at random. A service may ask for more, up to 60 s.
    pub fn backoff(mut self, delay: Duration) -> Self {
        self.backoff = delay;
        self
    }

    /// Sets the timeout of the next bytes of a response; 60 s by default. Services that load a model first may need more.
    pub fn silence(mut self, timeout: Duration) -> Self {
        self.silence = timeout;
        self
    }

    /// Sets the limit of one turn's text, reasoning and tool calls; 1 MiB by default.
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.max_output_bytes = bytes;
        self
    }

    /// Sets the client of HTTP, for a proxy or trust anchors of your own.
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.client = client;
        self
    }

    /// Checks the URL and the API key, and sends nothing. Errors: [`ModelError::Settings`].
    pub fn check(&self) -> Result<(), ModelError> {
        self.service().map(drop)
    }

    /// Lists the tools, as each turn does: their programs are started. Errors: [`ModelError::Tools`].
    pub async fn check_tools(&self) -> Result<(), ModelError> {
        Toolbox::list(&self.tools, self.tool_timeout)
            .await
            .map(drop)
    }

    /// Takes a turn like [`run`](Agent::run), but returns an error without failing the task: for agents that have an
    /// alternative. A canceled turn is not recognised.
    pub async fn answer(&self, turn: &Turn) -> Result<(), ModelError> {
        let service = self.service()?;
        let toolbox = Toolbox::list(&self.tools, self.tool_timeout).await?;
        let mut history = self.history(turn).await?;
        let mut output = Output::new(turn, self.max_output_bytes);
        let mut room = MAX_TURN_OUTPUT;
        for round in 0.. {
            let request = self.request(&history, &toolbox);
            let response = self.respond(&service, request, round, &mut output).await?;
            if response.calls.is_empty() {
                break;
            }
            if round == self.max_rounds {
                return Err(ModelError::TooManyRounds(self.max_rounds));
            }
            output.calls(&response.calls).await?;
            let calls = toolbox.run(response.calls, &mut room).await;
            output.results(&calls).await?;
            history.push(Round {
                text: response.text,
                reasoning: response.reasoning,
                opaque: response.opaque,
                calls,
            });
        }
        output.complete().await
    }

    /// Returns the conversation, within its budget.
    async fn history(&self, turn: &Turn) -> Result<History, ModelError> {
        let mut conversation = turn.conversation().await?;
        if turn.resumed().is_some() {
            // The turn begins again: what it has written is not part of the conversation.
            let task = turn.task().await?;
            let question = &turn.message().message_id;
            let is_question = |message: &Message| message.message_id == *question;
            let place = task.history.iter().rposition(is_question);
            let steps = place.map_or(&[][..], |place| &task.history[place + 1..]);
            let steps = steps.iter().map(|message| message.message_id.as_str());
            let artifacts = task.artifacts.iter().map(|it| it.artifact_id.as_str());
            let written: HashSet<_> = steps.chain(artifacts).collect();
            conversation.retain(|message| !written.contains(message.message_id.as_str()));
        }
        let media = Media {
            file_urls: self.api == Api::Responses,
            ..self.media
        };
        let mut history = History::new(conversation, media);
        history.trim(self.history_bytes);
        Ok(history)
    }

    fn request(&self, history: &History, toolbox: &Toolbox) -> Bytes {
        let system = self.system.as_deref();
        let mut request = self.api.request(system, history, toolbox.tools());
        request["model"] = self.model.as_str().into();
        request["stream"] = true.into();
        for (name, value) in &self.parameters {
            request[name] = value.clone();
        }
        request.to_string().into()
    }

    /// Sends a request, again if it fails before it has output, and passes the response on as it comes.
    async fn respond(
        &self,
        service: &Service,
        request: Bytes,
        round: usize,
        output: &mut Output<'_>,
    ) -> Result<Response, ModelError> {
        let mut attempt = 1;
        loop {
            let mut response = Response::default();
            output.begin();
            let received = self
                .receive(service, request.clone(), &mut response, output)
                .await;
            if let Some(usage) = response.usage {
                output.usage(usage);
            }
            let error = match (received, response.incomplete.take()) {
                (Ok(()), Some(reason)) => ModelError::Incomplete(reason),
                (Ok(()), None) => {
                    response.calls = std::mem::take(&mut response.call_buffer).finish(round);
                    return Ok(response);
                }
                (Err(error), _) => error,
            };
            let after = error.retry_after().unwrap_or_default();
            let is_final = attempt >= self.max_attempts || after > MAX_RETRY_AFTER;
            if response.has_output || !error.is_transient() || is_final {
                return Err(error);
            }
            let delay = backoff(self.backoff, attempt).max(after);
            tracing::debug!(error = &error as &dyn std::error::Error, ?delay, "retry");
            tokio::time::sleep(delay).await;
            attempt += 1;
        }
    }

    async fn receive(
        &self,
        service: &Service,
        request: Bytes,
        response: &mut Response,
        output: &mut Output<'_>,
    ) -> Result<(), ModelError> {
        let mut stream = service.send(request).await?;
        loop {
            let data = match stream.next().await {
                Ok(Some(data)) => data,
                Ok(None) if response.is_finished => return Ok(()),
                Ok(None) => return Err(ModelError::Cut(None)),
                // The answer is whole: what is missing is the usage.
                Err(ModelError::Cut(_) | ModelError::Silence(_)) if response.is_finished => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let deltas = match self.api.read(&data) {
                // The last event may have been cut.
                Err(ModelError::MalformedDelta(_)) if stream.has_ended() => {
                    return Err(ModelError::Cut(None));
                }
                Err(ModelError::Service { detail, .. }) => {
                    return Err(ModelError::Service {
                        status: None,
                        retry_after: None,
                        detail: service.quoted(&detail),
                    });
                }
                deltas => deltas?,
            };
            for delta in deltas {
                match delta {
                    Delta::End => {
                        stream.drain();
                        return Ok(());
                    }
                    delta => response.add(delta, output).await?,
                }
            }
            if std::mem::take(&mut response.is_useful) {
                stream.was_useful();
            }
        }
    }

    fn service(&self) -> Result<Service, ModelError> {
        let settings = |problem: &str| Err(ModelError::Settings(problem.to_owned()));
        let base = self.base_url.trim_end_matches('/');
        let Ok(uri) = format!("{base}/{}", self.api.path()).parse::<Uri>() else {
            return settings("the base URL is malformed: expected `https://host/path`");
        };
        if !matches!(uri.scheme_str(), Some("http" | "https")) || base.contains(['?', '#']) {
            return settings("the base URL is malformed: expected `https://host/path`");
        }
        let doubled = format!("/{0}/{0}", self.api.path());
        if uri.path().ends_with(&doubled) {
            return settings(
                "the base URL has the path of the API: expected `https://host/path` without it",
            );
        }
        if uri.authority().is_some_and(|it| it.as_str().contains('@')) {
            return settings("the base URL has credentials: expected an API key in their place");
        }
        let authorization = match self.api_key.as_deref() {
            None => None,
            Some("") => return settings("the API key is empty"),
            Some(key) => match HeaderValue::from_str(&format!("Bearer {key}")) {
                Ok(mut value) => {
                    value.set_sensitive(true);
                    Some(value)
                }
                Err(_) => return settings("the API key has characters that no header can have"),
            },
        };
        Ok(Service {
            client: self.client.clone(),
            uri,
            authorization,
            silence: self.silence,
            // The last event of a response repeats the request and the whole output, in JSON.
            max_event: MAX_EVENT.saturating_add(self.max_output_bytes.saturating_mul(4)),
        })
    }
}

impl Agent for ModelAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let error = tokio::select! {
            biased;
            // Dropping the response closes the connection.
            () = turn.canceled() => return Ok(()),
            answered = self.answer(&turn) => match answered {
                Ok(()) => return Ok(()),
                Err(ModelError::Update(error)) => return Err(error.into()),
                Err(error) => error,
            },
        };
        tracing::warn!(
            task = %turn.task_id(),
            model = self.model,
            error = &error as &dyn std::error::Error,
            "the model gave no whole answer"
        );
        let mut message = Message::agent(error.for_caller());
        mark_failure(&mut message, error.name());
        Ok(turn.status(TaskState::Failed, Some(message)).await?)
    }
}

impl fmt::Debug for ModelAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAgent")
            .field("model", &self.model)
            .field("api", &self.api)
            .field("api_key", &self.api_key.as_ref().map(|_| "***"))
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

/// A response that is being received.
#[derive(Default)]
struct Response {
    text: String,
    reasoning: Option<(&'static str, String)>,
    opaque: Vec<Value>,
    call_buffer: CallBuffer,
    calls: Vec<Call>,
    usage: Option<TokenUsage>,
    has_output: bool,
    /// `true` if the last event had output.
    is_useful: bool,
    is_finished: bool,
    /// The reason why the service ended the answer early.
    incomplete: Option<String>,
}

impl Response {
    async fn add(&mut self, delta: Delta, output: &mut Output<'_>) -> Result<(), ModelError> {
        match delta {
            Delta::Id(id) => output.name(&id),
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Finished => self.is_finished = true,
            Delta::Incomplete(reason) => {
                (self.incomplete, self.is_finished) = (Some(reason), true);
            }
            Delta::End => {}
            Delta::Text(text) if text.is_empty() => {}
            Delta::Reasoning(_, text) if text.is_empty() => {}
            Delta::Text(text) => {
                self.has_output();
                output.text(&text).await?;
                self.text.push_str(&text);
            }
            Delta::Reasoning(member, text) => {
                self.has_output();
                output.reasoning(&text).await?;
                let (_, all) = self.reasoning.get_or_insert((member, String::new()));
                all.push_str(&text);
            }
            Delta::Call(call) => {
                let added = self.call_buffer.add(call)?;
                self.has_output = true;
                self.is_useful |= added > 0;
                output.count(added)?;
            }
            Delta::Opaque(item) => {
                self.has_output();
                output.count(item.to_string().len())?;
                self.opaque.push(item);
            }
        }
        Ok(())
    }

    fn has_output(&mut self) {
        (self.has_output, self.is_useful) = (true, true);
    }
}

/// Returns the delay before the attempt after this one.
fn backoff(first: Duration, attempt: u32) -> Duration {
    let factor = 1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX);
    let delay = first.saturating_mul(factor).min(MAX_BACKOFF);
    delay.mul_f64(1.0 - fastrand::f64() / 2.0)
}

/// Longest delay between attempts, unless the service asks for more.
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// Longest delay that a service may ask for; after a longer one there is no retry.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Bytes of an event, besides those that repeat the output.
const MAX_EVENT: usize = 4 << 20;
/// Estimate of the bytes of a token.
const BYTES_PER_TOKEN: usize = 4;
