//! Escaping of the target's texts on a terminal, in XML, and in Markdown.

use a2a_conformance::record::{Run, Verdict};
use a2a_conformance::report::{Form, print};

use super::sample;

const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\r\u{202e}x\u{0}]]></failure>&<b> | `a` [x](http://evil) @all\n# head\n```\n";

fn run() -> Run {
    let mut run = sample::run();
    run.target.name = HOSTILE.to_owned();
    for result in &mut run.checks {
        result.title = HOSTILE.to_owned();
        result.reason = result.reason.as_ref().map(|_| HOSTILE.to_owned());
        for mismatch in &mut result.mismatches {
            (mismatch.expected, mismatch.found) = (HOSTILE.to_owned(), HOSTILE.to_owned());
        }
        for evidence in &mut result.evidence {
            evidence.request.start = format!("POST http://h/{HOSTILE}");
            evidence.request.body = HOSTILE.to_owned();
            evidence.failure = Some(HOSTILE.to_owned());
        }
    }
    run
}

/// Checks that nothing in a text changes what is around it.
#[track_caller]
fn is_visible(text: &str) {
    let acts =
        |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
    let found = text.find(acts).map(|at| &text[..=at]);
    assert_eq!(found, None);
}

#[test]
fn a_terminal_is_left_alone() {
    let mut out = Vec::new();
    print(&run(), &mut anstream::StripStream::new(&mut out)).unwrap();
    let text = String::from_utf8(out).unwrap();
    is_visible(&text);
    assert!(!text.contains("\n# head"), "{text}");
    // Colors are our own.
    let mut out = Vec::new();
    print(&run(), &mut out).unwrap();
    assert!(!String::from_utf8(out).unwrap().contains("\u{1b}[2J"));
}

#[test]
fn xml_stays_well_formed() {
    let text = Form::Junit.text(&run()).unwrap();
    is_visible(&text);
    let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let failed = sample::run()
        .unmet()
        .filter(|result| result.verdict != Verdict::HarnessError)
        .count();
    assert_eq!(
        report
            .test_suites
            .iter()
            .map(|suite| suite.failures)
            .sum::<usize>(),
        failed
    );
    assert_eq!(
        report
            .test_suites
            .iter()
            .map(|suite| suite.errors)
            .sum::<usize>(),
        1
    );
    assert_eq!(report.test_suites.len(), 6);
}

#[test]
fn markdown_is_not_taken_over() {
    let text = Form::Md.text(&run()).unwrap();
    is_visible(&text);
    // The line of a summary is HTML up to its end.
    let (summaries, text): (Vec<_>, Vec<_>) =
        text.lines().partition(|line| line.starts_with("<details>"));
    assert!(
        summaries
            .iter()
            .all(|line| line.matches("<summary>").count() == 1 && !line.contains("<b>"))
    );
    let text = text.join("\n");
    for markup in ["\n# head", "<b>", "[x](", "@all", "</failure>"] {
        let inside_code = |at: usize| {
            text[..at].matches("````sh").count() > text[..at].matches("\n````\n").count()
        };
        let outside: Vec<_> = text
            .match_indices(markup)
            .filter(|(at, _)| !inside_code(*at))
            .map(|(at, _)| &text[at.saturating_sub(20)..at + markup.len()])
            .collect();
        assert_eq!(outside, [""; 0], "{markup:?}");
    }
    for row in text.lines().filter(|row| row.starts_with("| <code>")) {
        let cells = row.replace("\\|", "").matches('|').count();
        assert_eq!(cells, 4, "{row}");
    }
}
