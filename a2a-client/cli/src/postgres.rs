//! Options of a Postgres database, for `serve` and `migrate`.

use std::path::PathBuf;

use a2a_postgres::{PostgresError, PostgresOptions};
use clap::Args;

/// Options of a Postgres database.
#[derive(Args)]
pub(crate) struct PostgresArgs {
    /// Schema that holds the tables.
    #[arg(long, value_name = "NAME", default_value = "a2a")]
    db_schema: String,
    /// Number of connections for statements; one more listens.
    #[arg(long, value_name = "N", default_value_t = 16)]
    db_connections: usize,
    /// The URL is that of a pooler in transaction mode, like PgBouncer.
    #[arg(long)]
    db_pooler: bool,
    /// File with the password, read again for each connection.
    #[arg(long, value_name = "FILE")]
    db_password_file: Option<PathBuf>,
    /// PEM file with the certificate authorities to trust instead of the system's.
    #[arg(long, value_name = "FILE")]
    db_root_certificates: Option<PathBuf>,
}

impl PostgresArgs {
    /// Returns the options of the database at this URL.
    pub(crate) fn options(&self, url: &str) -> Result<PostgresOptions, PostgresError> {
        let mut options = PostgresOptions::new(url)?
            .schema(&self.db_schema)
            .connections(self.db_connections)
            .pooler(self.db_pooler);
        if let Some(file) = &self.db_password_file {
            options = options.password_file(file);
        }
        if let Some(file) = &self.db_root_certificates {
            options = options.root_certificates(file);
        }
        Ok(options)
    }

    pub(crate) fn schema(&self) -> &str {
        &self.db_schema
    }
}

/// Returns whether this names a Postgres database, not a file.
pub(crate) fn is_url(db: &str) -> bool {
    db.starts_with("postgres://") || db.starts_with("postgresql://")
}
