//! `summary.md`: summary of a run for the page of a build.

use super::curl::curl;
use super::verdict::conclusion;
use crate::record::visible::{head, line, visible};
use crate::record::{CheckResult, Run, Score, Verdict};
use crate::requirement::Level;

/// Returns the run as GitHub's Markdown, short enough for `$GITHUB_STEP_SUMMARY`.
pub fn markdown(run: &Run) -> String {
    let mut text = format!("## A2A conformance of {}\n\n", plain(&run.target.title()));
    text += &format!(
        "{} · {} · seed {} · suite {} · {} · {:.1} s\n\n",
        plain(&run.target.place),
        plain(&run.settings.profile),
        run.settings.seed,
        plain(&run.suite),
        plain(&run.began),
        run.seconds,
    );
    text += &format!("**{}**\n\n", conclusion(run));
    text += &table(run);
    text += &failures(run);
    text += &list("not as advised", run.tolerated());
    let is_waived = |result: &&CheckResult| result.verdict == Verdict::Waived;
    text += &list("waived", run.checks.iter().filter(is_waived));
    let problems: Vec<_> = run
        .waivers
        .iter()
        .filter_map(|waiver| waiver.problem())
        .collect();
    if !problems.is_empty() {
        text += "\n### Waivers out of date\n\n";
    }
    for problem in problems {
        text += &format!("- {}\n", plain(&problem));
    }
    text
}

/// Escapes text so that nothing in it is markup.
pub(crate) fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in line(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // Otherwise GitHub would make a link of it, or notify a user.
            '@' => escaped.push_str("&#64;"),
            _ if MARKUP.contains(character) => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped.replace("://", "&#58;//")
}

/// Formats text as code, in a line or a cell.
pub(crate) fn code(text: &str) -> String {
    let text = line(text);
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    format!("<code>{}</code>", escape_markup(&escaped))
}

const MARKUP: &str = r"\`*_{}[]()#+|~!$";

fn escape_markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '@' => escaped.push_str("&#64;"),
            _ if MARKUP.contains(character) && character != '#' => {
                escaped.extend(['\\', character])
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

fn table(run: &Run) -> String {
    let mut text = String::from(
        "| | MUST | SHOULD | not applicable | untestable |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for column in run.scored_columns() {
        let score = |level| {
            let score = run.column_score(&column, level);
            format!("{}/{}", score.met, score.scored)
        };
        let all: Score = run.within(&column).collect();
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            plain(&column.to_string()),
            score(Level::Must),
            score(Level::Should),
            all.not_applicable,
            all.untestable,
        );
    }
    text
}

fn failures(run: &Run) -> String {
    let unmet: Vec<_> = run.unmet().collect();
    let mut text = String::new();
    for result in unmet.iter().take(SHOWN) {
        text += &failure(run, result);
    }
    if unmet.len() > SHOWN {
        text += &format!("\n… and {} more.\n", unmet.len() - SHOWN);
    }
    text
}

/// Number of checks shown in full: GitHub limits a summary to 1 MiB.
const SHOWN: usize = 50;

/// Number of mismatches shown of each.
const MISMATCHES: usize = 5;

/// Bytes of a value that are shown; of a shell command, four times as many.
const QUOTED: usize = 1000;

fn failure(run: &Run, result: &CheckResult) -> String {
    let mut text = format!(
        "\n<details><summary>{} <code>{}</code> · {} · {}: {}</summary>\n\n",
        result.verdict.sign(),
        html_only(&result.id),
        html_only(&result.column().to_string()),
        html_only(&result.title),
        html_only(&result.words()),
    );
    for id in &result.requirements {
        if let Some(rule) = run.requirement(id) {
            let (section, says) = (plain(&rule.section), plain(&rule.says));
            text += &format!("> {} §{section} — {says}\n>\n", plain(id));
            if !rule.source.is_empty() {
                text += &format!("> {}\n>\n", plain(&rule.source));
            }
        }
    }
    if !result.explanation.is_empty() {
        text += &format!("\n{}\n", plain(&result.explanation));
    }
    if let Some(reason) = &result.reason {
        text += &format!("\n{}\n", plain(reason));
    }
    if !result.mismatches.is_empty() {
        text += "\n| where | expected | found |\n| --- | --- | --- |\n";
    }
    for mismatch in result.mismatches.iter().take(MISMATCHES) {
        let [place, expected, found] = [&mismatch.place, &mismatch.expected, &mismatch.found]
            .map(|value| code(head(value, QUOTED).0));
        text += &format!("| {place} | {expected} | {found} |\n");
    }
    let shown = result
        .mismatches
        .iter()
        .find_map(|mismatch| mismatch.evidence);
    let evidence = result.evidence.get(shown.unwrap_or(0));
    if let Some(line) = evidence
        .and_then(curl)
        .filter(|line| line.len() <= QUOTED * 4)
    {
        text += &format!("\n{}\n", fenced(&line));
    }
    text + "\n</details>\n"
}

/// Formats a code block with a fence longer than any in the text.
fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}sh\n{}\n{fence}", visible(text))
}

/// Escapes text within a tag, where Markdown is not parsed.
fn html_only(text: &str) -> String {
    line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn list<'a>(words: &str, listed: impl Iterator<Item = &'a CheckResult>) -> String {
    let listed: Vec<_> = listed.collect();
    if listed.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n<details><summary>{words}: {}</summary>\n\n",
        listed.len()
    );
    for result in listed {
        let reason = result.reason.as_ref();
        let reason = reason.map(|reason| format!(" — {}", plain(reason)));
        text += &format!(
            "- {} · {} · {}{}\n",
            code(&result.id),
            plain(&result.column().to_string()),
            plain(&result.title),
            reason.unwrap_or_default()
        );
    }
    text + "\n</details>\n"
}
