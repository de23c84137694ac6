//! `a2a db migrate`.

use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::postgres::PostgresArgs;
use crate::show::Screen;

/// Database to migrate.
#[derive(Args)]
#[command(after_help = "\
`a2a serve --db postgres://…` does the same at its start, if its role may make tables. \
Otherwise run this before a new release, as a role that may. Steps only add: servers of the \
release before go on working.

Examples:
  a2a db migrate postgres://owner@db.example.com/a2a
  a2a db migrate --print | psql --single-transaction -d a2a    after a review, for instance")]
pub(crate) struct Options {
    /// URL of the database.
    #[arg(
        value_name = "URL",
        required_unless_present = "print",
        env = "A2ACLI_DB",
        hide_env_values = true
    )]
    db: Option<String>,
    /// Print the statements, and run none.
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    postgres: PostgresArgs,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let schema = options.postgres.schema();
    let db = match options.db {
        Some(db) if !options.print => db,
        _ => {
            let sql = a2a_postgres::migrations(schema);
            match screen.json {
                true => screen.value(&json!({ "sql": sql }))?,
                false => screen.write(&sql)?,
            }
            return Ok(());
        }
    };
    let postgres = options.postgres.options(&db);
    let postgres = postgres.map_err(Failure::machine("the URL of the database"))?;
    let migrated = a2a_postgres::migrate(&postgres).await;
    migrated.map_err(Failure::machine("migrate"))?;
    match screen.json {
        true => screen.value(&json!({ "schema": schema }))?,
        false => screen.line(&format!("the tables in schema {schema} are up to date"))?,
    }
    Ok(())
}
