//! The golden matrix: the same document in every version, the round trip between every two
//! versions, and the list of losses.
//!
//! `data/*.yaml` are the documents, each in up to five spellings; `losses.yaml` is the list. A
//! loss that is not listed fails, and so does an entry that no document needs.

mod conversions;
mod difference;
mod document;
mod document_kind;
mod loss;
mod properties;
mod schema;
mod spelling;

use std::collections::BTreeSet;
use std::path::Path;

use crate::golden::conversions::ConversionReport;
use crate::golden::document::Document;
use crate::golden::loss::Losses;
use crate::golden::schema::Schemas;
use crate::golden::spelling::Spelling;

/// Fails with all that went wrong, one a line.
#[track_caller]
fn check(failures: Vec<String>) {
    let count = failures.len();
    assert!(failures.is_empty(), "{count}:\n{}", failures.join("\n"));
}

#[test]
fn every_document_is_spelled_or_says_why_not() {
    let mut failures = Vec::new();
    for document in Document::all() {
        for &spelling in Spelling::ALL {
            let (spelled, excused) = (
                document.spellings.contains_key(&spelling),
                document.cannot.contains_key(&spelling),
            );
            if spelled == excused {
                failures.push(format!(
                    "{document}: {spelling} needs a spelling or a reason"
                ));
            }
        }
        if document.about.is_empty() || !document.about.contains('§') {
            failures.push(format!("{document}: `about` cites no section"));
        }
    }
    check(failures);
}

#[test]
fn every_spelling_is_read_and_written() {
    let mut report = ConversionReport::new();
    for document in Document::all() {
        report.read_and_write(&document);
    }
    check(report.failures);
}

#[test]
fn every_document_round_trips_through_every_spelling() {
    let mut report = ConversionReport::new();
    for document in Document::all() {
        report.round_trips(&document);
    }
    assert!(
        report.round_trips > 1_000,
        "only {} round trips",
        report.round_trips
    );
    check(report.failures);
}

#[test]
fn every_loss_is_needed() {
    let mut report = ConversionReport::new();
    for document in Document::all() {
        report.read_and_write(&document);
        report.round_trips(&document);
    }
    check(report.unused());
}

#[test]
fn every_row_of_the_list_is_shown_or_tested_elsewhere() {
    let documents = Document::all();
    let names: BTreeSet<&str> = documents.iter().map(|document| &*document.name).collect();
    let mut failures = Vec::new();
    for row in &Losses::load().rows {
        if row.shown.is_empty() == row.elsewhere.is_none() {
            failures.push(format!(
                "{}: either a document shows it or something else tests it",
                row.row
            ));
        }
        if let Some(elsewhere) = &row.elsewhere {
            let file = elsewhere.split(':').next().unwrap_or_default();
            let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            if !workspace.join(file).is_file() {
                failures.push(format!("{}: no file `{file}`", row.row));
            }
        }
        let unknown = row
            .documents()
            .filter(|name| !names.contains(name.as_str()));
        failures.extend(unknown.map(|name| format!("{}: no document `{name}`", row.row)));
    }
    check(failures);
}

#[test]
fn every_document_fits_our_schemas() {
    check(Schemas::ours().judge());
}

/// The official schemas are not ours to copy: where they are not at hand, they are not looked at.
#[test]
fn every_document_fits_the_official_schemas() {
    check(Schemas::official().judge());
}
