//! Judgement of exchanges with an agent: rules for every answer, event and notification, whatever a case expects.
//!
//! Nothing here opens a socket or waits: an exchange is data, and a check is a function from it to [`Findings`].

mod answer;
mod content;
pub(crate) mod delivery;
pub(crate) mod errors;
pub(crate) mod grpc;
pub(crate) mod invariants;
mod protojson;
pub(crate) mod response;
pub(crate) mod result;
pub(crate) mod stream;
pub(crate) mod stream_tail;
mod task_records;
mod tasks;

use std::sync::Arc;

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;
use serde_json::Value;

use self::invariants::{Finding, Observation, Observations};
pub(crate) use self::task_records::OwnTasks;
use self::task_records::TaskRecords;
use crate::record::Evidence;

/// Judge of the exchanges on one interface of an agent.
pub(crate) struct Judge {
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) binding: Binding,
    observations: Observations,
    /// Records of the agent's reports on its tasks.
    task_records: TaskRecords,
    /// The tasks that the suite has begun, on any interface.
    own: Arc<OwnTasks>,
}

impl Judge {
    pub(crate) fn new(
        protocol_version: ProtocolVersion,
        binding: Binding,
        own: Arc<OwnTasks>,
    ) -> Self {
        Self {
            protocol_version,
            binding,
            observations: Observations::default(),
            task_records: TaskRecords::default(),
            own,
        }
    }

    /// Records the findings on an exchange, which is their evidence.
    pub(crate) fn record(&self, findings: impl IntoIterator<Item = Finding>, evidence: &Evidence) {
        for (check, mismatch) in findings {
            self.observations.record(check, mismatch, evidence);
        }
    }

    /// Records the message of a request that is about to be sent.
    pub(crate) fn record_message(&self, params: &Value) {
        self.task_records.record_message(params);
    }

    /// Returns what was observed of an invariant.
    fn observation(&self, id: &str) -> Observation {
        self.observations.of(id)
    }
}
