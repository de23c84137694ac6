//! Requests.

use a2a_jsonrpc::{Id, Version};
use a2a_types::reading::{Deviation, Hints, Mode, Quirk, Violation, WithRepairs};
use a2a_types::{Error as A2aError, ErrorKind, Operation, ProtocolVersion, Request, v0_1, v0_2};

use crate::binding::incoming_call::invalid_params;
use crate::binding::{CallRefusal, IncomingCall, ReadOptions, bounds, canonical};
use crate::error::clip;
use crate::{Binding, Error, ResponseContext};

/// Reads a request. `version` is the `A2A-Version` header or parameter.
pub fn read_call(
    body: &[u8],
    version: Option<&str>,
    reading: &ReadOptions,
) -> Result<IncomingCall, CallRefusal> {
    let offer = reading.offer;
    let unnamed = || offer.unnamed(Binding::JsonRpc);
    let is_offered =
        |protocol_version: &ProtocolVersion| offer.has(Binding::JsonRpc, *protocol_version);
    let prefer = reading.prefer.filter(is_offered);
    let latest = prefer.unwrap_or_else(unnamed);
    let request =
        a2a_jsonrpc::read_request(body, &reading.limits).map_err(|refusal| CallRefusal {
            binding: Binding::JsonRpc,
            id: Some(refusal.id)
                .filter(|id| length(id) <= bounds::MAX_NAME_BYTES)
                .unwrap_or(Id::Null),
            protocol_version: latest,
            error: A2aError::new(
                ErrorKind::from_code(refusal.error.code, latest),
                refusal.error.message,
            ),
            status: None,
        })?;
    if let Some(id) = &request.id
        && length(id) > bounds::MAX_NAME_BYTES
    {
        let (limit, length) = (bounds::MAX_NAME_BYTES, length(id));
        let text = format!("$.id: expected at most {limit} bytes, found {length}");
        return Err(CallRefusal {
            binding: Binding::JsonRpc,
            id: Id::Null,
            protocol_version: latest,
            error: A2aError::new(ErrorKind::InvalidRequest, text),
            status: None,
        });
    }
    let has_id = request.id.is_some();
    let answer_id = request.id.unwrap_or(Id::Null);
    let refuse = |protocol_version: ProtocolVersion, error: A2aError| CallRefusal {
        binding: Binding::JsonRpc,
        id: answer_id.clone(),
        protocol_version,
        error,
        status: None,
    };

    let Some(method) = ProtocolVersion::of_method(&request.method) else {
        let text = format!("$.method: no version knows `{}`", clip(&request.method));
        return Err(refuse(
            latest,
            A2aError::new(ErrorKind::MethodNotFound, text),
        ));
    };
    let requested = offer
        .requested(Binding::JsonRpc, version)
        .map_err(|error| refuse(ProtocolVersion::V1_0, error))?;
    let no_method = |protocol_version: ProtocolVersion, text: String| {
        refuse(
            protocol_version,
            A2aError::new(ErrorKind::MethodNotFound, text),
        )
    };
    let called_in = method.protocol_versions.last().copied().unwrap_or(latest);
    let mut offered = method.protocol_versions.iter().copied().filter(is_offered);
    let Some(latest_offered) = offered.next_back() else {
        let name = clip(&request.method);
        let Some(requested) = requested.or((called_in == ProtocolVersion::V1_0).then_some(latest))
        else {
            // A request without a version is of the version that has the method.
            return Err(refuse(
                latest,
                offer.refusal(Binding::JsonRpc, called_in.version()),
            ));
        };
        let text = format!("$.method: `{name}` is not a method of A2A {requested}");
        return Err(no_method(requested, text));
    };
    let wanted = requested.or(prefer);
    let wanted =
        wanted.filter(|wanted| method.protocol_versions.contains(wanted) && is_offered(wanted));
    let protocol_version = wanted.unwrap_or(latest_offered);
    if reading.mode == Mode::Strict
        && protocol_version == ProtocolVersion::V1_0
        && requested != Some(ProtocolVersion::V1_0)
    {
        if !offer.has(Binding::JsonRpc, ProtocolVersion::V0_3) {
            let error = offer.refusal(Binding::JsonRpc, ProtocolVersion::V0_3.version());
            return Err(refuse(ProtocolVersion::V1_0, error));
        }
        let text = format!(
            "$.method: `{}` needs the header `A2A-Version: 1.0`, without it the caller speaks 0.3",
            clip(&request.method)
        );
        return Err(no_method(latest, text));
    }

    // Documents of 0.1 and 0.2 print requests for streams without `id`, and then without `jsonrpc`.
    let is_printed = !has_id
        && reading.mode == Mode::Lenient
        && protocol_version != ProtocolVersion::V1_0
        && method.operation.is_stream();
    if request.version == Version::Absent && !is_printed {
        let text = "$.jsonrpc: missing, expected \"2.0\"";
        return Err(refuse(
            protocol_version,
            A2aError::new(ErrorKind::InvalidRequest, text),
        ));
    }
    let mut repairs = Vec::new();
    if is_printed {
        let path = match request.version {
            Version::Absent => "$.jsonrpc",
            _ => "$.id",
        };
        repairs.push(Deviation::new(Quirk::NoEnvelope, path));
    }
    // Any other request without `id` is a notification, which wants no answer.
    let notification = !has_id && !is_printed;

    let params = request.params.unwrap_or("{}");
    if params.starts_with('[') {
        let text = "$.params: expected an object, found an array";
        return Err(refuse(
            protocol_version,
            A2aError::new(ErrorKind::InvalidParams, text),
        ));
    }
    let read = read_params(protocol_version, method.operation, params, reading.mode)
        .and_then(|read| bounds::check(&read.value, protocol_version, "$.params").map(|()| read))
        .map_err(|violation| refuse(protocol_version, invalid_params(&violation)))?;
    repairs.extend(read.repairs);
    Ok(IncomingCall {
        envelope: ResponseContext {
            id: (!notification).then_some(answer_id),
            task: read.value.task_id().cloned(),
            ambiguous: requested.is_none() && method.protocol_versions.len() > 1,
            ..ResponseContext::new(protocol_version, Binding::JsonRpc, method.operation)
        },
        request: read.value,
        repairs,
    })
}

/// Returns the length of an id in bytes.
fn length(id: &Id) -> usize {
    match id {
        Id::Null => 0,
        Id::Number(digits) => digits.as_str().len(),
        Id::String(text) => text.len(),
    }
}

fn read_params(
    protocol_version: ProtocolVersion,
    operation: Operation,
    params: &str,
    mode: Mode,
) -> Result<WithRepairs<Request>, Violation> {
    match protocol_version {
        ProtocolVersion::V0_1 => v0_1::read_request(operation, params, mode),
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => {
            v0_2::read_request(operation, params, mode, &Hints::at("$.params"))
        }
        _ => canonical::read_sent(operation, params, mode, &Hints::at("$.params")),
    }
}

/// Writes a request. Errors: the protocol version has no such operation.
pub fn write_call(
    request: Request,
    protocol_version: ProtocolVersion,
    id: &Id,
) -> Result<(Vec<u8>, ResponseContext), Error> {
    let operation = request.operation();
    let not_supported = || Error::NotSupported {
        operation,
        protocol_version,
    };
    let method = protocol_version
        .method(operation)
        .ok_or_else(not_supported)?;
    let mut envelope = ResponseContext {
        id: Some(id.clone()),
        task: request.task_id().cloned(),
        ..ResponseContext::new(protocol_version, Binding::JsonRpc, operation)
    };
    let text = match protocol_version {
        ProtocolVersion::V0_1 => {
            let params = v0_1::write_request(request).ok_or_else(not_supported)?;
            if let v0_1::Params::Send(params) = &params {
                envelope.task = Some(params.id.clone());
            }
            a2a_jsonrpc::write_request(id, method, Some(&params))
        }
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => {
            let params = v0_2::write_request(request).ok_or_else(not_supported)?;
            a2a_jsonrpc::write_request(id, method, Some(&params))
        }
        _ => {
            let params = canonical::write_request(&request).map_err(unwritable)?;
            a2a_jsonrpc::write_request(id, method, Some(&params))
        }
    };
    Ok((text.map_err(unwritable)?, envelope))
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::Malformed(Violation {
        path: "$.params".to_owned(),
        problem: error.to_string(),
    })
}
