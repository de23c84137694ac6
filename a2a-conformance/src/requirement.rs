//! The requirements of the specification, sentence by sentence, in our own words.

mod source;
#[cfg(test)]
mod source_tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_types::Dialect;
use rust_embed::RustEmbed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::yaml;

pub use source::Basis;

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

/// Returns all requirements of a version, in order of their sections.
pub fn requirements(dialect: Dialect) -> &'static [Requirement] {
    static ALL: LazyLock<BTreeMap<Dialect, Vec<Requirement>>> = LazyLock::new(|| {
        let read = |dialect: &Dialect| (*dialect, read(*dialect));
        Dialect::ALL.iter().map(read).collect()
    });
    ALL.get(&dialect).map_or(&[], Vec::as_slice)
}

/// Returns the requirement of that id.
pub fn requirement(id: &str) -> Option<&'static Requirement> {
    let mut all = Dialect::ALL
        .iter()
        .flat_map(|dialect| requirements(*dialect));
    all.find(|requirement| requirement.id == id)
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
}

#[derive(RustEmbed)]
#[folder = "requirements/"]
struct RequirementFiles;

fn read(dialect: Dialect) -> Vec<Requirement> {
    let file = RequirementFiles::get(&format!("{}.yaml", dialect.version()));
    let text = file.map(|file| String::from_utf8_lossy(&file.data).into_owned());
    // A test reads every file, so that an unreadable one is never built in.
    let file = text.and_then(|text| yaml::read::<source::File>(&text).ok());
    file.map(source::File::expand).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all() -> impl Iterator<Item = (Dialect, &'static Requirement)> {
        let with = |dialect: &Dialect| {
            let dialect = *dialect;
            requirements(dialect).iter().map(move |one| (dialect, one))
        };
        Dialect::ALL.iter().flat_map(with)
    }

    #[test]
    fn every_file_can_be_read() {
        for dialect in Dialect::ALL {
            let file = RequirementFiles::get(&format!("{dialect}.yaml")).expect("there is a file");
            let text = String::from_utf8(file.data.into_owned()).expect("it is text");
            let read = yaml::read::<source::File>(&text);
            let read = read.unwrap_or_else(|error| panic!("{dialect}.yaml: {error}"));
            let read = read.expand();
            assert!(read.len() >= 100, "{dialect} has {} entries", read.len());
        }
    }

    #[test]
    fn ids_tell_version_section_and_level() {
        let mut ids = BTreeSet::new();
        for (dialect, requirement) in all() {
            let Requirement { id, section, .. } = requirement;
            let version = dialect.version().replace('.', "");
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
    fn numbers_ascend() {
        let mut last = BTreeMap::new();
        for (dialect, requirement) in all() {
            let group = (dialect, &requirement.section, requirement.level);
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
