//! Checks of exchanges that a client has recorded: both ends against the specification.

use a2a_client::recorder::{Exchange, RecordedResponse};
use a2a_jsonrpc::Limits;
use a2a_transport::binding::{EventReader, read_reply};
use a2a_transport::sse::{Bounds, Decoder};
use a2a_transport::{Binding, Error, ResponseContext};
use a2a_types::ProtocolVersion;
use a2a_types::reading::{Deviation, Mode};
use http::StatusCode;
use serde::Serialize;

/// Kind of a recorded exchange, and what is wrong with it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExchangeFindings {
    /// Operation; `None` if the request cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'static str>,
    /// The version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<&'static str>,
    /// Number of events streamed.
    pub events: usize,
    /// Repairs of a lenient reader, which a strict one refuses, each with its place.
    pub mended: Vec<String>,
    /// Problems: what is missing, or cannot be read even leniently.
    pub problems: Vec<String>,
}

/// Reads the recording of a file: one exchange as a [`Recorder`](a2a_client::Recorder) writes it, or a list
/// of them as the inspector exports it.
pub fn read(json: &str) -> Result<Vec<Exchange>, serde_json::Error> {
    match json.trim_start().starts_with('[') {
        true => serde_json::from_str(json),
        false => serde_json::from_str(json).map(|exchange| vec![exchange]),
    }
}

/// Reads both halves of an exchange.
pub fn check(exchange: &Exchange) -> ExchangeFindings {
    let Exchange {
        request, response, ..
    } = exchange;
    let mut found = ExchangeFindings::default();
    if request.is_card() {
        found.operation = Some("GetAgentCard");
        match response {
            Some(response) if response.status == 200 => {
                if let Err(violation) = a2a_client::read_card(&response.body) {
                    found.problems.push(format!("answer: {violation}"));
                }
            }
            Some(response) => found.problems.push(status(response)),
            None => found.problems.push("no answer".to_owned()),
        }
        return found;
    }
    let question = match request.read_call() {
        Ok(question) => question,
        Err(problem) => {
            found.problems.push(format!("request: {problem}"));
            return found;
        }
    };
    let envelope = question.envelope;
    found.operation = Some(envelope.operation.name());
    found.protocol_version = Some(envelope.protocol_version.version());
    found.note_repairs("request", &question.repairs);
    match response {
        None => found.problems.push("no answer".to_owned()),
        Some(response) if envelope.binding == Binding::Grpc => {
            found.read_grpc(envelope, response);
        }
        Some(response) if is_stream(response) => found.follow(envelope, response),
        Some(response) => found.read(&envelope, response),
    }
    if let Some(failure) = &exchange.failure {
        found.problems.push(failure.clone());
    }
    found
}

impl ExchangeFindings {
    /// Returns whether there are no problems.
    pub fn passes(&self) -> bool {
        self.problems.is_empty()
    }

    fn note_repairs(&mut self, part: &str, repairs: &[Deviation]) {
        let described =
            |repair: &Deviation| format!("{part}: {} at {}", repair.quirk.code(), repair.path);
        self.mended.extend(repairs.iter().map(described));
    }

    fn read(&mut self, envelope: &ResponseContext, response: &RecordedResponse) {
        let (body, limits) = (response.body.as_bytes(), Limits::default());
        let Ok(code) = StatusCode::from_u16(response.status) else {
            return self.problems.push(status(response));
        };
        let read = |&protocol_version: &ProtocolVersion| {
            let mut envelope = envelope.clone();
            envelope.protocol_version = protocol_version;
            match read_reply(&envelope, code, body, Mode::Lenient, &limits) {
                Ok(read) => Ok((protocol_version, read.repairs)),
                // An error is an answer, too.
                Err(Error::Agent(_)) => Ok((protocol_version, Vec::new())),
                Err(error) => Err(error),
            }
        };
        // A request that several versions spell alike is answered in the version of the task.
        let alike = [
            envelope.protocol_version,
            ProtocolVersion::V0_2,
            ProtocolVersion::V0_1,
        ];
        let count = if envelope.ambiguous { alike.len() } else { 1 };
        let mut readings: Vec<_> = alike[..count].iter().map(read).collect();
        readings.sort_by_key(|reading| {
            reading
                .as_ref()
                .map_or(usize::MAX, |(_, repairs)| repairs.len())
        });
        match readings.swap_remove(0) {
            Ok((protocol_version, repairs)) => {
                self.protocol_version = Some(protocol_version.version());
                self.note_repairs("answer", &repairs);
            }
            Err(error) => self.problems.push(format!("answer: {error}")),
        }
    }

    /// Reads an answer by gRPC, whose messages are JSON in the recording, each in a line.
    fn read_grpc(&mut self, envelope: ResponseContext, response: &RecordedResponse) {
        match response.headers.get("grpc-status").map(String::as_str) {
            _ if response.status != 200 => return self.problems.push(status(response)),
            None => self.problems.push("answer: no `grpc-status`".to_owned()),
            Some("0") => {}
            // An error is an answer, too.
            Some(_) => return,
        }
        if !envelope.operation.is_stream() {
            return self.read(&envelope, response);
        }
        let lines = response.body.lines().map(str::as_bytes);
        self.follow_events(envelope, lines);
    }

    fn follow(&mut self, envelope: ResponseContext, response: &RecordedResponse) {
        let mut decoder = Decoder::new(Bounds::default());
        let decoded = decoder.push(response.body.as_bytes());
        let events = decoded.and_then(|mut events| {
            events.extend(decoder.finish()?);
            Ok(events)
        });
        let events = match events {
            Ok(events) => events,
            Err(error) => return self.problems.push(format!("stream: {error}")),
        };
        let events = events.iter().map(|event| &event.data[..]);
        self.follow_events(envelope, events);
    }

    fn follow_events<'e>(
        &mut self,
        envelope: ResponseContext,
        events: impl Iterator<Item = &'e [u8]>,
    ) {
        let mut reader = EventReader::new(envelope, Mode::Lenient, Limits::default());
        for (number, event) in events.enumerate() {
            self.events += 1;
            let place = format!("event {}", number + 1);
            match reader.read(event) {
                Ok(read) => self.note_repairs(&place, &read.repairs),
                Err(Error::Agent(_)) => {}
                Err(error) => self.problems.push(format!("{place}: {error}")),
            }
        }
    }
}

fn status(response: &RecordedResponse) -> String {
    format!("answer: HTTP status {}", response.status)
}

fn is_stream(response: &RecordedResponse) -> bool {
    let media_type = response.headers.get("content-type");
    media_type.is_some_and(|text| text.starts_with("text/event-stream"))
}

#[cfg(test)]
mod tests {
    use a2a_client::recorder::RecordedRequest;

    use super::*;

    fn exchange(method: &str, url: &str, body: &str, status: u16, answer: &str) -> Exchange {
        let stream = answer.starts_with("data:");
        let media_type = if stream {
            "text/event-stream"
        } else {
            "application/json"
        };
        Exchange {
            request: RecordedRequest {
                method: method.to_owned(),
                url: url.to_owned(),
                headers: [("a2a-version".to_owned(), "1.0".to_owned())].into(),
                body: body.to_owned(),
            },
            response: Some(RecordedResponse {
                status,
                headers: [("content-type".to_owned(), media_type.to_owned())].into(),
                body: answer.to_owned(),
            }),
            failure: None,
        }
    }

    #[test]
    fn operation_and_version_of_exchanges_are_detected() {
        let get = r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t"}}"#;
        let task = r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}"#;
        let result = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{task}}}"#);
        let found = check(&exchange("POST", "http://h/", get, 200, &result(7)));
        assert_eq!(
            (found.operation, found.protocol_version),
            (Some("GetTask"), Some("1.0"))
        );
        assert!(found.passes() && found.mended.is_empty(), "{found:?}");

        let found = check(&exchange("POST", "http://h/", get, 200, &result(8)));
        assert!(found.mended[0].contains("id"), "{found:?}");
        let found = check(&exchange("POST", "http://h/", "{", 200, &result(7)));
        assert!(found.problems[0].starts_with("request:"), "{found:?}");

        let rest = "http://h/deep/rest/tasks/t?historyLength=1";
        let found = check(&exchange("GET", rest, "", 200, task));
        assert_eq!(found.operation, Some("GetTask"));
        assert!(found.passes(), "{found:?}");

        let stream = get.replace("GetTask", "SubscribeToTask");
        let event = format!(r#"data: {{"jsonrpc":"2.0","id":7,"result":{{"task":{task}}}}}"#);
        let found = check(&exchange(
            "POST",
            "http://h/",
            &stream,
            200,
            &format!("{event}\n\n"),
        ));
        assert!(found.passes() && found.events == 1, "{found:?}");
        let found = check(&exchange("POST", "http://h/", &stream, 200, "data: {\n\n"));
        assert!(found.problems[0].starts_with("event 1:"), "{found:?}");

        let card = "http://h/.well-known/agent-card.json";
        let found = check(&exchange("GET", card, "", 200, "{}"));
        assert!(found.problems[0].contains("name"), "{found:?}");
    }

    #[test]
    fn a_recording_is_an_exchange_or_a_list() {
        let one = exchange("GET", "http://h/tasks", "", 200, "{}");
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(read(&json).unwrap(), std::slice::from_ref(&one));
        let list = format!(" [{json},\n{json}]");
        assert_eq!(read(&list).unwrap(), [one.clone(), one]);
        assert!(read("[7]").is_err());
    }
}
