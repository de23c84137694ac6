//! The command `index`: a page for several runs, and the files that it links to.

use std::fs;

use a2a_conformance::record::Run;
use a2a_conformance::report::json;
use a2a_conformance::requirement::Role;
use tempfile::TempDir;

use super::commands::{directory, files, program};
use super::page::{HOSTILE, assert_contains, between};
use super::sample;

/// An agent that offers nothing but JSON-RPC of version 1.0.
fn small_agent() -> Run {
    let mut run = sample::run();
    run.target.name = "Parrot".to_owned();
    run.target.interfaces = vec!["JSONRPC 1.0 at `http://127.0.0.1:1/`".to_owned()];
    run.checks.retain(|result| {
        let column = result.column().to_string();
        column == "1.0 JSONRPC" || column == "every version"
    });
    run
}

fn client() -> Run {
    let mut run = small_agent();
    run.target.role = Some(Role::Client);
    run.target.place = "python3 shim.py".to_owned();
    run.target.name = String::new();
    run.target.server = None;
    run.target.interfaces = Vec::new();
    run.checks.retain(|result| result.verdict.is_met());
    run
}

fn titled(name: &str) -> Run {
    let mut run = small_agent();
    name.clone_into(&mut run.target.name);
    run.target.version = String::new();
    run
}

/// Runs the command with these runs and returns its directory, after it has succeeded.
#[track_caller]
fn indexed(runs: &[&Run]) -> TempDir {
    let names: Vec<_> = (0..runs.len())
        .map(|number| format!("{number}.json"))
        .collect();
    let named = names.iter().map(String::as_str).zip(runs.iter().copied());
    let directory = directory(&named.collect::<Vec<_>>());
    let mut arguments = vec!["index", "-o", "site"];
    arguments.extend(names.iter().map(String::as_str));
    let (code, out, error) = program(&directory, &arguments);
    assert_eq!(code, Some(0), "{error}");
    let path = format!("site{}index.html", std::path::MAIN_SEPARATOR);
    assert_eq!(out, format!("{path}\n"));
    directory
}

fn page(directory: &TempDir) -> String {
    fs::read_to_string(directory.path().join("site/index.html")).unwrap()
}

/// Returns the text of an element, without markup and line breaks.
fn text(markup: &str) -> String {
    let parts = markup.split('<');
    let texts: String = parts
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
        .collect();
    texts.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the texts of the row with that title: the rest of its heading, the scores, and the facts about the run.
fn row(page: &str, title: &str) -> Vec<String> {
    let row = between(page, &format!("<bdi>{title}</bdi></a>"), "</tr>");
    row.split("<td")
        .map(|cell| text(&format!("<td{cell}")))
        .collect()
}

#[test]
fn index_shows_agents_and_clients_with_their_scores() {
    let directory = indexed(&[&sample::run(), &small_agent(), &client()]);
    let page = page(&directory);
    let agents = between(&page, "<h2>Agents</h2>", "</section>");
    let heads = text(between(agents, "<thead>", "</thead>"));
    assert_eq!(
        heads,
        "Agent 1.0 0.3 0.2 All Run JSON-RPC HTTP+JSON JSON-RPC HTTP+JSON JSON-RPC versions"
    );
    let large = row(agents, "Recipe Agent 2.1.0");
    assert_contains(&large[0], "✗ 7 checks are not met.");
    assert_eq!(
        large[1],
        "✗ 19/21 MUST 1/4 SHOULD required checks are not met, or could not be made"
    );
    assert_contains(&large[7], "Server uvicorn");
    assert_contains(&large[7], "When 21 November 2026, 18:04 UTC");
    assert_contains(&large[7], "Suite 0.1.0");
    let small = row(agents, "Parrot 2.1.0");
    assert_eq!(small[1], large[1]);
    for cell in &small[2..6] {
        assert_eq!(cell, "–not offered");
    }
    assert!(!agents.contains("shim.py"), "{agents}");

    let clients = between(&page, "<h2>Clients</h2>", "</section>");
    let client = row(clients, "python3 shim.py");
    assert_contains(&client[0], "✓ Everything that is required is met.");
    assert_eq!(client[1], "✓ 19/19 MUST 1/1 SHOULD all met");
    assert_contains(&client[3], "Data python3-shim-py.json");
}

#[test]
fn interface_left_out_by_a_filter_is_not_tested() {
    let mut run = small_agent();
    run.target.interfaces = sample::run()
        .target
        .interfaces
        .into_iter()
        .filter(|interface| interface.starts_with("JSONRPC"))
        .collect();
    let page = page(&indexed(&[&sample::run(), &run]));
    let cells = row(&page, "Parrot 2.1.0");
    let expected = ["–not offered", "–not tested", "–not offered", "–not tested"];
    assert_eq!(cells[2..6], expected);
}

#[test]
fn links_of_the_index_lead_to_written_files() {
    let directory = indexed(&[&sample::run(), &small_agent(), &client()]);
    let page = page(&directory);
    let mut linked: Vec<_> = page
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    linked.push("index.html".to_owned());
    linked.sort();
    linked.dedup();
    let written = files(&directory.path().join("site"));
    assert_eq!(linked, written);
    assert_eq!(written.len(), 7);
}

#[test]
fn pages_and_copies_are_the_reports_of_the_runs() {
    let directory = indexed(&[&sample::run(), &client()]);
    let (code, _, _) = program(&directory, &["report", "0.json", "--report", "html"]);
    assert_eq!(code, Some(1));
    let text = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(text("site/recipe-agent-2-1-0.html") == text("report.html"));
    assert_eq!(text("site/python3-shim-py.json"), json(&client()));
}

#[test]
fn index_needs_nothing_else_and_runs_no_script() {
    let page = page(&indexed(&[&sample::run()]));
    for fetches in [
        "<script", "<link", "src=", "@import", "url(", "<iframe", "<img",
    ] {
        assert!(!page.contains(fetches), "{fetches}");
    }
    assert_contains(
        &page,
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    );
}

#[test]
fn text_of_targets_in_the_index_is_escaped() {
    let mut run = titled(HOSTILE);
    run.target.place = HOSTILE.to_owned();
    run.target.server = Some(HOSTILE.to_owned());
    run.suite = HOSTILE.to_owned();
    run.began = HOSTILE.to_owned();
    for result in &mut run.checks {
        result.protocol_version = Some(HOSTILE.to_owned());
    }
    let directory = directory(&[("run.json", &run)]);
    let arguments = [
        "index",
        "run.json",
        "-o",
        "site",
        "--title",
        "<b>Nightly</b>",
    ];
    let (code, _, error) = program(&directory, &arguments);
    assert_eq!(code, Some(0), "{error}");
    let page = page(&directory);
    for acts in [
        "<script",
        "<img",
        "<b>Nightly",
        "\u{202e}",
        "\u{0}",
        "\u{1b}",
    ] {
        assert!(!page.contains(acts), "{acts:?}");
    }
    assert_contains(&page, "<bdi>&#60;b&#62;Nightly&#60;/b&#62;</bdi>");
    assert_contains(
        &page,
        "&#60;img src=x onerror=alert(1)&#62;&#34;&#39;`{{7*7}}&#38;amp;\\u{202e}evil\\u{0}\\u{1b}[31m",
    );
}

#[test]
fn runs_with_one_title_get_different_files() {
    let other_case = titled("PARROT ");
    let taken = titled("Parrot 2");
    let runs = [&titled("Parrot"), &titled("Parrot"), &taken, &other_case];
    let written = files(&indexed(&runs).path().join("site"));
    let names = ["parrot", "parrot-2", "parrot-2-2", "parrot-3"];
    let mut expected = vec!["index.html".to_owned()];
    expected.extend(names.iter().map(|name| format!("{name}.html")));
    expected.extend(names.iter().map(|name| format!("{name}.json")));
    expected.sort();
    assert_eq!(written, expected);
}

#[test]
fn no_title_makes_a_file_elsewhere_or_in_place_of_the_index() {
    let long = "x".repeat(5000);
    let runs = ["index", "../../secret", "鸚鵡", "/", &long].map(titled);
    let directory = indexed(&runs.each_ref());
    assert_contains(&page(&directory), "<h2>Agents</h2>");
    let written = files(&directory.path().join("site"));
    let pages: Vec<_> = written
        .iter()
        .filter_map(|file| file.strip_suffix(".html"))
        .collect();
    let cut = "x".repeat(64);
    assert_eq!(pages, ["index-2", "index", "run-2", "run", "secret", &cut]);
}

#[test]
fn directories_are_read_and_a_missing_report_is_an_error() {
    let directory = directory(&[("run.json", &small_agent())]);
    let path = directory.path();
    fs::create_dir_all(path.join("runs/parrot")).unwrap();
    fs::create_dir_all(path.join("runs/empty")).unwrap();
    fs::write(path.join("runs/parrot/report.json"), json(&small_agent())).unwrap();
    let (code, _, error) = program(&directory, &["index", "runs/parrot", "-o", "site"]);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(files(&path.join("site")).len(), 3);

    for (missing, problem) in [
        ("runs/none.json", "runs/none.json: cannot be read: "),
        (
            "runs/empty",
            "runs/empty: there is no report.json in this directory: ",
        ),
    ] {
        let (code, out, error) = program(&directory, &["index", "run.json", missing, "-o", "new"]);
        let (expected, _, _) = program(&directory, &["report", "runs/none.json"]);
        assert_eq!((code, &*out), (expected, ""));
        assert_contains(&error, problem);
        assert!(!path.join("new").exists(), "nothing is written");
    }
    fs::write(path.join("other.json"), "{}").unwrap();
    let (code, _, error) = program(&directory, &["index", "other.json", "-o", "new"]);
    assert_eq!(code, Some(2));
    assert_contains(&error, "other.json: no report of this suite");
}

#[test]
fn index_that_cannot_be_written_is_an_error() {
    let directory = directory(&[("run.json", &small_agent())]);
    let (code, _, error) = program(&directory, &["index", "run.json", "-o", "run.json"]);
    assert_eq!(code, Some(2));
    assert_contains(&error, "run.json: reports cannot be written there: ");
    fs::create_dir_all(directory.path().join("site/index.html")).unwrap();
    let (code, out, error) = program(&directory, &["index", "run.json", "-o", "site"]);
    assert_eq!((code, &*out), (Some(4), ""));
    assert_contains(&error, "index.html: cannot be written: ");
}
