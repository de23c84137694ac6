//! The answer to a request of a client, as the case says, whatever the connection.

use std::time::Duration;

use a2a_transport::binding::grpc::Status;
use a2a_transport::binding::write_reply;
use a2a_transport::{Binding, ResponseContext};
use a2a_types::{ErrorKind, Operation};

use super::case::{Pause, ScriptedAnswer};
use super::fixture::{Fixture, Listener};
use super::parsed_request::{self, ParsedRequest};
use super::socket::Request;
use super::wire_answer::{WireAnswer, edited};

/// Records a request; returns its index among all requests, and the answer to it.
pub(super) fn receive(
    request: Request,
    listener: Listener,
    fixture: &Fixture,
) -> (usize, WireAnswer) {
    let parsed = parsed_request::read(&request, fixture.interface);
    let (index, number) = fixture.record(listener, request.clone(), parsed.clone());
    let written = answer(&request, &parsed, listener, number, fixture).unwrap_or_else(|problem| {
        fixture.note(index, |received| received.harness = Some(problem));
        WireAnswer::json(500, Vec::new())
    });
    fixture.note_answer(index, (written.status, written.text()));
    (index, written)
}

fn answer(
    request: &Request,
    parsed: &ParsedRequest,
    listener: Listener,
    number: usize,
    fixture: &Fixture,
) -> Result<WireAnswer, String> {
    let names = fixture.names_for(parsed);
    if request.method == "GET" && request.path().ends_with("/jwks.json") {
        return Ok(WireAnswer::json(200, fixture.published_keys(listener)));
    }
    let plain = ScriptedAnswer::default();
    // A second listener answers as plainly as it can: what matters is what it is sent.
    let scripted = match listener {
        Listener::Agent => fixture
            .case
            .serve
            .iter()
            .find(|answer| fits(answer, parsed, number)),
        Listener::Elsewhere => None,
    };
    let scripted = scripted.unwrap_or(&plain);
    match (&parsed.envelope, parsed.operation) {
        (Some(envelope), _) => WireAnswer::of(scripted, envelope, &names),
        (None, Some("AgentCard")) => {
            let is_here = request.path() == fixture.card_path();
            let mut written = match (&scripted.raw, is_here) {
                (Some(_), _) => WireAnswer::raw(scripted, &names)?,
                (None, true) => {
                    let card = fixture.card.to_string().into_bytes();
                    WireAnswer::json(200, edited(card, &scripted.edit, &names)?)
                }
                (None, false) => WireAnswer::json(404, b"{}".to_vec()),
            };
            if is_here {
                written.apply_overrides(scripted, &names)?;
            }
            Ok(written)
        }
        // A request that the version does not have.
        _ => Ok(unknown(fixture, parsed)),
    }
}

fn fits(answer: &ScriptedAnswer, parsed: &ParsedRequest, number: usize) -> bool {
    let on = answer.on.as_deref();
    on.is_none_or(|on| Some(on) == parsed.operation) && answer.nth.is_none_or(|nth| nth == number)
}

fn unknown(fixture: &Fixture, parsed: &ParsedRequest) -> WireAnswer {
    let operation = Operation::GetTask;
    let mut envelope = ResponseContext::new(
        fixture.interface.protocol_version,
        fixture.interface.binding,
        operation,
    );
    envelope.id = serde_json::from_value(parsed.body["id"].clone()).ok();
    let written = write_reply(&envelope, Err(ErrorKind::MethodNotFound.into()));
    match fixture.interface.binding {
        Binding::Grpc => WireAnswer::grpc(Vec::new(), &Status::read(&written.body)),
        _ => WireAnswer::json(written.status.as_u16(), written.body),
    }
}

/// Waits as a hold says.
pub(super) async fn pause(hold: &Pause, fixture: &Fixture) {
    if let Some(operation) = &hold.asked {
        fixture.wait_for_operation(operation).await;
    }
    if let Some(ms) = hold.ms {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}
