//! Observations of a case that contradict a promise.

use std::fmt::Debug;
use std::panic::Location;

use a2a_server::StoreError;

/// Result of a case or of one of its steps.
pub(crate) type Checked<T = ()> = Result<T, Observation>;

/// Behaviour of a store that contradicts its promise, and the line that saw it.
#[derive(Debug)]
pub(crate) struct Observation(String);

impl Observation {
    #[track_caller]
    pub(crate) fn new(what: impl AsRef<str>) -> Self {
        Self(format!("{} ({})", what.as_ref(), Location::caller()))
    }
}

impl From<Observation> for String {
    fn from(saw: Observation) -> Self {
        saw.0
    }
}

impl From<StoreError> for Observation {
    #[track_caller]
    fn from(error: StoreError) -> Self {
        Self::new(format!("an error, {error:?}"))
    }
}

impl From<tokio::task::JoinError> for Observation {
    #[track_caller]
    fn from(error: tokio::task::JoinError) -> Self {
        Self::new(error.to_string())
    }
}

/// Two things that must be the same.
#[track_caller]
pub(crate) fn same<T: Debug + PartialEq>(what: &str, found: T, expected: T) -> Checked {
    if found == expected {
        return Ok(());
    }
    let (found, expected) = (short(&found), short(&expected));
    Err(Observation::new(format!(
        "{what}: {found}, expected {expected}"
    )))
}

/// Two sequences that must be the same; the first difference is named alone.
#[track_caller]
pub(crate) fn same_each<T: Debug + PartialEq>(what: &str, found: &[T], expected: &[T]) -> Checked {
    let ends = [None];
    let found = found.iter().map(Some).chain(ends);
    let expected = expected.iter().map(Some).chain(ends);
    for (place, (found, expected)) in found.zip(expected).enumerate() {
        same(&format!("{what} at {place}"), found, expected)?;
    }
    Ok(())
}

/// Something that must hold.
#[track_caller]
pub(crate) fn holds(what: impl AsRef<str>, it_does: bool) -> Checked {
    match it_does {
        true => Ok(()),
        false => Err(Observation::new(format!("not so: {}", what.as_ref()))),
    }
}

/// A value, cut so that it is readable.
pub(crate) fn short(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

const MAX_TEXT: usize = 800;

/// An answer that must be an error like this.
macro_rules! refused {
    ($answer:expr, $error:pat $(if $guard:expr)?) => {
        match $answer {
            Err($error) $(if $guard)? => {}
            other => {
                let other = crate::observation::short(&other);
                let expected = stringify!($error);
                let what = format!("{other}, expected Err({expected})");
                return Err(crate::observation::Observation::new(what));
            }
        }
    };
}
pub(crate) use refused;
