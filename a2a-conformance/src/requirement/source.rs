//! Reading of the requirements, with links to the sentences of the published specification.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_types::ProtocolVersion;
use rust_embed::RustEmbed;
use serde::Deserialize;

use super::Requirement;
use crate::yaml;

/// Returns all requirements of a version, in order of their sections.
pub fn requirements(protocol_version: ProtocolVersion) -> &'static [Requirement] {
    static ALL: LazyLock<BTreeMap<ProtocolVersion, Vec<Requirement>>> = LazyLock::new(|| {
        let read =
            |protocol_version: &ProtocolVersion| (*protocol_version, read(*protocol_version));
        ProtocolVersion::ALL.iter().map(read).collect()
    });
    ALL.get(&protocol_version).map_or(&[], Vec::as_slice)
}

/// Returns the requirement of that id.
pub fn requirement(id: &str) -> Option<&'static Requirement> {
    let mut all = ProtocolVersion::ALL
        .iter()
        .flat_map(|protocol_version| requirements(*protocol_version));
    all.find(|requirement| requirement.id == id)
}

#[derive(RustEmbed)]
#[folder = "requirements/"]
pub(super) struct RequirementFiles;

fn read(protocol_version: ProtocolVersion) -> Vec<Requirement> {
    let file = RequirementFiles::get(&format!("{}.yaml", protocol_version.version()));
    let text = file.map(|file| String::from_utf8_lossy(&file.data).into_owned());
    // A test reads every file, so that an unreadable one is never built in.
    let file = text.and_then(|text| yaml::read::<File>(&text).ok());
    file.map(File::expand).unwrap_or_default()
}

/// One file of requirements.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The tag of the specification's repository that the sources point into.
    specification: String,
    /// The verdict of the second reading on each requirement that has no verdict of its own.
    reading: String,
    requirements: Vec<Requirement>,
}

impl File {
    /// The requirements, with whole links and a verdict of the reading each.
    pub(super) fn expand(self) -> Vec<Requirement> {
        let Self {
            specification: tag,
            reading,
            mut requirements,
        } = self;
        for requirement in &mut requirements {
            requirement.source = permalink(&tag, &requirement.source);
            if requirement.reading.is_empty() {
                requirement.reading.clone_from(&reading);
            }
        }
        requirements
    }
}

/// URL of the specification's repository, to be followed by a tag, a path and a line.
pub(super) const REPOSITORY: &str = "https://github.com/a2aproject/A2A/blob/";

/// The address of `docs/specification.md#L12` or `docs/specification.md#L12-L15` at a tag; other addresses,
/// which are whole, stay as they are.
fn permalink(tag: &str, source: &str) -> String {
    match source.split_once('#') {
        _ if source.is_empty() || source.starts_with("https://") => source.to_owned(),
        // Without `plain`, the page is rendered and has no lines.
        Some((path, lines)) if path.ends_with(".md") => {
            format!("{REPOSITORY}{tag}/{path}?plain=1#{lines}")
        }
        _ => format!("{REPOSITORY}{tag}/{source}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_become_permanent_links() {
        #[track_caller]
        fn check(source: &str, expected: &str) {
            assert_eq!(permalink("v1.0.1", source), expected);
        }
        let at = |rest: &str| format!("https://github.com/a2aproject/A2A/blob/v1.0.1/{rest}");
        check(
            "docs/specification.md#L12-L15",
            &at("docs/specification.md?plain=1#L12-L15"),
        );
        check(
            "specification/a2a.proto#L7",
            &at("specification/a2a.proto#L7"),
        );
        let rfc = "https://www.rfc-editor.org/rfc/rfc8615#section-3";
        check(rfc, rfc);
        check("", "");
    }
}
