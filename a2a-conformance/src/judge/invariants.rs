//! Invariants, which hold in every exchange, and their observations.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;

use crate::excerpt::excerpt;
use crate::level::level_in;
use crate::record::without_ids;
use crate::record::{Evidence, Mismatch};
use crate::requirement::Level;

/// A check of every exchange.
pub(crate) struct Invariant {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Level in versions of which no requirement names the check.
    pub(crate) level: Level,
    /// The bindings in which it applies.
    pub(crate) bindings: &'static [Binding],
    /// The first version in which it applies.
    pub(crate) since: ProtocolVersion,
    /// The last version in which it applies.
    pub(crate) until: ProtocolVersion,
}

/// The bindings whose messages are JSON.
const BY_JSON: &[Binding] = &[Binding::JsonRpc, Binding::HttpJson];

const fn must(id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        id,
        title,
        level: Level::Must,
        bindings: &[Binding::JsonRpc, Binding::HttpJson, Binding::Grpc],
        since: ProtocolVersion::V0_1,
        until: ProtocolVersion::V1_0,
    }
}

const fn by(bindings: &'static [Binding], id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        bindings,
        ..must(id, title)
    }
}

const fn by_grpc(id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        since: ProtocolVersion::V0_3,
        ..by(&[Binding::Grpc], id, title)
    }
}

const fn since_1_0(id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        since: ProtocolVersion::V1_0,
        ..must(id, title)
    }
}

/// All invariants. An id that a case has, too, is met if both are.
pub(crate) const INVARIANTS: &[Invariant] = &[
    by(
        &[Binding::JsonRpc],
        "rpc.envelope",
        "A response has `\"jsonrpc\": \"2.0\"`, an id, and either a result or an error",
    ),
    by(
        &[Binding::JsonRpc],
        "rpc.id-echoed",
        "A response has the id of its request, with the same type",
    ),
    by(
        &[Binding::JsonRpc],
        "rpc.content-type",
        "A non-stream JSON-RPC response is JSON with Content-Type application/json",
    ),
    by(
        &[Binding::JsonRpc],
        "rpc.status",
        "A JSON-RPC result has a 2xx HTTP status",
    ),
    Invariant {
        until: ProtocolVersion::V0_3,
        ..by(
            &[Binding::HttpJson],
            "rest.content-type",
            "A non-stream HTTP+JSON response is JSON with a JSON Content-Type",
        )
    },
    Invariant {
        since: ProtocolVersion::V1_0,
        level: Level::Should,
        ..by(
            &[Binding::HttpJson],
            "rest.content-type",
            "A non-stream HTTP+JSON response is JSON with a JSON Content-Type",
        )
    },
    Invariant {
        since: ProtocolVersion::V0_3,
        ..by(
            &[Binding::HttpJson],
            "error.status",
            "The HTTP status corresponds to the result or the error type",
        )
    },
    Invariant {
        since: ProtocolVersion::V0_3,
        ..by(
            &[Binding::HttpJson],
            "error.body",
            "An HTTP+JSON error has the body format of its protocol version",
        )
    },
    Invariant {
        since: ProtocolVersion::V1_0,
        level: Level::Should,
        ..by(
            &[Binding::HttpJson],
            "error.status-name",
            "The `status` of an HTTP+JSON error is a gRPC status name",
        )
    },
    by(
        BY_JSON,
        "error.object",
        "An error has an integer code and a message",
    ),
    by(
        BY_JSON,
        "error.codes",
        "No error uses a reserved code that its protocol version does not define",
    ),
    Invariant {
        since: ProtocolVersion::V1_0,
        level: Level::Should,
        ..by(
            &[Binding::JsonRpc],
            "error.info",
            "An A2A error has an ErrorInfo with its reason and domain",
        )
    },
    Invariant {
        since: ProtocolVersion::V1_0,
        ..by(
            &[Binding::HttpJson, Binding::Grpc],
            "error.info",
            "An A2A error has an ErrorInfo with its reason and domain",
        )
    },
    Invariant {
        since: ProtocolVersion::V1_0,
        ..must("error.details-typed", "Error details have an `@type`")
    },
    Invariant {
        level: Level::Should,
        ..since_1_0(
            "error.details-formed",
            "ErrorInfo and BadRequest in error details have the members of their types",
        )
    },
    Invariant {
        level: Level::Should,
        ..since_1_0("error.message", "The message of an error says something")
    },
    Invariant {
        level: Level::Should,
        ..must(
            "error.no-internals",
            "Errors reveal no stack traces, file paths or SQL statements",
        )
    },
    must(
        "task.shape",
        "A result conforms to the schema of its protocol version",
    ),
    Invariant {
        level: Level::Should,
        ..since_1_0("task.no-kind", "An answer has no member `kind`")
    },
    must(
        "task.asked-for",
        "A result is about the requested task, context or push notification config",
    ),
    must(
        "task.identities",
        "Artifact and message ids of a task are unique; taskId and contextId agree",
    ),
    must(
        "task.speaker",
        "Status messages and direct message results have the agent's role",
    ),
    must("task.bytes", "File bytes are standard Base64 with padding"),
    must(
        "task.timestamps",
        "Status timestamps are ISO 8601 (UTC in 1.0), current and in order",
    ),
    must(
        "task.ended-stays",
        "A task in a terminal state keeps its state and artifacts",
    ),
    Invariant {
        since: ProtocolVersion::V0_2,
        ..must(
            "extension.in-metadata",
            "Messages and artifacts name their extensions by URIs",
        )
    },
    Invariant {
        since: ProtocolVersion::V0_2,
        ..must("send.names-new-task", "Every new task has a unique id")
    },
    Invariant {
        since: ProtocolVersion::V0_2,
        ..must(
            "task.messages-kept",
            "Messages in the history keep the role and parts they were sent with",
        )
    },
    must(
        "task.history",
        "The result of GetTask has at most historyLength messages in its history",
    ),
    must(
        "send.history-length",
        "The task for a sent message has at most historyLength history messages",
    ),
    since_1_0(
        "list.history-length",
        "A listed task has at most historyLength messages in its history",
    ),
    since_1_0(
        "list.artifacts",
        "Listed tasks have no artifacts unless includeArtifacts is true",
    ),
    since_1_0(
        "list.filters",
        "Listed tasks match the contextId, status and statusTimestampAfter filters",
    ),
    since_1_0(
        "list.sorted",
        "Listed tasks are sorted by status timestamp, latest first",
    ),
    since_1_0(
        "list.page-size",
        "A page has at most pageSize tasks, or 50 by default",
    ),
    must(
        "push.body",
        "A push notification body conforms to the schema of its protocol version",
    ),
    by(BY_JSON, "stream.status", "A stream has HTTP status 200"),
    by(
        BY_JSON,
        "stream.media-type",
        "A stream has the media type `text/event-stream`",
    ),
    by(
        BY_JSON,
        "stream.framing",
        "A stream consists of Server-Sent Events, each with one JSON document",
    ),
    must(
        "stream.event-shapes",
        "An event conforms to its version's schema and concerns the stream's task",
    ),
    by_grpc(
        "grpc.content-type",
        "A gRPC response has a Content-Type that begins with `application/grpc`",
    ),
    by_grpc(
        "grpc.status",
        "A gRPC response has HTTP status 200, and ends with a `grpc-status` of gRPC",
    ),
    by_grpc(
        "grpc.messages",
        "A gRPC response is one message of the method's type, or a stream of them, in frames",
    ),
    by_grpc(
        "grpc.status-details",
        "`grpc-status-details-bin` repeats the code and the message of the status",
    ),
    Invariant {
        since: ProtocolVersion::V1_0,
        ..by_grpc(
            "grpc.error-code",
            "An A2A error has the gRPC status of the specification's table",
        )
    },
    by(
        &[Binding::JsonRpc],
        "stream.envelope",
        "An event is a JSON-RPC response with the id of the request",
    ),
    by(
        &[Binding::HttpJson],
        "rest.stream-frames",
        "An HTTP+JSON event has no JSON-RPC envelope",
    ),
    must(
        "stream.closes",
        "A stream closes after its task's last event, and not before",
    ),
    must(
        "stream.chunks",
        "Appended chunks continue an artifact that was begun and is not complete",
    ),
    Invariant {
        level: Level::Should,
        until: ProtocolVersion::V0_3,
        ..must(
            "stream.connection-closed",
            "The connection closes after the final status of a stream",
        )
    },
    Invariant {
        until: ProtocolVersion::V0_3,
        ..must(
            "stream.final",
            "The last status update of a stream, and no earlier one, is final",
        )
    },
    Invariant {
        since: ProtocolVersion::V1_0,
        ..must(
            "stream.begins-with-task",
            "A stream begins with a task or a message",
        )
    },
];

impl Invariant {
    pub(crate) fn applies(&self, protocol_version: ProtocolVersion, binding: Binding) -> bool {
        let of_version = (self.since..=self.until).contains(&protocol_version);
        self.bindings.contains(&binding) && of_version
    }

    /// Returns its level in a version and binding.
    pub(crate) fn level_in(&self, protocol_version: ProtocolVersion, binding: Binding) -> Level {
        level_in(protocol_version, Some(binding), self.id, self.level)
    }
}

/// An invariant that was checked, by its id, and the mismatch if it did not hold.
pub(crate) type Finding = (&'static str, Option<Mismatch>);

/// Findings on one exchange.
pub(crate) type Findings = Vec<Finding>;

/// Returns the checks that did not hold.
#[cfg(test)]
pub(super) fn broken(findings: Findings) -> Vec<&'static str> {
    let broken = findings.into_iter().filter(|(_, found)| found.is_some());
    broken.map(|(check, _)| check).collect()
}

/// Observations of the invariants in one version and binding.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    observations: Mutex<BTreeMap<&'static str, Observation>>,
}

/// Observations of one invariant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observation {
    /// Number of times that it was checked.
    pub(crate) times: usize,
    /// A few of the mismatches, each with its evidence: the same ones in every run, whichever exchange was first.
    pub(crate) found: Vec<(Mismatch, Evidence)>,
}

impl Observations {
    /// Records one check of an invariant, with the mismatch if it did not hold.
    pub(crate) fn record(&self, id: &'static str, found: Option<Mismatch>, evidence: &Evidence) {
        assert!(
            INVARIANTS.iter().any(|invariant| invariant.id == id),
            "{id}"
        );
        let mut observations = self
            .observations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let observations = observations.entry(id).or_default();
        observations.times += 1;
        if let Some(mismatch) = found {
            let place = order(&mismatch, evidence);
            let kept = &mut observations.found;
            let index = kept.partition_point(|(one, of)| order(one, of) <= place);
            if index < MAX_MISMATCHES {
                kept.insert(index, (mismatch, evidence.clone()));
                kept.truncate(MAX_MISMATCHES);
            }
        }
    }

    pub(crate) fn of(&self, id: &str) -> Observation {
        let observations = self
            .observations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        observations.get(id).cloned().unwrap_or_default()
    }
}

/// Returns the sort key of a mismatch within its invariant; it does not depend on when the mismatch was found.
fn order<'m>(
    mismatch: &'m Mismatch,
    evidence: &Evidence,
) -> (&'m str, &'m str, String, usize, String) {
    (
        &mismatch.place,
        &mismatch.expected,
        without_ids(&mismatch.found),
        evidence.step,
        without_ids(&evidence.request.start),
    )
}

/// Returns a mismatch unless `holds`.
pub(crate) fn unless(
    holds: bool,
    place: &str,
    expected: impl Into<String>,
    found: impl ToString,
) -> Option<Mismatch> {
    (!holds).then(|| Mismatch::new(place, expected, excerpt(&found.to_string(), 300)))
}

/// Number of mismatches of an invariant that are kept.
const MAX_MISMATCHES: usize = 5;
