//! What the specification requires, sentence by sentence, in our own words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_types::Dialect;
use rust_embed::RustEmbed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One normative sentence of one generation.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Names it for ever: the generation, the section, the letter of its level and a number, like
    /// `A2A10-3.1.1-M2`.
    pub id: String,
    /// What it says.
    pub says: String,
    /// By the keyword of the sentence.
    pub level: Level,
    /// Where it stands, like `3.1.1`.
    pub section: String,
    /// Whom it binds.
    pub binds: Vec<Role>,
    /// The checks that cover it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Why no check can cover it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
}

/// How much a requirement requires (RFC 2119).
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, JsonSchema,
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

/// A party to the protocol.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Who is called.
    Agent,
    /// Who calls.
    Client,
    /// Who runs either of them.
    Operator,
}

/// All requirements of a generation, in order of their sections.
pub fn requirements(dialect: Dialect) -> &'static [Requirement] {
    static ALL: LazyLock<BTreeMap<Dialect, Vec<Requirement>>> = LazyLock::new(|| {
        let read = |dialect: &Dialect| (*dialect, read(*dialect));
        Dialect::ALL.iter().map(read).collect()
    });
    ALL.get(&dialect).map_or(&[], Vec::as_slice)
}

/// The requirement of that id.
pub fn requirement(id: &str) -> Option<&'static Requirement> {
    let mut all = Dialect::ALL
        .iter()
        .flat_map(|dialect| requirements(*dialect));
    all.find(|requirement| requirement.id == id)
}

#[derive(RustEmbed)]
#[folder = "requirements/"]
struct Files;

fn read(dialect: Dialect) -> Vec<Requirement> {
    let file = Files::get(&format!("{}.yaml", dialect.version()));
    let text = file.map(|file| String::from_utf8_lossy(&file.data).into_owned());
    // A test reads all of them: what is built in can be read.
    text.and_then(|text| serde_saphyr::from_str(&text).ok())
        .unwrap_or_default()
}
