//! Requests of MCP clients, and what the agents make of them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use a2a_types::{Message, Task, TaskState};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CreateTaskResult, ElicitRequest, ErrorData, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, InputRequest, InputRequests, InputRequiredResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, SealOptions, ServerCapabilities,
    ServerConfig, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;

use crate::agents::{Catalog, Entry};
use crate::bridge::Bridge;
use crate::call::{Outcome, Request};
use crate::question::{Answer, AnswerKind, Answered, Modes, Question, answer};
use crate::{arguments, content, task};

/// Handler of the requests of one client.
pub(crate) struct Handler {
    bridge: Arc<Bridge>,
    /// Permit for the session, which a client of 2025-11-25 begins.
    permit: OnceLock<OwnedSemaphorePermit>,
}

/// Time for which a question can be answered.
const STATE_TTL: Duration = Duration::from_secs(24 * 3600);

/// Time for which a client may keep the list of tools, and the same while an agent is missing.
const TOOLS_TTL: Duration = Duration::from_secs(300);
const TOOLS_TTL_INCOMPLETE: Duration = Duration::from_secs(10);

/// State of a question in a round trip: what the answer belongs to.
#[derive(Deserialize, Serialize)]
struct State {
    agent: String,
    task: String,
    context: Option<String>,
    question: String,
    kind: AnswerKind,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks();
        let program = Implementation::new("a2a", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities.build())
            .with_server_info(program)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let Ok(permit) = Arc::clone(&self.bridge.sessions).try_acquire_owned() else {
            let problem = "too many sessions: expected to end one, or to wait";
            return Err(ErrorData::internal_error(problem, None));
        };
        let _ = self.permit.set(permit);
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let catalog = Catalog::of(&self.bridge.agents).await;
        if catalog.agents.is_empty() && !catalog.missing.is_empty() {
            let problem = format!("no agent can be reached: {}", catalog.missing.join("; "));
            return Err(ErrorData::internal_error(problem, None));
        }
        for problem in &catalog.missing {
            tracing::warn!("an agent cannot be reached: {problem}");
        }
        let ttl = match catalog.missing.is_empty() {
            true => TOOLS_TTL,
            false => TOOLS_TTL_INCOMPLETE,
        };
        let tools = catalog
            .entries
            .into_iter()
            .map(|entry| entry.tool)
            .collect();
        let mut listed = ListToolsResult::with_all_items(tools);
        listed.ttl_ms = Some(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        // The card may depend on the credentials of this bridge.
        listed.cache_scope = Some(CacheScope::Private);
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // An agent that cannot be reached must not delay the calls of others.
        let mut catalog = Catalog::known(&self.bridge.agents);
        if catalog.find(&request.name).is_none() {
            catalog = Catalog::of(&self.bridge.agents).await;
        }
        let Some(entry) = catalog.find(&request.name) else {
            return Err(unknown_tool(&request.name, &catalog));
        };
        let begin = match &request.request_state {
            Some(state) => {
                let state = self.open(state, entry)?;
                let responses = request.input_responses.as_ref();
                match responses.and_then(|responses| responses.get(&state.question)) {
                    Some(response) => {
                        let task = state.task();
                        answer(&task, state.kind, response.clone()).map_err(|problem| {
                            ErrorData::invalid_params(format!("inputResponses: {problem}"), None)
                        })?
                    }
                    // Without an answer the question is asked once more.
                    None => return self.ask_again(entry, &state, &context).await,
                }
                .into_request(&state.task(), state.question)
            }
            None => arguments::message(request.arguments.unwrap_or_default(), entry.schema())
                .map(|message| Begin::Request(entry.request(message)))
                .unwrap_or_else(|problem| Begin::Result(content::of_failure(problem))),
        };
        self.run(entry, begin, &context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        task::state(&self.bridge, &request.task_id, &context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        task::answer_question(&self.bridge, &request.task_id, request.input_responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        task::cancel(&self.bridge, &request.task_id).await
    }
}

/// Begin of a turn, or what is answered without one.
enum Begin {
    Request(Request),
    Cancel(Task),
    Result(CallToolResult),
}

impl Answer {
    fn into_request(self, task: &Task, question: String) -> Begin {
        match self {
            Self::Message(message) => Begin::Request(Request::Send(Box::new(message))),
            Self::Visited => Begin::Request(Request::Wait {
                task: task.id.clone(),
                answered: Some(Answered::new(question)),
            }),
            Self::Canceled => Begin::Cancel(task.clone()),
            Self::Declined => Begin::Result(content::of_declined(task)),
        }
    }
}

impl Handler {
    pub(crate) fn new(bridge: &Arc<Bridge>) -> Self {
        Self {
            bridge: Arc::clone(bridge),
            permit: OnceLock::new(),
        }
    }

    /// Runs turns of an agent until there is a result, a question that the client must ask, or a task of MCP.
    async fn run(
        &self,
        entry: &Entry,
        mut begin: Begin,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _running = self.bridge.calls.enter();
        let agent = &entry.agent;
        let capabilities = context.client_capabilities();
        // Older versions have no form for the handle.
        let knows_tasks = is_current(context) && capabilities.is_some_and(|it| it.supports_tasks());
        let grace = knows_tasks.then_some(self.bridge.grace);
        loop {
            let request = match begin {
                Begin::Request(request) => request,
                Begin::Result(result) => return Ok(result.into()),
                Begin::Cancel(task) => {
                    let canceled = agent.client.cancel_task(task.id.clone()).await;
                    let mut result = match canceled {
                        Ok(task) => content::of_task(&task, None),
                        Err(error) => content::of_failure(crate::call::sentence(&error)),
                    };
                    result.is_error = Some(true);
                    return Ok(result.into());
                }
            };
            let answered = match &request {
                Request::Wait { answered, .. } => answered.clone(),
                _ => None,
            };
            let task = match self
                .bridge
                .calls
                .follow(&agent.client, request, grace, context)
                .await
            {
                Outcome::Message(message) => return Ok(content::of_message(&message).into()),
                Outcome::Canceled => {
                    return Ok(content::of_failure("the call was canceled").into());
                }
                Outcome::Failed(problem, None) => return Ok(content::of_failure(problem).into()),
                Outcome::Failed(problem, Some(task)) => {
                    let mut result = content::of_task(&task, Some(&problem));
                    result.is_error = Some(true);
                    return Ok(result.into());
                }
                Outcome::Working(task) => {
                    let task = task::begin(&self.bridge, agent, &task, answered);
                    return Ok(CreateTaskResult::new(task).into());
                }
                Outcome::Settled(task) => task,
            };
            let Some(question) = Question::of(&task) else {
                return Ok(content::of_task(&task, None).into());
            };
            begin = match self.ask(entry, &task, &question, context).await? {
                Asked::Answer(answer) => answer.into_request(&task, question.key),
                Asked::Response(response) => return Ok(response),
            };
        }
    }

    /// Asks the client a question of a task: by a round trip, by a request to an older client, or by a text.
    async fn ask(
        &self,
        entry: &Entry,
        task: &Task,
        question: &Question,
        context: &RequestContext<RoleServer>,
    ) -> Result<Asked, ErrorData> {
        let as_text = || Asked::Response(content::of_question(task, question).into());
        let Some(elicitation) = question.elicitation(Modes::of(context)) else {
            return Ok(as_text());
        };
        if is_current(context) {
            let state = State {
                agent: entry.agent.key.clone(),
                task: task.id.to_string(),
                context: task.context_id.as_ref().map(ToString::to_string),
                question: question.key.clone(),
                kind: question.kind(),
            };
            let state = self.seal(&state, &entry.tool.name)?;
            let request = InputRequest::Elicitation(ElicitRequest::new(elicitation));
            let requests = InputRequests::from([(question.key.clone(), request)]);
            let asked = InputRequiredResult::new(Some(requests), Some(state));
            return Ok(Asked::Response(asked.into()));
        }
        let response = tokio::select! {
            response = context.peer.create_elicitation(elicitation) => response,
            () = context.ct.cancelled() => return Ok(Asked::Answer(Answer::Canceled)),
            () = self.bridge.calls.ended() => return Ok(Asked::Answer(Answer::Canceled)),
        };
        let answer = response
            .map_err(|error| error.to_string())
            .and_then(|response| {
                let response = serde_json::to_value(response).unwrap_or_default();
                answer(task, question.kind(), response)
            });
        // The task waits all the same: the caller learns its id.
        Ok(answer.map_or_else(
            |problem| {
                tracing::debug!(problem, "the client did not answer a question");
                as_text()
            },
            Asked::Answer,
        ))
    }

    /// Asks the question of a state once more, or returns what has become of the task.
    async fn ask_again(
        &self,
        entry: &Entry,
        state: &State,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let task = state.task().id;
        let begin = Begin::Request(Request::Wait {
            task,
            answered: None,
        });
        self.run(entry, begin, context).await
    }

    fn seal(&self, state: &State, tool: &str) -> Result<String, ErrorData> {
        let failed = |error| ErrorData::internal_error(format!("the state: {error}"), None);
        let bytes = serde_json::to_vec(state).map_err(failed)?;
        let options = SealOptions::new()
            .associated_data(tool.as_bytes())
            .ttl(STATE_TTL);
        Ok(self.bridge.states.seal_with(&bytes, &options))
    }

    fn open(&self, sealed: &str, entry: &Entry) -> Result<State, ErrorData> {
        let refused = |problem: &dyn std::fmt::Display| {
            let problem = format!(
                "requestState: {problem}; expected the state of the question, unchanged, within {} hours",
                STATE_TTL.as_secs() / 3600
            );
            ErrorData::invalid_params(problem, None)
        };
        let bytes = self
            .bridge
            .states
            .open_with(sealed, entry.tool.name.as_bytes());
        let bytes = bytes.map_err(|error| refused(&error))?;
        let state: State = serde_json::from_slice(&bytes).map_err(|error| refused(&error))?;
        match state.agent == entry.agent.key {
            true => Ok(state),
            false => Err(refused(&"it is of another agent")),
        }
    }
}

/// Answer to a question, or the response that asks for it.
enum Asked {
    Answer(Answer),
    Response(CallToolResponse),
}

impl State {
    /// Returns the task as far as the state knows it.
    fn task(&self) -> Task {
        let mut task = Task {
            id: self.task.as_str().into(),
            context_id: self.context.as_deref().map(Into::into),
            ..Task::default()
        };
        task.status.state = match self.kind {
            AnswerKind::Visit => TaskState::AuthRequired,
            _ => TaskState::InputRequired,
        };
        task
    }
}

impl Entry {
    /// Returns the request for a message, which names the skill in its metadata.
    fn request(&self, mut message: Message) -> Request {
        if self.agent.is_of_0_1() && message.task_id.is_none() {
            // The caller names the conversation; a task has one already.
            let new = || uuid::Uuid::new_v4().to_string().into();
            message.context_id.get_or_insert_with(new);
        }
        if let Some(skill) = &self.skill {
            let metadata = message.metadata.get_or_insert_default();
            metadata.insert("skillId".to_owned(), skill.id.clone().into());
        }
        Request::Send(Box::new(message))
    }
}

/// Returns whether the client speaks a version that has round trips and tasks.
fn is_current(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn unknown_tool(name: &str, catalog: &Catalog) -> ErrorData {
    let known: Vec<_> = catalog
        .entries
        .iter()
        .map(|entry| &*entry.tool.name)
        .collect();
    let mut problem = format!("unknown tool `{name}`");
    if !known.is_empty() {
        problem.push_str(": expected ");
        problem.push_str(&known.join(", "));
    }
    for missing in &catalog.missing {
        problem.push_str("; an agent cannot be reached: ");
        problem.push_str(missing);
    }
    ErrorData::invalid_params(problem, None)
}

const INSTRUCTIONS: &str = "Each tool is a skill of an agent. A result has a context_id: pass it to go on with the conversation. \
An agent that asks for something names a task_id: pass it with the answer.";
