//! `cargo xtask schema --compare`: our schemas compared with the official ones.
//!
//! A difference is fixed in the types or explained in `a2a-types/schemas/differences.json`. An
//! explanation that explains nothing any more fails the comparison too. The official files are
//! read where they lie: none is part of this repository.

mod shape;

use std::fmt;
use std::fs;
use std::path::Path;

use a2a_types::ProtocolVersion;
use a2a_types::schema::bundle;
use serde::Deserialize;
use serde_json::Value;

use self::shape::Definitions;
use crate::schema;
use crate::workspace::Failure;

/// Official file that each protocol version is compared with.
const OFFICIAL: &[(ProtocolVersion, &str)] = &[
    (ProtocolVersion::V0_1, "v0.1.json"),
    (ProtocolVersion::V0_2, "v0.2.6.json"),
    (ProtocolVersion::V0_3, "v0.3.0.json"),
    // There is none of 1.0: this one was derived from its `a2a.proto`.
    (ProtocolVersion::V1_0, "v1.0.1.derived.json"),
];

/// One difference, as it is found and as it is explained.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
struct Difference {
    /// The protocol version, `0.1`.
    protocol_version: String,
    /// `Definition` or `Definition.member`; in the file also `Prefix*`, for all that begin so.
    path: String,
    /// Description of the difference.
    difference: String,
    /// Reason for the difference; only in the file.
    #[serde(default)]
    reason: String,
}

impl Difference {
    /// Returns whether this explanation is one of the difference that was found.
    fn explains(&self, found: &Self) -> bool {
        let is_there = match self.path.strip_suffix('*') {
            Some(prefix) => found.path.starts_with(prefix),
            None => found.path == self.path,
        };
        is_there
            && (&self.protocol_version, &self.difference)
                == (&found.protocol_version, &found.difference)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "v{} {}: {}",
            self.protocol_version, self.path, self.difference
        )
    }
}

/// Compares every protocol version whose official schema lies in `directory`.
pub(crate) fn compare(directory: &Path) -> Result<(), Failure> {
    let explained = explanations()?;
    let mut found = Vec::new();
    for (protocol_version, file) in OFFICIAL {
        let path = directory.join(file);
        let official: Value = fs::read_to_string(&path)
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let ours = bundle(*protocol_version);
        let (ours, official) = (Definitions::of(&ours), Definitions::of(&official));
        let differences = shape::differences(&ours, &official);
        let of_protocol_version = |(path, difference)| Difference {
            protocol_version: protocol_version.version().to_owned(),
            path,
            difference,
            reason: String::new(),
        };
        let differences: Vec<_> = differences.into_iter().map(of_protocol_version).collect();
        let known = |it: &&Difference| explained.iter().any(|known| known.explains(it));
        println!(
            "v{protocol_version}: {} definitions compared, {} explained differences",
            official.len(),
            differences.iter().filter(known).count()
        );
        found.extend(differences);
    }
    judge(&found, &explained)
}

/// Fails if a difference is not explained, or an explanation is stale or gives no reason.
fn judge(found: &[Difference], explained: &[Difference]) -> Result<(), Failure> {
    let mut problems = Vec::new();
    for difference in found {
        if !explained.iter().any(|known| known.explains(difference)) {
            problems.push(format!("unexplained: {difference}"));
        }
    }
    for known in explained {
        if !found.iter().any(|difference| known.explains(difference)) {
            problems.push(format!("stale explanation: {known}"));
        } else if known.reason.is_empty() {
            problems.push(format!("explanation without a reason: {known}"));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(problems.join("\n"))
}

fn explanations() -> Result<Vec<Difference>, Failure> {
    let path = schema::directory().join("differences.json");
    let failure = |error: String| format!("a2a-types/schemas/differences.json: {error}");
    let text = fs::read_to_string(path).map_err(|error| failure(error.to_string()))?;
    serde_json::from_str::<Vec<Difference>>(&text).map_err(|error| failure(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::workspace;

    /// Says where the official schemas are, if not next to the workspace.
    const DIRECTORY: &str = "A2A_OFFICIAL_SCHEMAS";

    #[test]
    fn our_schemas_are_the_official_ones_but_for_what_is_explained() {
        let beside = || workspace::root().join("../shared/spec/schemas");
        let directory = std::env::var_os(DIRECTORY).map_or_else(beside, PathBuf::from);
        if !directory.is_dir() {
            println!(
                "nothing compared: no official schemas in {}",
                directory.display()
            );
            return;
        }
        assert_eq!(compare(&directory), Ok(()));
    }

    #[test]
    fn unexplained_differences_and_stale_explanations_fail() {
        let difference = |path: &str, reason: &str| Difference {
            protocol_version: "0.1".to_owned(),
            path: path.to_owned(),
            difference: "only here".to_owned(),
            reason: reason.to_owned(),
        };
        let found = [difference("Task.colour", "")];
        assert_eq!(
            judge(&found, &[difference("Task.colour", "It is so.")]),
            Ok(())
        );
        assert!(judge(&found, &[]).is_err());
        assert!(judge(&found, &[difference("Task.colour", "")]).is_err());
        assert!(judge(&[], &[difference("Task.colour", "It is so.")]).is_err());

        assert_eq!(judge(&found, &[difference("Task*", "It is so.")]), Ok(()));
        assert!(judge(&found, &[difference("Tasks*", "It is so.")]).is_err());
    }
}
