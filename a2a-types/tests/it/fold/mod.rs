//! A task is the fold of its log: whatever happens, as a plain model says, and wherever the fold
//! begins.
//!
//! The cases are drawn from a fixed seed, so that every failure is reproducible.

mod events;
mod model;

use a2a_types::{Event, Task};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use events::log;
use model::{Model, Refusal};

/// Draws `cases` logs and fails at the first for which `holds` does not hold.
#[track_caller]
fn check(cases: u32, holds: impl Fn(Vec<Event>) -> Result<(), TestCaseError>) {
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2025),
        ..Config::default()
    };
    if let Err(failure) = TestRunner::new(config).run(&log(), holds) {
        panic!("{failure}");
    }
}

fn begin() -> Task {
    let mut task = Task::submitted("t".into(), "c".into());
    // Written times keep milliseconds.
    task.status.timestamp = None;
    task
}

/// Returns the events that can happen, one after the other.
fn legal(events: Vec<Event>) -> Vec<Event> {
    let mut task = begin();
    let mut happens = |event: &Event| task.apply(event).is_ok();
    events.into_iter().filter(|event| happens(event)).collect()
}

fn fold<'a>(mut task: Task, events: impl IntoIterator<Item = &'a Event>) -> Task {
    for event in events {
        task.apply(event).expect("what happened can happen again");
    }
    task
}

/// Returns the value as it is read back after it was written.
fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("it can be written");
    serde_json::from_str(&text).expect("what was written can be read")
}

#[test]
fn a_task_is_what_the_model_says() {
    check(500, |events| {
        let mut task = begin();
        let mut model = Model::of(&task);
        for event in &events {
            let before = task.clone();
            let refused = task.apply(event).err();
            let found = refused.as_ref().map(Refusal::of);
            prop_assert_eq!(found, model.apply(event).err(), "{:?}", event);
            if refused.is_some() {
                prop_assert_eq!(&task, &before, "{:?} is refused", event);
            }
            prop_assert_eq!(&task, &model.task(), "after {:?}", event);
        }
        Ok(())
    });
}

#[test]
fn a_fold_can_be_taken_up_anywhere() {
    check(100, |events| {
        let events = legal(events);
        let whole = fold(begin(), &events);
        for split in 0..=events.len() {
            let (first, rest) = events.split_at(split);
            let snapshot = fold(begin(), first);
            let kept = round_trip(&snapshot);
            prop_assert_eq!(&kept, &snapshot, "a snapshot is read as it was written");
            prop_assert_eq!(&fold(kept, rest), &whole, "from a snapshot after {}", split);
            // A reader that does not know what was before receives the task as it stands.
            let folded = [Event::Task(snapshot)];
            let folded = fold(begin(), folded.iter().chain(rest));
            prop_assert_eq!(&folded, &whole, "from a task received after {}", split);
        }
        Ok(())
    });
}

#[test]
fn a_log_that_was_written_folds_to_the_same() {
    check(200, |events| {
        let events = legal(events);
        let round_trip: Vec<Event> = events.iter().map(round_trip).collect();
        prop_assert_eq!(&round_trip, &events);
        prop_assert_eq!(fold(begin(), &round_trip), fold(begin(), &events));
        Ok(())
    });
}

/// Logs without events would make the properties vacuous.
#[test]
fn the_logs_are_worth_folding() {
    let mut happened = 0;
    let mut refused = 0;
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(2025),
        ..Config::default()
    });
    for _ in 0..200 {
        let tree = log().new_tree(&mut runner).expect("there is a log");
        let events = prop::strategy::ValueTree::current(&tree);
        let count = events.len();
        let legal = legal(events).len();
        happened += legal;
        refused += count - legal;
    }
    assert!(happened > 1_000, "{happened} events can happen");
    assert!(refused > 300, "{refused} events are refused");
}
