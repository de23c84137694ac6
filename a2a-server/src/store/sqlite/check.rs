//! The condition of a SQLite file.

use std::path::Path;

use rusqlite::{Connection, Error, ErrorCode};

use super::super::StoreError;
use super::schema;

/// Contents and damages of a SQLite file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SqliteReport {
    /// Number of tasks that have not ended.
    pub unfinished: u64,
    /// Number of tasks that have ended.
    pub ended: u64,
    /// Number of received messages that are remembered.
    pub receipts: u64,
    /// The damages, at most 100: none if the file is whole.
    pub damages: Vec<String>,
}

/// Reads all of a file, which a server may be using at the same time.
pub(super) fn check(path: &Path) -> Result<SqliteReport, StoreError> {
    // A file that is missing is not begun.
    let connection = schema::open_reader(path)?;
    let mut report = SqliteReport::default();
    match read(&connection, &mut report) {
        Err(error) if is_damage(&error) => report.damages.push(error.to_string()),
        outcome => outcome.map_err(StoreError::failed)?,
    }
    Ok(report)
}

fn read(connection: &Connection, report: &mut SqliteReport) -> Result<(), Error> {
    let application: i32 = connection.pragma_query_value(None, "application_id", get)?;
    if application != schema::APPLICATION {
        let text = "it is not a file of this software".to_owned();
        report.damages.push(text);
        return Ok(());
    }
    let sql = format!("pragma quick_check({MAX_DAMAGES})");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        report.damages.extend((line != "ok").then_some(line));
    }
    let count = |sql: &str| {
        let rows: i64 = connection.query_row(sql, [], get)?;
        Ok::<_, Error>(rows.unsigned_abs())
    };
    report.unfinished = count("select count(*) from task where ended is null")?;
    report.ended = count("select count(*) from task where ended is not null")?;
    report.receipts = count("select count(*) from send_dedupe")?;
    Ok(())
}

fn get<T: rusqlite::types::FromSql>(row: &rusqlite::Row<'_>) -> Result<T, Error> {
    row.get(0)
}

fn is_damage(error: &Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Maximum number of damages reported.
const MAX_DAMAGES: u32 = 100;
