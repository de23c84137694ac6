//! A golden document, as in its file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::golden::document_kind::DocumentKind;
use crate::golden::spelling::Spelling;

/// A document in the spelling of every version that can express it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The name of its file, without ending.
    pub(crate) name: String,
    pub(crate) object: DocumentKind,
    pub(crate) about: String,
    pub(crate) spellings: BTreeMap<Spelling, Value>,
    /// Values that spellings read as in 1.0, where they differ from the spelling of 1.0.
    pub(crate) back: BTreeMap<Spelling, Value>,
    /// Reasons why versions cannot express it at all.
    pub(crate) cannot: BTreeMap<Spelling, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GoldenFile {
    object: String,
    about: String,
    /// Another document, whose members this one has, too, unless it overrides them.
    upon: Option<String>,
    #[serde(default)]
    cannot: BTreeMap<Spelling, String>,
    #[serde(default)]
    back: BTreeMap<Spelling, Value>,
    #[serde(rename = "0.1")]
    v0_1: Option<Value>,
    #[serde(rename = "0.2")]
    v0_2: Option<Value>,
    #[serde(rename = "0.3")]
    v0_3: Option<Value>,
    #[serde(rename = "0.3P")]
    v0_3p: Option<Value>,
    #[serde(rename = "1.0")]
    v1_0: Option<Value>,
}

impl Document {
    /// Returns every document, by name.
    pub(crate) fn all() -> Vec<Self> {
        let mut names: Vec<String> = std::fs::read_dir(data())
            .expect("the data lies beside the test")
            .map(|entry| entry.expect("the directory can be read").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        names.sort();
        names.iter().map(|name| Self::load(name)).collect()
    }

    fn load(name: &str) -> Self {
        let file: GoldenFile = yaml(&data().join(format!("{name}.yaml")));
        let base = file.upon.map(|base| Self::load(&base));
        let spelled = [
            (Spelling::V0_1, file.v0_1),
            (Spelling::V0_2, file.v0_2),
            (Spelling::V0_3, file.v0_3),
            (Spelling::V0_3P, file.v0_3p),
            (Spelling::V1_0, file.v1_0),
        ];
        let whole = |spelling, value: Value| {
            let base = base.as_ref().and_then(|base| base.spellings.get(&spelling));
            match (base.cloned(), value) {
                (Some(Value::Object(mut whole)), Value::Object(members)) => {
                    whole.extend(members);
                    Value::Object(whole)
                }
                (_, value) => value,
            }
        };
        let spellings = spelled
            .into_iter()
            .filter_map(|(spelling, value)| Some((spelling, whole(spelling, value?))))
            .collect();
        let back = file.back.into_iter();
        Self {
            name: name.to_owned(),
            object: DocumentKind::named(&file.object)
                .unwrap_or_else(|| panic!("{name}: no object is called `{}`", file.object)),
            about: file.about,
            back: back
                .map(|(spelling, value)| (spelling, whole(Spelling::V1_0, value)))
                .collect(),
            spellings,
            cannot: file.cannot,
        }
    }

    /// Returns the spelling of 1.0.
    pub(crate) fn canonical(&self) -> &Value {
        &self.spellings[&Spelling::V1_0]
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.yaml", self.name)
    }
}

pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/data")
}

pub(crate) fn yaml<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}
