//! Errors of the database, and their meaning for a store.

use std::error::Error as _;

use a2a_server::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Reason why a store cannot be opened, or a statement failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The options contradict themselves or cannot be read.
    #[error("the options of the store are wrong: {0}")]
    Options(String),
    /// There is no connection; the statement was not sent.
    #[error("there is no connection to the database: {0}")]
    NoConnection(String, #[source] Option<Box<Error>>),
    /// The connection was lost while a statement ran, whose outcome is unknown.
    #[error("the connection to the database was lost")]
    Lost(#[source] Option<Box<Error>>),
    /// The database refused the statement.
    #[error("the database refused a statement")]
    Refused(#[source] Box<Error>),
    /// The tables are older than this software, and it may not change them.
    #[error("the tables are of version {found}, this software needs {needed}: migrate them first")]
    NotMigrated {
        /// Version of the tables; 0 if there are none.
        found: i32,
        /// Version that this software needs.
        needed: i32,
    },
    /// The tables could not be migrated: another transaction kept a lock for too long. Nothing was changed.
    #[error(
        "the tables could not be migrated: another transaction keeps them locked: end it, or try again later"
    )]
    Locked(#[source] Box<Error>),
    /// The tables are of a later version that this software does not know.
    #[error("the tables are of version {found}, this software knows {known}: use a later release")]
    TooNew {
        /// Version of the tables.
        found: i32,
        /// Latest version that this software knows.
        known: i32,
    },
}

impl PostgresError {
    pub(crate) fn options(reason: impl std::fmt::Display) -> Self {
        Self::Options(reason.to_string())
    }

    /// Classifies the error of a statement.
    pub(crate) fn of_statement(error: Error) -> Self {
        let Some(cause) = error.as_db_error() else {
            return match error.is_closed() || is_io(&error) {
                true => Self::Lost(Some(error.into())),
                false => Self::Refused(error.into()),
            };
        };
        let code = cause.code();
        match *code == SqlState::ADMIN_SHUTDOWN
            || *code == SqlState::CRASH_SHUTDOWN
            || *code == SqlState::CANNOT_CONNECT_NOW
            || code.code().starts_with("08")
        {
            true => Self::Lost(Some(error.into())),
            false => Self::Refused(error.into()),
        }
    }

    /// Classifies the error of an attempt to connect.
    pub(crate) fn of_connect(error: Error) -> Self {
        let mut problem = error.to_string();
        let cause = error.source().map(ToString::to_string);
        if cause.is_some_and(|cause| cause.contains("does not support TLS")) {
            problem.push_str("; `sslmode=disable` in the URL connects without TLS");
        }
        Self::NoConnection(problem, Some(error.into()))
    }

    /// Classifies the error of a migration.
    pub(crate) fn of_migration(self) -> Self {
        match self {
            Self::Refused(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                Self::Locked(error)
            }
            other => other,
        }
    }

    /// Returns the SQLSTATE code of a refused statement.
    fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Refused(error) => error.code(),
            _ => None,
        }
    }

    /// Returns whether the statement had no effect and may succeed on another try.
    pub(crate) fn is_passing(&self) -> bool {
        let passing = [
            &SqlState::T_R_SERIALIZATION_FAILURE,
            &SqlState::T_R_DEADLOCK_DETECTED,
            &SqlState::INVALID_SQL_STATEMENT_NAME,
            &SqlState::FEATURE_NOT_SUPPORTED,
        ];
        self.code().is_some_and(|code| passing.contains(&code)) || self.is_read_only()
    }

    /// Returns whether the database has become read-only, as after a failover to another one.
    pub(crate) fn is_read_only(&self) -> bool {
        self.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
    }

    /// Returns whether the statement had no effect because of a lock that was not released within the time limit for that.
    pub(crate) fn is_lock_timeout(&self) -> bool {
        self.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
    }

    /// Returns whether the connection can no longer be used.
    pub(crate) fn breaks_connection(&self) -> bool {
        let stale = [
            &SqlState::INVALID_SQL_STATEMENT_NAME,
            &SqlState::FEATURE_NOT_SUPPORTED,
        ];
        matches!(self, Self::Lost(_))
            || self.is_read_only()
            || self.code().is_some_and(|code| stale.contains(&code))
    }

    /// Returns the name of the unique constraint that the statement violated.
    pub(crate) fn violated(&self) -> Option<&str> {
        match self {
            Self::Refused(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                error.as_db_error()?.constraint()
            }
            _ => None,
        }
    }
}

fn is_io(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>())
}

impl From<PostgresError> for StoreError {
    fn from(error: PostgresError) -> Self {
        match &error {
            PostgresError::NoConnection(..) | PostgresError::Lost(_) => Self::unavailable(error),
            PostgresError::Refused(_) => match error.code() {
                Some(code) if *code == SqlState::DISK_FULL => Self::Full,
                Some(code) if is_busy(code) => Self::unavailable(error),
                _ => Self::failed(error),
            },
            _ => Self::failed(error),
        }
    }
}

/// Returns whether another try may succeed.
fn is_busy(code: &SqlState) -> bool {
    let busy = [
        &SqlState::QUERY_CANCELED,
        &SqlState::LOCK_NOT_AVAILABLE,
        &SqlState::TOO_MANY_CONNECTIONS,
        &SqlState::OUT_OF_MEMORY,
        &SqlState::T_R_SERIALIZATION_FAILURE,
        &SqlState::T_R_DEADLOCK_DETECTED,
        &SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    busy.contains(&code)
}
