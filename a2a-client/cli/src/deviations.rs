//! Deviations from the specification that the agent's card and answers have.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::reading::Deviation;

/// Deviations that were found and not shown yet.
static FINDINGS: Mutex<Findings> = Mutex::new(Findings {
    pending: Vec::new(),
    shown: None,
    left_off: 0,
});

struct Findings {
    pending: Vec<Deviation>,
    /// Lines that were shown: each is shown once.
    shown: Option<HashSet<String>>,
    /// Number of deviations that were not kept.
    left_off: usize,
}

/// Keeps a deviation until it is shown.
pub(crate) fn found(deviation: &Deviation) {
    let mut found = lock();
    match found.pending.len() < MAX_PENDING {
        true => found.pending.push(deviation.clone()),
        false => found.left_off += 1,
    }
}

/// Takes the deviations that were not shown yet as lines for people, each once.
pub(crate) fn take_lines() -> Vec<String> {
    let mut found = lock();
    let Findings {
        pending,
        shown,
        left_off,
    } = &mut *found;
    let shown = shown.get_or_insert_default();
    let lines = pending.drain(..).map(|it| format!("note: {it}"));
    let mut lines: Vec<_> = lines.filter(|line| shown.insert(line.clone())).collect();
    match std::mem::take(left_off) {
        0 => {}
        more => lines.push(format!("note: and {more} more")),
    }
    lines
}

fn lock() -> MutexGuard<'static, Findings> {
    // No code under this lock panics half-way.
    FINDINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of deviations that are kept: what an agent sends without end is not.
const MAX_PENDING: usize = 50;
