//! Replay against our own ends, which passes, and against broken ones, which fails.

use futures_util::stream::{self, StreamExt};

use a2a_conformance::documents::{
    Corpus, ExampleKind, Fault, Options, ReplayResult, Report, Side, replay,
};

async fn outcomes(fault: Option<Fault>) -> Vec<ReplayResult> {
    let corpus = Corpus::embedded().unwrap();
    replay(&corpus, &Options { only: None, fault }, |_, _| {}).await
}

#[tokio::test]
async fn everything_goes_as_documented() {
    let corpus = Corpus::embedded().unwrap();
    let report = Report::new(&corpus, outcomes(None).await);
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

/// One fault in this many is tested on every run, and each with `A2A_EXHAUSTIVE=1`.
const ONE_OF: usize = 3;

/// Each fault is caught, and the complaint names an example and the path or header.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_noticed() {
    let agents = Fault::ALL
        .iter()
        .filter(|fault| fault.side() == Side::Agent);
    assert!(agents.count() >= 10);
    // Most of a replay with a fault is waiting for what does not come: some wait together.
    let step = if std::env::var_os("A2A_EXHAUSTIVE").is_some() {
        1
    } else {
        ONE_OF
    };
    let noticed = Fault::ALL
        .iter()
        .step_by(step)
        .map(|&fault| async move { (fault, notice(fault).await) });
    let mut noticed = stream::iter(noticed).buffered(4);
    while let Some((fault, problems)) = noticed.next().await {
        assert!(
            problems.iter().any(|problem| is_named(problem)),
            "{}: no complaint names the example and the path: {problems:#?}",
            fault.name()
        );
    }
}

/// Returns the problems found for a fault: with one document if that shows it, else with all.
async fn notice(fault: Fault) -> Vec<String> {
    let mut problems = Vec::new();
    for only in [Some("001"), Some("000"), None] {
        let options = Options {
            only: only.map(str::to_owned),
            fault: Some(fault),
        };
        let outcomes = replay(&Corpus::embedded().unwrap(), &options, |_, _| {}).await;
        problems = outcomes
            .into_iter()
            .flat_map(|outcome| outcome.problems)
            .collect();
        if problems.iter().any(|problem| is_named(problem)) {
            break;
        }
    }
    problems
}

/// Returns whether a problem names an example, and the path or header.
fn is_named(problem: &str) -> bool {
    let example = problem.split(':').next().unwrap_or_default();
    let names_example = example.len() == 6 && example.as_bytes()[3] == b'-';
    names_example && (problem.contains(": $") || problem.contains(": content-type"))
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
