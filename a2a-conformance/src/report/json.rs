//! `report.json`: the complete run.

use std::fs;
use std::path::Path;

use a2a_client::terminal::escape_json;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::Error;
use crate::record::{FORMAT, Run};

/// Name of the file.
pub(super) const JSON_FILE: &str = "report.json";

/// Returns the run as indented JSON, with characters that could act on a terminal escaped.
pub fn json(run: &Run) -> String {
    escape_json(&format!("{:#}\n", run.to_json())).into_owned()
}

/// Reads a run from a report, or from the directory that has it. Errors: the file cannot be read, or has another format.
pub fn read(path: &Path) -> Result<Run, Error> {
    let path = &match path.is_dir() {
        true if !path.join(JSON_FILE).exists() => {
            let path = path.to_owned();
            let problem = format!(
                "there is no {JSON_FILE} in this directory: a run writes it with --report json"
            );
            return Err(Error::Content { path, problem });
        }
        true => path.join(JSON_FILE),
        false => path.to_owned(),
    };
    let text = fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let problem = |problem: String| Error::Content {
        path: path.to_owned(),
        problem,
    };
    let run: Run = serde_json::from_str(&text)
        .map_err(|error| problem(format!("no report of this suite: {error}")))?;
    if run.format != FORMAT {
        let found = &run.format;
        return Err(problem(format!("its format is {found:?}, not {FORMAT:?}")));
    }
    Ok(run)
}

/// Returns the JSON Schema of `report.json`.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Run>().to_value();
    if let Some(schema) = schema.as_object_mut() {
        let title = "What came of a run of the A2A conformance suite";
        schema.insert("title".to_owned(), title.into());
        schema.insert("$id".to_owned(), format!("urn:{FORMAT}").into());
    }
    schema
}
