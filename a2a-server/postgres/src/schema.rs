//! The tables, their version, and their creation.

use std::time::Duration;

use tokio_postgres::types::Type;

use crate::connections::{Connections, Query, Repeat};
use crate::{PostgresError, PostgresOptions};

/// Statements that create the tables, in which `@` stands for the schema.
const TABLES: &str = include_str!("tables.sql");
/// Version of the tables.
const VERSION: i32 = 1;
/// Major version of the tables: a server that knows only an earlier one does not start.
const MAJOR: i32 = 1;

/// Creates the tables of these options. Several servers may do so at once. The statements may take as long as
/// they need, but they wait for the transactions of others for five seconds at most, since all others wait behind them.
///
/// Errors: there is no connection; the role may not create tables; a transaction of others keeps a table locked:
/// [`PostgresError::Locked`]; the tables are of a later major version: [`PostgresError::TooNew`].
pub async fn migrate(options: &PostgresOptions) -> Result<(), PostgresError> {
    migrate_on(&Connections::new(options)?, options).await
}

/// Returns the statements of [`migrate`] for this schema as text, to be reviewed and run by `psql --single-transaction`.
/// Running them again has no effect.
pub fn migrations(schema: &str) -> String {
    let quoted = format!("\"{}\"", schema.replace('"', "\"\""));
    let prefix = format!("{quoted}.");
    let lock = format!("a2a {schema}").replace('\'', "''");
    let tables = TABLES.replace('@', &prefix);
    format!(
        "set local client_min_messages = warning; set local statement_timeout = 0;\n\
         set local lock_timeout = '{migrating}s';\n\
         select pg_advisory_xact_lock(hashtextextended('{lock}', 0));\n\
         set local lock_timeout = '{locked}s';\n\
         do $schema$ begin\n  \
           if to_regnamespace('{literal}') is null then create schema {quoted}; end if;\n\
         end $schema$;\n\
         create table if not exists {prefix}schema_version (version integer primary key, major integer not null);\n\
         do $migration$ begin\n\
         if not exists (select from {prefix}schema_version where version = {VERSION}) then\n\
         {tables}\n\
         insert into {prefix}schema_version values ({VERSION}, {MAJOR});\n\
         end if;\nend $migration$;\n",
        literal = quoted.replace('\'', "''"),
        migrating = MAX_OTHER_MIGRATION.as_secs(),
        locked = MAX_LOCK_WAIT.as_secs(),
    )
}

pub(crate) async fn migrate_on(
    connections: &Connections,
    options: &PostgresOptions,
) -> Result<(), PostgresError> {
    match check(connections).await {
        Err(PostgresError::NotMigrated { .. }) => {
            let sql = format!("begin; {} commit;", migrations(&options.schema));
            let migrated = connections.batch(&sql).await;
            migrated.map_err(PostgresError::of_migration)
        }
        checked => checked,
    }
}

/// Checks that the tables are of a version that this software can work with.
pub(crate) async fn check(connections: &Connections) -> Result<(), PostgresError> {
    match found(connections).await? {
        Some((_, found)) if found > MAJOR => Err(PostgresError::TooNew {
            found,
            known: MAJOR,
        }),
        Some((version, _)) if version >= VERSION => Ok(()),
        other => Err(PostgresError::NotMigrated {
            found: other.map_or(0, |(version, _)| version),
            needed: VERSION,
        }),
    }
}

/// Reads the version and the major version of the tables; returns `None` if there are no tables.
async fn found(connections: &Connections) -> Result<Option<(i32, i32)>, PostgresError> {
    let table = connections.text("@schema_version");
    let exists = Query::new("select to_regclass($1) is not null").with(&table, Type::TEXT);
    let row = connections.row(&exists, Repeat::Harmless).await?;
    if !row.is_some_and(|row| row.get(0)) {
        tracing::debug!(table, "there are no tables");
        return Ok(None);
    }
    let version = "select coalesce(max(version), 0), coalesce(max(major), 0) from @schema_version";
    let version = Query::new(version);
    let row = connections.row(&version, Repeat::Harmless).await?;
    Ok(row.map(|row| (row.get(0), row.get(1))))
}

/// Time that a server waits for another one that migrates the tables.
const MAX_OTHER_MIGRATION: Duration = Duration::from_secs(600);
/// Time that a migration waits for a lock of a table. Statements of others wait behind it meanwhile.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_quoted() {
        let sql = migrations("a\"b");
        assert!(sql.contains("create table \"a\"\"b\".task ("));
        assert!(!sql.contains('@'));
    }
}
