//! Columns of rows, read as the types of the canonical model.

use a2a_server::{Owner, StoreError};
use a2a_types::ProtocolVersion;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::names::{Key, read};

/// Reads a column.
pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(StoreError::failed)
}

/// Reads a number that is never negative.
pub(crate) fn number(row: &Row, column: usize) -> Result<usize, StoreError> {
    let number = match *row.columns()[column].type_() {
        Type::INT4 => i64::from(get::<i32>(row, column)?),
        _ => get::<i64>(row, column)?,
    };
    usize::try_from(number).map_err(StoreError::failed)
}

/// Reads a protocol version.
pub(crate) fn protocol_version(version: &str) -> Result<ProtocolVersion, StoreError> {
    let unknown = || StoreError::failed(format!("there is no protocol version `{version}`"));
    ProtocolVersion::from_version(version).ok_or_else(unknown)
}

/// Reads the owner and the id of a task from the first two columns.
pub(crate) fn key(row: &Row) -> Result<Key, StoreError> {
    Ok((Owner::from_json(get(row, 0)?)?, read(get(row, 1)?).into()))
}
