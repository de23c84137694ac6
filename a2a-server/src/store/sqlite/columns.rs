//! Rows and their columns, read and written as types of the canonical model.

use a2a_transport::TraceContext;
use a2a_types::ProtocolVersion;
use rusqlite::types::FromSql;
use rusqlite::{Connection, Params, Row};
use serde::de::DeserializeOwned;

use super::super::log_rows::parse;
use super::super::{Owner, StoreError, TaskKey};
use super::schema::failed;

/// Reads the rows of a query, until `more` returns `false`.
pub(super) fn each_row(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut more: impl FnMut(&Row<'_>) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(values).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        if !more(row)? {
            break;
        }
    }
    Ok(())
}

/// Reads all rows of a query.
pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    each_row(connection, sql, values, |row| {
        all.push(read(row)?);
        Ok(true)
    })?;
    Ok(all)
}

/// Reads the first row of a query, if there is one.
pub(super) fn first_row<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let mut first = None;
    each_row(connection, sql, values, |row| {
        first = Some(read(row)?);
        Ok(false)
    })?;
    Ok(first)
}

pub(super) fn get<T: FromSql>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    row.get(column).map_err(failed)
}

pub(super) fn owner(row: &Row<'_>, column: usize) -> Result<Owner, StoreError> {
    Owner::from_json(&get::<String>(row, column)?)
}

/// The owner and the id of a task, from the first two columns.
pub(super) fn key(row: &Row<'_>) -> Result<TaskKey, StoreError> {
    Ok((owner(row, 0)?, get::<String>(row, 1)?.into()))
}

/// A protocol version.
pub(super) fn protocol_version(
    row: &Row<'_>,
    column: usize,
) -> Result<ProtocolVersion, StoreError> {
    let version: String = get(row, column)?;
    let unknown = || StoreError::failed(format!("there is no protocol version `{version}`"));
    ProtocolVersion::from_version(&version).ok_or_else(unknown)
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
