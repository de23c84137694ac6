//! Pseudo-random choices that are the same in every run.

use a2a_server::TraceContext;
use a2a_types::{Event, Task, TaskState, Timestamp};

use crate::sample::{chunk, said, status_at, step, tells, thought, time};

/// Pseudo-random numbers that are the same in every run.
pub(crate) struct Dice(fastrand::Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.u64(..end)
    }

    /// Returns `true` once in `times` times, on average.
    pub(crate) fn chance(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.usize(..choices.len())].clone()
    }

    /// Mostly a time, often the same, sometimes one before the Unix epoch.
    pub(crate) fn time(&mut self) -> Option<Timestamp> {
        match self.below(6).cast_signed() {
            5 => None,
            4 => Timestamp::from_millis(-1),
            millis => Some(time(millis)),
        }
    }

    /// One of two traces, or none.
    pub(crate) fn trace(&mut self) -> Option<TraceContext> {
        let id = self.one_of(&[0, 1, 2]);
        let trace = TraceContext::new([id; 16], [id; 8], id == 1);
        trace.map(|trace| trace.with_state("a=1,b=2"))
    }

    /// Draws events, most of which are legal for the task and do not end it.
    pub(crate) fn events(&mut self, task: &Task, count: usize) -> Vec<Event> {
        let id = &task.id;
        let mut events = Vec::new();
        if task.status.state.is_terminal() && self.chance(2) {
            events.push(status_at(id, TaskState::Submitted, self.time()));
        }
        for _ in 0..count {
            let name = self.one_of(&["p", "q", "r"]);
            // If there are many events, none continues an artifact that may not be there: so most logs get long.
            let append = count <= 3 && self.chance(2);
            events.push(match self.below(14) {
                0..3 => said(id, name),
                3..8 => chunk(id, name, name, append),
                8 => tells(id, TaskState::Working, name),
                9 => step(id, name),
                10 => thought(id, name),
                11 if self.chance(8) => Event::Task(Task {
                    artifacts: Vec::new(),
                    ..task.clone()
                }),
                12 if self.chance(20) => said(&"another owner".into(), name),
                _ if count > 3 => status_at(id, TaskState::Working, self.time()),
                _ => status_at(id, self.one_of(&STATES), self.time()),
            });
        }
        events
    }
}

/// States that a task is given, some more often than others.
pub(crate) const STATES: [TaskState; 14] = [
    TaskState::Working,
    TaskState::Working,
    TaskState::Working,
    TaskState::Working,
    TaskState::InputRequired,
    TaskState::InputRequired,
    TaskState::AuthRequired,
    TaskState::AuthRequired,
    TaskState::Completed,
    TaskState::Failed,
    TaskState::Canceled,
    TaskState::Rejected,
    TaskState::Submitted,
    TaskState::Unspecified,
];
