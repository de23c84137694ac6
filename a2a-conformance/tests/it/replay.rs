//! Replay against our own ends, which passes; the proof replays against broken ones.

use a2a_conformance::documents::{Corpus, ExampleKind, Options, Report, replay};

#[tokio::test]
async fn everything_goes_as_documented() {
    let corpus = Corpus::embedded().unwrap();
    let outcomes = replay(&corpus, &Options::default(), |_, _| {}).await;
    let report = Report::new(&corpus, outcomes);
    let problems: Vec<_> = report
        .outcomes
        .iter()
        .flat_map(|outcome| &outcome.problems)
        .collect();
    assert!(report.passes(), "{problems:#?}");
    let tally = report.examples;
    assert_eq!(
        (tally.total, tally.accounted_for, tally.heads),
        (109, 109, 7)
    );
    assert_eq!(
        (tally.accepted, tally.refused, tally.refused_by_rule),
        (25, 81, 3)
    );
    assert_eq!(tally.usable, 107);
}

/// The printed texts equal the texts of the documents in `A2A_DOCUMENTS`, if set, byte for byte.
#[test]
fn printed_texts_are_those_of_the_documents() {
    let Ok(folder) = std::env::var("A2A_DOCUMENTS") else {
        eprintln!("A2A_DOCUMENTS is not set: the documents are not at hand");
        return;
    };
    let corpus = Corpus::embedded().unwrap();
    for example in corpus.messages() {
        let name = &example.source.document;
        let mut files = std::fs::read_dir(&folder).unwrap().flatten();
        let file = files
            .find(|file| {
                file.file_name()
                    .to_string_lossy()
                    .starts_with(name.as_str())
            })
            .unwrap();
        let document = std::fs::read_to_string(file.path()).unwrap();
        let plain = |text: &str| {
            text.lines()
                .map(str::trim_start)
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert!(
            plain(&document).contains(plain(&example.printed).trim_end()),
            "{}",
            example.id
        );
    }
}

#[test]
fn every_message_is_in_an_exchange() {
    let corpus = Corpus::embedded().unwrap();
    let steps: Vec<_> = corpus
        .exchanges
        .values()
        .flat_map(|exchange| &exchange.steps)
        .collect();
    for example in corpus
        .messages()
        .filter(|example| !matches!(example.kind, ExampleKind::Fragment | ExampleKind::Webhook))
    {
        let named = steps.iter().any(|step| {
            let one = [&step.request, &step.answer]
                .into_iter()
                .flatten()
                .any(|id| *id == example.id);
            one || step.events.contains(&example.id)
        });
        assert!(named, "{} is in no exchange", example.id);
    }
}
