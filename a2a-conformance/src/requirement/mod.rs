//! The requirements of the specification, sentence by sentence, in our own words.

mod source;
#[cfg(test)]
mod source_tests;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::source::{requirement, requirements};

/// One normative sentence of one version.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Permanent name: the version, the section, the letter of its level and a number, like
    /// `A2A10-3.1.1-M2`.
    pub id: String,
    /// The sentence.
    pub says: String,
    /// By the keyword of the sentence.
    pub level: Level,
    /// The section, like `3.1.1`.
    pub section: String,
    /// The only binding that it is about, where its section does not say so: `JSONRPC` or `HTTP+JSON`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// Permanent link to the sentence in the published text, line included. Reports of earlier versions
    /// of this suite have none.
    #[serde(default)]
    pub source: String,
    /// The kind of text at the source, which decides how far the level can be read off it.
    #[serde(default, skip_serializing_if = "Basis::is_keyword")]
    pub basis: Basis,
    /// The verdict of the second reading: whether a reader of nothing but the specification would agree, and
    /// what the reading changed. Reports of earlier versions of this suite have none.
    #[serde(default)]
    pub reading: String,
    /// The parties that it binds.
    pub binds: Vec<Role>,
    /// The checks that cover it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// The reason why no check can cover it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
}

/// Level of a requirement (RFC 2119).
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// MUST, MUST NOT, SHALL, REQUIRED.
    Must,
    /// SHOULD, SHOULD NOT, RECOMMENDED.
    Should,
    /// MAY, OPTIONAL.
    May,
}

impl Level {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }
}

/// A party to the protocol.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The party that receives requests.
    Agent,
    /// The party that sends requests.
    Client,
    /// The party that operates agents or clients.
    Operator,
}

/// The kind of text that a requirement rests on.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    Eq,
    Hash,
    JsonSchema,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A sentence with a keyword of RFC 2119, which is the level.
    #[default]
    Keyword,
    /// A sentence that states a behaviour without a keyword.
    Statement,
    /// A row of a table in the text.
    Table,
    /// A member of the schema or of the proto, or its comment.
    Schema,
    /// An example.
    Example,
    /// A conclusion from the text, which does not say so itself.
    Inference,
    /// The behaviour of the samples of the time.
    Practice,
}

impl Basis {
    /// Returns whether the level is a keyword of the sentence.
    pub fn is_keyword(&self) -> bool {
        *self == Self::Keyword
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyword => "the keyword of the sentence",
            Self::Statement => "a statement without a keyword",
            Self::Table => "a row of a table",
            Self::Schema => "the schema",
            Self::Example => "an example",
            Self::Inference => "inference from the text",
            Self::Practice => "the samples of the time",
        })
    }
}

impl Level {
    /// Every level, the strictest first.
    pub const ALL: &[Self] = &[Self::Must, Self::Should, Self::May];

    /// Returns the keyword as written in requirements and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        }
    }

    /// The letter in the ids of requirements.
    pub fn letter(self) -> char {
        match self {
            Self::Must => 'M',
            Self::Should => 'S',
            Self::May => 'Y',
        }
    }
}

impl Role {
    /// Every party.
    pub const ALL: &[Self] = &[Self::Agent, Self::Client, Self::Operator];

    /// Returns the party as written in requirements and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Client => "client",
            Self::Operator => "operator",
        }
    }

    /// Returns the party that a check of that id tests.
    pub fn of_check(id: &str) -> Self {
        match id.split_once('.') {
            Some(("client" | "webhook", _)) => Self::Client,
            _ => Self::Agent,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use a2a_types::ProtocolVersion;

    use super::source::{File, RequirementFiles};
    use super::*;
    use crate::yaml;

    fn all() -> impl Iterator<Item = (ProtocolVersion, &'static Requirement)> {
        let with = |protocol_version: &ProtocolVersion| {
            let protocol_version = *protocol_version;
            requirements(protocol_version)
                .iter()
                .map(move |one| (protocol_version, one))
        };
        ProtocolVersion::ALL.iter().flat_map(with)
    }

    #[test]
    fn every_file_can_be_read() {
        for protocol_version in ProtocolVersion::ALL {
            let file = RequirementFiles::get(&format!("{protocol_version}.yaml"))
                .expect("there is a file");
            let text = String::from_utf8(file.data.into_owned()).expect("it is text");
            let read = yaml::read::<File>(&text);
            let read = read.unwrap_or_else(|error| panic!("{protocol_version}.yaml: {error}"));
            let read = read.expand();
            assert!(
                read.len() >= 100,
                "{protocol_version} has {} entries",
                read.len()
            );
        }
    }

    #[test]
    fn ids_tell_version_section_and_level() {
        let mut ids = BTreeSet::new();
        for (protocol_version, requirement) in all() {
            let Requirement { id, section, .. } = requirement;
            let version = protocol_version.version().replace('.', "");
            let letter = requirement.level.letter();
            let prefix = format!("A2A{version}-{section}-{letter}");
            let number = id.strip_prefix(&prefix).unwrap_or_default();
            let numbered = number.parse::<u32>().is_ok_and(|number| number > 0);
            assert!(numbered, "{id} does not begin with {prefix} and a number");
            assert!(ids.insert(id), "{id} is there twice");
            let well_formed = |part: &str| {
                !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
            };
            assert!(section.split('.').all(well_formed), "{id}: {section}");
        }
    }

    #[test]
    fn requirement_numbers_ascend_within_a_section_and_level() {
        let mut last = BTreeMap::new();
        for (protocol_version, requirement) in all() {
            let group = (protocol_version, &requirement.section, requirement.level);
            let digits = requirement
                .id
                .rsplit(|letter: char| !letter.is_ascii_digit());
            let number: u32 = digits.take(1).collect::<String>().parse().unwrap_or(0);
            let before = last.insert(group, number);
            assert!(
                before < Some(number),
                "{} is after {before:?}",
                requirement.id
            );
        }
    }

    #[test]
    fn a_requirement_has_checks_or_says_why_not() {
        for (_, requirement) in all() {
            let excluded = requirement.excluded.as_deref();
            assert!(
                requirement.checks.is_empty() == excluded.is_some_and(|why| why.len() > 8),
                "{} needs either checks or a reason",
                requirement.id
            );
            assert!(!requirement.binds.is_empty(), "{}", requirement.id);
            assert!(requirement.says.ends_with('.'), "{}", requirement.id);
        }
    }

    #[test]
    fn checks_are_named_by_their_group() {
        const OF_AGENTS: &[&str] = &[
            "card",
            "rpc",
            "rest",
            "grpc",
            "send",
            "task",
            "stream",
            "cancel",
            "list",
            "push",
            "error",
            "version",
            "auth",
            "extension",
        ];
        const OF_CLIENTS: &[&str] = &["client", "webhook"];
        for (_, requirement) in all() {
            for check in &requirement.checks {
                let (group, name) = check.split_once('.').unwrap_or_default();
                let known = OF_AGENTS.contains(&group) || OF_CLIENTS.contains(&group);
                assert!(known && !name.is_empty(), "{}: {check}", requirement.id);
            }
            let twice: BTreeSet<_> = requirement.checks.iter().collect();
            assert_eq!(twice.len(), requirement.checks.len(), "{}", requirement.id);
        }
    }
}
