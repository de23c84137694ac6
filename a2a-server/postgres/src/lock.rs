//! Lock of a mutex without poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. No code that holds one panics half-way, so a poisoned one is still consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
