//! What has to hold in every exchange, whatever it is about.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use a2a_transport::Binding;
use a2a_types::Dialect;

use crate::requirement::Level;
use crate::run::{Evidence, Mismatch};

/// A check that every exchange makes.
pub(crate) struct Invariant {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) level: Level,
    /// The binding in which it applies; both if none.
    pub(crate) binding: Option<Binding>,
    /// The first generation in which it applies.
    pub(crate) since: Dialect,
}

const fn must(id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        id,
        title,
        level: Level::Must,
        binding: None,
        since: Dialect::V0_1,
    }
}

const fn by(binding: Binding, id: &'static str, title: &'static str) -> Invariant {
    Invariant {
        binding: Some(binding),
        ..must(id, title)
    }
}

/// All of them.
pub(crate) const INVARIANTS: &[Invariant] = &[
    by(
        Binding::JsonRpc,
        "rpc.version",
        "Every answer says `\"jsonrpc\": \"2.0\"`",
    ),
    by(
        Binding::JsonRpc,
        "rpc.id-echoed",
        "Every answer has the id of its request, of the same type",
    ),
    by(
        Binding::JsonRpc,
        "rpc.result-or-error",
        "Every answer has either a result or an error",
    ),
    by(
        Binding::JsonRpc,
        "rpc.error-shape",
        "Every error has an integer code and a message",
    ),
    by(
        Binding::JsonRpc,
        "rpc.http-status",
        "An answer of JSON-RPC comes with HTTP status 200",
    ),
    by(
        Binding::HttpJson,
        "rest.http-status",
        "An answer that succeeds comes with a status of success",
    ),
    by(
        Binding::HttpJson,
        "rest.error-shape",
        "An error comes with its status and says what it is",
    ),
    must("http.content-type", "JSON comes as JSON"),
    must("json.readable", "Every answer is JSON"),
    must(
        "result.schema",
        "Every result is what the schema of its generation says",
    ),
    must(
        "stream.content-type",
        "A stream comes as `text/event-stream`",
    ),
    must("stream.framing", "A stream is made of Server-Sent Events"),
    must(
        "stream.event-schema",
        "Every event is what the schema of its generation says",
    ),
    by(
        Binding::JsonRpc,
        "stream.envelope",
        "Every event is an answer of JSON-RPC with the id of the request",
    ),
    must(
        "stream.one-task",
        "All events of a stream are about one task and one conversation",
    ),
    must("stream.legal-states", "A task that has ended stays so"),
    must(
        "stream.nothing-after-the-end",
        "Nothing is told after the task has ended",
    ),
    must(
        "stream.closes",
        "A stream is closed when the task has ended",
    ),
    must(
        "stream.chunks",
        "Chunks are added to artifacts that were begun",
    ),
    must(
        "stream.final",
        "The last status of a stream, and only that, is final",
    ),
    Invariant {
        since: Dialect::V1_0,
        ..must(
            "stream.begins-with-the-task",
            "A stream begins with a task or a message",
        )
    },
    must(
        "task.has-ids",
        "Every task has an id, and a conversation where the generation wants one",
    ),
    must("task.timestamps", "Times are ISO 8601 with a zone"),
    must(
        "error.no-internals",
        "Errors tell nothing of the inside of the agent",
    ),
];

impl Invariant {
    pub(crate) fn applies(&self, dialect: Dialect, binding: Binding) -> bool {
        let of_final = self.id != "stream.final" || dialect != Dialect::V1_0;
        self.binding.is_none_or(|own| own == binding) && dialect >= self.since && of_final
    }
}

/// What was seen of the invariants in one generation and binding.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    seen: Mutex<BTreeMap<&'static str, Seen>>,
}

/// What was seen of one of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// How often it could hold.
    pub(crate) times: usize,
    /// Where it did not, the first few.
    pub(crate) mismatches: Vec<Mismatch>,
    /// What shows that.
    pub(crate) evidence: Vec<Evidence>,
}

impl Observed {
    /// It could hold here, and did or did not.
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

/// A mismatch, unless it holds.
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

/// How many places are told.
const MOST: usize = 5;
