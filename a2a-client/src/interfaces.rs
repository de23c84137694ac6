//! The interfaces of an agent that we can call.

use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_transport::http::{HttpClient, HttpTransport};
use a2a_transport::{BoxFuture, Call, Error, Phase, Reply, Transport};
use a2a_types::reading::Violation;
use a2a_types::{AgentCard, AgentInterface};

/// A [`Transport`] by the first interface on a card that we speak (specification 1.0 §8.3.2); by
/// the next one when that cannot be reached.
#[derive(Debug)]
pub struct Interfaces {
    spoken: Vec<(AgentInterface, HttpTransport)>,
    current: AtomicUsize,
}

impl Interfaces {
    /// Those on `card` that we speak, called with `http`; an error if there are none.
    pub fn of(card: &AgentCard, http: &HttpClient) -> Result<Self, Error> {
        let mut spoken = Vec::new();
        let mut first_problem = None;
        for interface in &card.supported_interfaces {
            match HttpTransport::to(interface) {
                Some(Ok(transport)) => {
                    spoken.push((interface.clone(), transport.http(http.clone())));
                }
                Some(Err(problem)) => drop(first_problem.get_or_insert(problem)),
                None => {}
            }
        }
        if spoken.is_empty() {
            return Err(first_problem.unwrap_or_else(|| none_spoken(card)));
        }
        Ok(Self {
            spoken,
            current: AtomicUsize::new(0),
        })
    }

    /// The one that is called at present.
    pub fn current(&self) -> &AgentInterface {
        &self.spoken[self.current.load(Ordering::Relaxed)].0
    }
}

impl Transport for Interfaces {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        Box::pin(async move {
            let first = self.current.load(Ordering::Relaxed);
            let mut tried = 0;
            loop {
                let index = (first + tried) % self.spoken.len();
                let reply = self.spoken[index].1.call(call.clone()).await;
                tried += 1;
                match reply {
                    Err(error) if nothing_was_sent(&error) && tried < self.spoken.len() => {
                        let url = &self.spoken[index].0.url;
                        tracing::debug!(url, %error, "trying the next interface");
                    }
                    reply => {
                        if reply.is_ok() {
                            self.current.store(index, Ordering::Relaxed);
                        }
                        return reply;
                    }
                }
            }
        })
    }
}

/// Whether asking elsewhere cannot ask twice.
fn nothing_was_sent(error: &Error) -> bool {
    matches!(
        error,
        Error::Unreachable(_)
            | Error::Timeout {
                phase: Phase::Connect,
                ..
            }
    )
}

fn none_spoken(card: &AgentCard) -> Error {
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
            "the agent offers no interface that we speak (JSONRPC 0.1 to 1.0, HTTP+JSON 0.3 and 1.0), \
             only: {}",
            offered.join(", ")
        ),
    })
}
