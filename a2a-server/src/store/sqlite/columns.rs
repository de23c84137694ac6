//! Columns of rows, read and written as the types of the canonical model.

use a2a_transport::TraceContext;
use a2a_types::Dialect;
use rusqlite::Row;
use serde::de::DeserializeOwned;

use super::super::log_rows::parse;
use super::super::{Owner, StoreError, TaskKey};
use super::schema::failed;

pub(super) fn key(row: &Row<'_>, owner: usize, task: usize) -> Result<TaskKey, StoreError> {
    let owner: Owner = Owner::from_json(&get::<String>(row, owner)?)?;
    Ok((owner, get::<String>(row, task)?.into()))
}

pub(super) fn get<T: rusqlite::types::FromSql>(
    row: &Row<'_>,
    column: usize,
) -> Result<T, StoreError> {
    row.get(column).map_err(failed)
}

/// A protocol version.
pub(super) fn dialect(row: &Row<'_>, column: usize) -> Result<Dialect, StoreError> {
    let version: String = get(row, column)?;
    let unknown = || StoreError::failed(format!("there is no protocol version `{version}`"));
    Dialect::from_version(&version).ok_or_else(unknown)
}

/// A trace; one that cannot be read is none.
pub(super) fn trace(
    row: &Row<'_>,
    parent: usize,
    state: usize,
) -> Result<Option<TraceContext>, StoreError> {
    let (parent, state): (Option<String>, Option<String>) = (get(row, parent)?, get(row, state)?);
    Ok(parent.and_then(|parent| TraceContext::parse(&parent, state.as_deref())))
}

/// A number that is never negative.
pub(super) fn count(row: &Row<'_>, column: usize) -> Result<usize, StoreError> {
    usize::try_from(get::<i64>(row, column)?).map_err(StoreError::failed)
}

/// Converts a maximum number of rows.
pub(super) fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Something that was written as JSON.
pub(super) fn body<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let body = row.get_ref(column).map_err(failed)?;
    parse(body.as_blob().map_err(StoreError::failed)?)
}
