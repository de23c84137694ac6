//! Links from requirements to the sentences of the published specification.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Requirement;

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

/// The specification's repository, in which a tag, a path and a line follow.
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
