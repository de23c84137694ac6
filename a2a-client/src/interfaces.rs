//! Supported interfaces of an agent, with fallback from one to the next.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_transport::http::HttpTransport;
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, ResponseBody, Transport};
use a2a_types::reading::{Mode, Violation};
use a2a_types::{
    AgentCard, AgentInterface, CancelTaskRequest, ErrorKind, GetTaskRequest, Operation,
    ProtocolVersion, Request, Response,
};

use crate::origin::Origin;

/// A [`Transport`] by the first supported interface on a card (specification 1.0 §8.3.2), or the next
/// one of another origin if that is unreachable.
#[derive(Debug)]
pub struct Interfaces {
    supported: Vec<SupportedInterface>,
    current: AtomicUsize,
}

/// A supported interface.
#[derive(Debug)]
struct SupportedInterface {
    interface: AgentInterface,
    origin: Origin,
    transport: HttpTransport,
    /// A card of 0.1 may look like one of 0.2. Once it is known, the transport that speaks 0.1, or
    /// `None` if the agent speaks 0.2.
    older: OnceLock<Option<HttpTransport>>,
}

impl Interfaces {
    /// Collects the supported interfaces of `card`, with each transport adapted by `dress`. Errors:
    /// no interface is supported.
    pub fn of(
        card: &AgentCard,
        dress: impl Fn(&AgentInterface, HttpTransport) -> HttpTransport,
    ) -> Result<Self, Error> {
        let mut supported = Vec::new();
        let mut first_problem = None;
        let named = card.supported_interfaces.iter();
        for interface in named.filter(|interface| !interface.url.is_empty()) {
            let Some(transport) = HttpTransport::to(interface) else {
                continue;
            };
            let origin = Origin::of(&interface.http_url(None));
            match transport.and_then(|transport| Ok((transport, origin?))) {
                Ok((transport, origin)) => {
                    let transport = dress(interface, transport);
                    let older = match transport.protocol_version() {
                        ProtocolVersion::V0_2 => OnceLock::new(),
                        _ => OnceLock::from(None),
                    };
                    supported.push(SupportedInterface {
                        interface: interface.clone(),
                        origin,
                        transport,
                        older,
                    });
                }
                Err(problem) => drop(first_problem.get_or_insert(problem)),
            }
        }
        if supported.is_empty() {
            return Err(first_problem.unwrap_or_else(|| none_spoken(card)));
        }
        Ok(Self {
            supported,
            current: AtomicUsize::new(0),
        })
    }

    /// Returns the interface in use.
    pub fn current(&self) -> &AgentInterface {
        &self.supported[self.current.load(Ordering::Relaxed)].interface
    }
}

impl Transport for Interfaces {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(async move {
            let first = self.current.load(Ordering::Relaxed);
            let mut index = first;
            // A server that is unreachable is so on all of its interfaces. If it recovers meanwhile, that must not
            // lead to calls in an older version.
            let mut unreachable = Vec::new();
            loop {
                let tried = &self.supported[index];
                let error = match tried.call(call.clone()).await {
                    Err(error) if error.nothing_was_sent() => error,
                    reply => {
                        if reply.is_ok() {
                            self.current.store(index, Ordering::Relaxed);
                        }
                        return reply;
                    }
                };
                unreachable.push(&tried.origin);
                let mut others = (first..self.supported.len()).chain(0..first);
                let next =
                    others.find(|other| !unreachable.contains(&&self.supported[*other].origin));
                let Some(next) = next else {
                    return Err(error);
                };
                let url = &tried.interface.url;
                tracing::debug!(url, %error, "trying the next interface");
                index = next;
            }
        })
    }
}

impl SupportedInterface {
    async fn call(&self, call: CallRequest) -> Result<CallResponse, Error> {
        match self.older.get() {
            Some(Some(older)) => older.call(call).await,
            Some(None) => self.transport.call(call).await,
            None if is_called_alike(call.request.operation()) => self.find_out_once(call).await,
            None => self.find_out(call).await,
        }
    }

    /// Calls in 0.2, and in 0.1 if the agent does not know the method.
    async fn find_out(&self, call: CallRequest) -> Result<CallResponse, Error> {
        let reply = self.transport.call(call.clone()).await;
        if !is_unknown(&reply) {
            if matches!(reply, Ok(_) | Err(Error::Agent(_))) {
                self.older.get_or_init(|| None);
            }
            return reply;
        }
        // The method was unknown, so nothing was done.
        let older = self.transport.clone().speaking(ProtocolVersion::V0_1);
        let again = older.call(call).await;
        match is_unknown(&again) || matches!(again, Err(Error::NotSupported { .. })) {
            true => reply,
            false => {
                self.older.get_or_init(|| Some(older));
                again
            }
        }
    }

    /// Calls a method of both versions. An answer that does not parse as 0.2 means 0.1, but only for
    /// this call: both are read leniently.
    async fn find_out_once(&self, call: CallRequest) -> Result<CallResponse, Error> {
        let is_tolerant = self.transport.reading_mode() == Mode::Tolerant;
        // A tolerant reader would take an answer of 0.1 for a poor one of 0.2.
        let lenient = match is_tolerant {
            true => self.transport.clone().mode(Mode::Lenient),
            false => self.transport.clone(),
        };
        let reply = lenient.call(call.clone()).await;
        let (Err(Error::Malformed(_)), Some(look)) = (&reply, look_at(&call.request)) else {
            return reply;
        };
        let is_canceled = call.request.operation() == Operation::CancelTask;
        // The operation was done, so the task is only read.
        let call = CallRequest {
            request: look.into(),
            ..call
        };
        let older = lenient.speaking(ProtocolVersion::V0_1);
        let mut read = older.call(call.clone()).await;
        if read.is_err() && is_tolerant {
            read = self.transport.call(call).await;
        }
        match read.map(|reply| reply.answer) {
            Ok(ResponseBody::Once(Response::GetTask(task))) if is_canceled => {
                Ok(CallResponse::once(Response::CancelTask(task)))
            }
            Ok(answer) => Ok(CallResponse::new(answer)),
            Err(_) => reply,
        }
    }
}

/// Returns whether an operation has the same method name in 0.1 and 0.2.
fn is_called_alike(operation: Operation) -> bool {
    ProtocolVersion::V0_1.method(operation) == ProtocolVersion::V0_2.method(operation)
}

/// Returns the request that reads the task with which a request is answered.
fn look_at(request: &Request) -> Option<GetTaskRequest> {
    match request {
        Request::GetTask(look) => Some(look.clone()),
        Request::CancelTask(CancelTaskRequest { tenant, id, .. }) => Some(GetTaskRequest {
            tenant: tenant.clone(),
            id: id.clone(),
            history_length: None,
        }),
        _ => None,
    }
}

/// Returns whether the agent does not know the method. Google's server of 0.1 calls such a request
/// invalid.
fn is_unknown(reply: &Result<CallResponse, Error>) -> bool {
    let kinds = [ErrorKind::MethodNotFound, ErrorKind::InvalidRequest];
    matches!(reply, Err(Error::Agent(error)) if kinds.contains(&error.kind))
}

pub(crate) fn none_spoken(card: &AgentCard) -> Error {
    let mut interfaces = card.supported_interfaces.iter();
    if interfaces.all(|interface| interface.url.is_empty()) {
        return Error::Malformed(Violation {
            path: "$.url".to_owned(),
            problem: "the card names no URL at which the agent can be called".to_owned(),
        });
    }
    let offered: Vec<_> = card
        .supported_interfaces
        .iter()
        .map(|interface| {
            let AgentInterface {
                protocol_binding,
                protocol_version,
                ..
            } = interface;
            format!("{protocol_binding} {protocol_version}")
        })
        .collect();
    Error::Malformed(Violation {
        path: "$.supportedInterfaces".to_owned(),
        problem: format!(
            "the agent offers no interface that we speak (JSONRPC 0.1 to 1.0, HTTP+JSON and GRPC 0.3 and 1.0), \
             only: {}",
            offered.join(", ")
        ),
    })
}
