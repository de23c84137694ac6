//! All checks of agents and clients: the cases, and the invariants, which are checked in every
//! exchange.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;
use rust_embed::RustEmbed;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::judge::invariants::INVARIANTS;
use crate::level::level_in;
use crate::requirement::{Level, Requirement, Role, requirements};
use crate::yaml;

/// A check: what is sent to a peer or observed of it, and the expected outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Permanent name, like `send.ended-task-refused`.
    pub id: String,
    /// Title of one line.
    pub title: String,
    /// Party that is tested.
    pub role: Role,
    /// Its parts: a case, an invariant, or both.
    pub parts: Vec<CheckPart>,
}

/// A part of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckPart {
    /// Level in protocol versions of which no requirement names it.
    pub level: Level,
    /// The versions in which it is made.
    pub protocol_versions: Vec<ProtocolVersion>,
    /// The bindings in which it is made.
    pub bindings: Vec<Binding>,
    /// The text that requires it, where A2A does not.
    pub source: Option<String>,
    /// Members of the case, if it is one; otherwise it is an invariant.
    pub case: Option<Map<String, Value>>,
}

impl Check {
    /// Returns whether it is made in a protocol version.
    pub fn applies(&self, protocol_version: ProtocolVersion) -> bool {
        self.parts
            .iter()
            .any(|part| part.protocol_versions.contains(&protocol_version))
    }

    /// Returns its level in a protocol version, or `None` if it is not made there.
    pub fn level_in(&self, protocol_version: ProtocolVersion) -> Option<Level> {
        let made = self
            .parts
            .iter()
            .filter(|part| part.protocol_versions.contains(&protocol_version));
        let own = made.map(|part| part.level).min()?;
        Some(level_in(protocol_version, None, &self.id, own))
    }

    /// Returns its levels in all versions; the strictest first.
    pub fn levels(&self) -> BTreeSet<Level> {
        let all = ProtocolVersion::ALL.iter();
        all.filter_map(|protocol_version| self.level_in(*protocol_version))
            .collect()
    }

    /// The text that requires it, where A2A does not.
    pub fn source(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| part.source.as_deref())
    }
}

/// Returns every check, in order of their ids.
pub fn checks() -> &'static [Check] {
    static ALL: LazyLock<Vec<Check>> = LazyLock::new(|| {
        let mut all: Vec<Check> = Vec::new();
        // A test reads all of them: what is built in can be read.
        let cases = names().flat_map(|name| read(&name).unwrap_or_default());
        for check in cases.chain(invariants()) {
            match all.iter_mut().find(|known| known.id == check.id) {
                Some(known) => known.parts.extend(check.parts),
                None => all.push(check),
            }
        }
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all
    });
    &ALL
}

/// Returns the check of that id.
pub fn check(id: &str) -> Option<&'static Check> {
    checks().iter().find(|check| check.id == id)
}

/// Returns the requirements that a check of that id covers, with their protocol versions, the latest first.
pub fn covered_by(id: &str) -> impl Iterator<Item = (ProtocolVersion, &'static Requirement)> {
    let of = |protocol_version: &ProtocolVersion| {
        let protocol_version = *protocol_version;
        requirements(protocol_version)
            .iter()
            .map(move |one| (protocol_version, one))
    };
    let all = ProtocolVersion::ALL.iter().rev().flat_map(of);
    all.filter(move |(_, requirement)| requirement.checks.iter().any(|check| check == id))
}

#[derive(RustEmbed)]
#[folder = "cases/"]
struct CaseFiles;

fn names() -> impl Iterator<Item = Cow<'static, str>> {
    let mut names: Vec<_> = CaseFiles::iter()
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    names.into_iter()
}

fn read(name: &str) -> Result<Vec<Check>, String> {
    let file = CaseFiles::get(name).ok_or("it is not there")?;
    let text = String::from_utf8_lossy(&file.data);
    let cases: Vec<Map<String, Value>> = yaml::read(&text)?;
    cases.into_iter().map(parse_case).collect()
}

fn parse_case(mut case: Map<String, Value>) -> Result<Check, String> {
    let id: String = required(&mut case, "id")?;
    let title = required(&mut case, "title")?;
    let level = required(&mut case, "level")?;
    let role = Role::of_check(&id);
    let named: Vec<String> = optional(&mut case, "bindings")?;
    let bindings = BINDINGS.into_iter().filter(|binding| {
        let name = binding.to_string();
        named.is_empty() || named.contains(&name)
    });
    let bindings: Vec<_> = bindings.collect();
    let named: Vec<String> = optional(&mut case, "protocol_versions")?;
    let protocol_versions = ProtocolVersion::ALL
        .iter()
        .copied()
        .filter(|protocol_version| {
            let version = protocol_version.version();
            let chosen = named.is_empty() || named.iter().any(|name| name == version);
            chosen && does_something(&case, version) && has_one(*protocol_version, role, &bindings)
        });
    let part = CheckPart {
        level,
        protocol_versions: protocol_versions.collect(),
        bindings,
        source: optional(&mut case, "source")?,
        case: Some(case),
    };
    Ok(Check {
        id,
        title,
        role,
        parts: vec![part],
    })
}

fn required<T: DeserializeOwned>(case: &mut Map<String, Value>, member: &str) -> Result<T, String> {
    let value = case.remove(member);
    let value = value.ok_or_else(|| format!("a case without `{member}`"))?;
    serde_json::from_value(value).map_err(|error| format!("`{member}`: {error}"))
}

fn optional<T: DeserializeOwned + Default>(
    case: &mut Map<String, Value>,
    member: &str,
) -> Result<T, String> {
    match case.contains_key(member) {
        true => required(case, member),
        false => Ok(T::default()),
    }
}

/// Returns whether any step of a case runs in a version, or the case has no steps and does something
/// else.
fn does_something(case: &Map<String, Value>, version: &str) -> bool {
    let Some(Value::Array(steps)) = case.get("steps") else {
        return true;
    };
    steps.iter().any(|step| match &step["only"] {
        Value::Array(only) => only.iter().any(|name| name == version),
        _ => true,
    })
}

/// Returns whether a version has one of these bindings for the party under test: 0.1 is JSON-RPC, and clients
/// of 0.2 are tested by that alone.
pub(crate) fn has_one(protocol_version: ProtocolVersion, role: Role, bindings: &[Binding]) -> bool {
    let since = |binding: &Binding| match (binding, role) {
        (Binding::JsonRpc, _) => ProtocolVersion::V0_1,
        (Binding::HttpJson, Role::Client) => ProtocolVersion::V0_3,
        (Binding::HttpJson, _) => ProtocolVersion::V0_2,
        _ => ProtocolVersion::V0_3,
    };
    bindings
        .iter()
        .any(|binding| protocol_version >= since(binding))
}

/// Returns the checks that are made in every exchange with an agent.
fn invariants() -> impl Iterator<Item = Check> {
    INVARIANTS.iter().map(|invariant| {
        let bindings = BINDINGS.into_iter();
        let bindings: Vec<_> = bindings
            .filter(|binding| invariant.bindings.contains(binding))
            .collect();
        let protocol_versions = ProtocolVersion::ALL
            .iter()
            .copied()
            .filter(|protocol_version| {
                (invariant.since..=invariant.until).contains(protocol_version)
                    && has_one(*protocol_version, Role::Agent, &bindings)
            });
        Check {
            id: invariant.id.to_owned(),
            title: invariant.title.to_owned(),
            role: Role::Agent,
            parts: vec![CheckPart {
                level: invariant.level,
                protocol_versions: protocol_versions.collect(),
                bindings,
                source: None,
                case: None,
            }],
        }
    })
}

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_case_can_be_read() {
        let mut ids = BTreeSet::new();
        for name in names() {
            let read = read(&name).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            for check in read {
                assert!(ids.insert(check.id.clone()), "{} is there twice", check.id);
                let part = &check.parts[0];
                assert!(
                    !part.protocol_versions.is_empty(),
                    "{} is never made",
                    check.id
                );
                assert!(!part.bindings.is_empty(), "{} is never made", check.id);
            }
        }
        assert!(ids.len() < checks().len(), "some hold in every exchange");
    }

    #[test]
    fn a_case_is_understood_whatever_else_is_in_it() {
        let case = json!({"id": "webhook.idempotent", "title": "Twice is once", "level": "should",
            "protocol_versions": ["0.3", "1.0"], "source": "RFC 1", "notify": [1]});
        let check = parse_case(serde_json::from_value(case).unwrap()).unwrap();
        assert_eq!(check.role, Role::Client);
        assert_eq!(check.levels(), BTreeSet::from([Level::Should]));
        assert_eq!(check.source(), Some("RFC 1"));
        let [part] = &check.parts[..] else { panic!() };
        assert_eq!(
            part.protocol_versions,
            [ProtocolVersion::V0_3, ProtocolVersion::V1_0]
        );
        assert_eq!(part.case, json!({"notify": [1]}).as_object().cloned());
        let nameless = serde_json::from_value(json!({"id": "a.b"})).unwrap();
        assert_eq!(parse_case(nameless), Err("a case without `title`".into()));
    }

    #[test]
    fn a_case_is_made_where_it_has_steps_and_a_binding() {
        let case =
            json!({"id": "send.x", "title": "t", "level": "must", "steps": [{"only": ["0.2"]}]});
        let check = parse_case(serde_json::from_value(case).unwrap()).unwrap();
        assert_eq!(check.parts[0].protocol_versions, [ProtocolVersion::V0_2]);
        let case = json!({"id": "rest.x", "title": "t", "level": "must", "bindings": ["HTTP+JSON"], "steps": [{}]});
        let check = parse_case(serde_json::from_value(case).unwrap()).unwrap();
        assert!(!check.applies(ProtocolVersion::V0_1) && check.applies(ProtocolVersion::V0_2));
    }

    #[test]
    fn checks_know_their_requirements() {
        let mut covered = covered_by("send.session");
        let (protocol_version, requirement) = covered.next().unwrap();
        assert_eq!(
            (protocol_version, &*requirement.id),
            (ProtocolVersion::V0_1, "A2A01-L-S10")
        );
        assert!(covered.next().is_none());
        let session = check("send.session").unwrap();
        assert!(session.applies(ProtocolVersion::V0_1) && !session.applies(ProtocolVersion::V1_0));
        assert_eq!(Role::of_check("send.session"), Role::Agent);
        let both = check("rpc.id-echoed").unwrap();
        assert_eq!(both.parts.len(), 2, "a case, and in every exchange");
    }

    #[test]
    fn requirements_and_checks_name_each_other() {
        let mut gaps = Vec::new();
        for protocol_version in ProtocolVersion::ALL {
            let named = requirements(*protocol_version).iter();
            let named: BTreeSet<_> = named.flat_map(|one| &one.checks).collect();
            let is_made =
                |id: &&&String| check(id).is_some_and(|one| one.applies(*protocol_version));
            let unmade = named.iter().filter(|id| !is_made(id));
            gaps.extend(
                unmade.map(|id| format!("{protocol_version} names {id}, which is not made there")),
            );
            let made = checks().iter().filter(|one| one.applies(*protocol_version));
            let unasked = made.filter(|one| !named.contains(&one.id) && one.source().is_none());
            gaps.extend(
                unasked.map(|one| format!("{protocol_version} does not ask for {}", one.id)),
            );
        }
        assert!(gaps.is_empty(), "{}", gaps.join("\n"));
    }
}
