//! Invariants, which hold in every exchange, and their observations.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use a2a_transport::Binding;
use a2a_types::Dialect;

use crate::level::level_in;
use crate::requirement::Level;
use crate::run::{Evidence, Mismatch};

/// A check of every exchange.
pub(crate) struct Invariant {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Level in versions of which no requirement names the check.
    pub(crate) level: Level,
    /// The binding in which it applies; both if none.
    pub(crate) binding: Option<Binding>,
    /// The first version in which it applies.
    pub(crate) since: Dialect,
    /// The last version in which it applies.
    pub(crate) until: Dialect,
}

const fn must(id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        id,
        title,
        level: Level::Must,
        binding: None,
        since: Dialect::V0_1,
        until: Dialect::V1_0,
    }
}

const fn by(binding: Binding, id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        binding: Some(binding),
        ..must(id, title)
    }
}

const fn since_1_0(id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        since: Dialect::V1_0,
        ..must(id, title)
    }
}

/// All invariants. An id that a case has, too, is met if both are.
pub(crate) const INVARIANTS: &[Invariant] = &[
    by(
        Binding::JsonRpc,
        "rpc.envelope",
        "Every answer says `\"jsonrpc\": \"2.0\"`, and has an id and either a result or an error",
    ),
    by(
        Binding::JsonRpc,
        "rpc.id-echoed",
        "Every answer has the id of its request, of the same type",
    ),
    by(
        Binding::JsonRpc,
        "rpc.content-type",
        "Every answer that is no stream is JSON, and says so",
    ),
    by(
        Binding::JsonRpc,
        "rpc.status",
        "A result comes with an HTTP status of success",
    ),
    Invariant {
        until: Dialect::V0_3,
        ..by(
            Binding::HttpJson,
            "rest.content-type",
            "Every answer that is no stream is JSON, and says so",
        )
    },
    Invariant {
        since: Dialect::V1_0,
        level: Level::Should,
        ..by(
            Binding::HttpJson,
            "rest.content-type",
            "Every answer that is no stream is JSON, and says so",
        )
    },
    Invariant {
        since: Dialect::V0_3,
        ..by(
            Binding::HttpJson,
            "error.status",
            "The HTTP status tells whether it went well, and which error it is",
        )
    },
    Invariant {
        since: Dialect::V0_3,
        ..by(
            Binding::HttpJson,
            "error.body",
            "Every error has the one form of its generation",
        )
    },
    Invariant {
        since: Dialect::V1_0,
        level: Level::Should,
        ..by(
            Binding::HttpJson,
            "error.status-name",
            "The `status` of an error is the name of its gRPC status",
        )
    },
    must("error.object", "Every error has a code and a message"),
    must(
        "error.codes",
        "Every error has a code that its generation knows",
    ),
    Invariant {
        since: Dialect::V1_0,
        level: Level::Should,
        ..by(
            Binding::JsonRpc,
            "error.info",
            "Errors of A2A have an ErrorInfo",
        )
    },
    Invariant {
        since: Dialect::V1_0,
        ..by(
            Binding::HttpJson,
            "error.info",
            "Errors of A2A have an ErrorInfo",
        )
    },
    Invariant {
        since: Dialect::V1_0,
        ..must("error.details-typed", "Every detail of an error has a type")
    },
    must(
        "error.no-internals",
        "Errors tell nothing of the inside of the agent",
    ),
    must(
        "task.shape",
        "Every result is what the schema of its generation says",
    ),
    must(
        "task.asked-for",
        "An answer is about the task, the conversation and the webhook that were asked for",
    ),
    must(
        "task.identities",
        "What is in a task is of that task, and has an id of its own",
    ),
    must("task.speaker", "What the agent says is said as the agent"),
    must(
        "task.bytes",
        "Bytes are Base64 of the usual letters, with padding",
    ),
    must("task.timestamps", "Times are ISO 8601, in 1.0 UTC"),
    must("task.ended-stays", "A task that has ended stays so"),
    Invariant {
        since: Dialect::V0_2,
        ..must(
            "extension.in-metadata",
            "Messages and artifacts name their extensions by URIs",
        )
    },
    Invariant {
        since: Dialect::V0_2,
        ..must("send.names-new-task", "No two new tasks have one id")
    },
    Invariant {
        since: Dialect::V0_2,
        ..must(
            "task.messages-kept",
            "What is in the history is what was said",
        )
    },
    must(
        "task.history",
        "No answer has more history than was asked for",
    ),
    must(
        "send.history-length",
        "No answer has more history than was asked for",
    ),
    since_1_0(
        "list.history-length",
        "No task of a list has more history than was asked for",
    ),
    since_1_0("list.artifacts", "No artifacts are listed unasked"),
    since_1_0("list.filters", "Only what was asked for is listed"),
    since_1_0(
        "list.sorted",
        "Tasks are listed by the time of their status, the latest first",
    ),
    since_1_0(
        "list.page-size",
        "No page has more tasks than were asked for",
    ),
    must(
        "push.body",
        "A webhook is told what the schema of its generation says",
    ),
    must("stream.status", "A stream comes with the HTTP status 200"),
    must("stream.media-type", "A stream comes as `text/event-stream`"),
    must(
        "stream.framing",
        "A stream is made of Server-Sent Events, each with one JSON document",
    ),
    must(
        "stream.event-shapes",
        "Every event is what the schema of its generation says, about the task of the stream",
    ),
    by(
        Binding::JsonRpc,
        "stream.envelope",
        "Every event is an answer of JSON-RPC with the id of the request",
    ),
    by(
        Binding::HttpJson,
        "rest.stream-frames",
        "Every event is bare, without an envelope of JSON-RPC",
    ),
    must(
        "stream.closes",
        "A stream is closed when the task has ended, and nothing is told after that",
    ),
    must(
        "stream.chunks",
        "Chunks are added to artifacts that were begun",
    ),
    Invariant {
        until: Dialect::V0_3,
        ..must(
            "stream.final",
            "The last status of a stream, and only that, is final",
        )
    },
    Invariant {
        since: Dialect::V1_0,
        ..must(
            "stream.begins-with-task",
            "A stream begins with a task or a message",
        )
    },
];

impl Invariant {
    pub(crate) fn applies(&self, dialect: Dialect, binding: Binding) -> bool {
        let spoken = (self.since..=self.until).contains(&dialect);
        self.binding.is_none_or(|own| own == binding) && spoken
    }

    /// Returns its level in a version and binding.
    pub(crate) fn level_in(&self, dialect: Dialect, binding: Binding) -> Level {
        level_in(dialect, Some(binding), self.id, self.level)
    }
}

/// Observations of the invariants in one version and binding.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    seen: Mutex<BTreeMap<&'static str, Seen>>,
}

/// Observations of one invariant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Number of times that it was checked.
    pub(crate) times: usize,
    /// The first few mismatches.
    pub(crate) mismatches: Vec<Mismatch>,
    /// Evidence of the mismatches.
    pub(crate) evidence: Vec<Evidence>,
}

impl Observed {
    /// Records one check of an invariant, with the mismatch if it did not hold.
    pub(crate) fn see(&self, id: &'static str, found: Option<Mismatch>, evidence: &Evidence) {
        debug_assert!(
            INVARIANTS.iter().any(|invariant| invariant.id == id),
            "{id}"
        );
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.entry(id).or_default();
        seen.times += 1;
        if let Some(mismatch) = found
            && seen.mismatches.len() < MOST
        {
            seen.mismatches.push(Mismatch {
                evidence: Some(seen.evidence.len()),
                ..mismatch
            });
            seen.evidence.push(evidence.clone());
        }
    }

    pub(crate) fn of(&self, id: &str) -> Seen {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(id).cloned().unwrap_or_default()
    }
}

/// Returns a mismatch unless `holds`.
pub(crate) fn unless(
    holds: bool,
    place: &str,
    expected: impl Into<String>,
    found: impl ToString,
) -> Option<Mismatch> {
    (!holds).then(|| Mismatch {
        place: place.to_owned(),
        expected: expected.into(),
        found: short(&found.to_string()),
        evidence: None,
    })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Number of mismatches of an invariant that are kept.
const MOST: usize = 5;
