//! The HTML page: it is complete and self-contained, and texts of the target cannot take it over.

use std::path::Path;

use a2a_conformance::record::Redaction;
use a2a_conformance::record::{HttpMessage, Run, Verdict};
use a2a_conformance::report::Form;
use a2a_conformance::requirement::Role;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use super::golden;
use super::sample::{self, push};

/// The page of a run; a copy of it is left for people to look at.
fn page(run: &Run, name: &str) -> String {
    let page = Form::Html.text(run).unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    std::fs::write(file, &page).unwrap();
    page
}

#[track_caller]
pub(super) fn assert_contains(page: &str, expected: &str) {
    assert!(page.contains(expected), "the page does not say {expected}");
}

/// Returns the text between the first `begin` and the next `end`.
pub(super) fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = page
        .split_once(begin)
        .unwrap_or_else(|| panic!("no {begin}"));
    rest.split_once(end)
        .unwrap_or_else(|| panic!("no {end} after {begin}"))
        .0
}

/// The row of a check.
fn row<'a>(page: &'a str, id: &str) -> &'a str {
    between(page, &format!("id=\"{id}\""), "<details class=\"row")
}

#[test]
fn page_shows_target_settings_and_scores() {
    let page = page(&golden::run(), "report");
    assert_contains(&page, "<bdi>Recipe Agent 2.1.0</bdi>");
    assert_contains(&page, "21 November 2026, 18:04 UTC");
    assert_contains(&page, "<dt>Seed</dt><dd><bdi>20261121</bdi></dd>");
    assert_contains(
        &page,
        "<p>6 checks are not met. Of what is only advised, 4 checks are not met. In 1 check the suite itself did not work.</p>",
    );
    assert_contains(&page, "the waiver of rpc.* waives nothing");
    assert_contains(&page, "<h2>1.0 <small>HTTP+JSON</small></h2>");
    assert_contains(&page, "<b>18</b>/21 <abbr>MUST</abbr>");
    for choice in ["verdict", "level", "version", "binding"] {
        assert_contains(&page, &format!("<select name=\"{choice}\">"));
    }
}

#[test]
fn failed_check_is_open_and_explained() {
    let page = page(&golden::run(), "report");
    let row_text = row(&page, "send.ended-task-refused");
    assert!(row_text.starts_with(" open>"), "{row_text}");
    for expected in [
        "is answered with UnsupportedOperation.",
        "A2A10-3.1.1-M2 · section 3.1.1 · MUST",
        "readers of its end rely on it",
        "step 2: $.error.code",
        "-32004 (UnsupportedOperation)",
        "no error: a result with a task in TASK_STATE_WORKING",
        "<h4>We sent</h4>",
        "<h4>It answered</h4>",
        "<mark>        &#34;state&#34;: &#34;TASK_STATE_WORKING&#34;,</mark>",
        "authorization:</span> Bearer ***",
        "curl -sSi http://127.0.0.1:9900/rpc",
        "waived until 2999-12-31",
    ] {
        assert_contains(row_text, expected);
    }
    let stream = row(&page, "stream.two-subscribers-same-order");
    assert_contains(stream, "event 3, after 1204 ms");
    assert_eq!(stream.matches("<mark>").count(), 1, "{stream}");
    assert_contains(between(stream, "<mark>", "</mark>"), "TASK_STATE_COMPLETED");
    let met = row(&page, "rpc.parse-error");
    assert!(met.starts_with(">"), "{met}");
}

#[test]
fn client_requests_are_marked() {
    let mut run = golden::run();
    run.target.role = Some(Role::Client);
    for result in &mut run.checks {
        for mismatch in &mut result.mismatches {
            mismatch.place = "step 2: $.params.message.role".to_owned();
        }
    }
    let page = page(&run, "client");
    let row_text = row(&page, "send.ended-task-refused");
    assert_contains(row_text, "<h4>It sent</h4>");
    assert_contains(row_text, "<h4>We answered</h4>");
    assert_contains(between(row_text, "<mark>", "</mark>"), "ROLE_USER");
}

#[test]
fn the_page_needs_nothing_else() {
    let page = page(&golden::run(), "report");
    for fetches in [
        "<link", "src=", "@import", "url(", "<iframe", "<img", "fetch(",
    ] {
        assert!(!page.contains(fetches), "{fetches}");
    }
    let style = "default-src 'none'; style-src 'unsafe-inline'; script-src &#39;sha256-";
    assert_contains(&page, style);
    assert_eq!(page.matches("<script").count(), 1);
    let script = between(&page, "<script>", "</script>");
    let hash = BASE64_STANDARD.encode(Sha256::digest(script));
    assert_contains(&page, &format!("&#39;sha256-{}&#39;", hash));
}

/// Text of a target that tries to take over the page, or to look like something else.
pub(super) const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`{{7*7}}&amp;\u{202e}evil\u{0}\u{1b}[31m";

#[test]
fn target_text_is_escaped() {
    let mut run = golden::run();
    let target = &mut run.target;
    for text in [&mut target.place, &mut target.name, &mut target.version] {
        *text = HOSTILE.to_owned();
    }
    target.server = Some(HOSTILE.to_owned());
    target.interfaces = vec![HOSTILE.to_owned()];
    run.began = HOSTILE.to_owned();
    for result in &mut run.checks {
        result.title = HOSTILE.to_owned();
        result.reason = Some(HOSTILE.to_owned());
        result.explanation = HOSTILE.to_owned();
        result.protocol_version = Some(HOSTILE.to_owned());
        result.binding = Some(HOSTILE.to_owned());
        for mismatch in &mut result.mismatches {
            (mismatch.expected, mismatch.found) = (HOSTILE.to_owned(), HOSTILE.to_owned());
            mismatch.place += HOSTILE;
        }
        for evidence in &mut result.evidence {
            evidence.failure = Some(HOSTILE.to_owned());
            let halves = [&mut evidence.request]
                .into_iter()
                .chain(&mut evidence.response);
            for HttpMessage {
                start,
                headers,
                body,
                events,
                ..
            } in halves
            {
                start.push_str(HOSTILE);
                headers.push((HOSTILE.to_owned(), HOSTILE.to_owned()));
                *body = HOSTILE.to_owned();
                events.push((1, serde_json::json!({ HOSTILE: HOSTILE }).to_string()));
            }
        }
    }
    run.requirements[0].says = HOSTILE.to_owned();
    let page = page(&run, "hostile");
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    for acts in ["<img", "\u{202e}", "\u{0}", "\u{1b}"] {
        let places: Vec<_> = page.match_indices(acts).map(|(at, _)| at).collect();
        assert_eq!(places, [0; 0], "{acts:?}");
    }
    assert_contains(
        &page,
        "&#60;img src=x onerror=alert(1)&#62;&#34;&#39;`{{7*7}}&#38;amp;\\u{202e}evil\\u{0}\\u{1b}[31m",
    );
}

#[test]
fn long_values_are_cut() {
    let mut run = golden::run();
    let huge = "x".repeat(1024 * 1024);
    let mut checks = std::mem::take(&mut run.checks);
    let failed = checks
        .iter()
        .position(|result| result.verdict == Verdict::Fail)
        .unwrap();
    let mut result = checks.swap_remove(failed);
    let id = result.id.clone();
    for evidence in &mut result.evidence {
        let halves = [&mut evidence.request]
            .into_iter()
            .chain(&mut evidence.response);
        halves.for_each(|half| half.body.clone_from(&huge));
    }
    result.mismatches[0].found.clone_from(&huge);
    push(&mut run, result, &Redaction::default());
    let page = page(&run, "long");
    assert!(page.len() < 512 * 1024, "{} bytes", page.len());
    assert_contains(row_of_last(&page, &id), "1044480 more bytes are not shown");
}

fn row_of_last<'a>(page: &'a str, id: &str) -> &'a str {
    between(page, &format!("id=\"{id}\""), "</section>")
}

#[test]
fn a_run_of_nothing_is_a_page() {
    assert_contains(&page(&sample::empty(), "empty"), "Nothing was checked.");
}
