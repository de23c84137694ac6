//! Calls of an agent and its replies, independent of binding and version.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;

use a2a_types::reading::Deviation;
use a2a_types::{ProtocolVersion, Request, Response};
use tokio_stream::Stream;

use crate::{Credentials, Error, SharedEvent, TraceContext};

/// A request with its context.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The operation and its parameters.
    pub request: Request,
    /// The caller and the circumstances of the request.
    pub context: Context,
}

impl CallRequest {
    /// Creates a call with the context of a caller in the same process.
    pub fn new(request: impl Into<Request>) -> Self {
        Self {
            request: request.into(),
            context: Context::default(),
        }
    }
}

/// Caller and circumstances of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Context {
    /// Authenticated caller.
    pub principal: Principal,
    /// The tenant that the request names, once a server has looked. Only 1.0 has tenants.
    pub tenant: Option<Arc<str>>,
    /// Protocol version of the caller: how tasks behave depends on it.
    pub protocol_version: ProtocolVersion,
    /// The extensions that the caller wants active, by URI.
    pub extensions: Vec<String>,
    /// Unproven statements of the caller about itself.
    pub claims: Claims,
    /// Sequence number of the last event that the caller has seen, when it resumes a stream.
    pub last_event_id: Option<u64>,
    /// The trace that the request belongs to, as it is passed on from here.
    pub trace: Option<TraceContext>,
    /// Credentials that the caller shows the agent with this call in place of its connection's credentials;
    /// `None` at the agent, which knows the principal.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Repairs that were needed to understand the request.
    pub repairs: Vec<Deviation>,
}

impl Context {
    /// Makes the context of an anonymous caller in the same process with this protocol version.
    pub fn new(protocol_version: ProtocolVersion) -> Self {
        Self {
            principal: Principal::anonymous(),
            tenant: None,
            protocol_version,
            extensions: Vec::new(),
            claims: Claims::default(),
            last_event_id: None,
            trace: None,
            credentials: None,
            repairs: Vec::new(),
        }
    }

    /// Sets the principal.
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = principal;
        self
    }

    /// Sets the tenant that the request names.
    pub fn tenant(mut self, tenant: impl Into<Option<Arc<str>>>) -> Self {
        self.tenant = tenant.into();
        self
    }
}

impl Default for Context {
    /// Returns the context of an anonymous caller in the same process that speaks 1.0.
    fn default() -> Self {
        Self::new(ProtocolVersion::LATEST)
    }
}

/// Unproven statements of a caller about itself: never a reason to admit it or to show it anything.
/// [`Principal`] is what is proven.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Claims {
    /// The user that it acts for: the header `X-User-ID`.
    pub user_id: Option<Arc<str>>,
    /// The program that it is: the header `User-Agent`.
    pub user_agent: Option<Arc<str>>,
}

/// Identity of the caller: the owner of tasks and webhooks.
///
/// Two principals are equal if their names are: scopes are what this caller may do with these
/// credentials, not who it is.
#[derive(Clone)]
pub struct Principal {
    name: Option<Arc<str>>,
    scopes: Option<Arc<[Box<str>]>>,
}

impl Principal {
    /// Creates a caller known by this name, which must be unique and lasting.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: Some(name.into()),
            scopes: None,
        }
    }

    /// Returns the principal of callers without credentials. All of them are one principal.
    pub fn anonymous() -> Self {
        Self {
            name: None,
            scopes: None,
        }
    }

    /// Sets the scopes that its credentials grant; none by default.
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        let scopes: Arc<[_]> = scopes.into_iter().map(Into::into).collect();
        self.scopes = (!scopes.is_empty()).then_some(scopes);
        self
    }

    /// Returns the name; `None` for the anonymous principal.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the name, shared: what is stored with a task.
    pub fn shared_name(&self) -> Option<Arc<str>> {
        self.name.clone()
    }

    /// Returns the scopes that its credentials grant.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes
            .iter()
            .flat_map(|scopes| scopes.iter())
            .map(|scope| &**scope)
    }

    /// Returns whether its credentials grant a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes().any(|granted| granted == scope)
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("(anonymous)"))
    }
}

/// Reply of an agent to a call.
#[non_exhaustive]
pub struct CallResponse {
    /// One answer or a stream of events.
    pub answer: ResponseBody,
    /// Protocol version in which the task was created: `tasks/get` and its like are spelled alike in three
    /// versions, and are answered in this one.
    pub created_in: Option<ProtocolVersion>,
    /// Kept until the answer is written: a share of a budget of memory, for instance.
    pub held: Option<Arc<dyn Send + Sync>>,
}

/// One answer or a stream of events.
pub enum ResponseBody {
    /// The answer to an operation that is answered once.
    Once(Response),
    /// The events, as they happen.
    Stream(UpdateStream),
}

/// A stream of events; it ends when no more will come.
pub type UpdateStream = Pin<Box<dyn Stream<Item = Result<Update, Error>> + Send>>;

/// An event with its place in the task's log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Update {
    /// The event.
    pub event: SharedEvent,
    /// Its place in the log; `None` if the peer does not send it.
    pub sequence: Option<u64>,
}

impl Update {
    /// Makes an update of an event and its place in the log.
    pub fn new(event: impl Into<SharedEvent>, sequence: Option<u64>) -> Self {
        Self {
            event: event.into(),
            sequence,
        }
    }
}

impl CallResponse {
    /// Makes a reply of one answer or a stream of events.
    pub fn new(answer: ResponseBody) -> Self {
        Self {
            answer,
            created_in: None,
            held: None,
        }
    }

    /// Creates a reply of one answer.
    pub fn once(response: Response) -> Self {
        Self::new(ResponseBody::Once(response))
    }

    /// Creates a reply of a stream of events.
    pub fn stream(updates: impl Stream<Item = Result<Update, Error>> + Send + 'static) -> Self {
        Self::new(ResponseBody::Stream(Box::pin(updates)))
    }

    /// Keeps `held` until the answer is written.
    pub fn holding(mut self, held: Option<Arc<dyn Send + Sync>>) -> Self {
        self.held = held;
        self
    }

    /// Marks the reply as about a task that was created in `protocol_version`.
    pub fn about_task_of(mut self, protocol_version: ProtocolVersion) -> Self {
        self.created_in = Some(protocol_version);
        self
    }
}

impl fmt::Debug for CallResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.answer {
            ResponseBody::Once(response) => f.debug_tuple("Once").field(response).finish(),
            ResponseBody::Stream(_) => f.write_str("Stream"),
        }
    }
}
