//! Errors of stores and updates as errors of the protocol.

use a2a_types::{Error as A2aError, ErrorKind};

use crate::engine::update::UpdateError;
use crate::store::StoreError;

impl From<StoreError> for A2aError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoTask => ErrorKind::TaskNotFound.into(),
            StoreError::Full => ErrorKind::Unavailable.into(),
            StoreError::Unavailable(_) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the store is not available"
                );
                ErrorKind::Unavailable.into()
            }
            StoreError::Busy => Self::new(ErrorKind::Unavailable, error.to_string()),
            StoreError::TooManyMessages(_)
            | StoreError::TooLong(_)
            | StoreError::TooManyArtifacts(_) => {
                Self::new(ErrorKind::UnsupportedOperation, error.to_string())
            }
            StoreError::TooManyConfigs(_) | StoreError::ConfigTooLong(_) => {
                Self::new(ErrorKind::InvalidParams, error.to_string())
            }
            StoreError::InvalidTransition(illegal) => {
                Self::new(ErrorKind::UnsupportedOperation, illegal.to_string())
            }
            // Another writer has the task: the caller may try again.
            StoreError::Leased
            | StoreError::Fenced
            | StoreError::SequenceConflict(_)
            | StoreError::ReservationExpired(_) => ErrorKind::Unavailable.into(),
            StoreError::TaskExists | StoreError::DuplicateMessage | StoreError::Failed(_) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the store failed");
                ErrorKind::Internal.into()
            }
        }
    }
}

impl From<UpdateError> for A2aError {
    fn from(error: UpdateError) -> Self {
        match error {
            UpdateError::Store(error) => error.into(),
            other => Self::new(ErrorKind::UnsupportedOperation, other.to_string()),
        }
    }
}
