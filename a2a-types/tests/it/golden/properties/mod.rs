//! Properties of every value: no panic, no loss beyond what the reference allows, and the same text after
//! writing, reading and writing again.
//!
//! The cases are drawn from a fixed seed, so that every failure is reproducible.

mod cards;
mod forget;
mod requests;
mod tasks;
mod values;

use a2a_types::Operation;
use a2a_types::reading::Mode;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::Value;

use self::forget::{forget, unforeseen};
use crate::golden::document_kind::{Canonical, DocumentKind};
use crate::golden::spelling::Spelling;

/// Checks `holds` for this number of values, and fails at the first for which it does not hold.
#[track_caller]
fn check<T: std::fmt::Debug>(
    cases: u32,
    values: impl Strategy<Value = T>,
    holds: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(SEED),
        ..Config::default()
    };
    if let Err(failure) = TestRunner::new(config).run(&values, holds) {
        panic!("{failure}");
    }
}

const SEED: u64 = 2025;

/// Returns every object that a document can be, with values of it.
fn objects() -> BoxedStrategy<(DocumentKind, Canonical)> {
    prop_oneof![
        tasks::message().prop_map(|message| (DocumentKind::Message, Canonical::Message(message))),
        tasks::status()
            .prop_map(|status| (DocumentKind::TaskStatus, Canonical::TaskStatus(status))),
        tasks::event().prop_map(|event| (DocumentKind::Event, Canonical::Events(vec![event]))),
        cards::card().prop_map(|card| (DocumentKind::AgentCard, Canonical::AgentCard(card))),
        requests::request().prop_map(|request| {
            (
                DocumentKind::Request(request.operation()),
                Canonical::Request(request),
            )
        }),
        requests::response().prop_map(|response| {
            (
                DocumentKind::Response(response.operation()),
                Canonical::Response(response),
            )
        }),
    ]
    .boxed()
}

#[test]
fn only_allowed_losses_occur() {
    check(1_000, objects(), |(object, canonical)| {
        for &spelling in Spelling::ALL {
            let Some(text) = object.write(spelling, canonical.clone()) else {
                continue;
            };
            let Some(expected) = forget(spelling, canonical.clone()) else {
                continue;
            };
            let read = object.read(spelling, &text);
            let read = read.map_err(|problem| fail(spelling, &text, problem))?;
            let read = unforeseen(spelling, read);
            let expected = unforeseen(spelling, expected);
            prop_assert_eq!(&read, &expected, "{} {}", spelling, text);
        }
        Ok(())
    });
}

#[test]
fn written_object_is_read_and_written_the_same_again() {
    check(1_000, objects(), |(object, canonical)| {
        for &spelling in Spelling::ALL {
            let Some(text) = object.write(spelling, canonical.clone()) else {
                continue;
            };
            let read = object.read(spelling, &text);
            let read = read.map_err(|problem| fail(spelling, &text, problem))?;
            prop_assert_eq!(object.write(spelling, read), Some(text), "{}", spelling);
        }
        Ok(())
    });
}

#[test]
fn no_reader_panics_at_any_json() {
    check(400, values::json(), |value| {
        for object in all_objects() {
            read_every_way(object, &value);
        }
        Ok(())
    });
}

/// A message with one wrong place is the most likely to be half understood.
#[test]
fn no_reader_panics_at_a_spoiled_message() {
    let spoiled = (objects(), any::<prop::sample::Index>(), values::json());
    check(400, spoiled, |((object, canonical), place, other)| {
        for &spelling in Spelling::ALL {
            let Some(mut text) = object.write(spelling, canonical.clone()) else {
                continue;
            };
            let place = place.index(places(&text));
            spoil(&mut text, place, &other);
            read_every_way(object, &text);
        }
        Ok(())
    });
}

/// Reads it in every spelling and mode, and writes each result in every spelling.
fn read_every_way(object: DocumentKind, value: &Value) {
    for &spelling in Spelling::ALL {
        for mode in [Mode::Strict, Mode::Lenient] {
            let Ok(read) = object.read_as(spelling, mode, value) else {
                continue;
            };
            for &other in Spelling::ALL {
                let _ = object.write(other, read.clone());
            }
        }
    }
}

fn all_objects() -> impl Iterator<Item = DocumentKind> {
    let operations = Operation::ALL.iter().copied();
    let requests = operations.clone().map(DocumentKind::Request);
    let others = [
        DocumentKind::Message,
        DocumentKind::TaskStatus,
        DocumentKind::AgentCard,
        DocumentKind::Event,
    ];
    let responses = operations.map(DocumentKind::Response);
    others.into_iter().chain(requests).chain(responses)
}

/// Returns the number of values in a value, itself included.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(places).sum(),
        Value::Array(items) => items.iter().map(places).sum(),
        _ => 0,
    }
}

/// Puts another value in one of the places, counted from the outside in.
fn spoil(value: &mut Value, place: usize, other: &Value) {
    if place == 0 {
        value.clone_from(other);
        return;
    }
    let mut left = place - 1;
    let mut inside = |inner: &mut Value| {
        let inner_places = places(inner);
        let is_there = left < inner_places;
        if is_there {
            spoil(inner, left, other);
        } else {
            left -= inner_places;
        }
        is_there
    };
    let _ = match value {
        Value::Object(members) => members.values_mut().any(&mut inside),
        Value::Array(items) => items.iter_mut().any(&mut inside),
        _ => false,
    };
}

fn fail(spelling: Spelling, text: &Value, problem: String) -> TestCaseError {
    TestCaseError::fail(format!("{spelling} {problem} in {text}"))
}

#[test]
fn every_place_can_be_spoiled() {
    let value = serde_json::json!({"a": [1, {"b": 2}], "c": 3});
    assert_eq!(places(&value), 6);
    let mut seen = std::collections::BTreeSet::new();
    for place in 0..6 {
        let mut spoiled = value.clone();
        spoil(&mut spoiled, place, &Value::Null);
        seen.insert(spoiled.to_string());
    }
    assert_eq!(seen.len(), 6);
}
