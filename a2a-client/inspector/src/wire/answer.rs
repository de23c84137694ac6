//! Answers to calls, read as the client reads them.

use a2a_client::read_card_in;
use a2a_jsonrpc::Limits;
use a2a_transport::binding::grpc::Code;
use a2a_transport::binding::{EventReader, read_reply};
use a2a_transport::{Binding, Error, ResponseContext, SharedEvent};
use a2a_types::reading::{Deviation, Mode, WithRepairs};
use a2a_types::{Error as A2aError, ProtocolVersion, Response as A2aResponse};
use http::StatusCode;

use super::exchange::{Exchange, Response};

/// An answer in the canonical model.
pub(super) enum Answer {
    Once(Result<A2aResponse, A2aError>),
    Stream(Vec<(Option<u64>, Result<SharedEvent, A2aError>)>),
}

impl Answer {
    /// Reads an answer, with its deviations from the specification. Errors: the reason why it cannot be read.
    pub(super) fn read(
        envelope: &ResponseContext,
        response: &Response,
    ) -> Result<WithRepairs<Self>, String> {
        let body = &response.body.bytes;
        if envelope.binding == Binding::Grpc {
            return read_grpc(envelope, response);
        }
        if response.is_stream() {
            return read_stream(envelope, response);
        }
        if envelope.operation.is_stream() && response.status.is_success() {
            // An error before the stream began, or an agent that does not stream.
            let read = reader(envelope)
                .read(body)
                .map(|read| read.map(|item| Self::Stream(vec![(None, Ok(item.event.into()))])));
            return known(read);
        }
        // A call that several versions spell alike is answered in that of its task.
        let alike = [
            envelope.protocol_version,
            ProtocolVersion::V0_2,
            ProtocolVersion::V0_1,
        ];
        let count = if envelope.ambiguous { alike.len() } else { 1 };
        let readings = alike[..count].iter().map(|protocol_version| {
            let mut envelope = envelope.clone();
            envelope.protocol_version = *protocol_version;
            let limits = Limits::default();
            let read = read_reply(&envelope, response.status, body, Mode::Tolerant, &limits);
            known(read.map(|read| read.map(|response| Self::Once(Ok(response)))))
        });
        let deviations = |reading: &Result<WithRepairs<Self>, _>| match reading {
            Ok(read) => read.repairs.len(),
            Err(_) => usize::MAX,
        };
        let best = readings.min_by_key(deviations);
        best.unwrap_or_else(|| Err("there is none".to_owned()))
    }
}

/// Returns the deviations of an answer or a card that is read despite them.
pub(super) fn deviations(exchange: &Exchange) -> Vec<Deviation> {
    let Some(response) = &exchange.response else {
        return Vec::new();
    };
    let request = exchange.request.readable();
    if request.is_card() {
        let card = read_card_in(&response.body.text(), Mode::Tolerant);
        return card.map(|card| card.repairs).unwrap_or_default();
    }
    let answer = request
        .read_call()
        .and_then(|call| Answer::read(&call.envelope, response));
    answer.map(|answer| answer.repairs).unwrap_or_default()
}

/// Reads an answer by gRPC. The error in its status takes the place of an answer that is read once, and ends a stream.
fn read_grpc(
    envelope: &ResponseContext,
    response: &Response,
) -> Result<WithRepairs<Answer>, String> {
    if response.grpc_path.is_none() {
        return Err("it is not by gRPC".to_owned());
    }
    let status = response.grpc_status();
    let error = status
        .filter(|status| status.code != Code::OK)
        .map(|status| known(Err(status.into_error())));
    if !envelope.operation.is_stream() {
        if let Some(error) = error {
            return error;
        }
        let [message] = &response.frames()[..] else {
            return Err("it is not one message".to_owned());
        };
        if let Some(problem) = &message.problem {
            return Err(problem.clone());
        }
        let (ok, limits) = (StatusCode::OK, Limits::default());
        let read = read_reply(envelope, ok, &message.data, Mode::Tolerant, &limits);
        return known(read.map(|read| read.map(|response| Answer::Once(Ok(response)))));
    }
    let mut read = read_stream(envelope, response)?;
    match (error.transpose()?, &mut read.value) {
        (Some(error), Answer::Stream(events)) if events.is_empty() => Ok(error),
        (Some(error), Answer::Stream(events)) => {
            if let Answer::Once(Err(error)) = error.value {
                events.push((None, Err(error)));
            }
            Ok(read)
        }
        _ => Ok(read),
    }
}

fn read_stream(
    envelope: &ResponseContext,
    response: &Response,
) -> Result<WithRepairs<Answer>, String> {
    let mut reader = reader(envelope);
    let (mut events, mut repairs) = (Vec::new(), Vec::new());
    for (frame, number) in response.frames().into_iter().zip(1..) {
        if let Some(problem) = frame.problem {
            return Err(format!("event {number}: {problem}"));
        }
        let event = match reader.read(&frame.data) {
            Ok(read) => {
                repairs.extend(read.repairs.into_iter().map(|deviation| Deviation {
                    path: format!("event {number}: {}", deviation.path),
                    ..deviation
                }));
                Ok(SharedEvent::from(read.value.event))
            }
            Err(Error::Agent(error)) => Err(error),
            Err(error) => return Err(format!("event {number}: {error}")),
        };
        let sequence = frame.id.and_then(|id| id.parse().ok());
        events.push((sequence, event));
    }
    let value = Answer::Stream(events);
    Ok(WithRepairs { value, repairs })
}

fn reader(envelope: &ResponseContext) -> EventReader {
    EventReader::new(envelope.clone(), Mode::Tolerant, Limits::default())
}

/// Takes an error that the agent answered with as an answer.
fn known(read: Result<WithRepairs<Answer>, Error>) -> Result<WithRepairs<Answer>, String> {
    match read {
        Ok(read) => Ok(read),
        Err(Error::Agent(error)) => Ok(WithRepairs {
            value: Answer::Once(Err(error)),
            repairs: Vec::new(),
        }),
        Err(error) => Err(error.to_string()),
    }
}
