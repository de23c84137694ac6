//! Version 1.0, whose JSON is the canonical model itself.

use a2a_types::reading::{
    Hints, JsonPath, Mode, Violation, WithRepairs, read_canonical, read_canonical_in, words_in_1_0,
};
use a2a_types::{Operation, Request, Response};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

macro_rules! requests {
    ($($operation:ident)*) => {
        /// Reads the params of `operation`.
        pub(super) fn read_request(
            operation: Operation,
            params: &str,
            hints: &Hints<'_>,
        ) -> Result<WithRepairs<Request>, Violation> {
            match operation {
                $(Operation::$operation => read_canonical(params, hints).map(Request::$operation),)*
            }
            .map(unrepaired)
        }

        /// Writes the params of a request.
        pub(super) fn write_request(request: &Request) -> serde_json::Result<Box<RawValue>> {
            match request {
                $(Request::$operation(params) => to_raw_value(params),)*
            }
        }
    };
}

requests! {
    SendMessage SendStreamingMessage GetTask ListTasks CancelTask SubscribeToTask
    CreateTaskPushNotificationConfig GetTaskPushNotificationConfig
    ListTaskPushNotificationConfigs DeleteTaskPushNotificationConfig GetExtendedAgentCard
}

/// Reads the params of `operation` as a caller must send them: a message has parts, and the words of
/// 1.0. Ignored members are listed.
pub(super) fn read_sent(
    operation: Operation,
    params: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Request>, Violation> {
    let mut read = read_request(operation, params, hints)?;
    if let Request::SendMessage(sent) | Request::SendStreamingMessage(sent) = &read.value {
        sent.check(&JsonPath::Root(hints.root))?;
        read.repairs = words_in_1_0(params, mode, hints.root)?;
    }
    Ok(read)
}

/// The result of an operation as it is written.
pub(super) struct Outcome<'a>(pub(super) &'a Response);

macro_rules! responses {
    ($($operation:ident)*) => {
        /// Reads the result of `operation`. The result of a deletion is empty, in many spellings.
        pub(super) fn read_response(
            operation: Operation,
            result: &str,
            mode: Mode,
            hints: &Hints<'_>,
        ) -> Result<WithRepairs<Response>, Violation> {
            match operation {
                $(Operation::$operation => {
                    read_canonical_in(result, mode, hints).map(|read| read.map(Response::$operation))
                })*
                Operation::DeleteTaskPushNotificationConfig => {
                    Ok(unrepaired(Response::DeleteTaskPushNotificationConfig(())))
                }
                Operation::SendStreamingMessage | Operation::SubscribeToTask => Err(Violation {
                    path: hints.root.to_owned(),
                    problem: format!("{} is answered by a stream", operation.name()),
                }),
            }
        }

        impl Serialize for Outcome<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    $(Response::$operation(result) => result.serialize(serializer),)*
                    Response::DeleteTaskPushNotificationConfig(()) => serializer.serialize_map(Some(0))?.end(),
                }
            }
        }
    };
}

responses! {
    SendMessage GetTask ListTasks CancelTask CreateTaskPushNotificationConfig
    GetTaskPushNotificationConfig ListTaskPushNotificationConfigs GetExtendedAgentCard
}

pub(super) fn unrepaired<T>(value: T) -> WithRepairs<T> {
    WithRepairs {
        value,
        repairs: Vec::new(),
    }
}
