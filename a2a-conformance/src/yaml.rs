//! Reading of the data files that are built in.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads YAML as a type, by way of a JSON value: a reader of YAML for every type would be half a megabyte of
/// code. Errors: what does not fit.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value: Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}
