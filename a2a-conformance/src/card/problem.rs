//! Problems of a card.

use a2a_types::ProtocolVersion;
use serde::Serialize;

use crate::requirement::{Level, requirement};

/// A violation of a requirement.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Problem {
    /// The JSON path.
    pub path: String,
    /// The value found and the value expected.
    pub problem: String,
    /// Id of the violated requirement.
    pub requirement: &'static str,
    /// Level of the violation.
    pub level: Level,
}

/// The problems found so far.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    /// Adds a problem, unless another protocol version of the card has the same.
    pub(super) fn add(
        &mut self,
        path: impl Into<String>,
        problem: impl Into<String>,
        id: &'static str,
    ) {
        let level = requirement(id).map_or(Level::Must, |required| required.level);
        self.add_as(level, path.into(), problem.into(), id);
    }

    /// Adds advice: whether the rule applies cannot be seen from the card.
    pub(super) fn advise(
        &mut self,
        path: impl Into<String>,
        problem: impl Into<String>,
        id: &'static str,
    ) {
        self.add_as(Level::Should, path.into(), problem.into(), id);
    }

    fn add_as(&mut self, level: Level, path: String, problem: String, id: &'static str) {
        let known = |one: &Problem| one.path == path && one.problem == problem;
        if !self.0.iter().any(known) {
            self.0.push(Problem {
                path,
                problem,
                requirement: id,
                level,
            });
        }
    }
}

/// Returns the value for a protocol version, of four.
pub(super) fn of<T: Copy>(
    protocol_version: ProtocolVersion,
    [v0_1, v0_2, v0_3, v1_0]: [T; 4],
) -> T {
    match protocol_version {
        ProtocolVersion::V0_1 => v0_1,
        ProtocolVersion::V0_2 => v0_2,
        ProtocolVersion::V0_3 => v0_3,
        _ => v1_0,
    }
}
