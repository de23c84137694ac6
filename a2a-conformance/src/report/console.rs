//! Console output of a run: progress, then the scores, a list of the failed checks, and each in full.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use unicode_width::UnicodeWidthStr;

use super::curl::curl;
use super::verdict::conclusion;
use crate::record::visible::{head, line, visible};
use crate::record::{CheckResult, Column, Run, Score, Verdict};
use crate::requirement::Level;

/// Progress bar of a run on standard error; hidden if that is not a terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// Creates a progress bar at zero.
    pub fn new() -> Self {
        Self::on(ProgressDrawTarget::stderr())
    }

    fn on(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), target);
        bar.set_style(style("{spinner} {elapsed}"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Sets the number of checks.
    pub fn of(&self, checks: usize) {
        let checks = checks as u64;
        if self.0.length() != Some(checks) {
            self.0
                .set_style(style("{bar:30} {pos} of {len}  {elapsed}  {wide_msg}"));
            self.0.set_length(checks);
        }
    }

    /// Sets the number of finished checks and of all.
    pub fn at(&self, done: usize, of: usize) {
        self.of(of);
        self.0.set_position(done as u64);
    }

    /// Counts a finished check, and prints it at once if it failed.
    pub fn done(&self, result: &CheckResult) {
        let CheckResult { id, verdict, .. } = result;
        if !verdict.is_met() && verdict.severity() > 1 {
            let (sign, place) = (verdict.sign(), result.column().to_string());
            let text = format!("{sign} {}  {}  {}", line(id), line(&place), result.words());
            self.0.println(text);
        }
        self.0.set_message(line(id).into_owned());
        self.0.inc(1);
    }

    /// Removes the progress bar.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

fn style(template: &str) -> ProgressStyle {
    // A test covers the templates, so they parse.
    let style = ProgressStyle::with_template(template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸─")
}

/// Prints the scores, then each failed check with all details.
pub fn print(run: &Run, out: &mut impl Write) -> io::Result<()> {
    let target = &run.target;
    write!(out, "{BOLD}{}{BOLD:#}", line(&target.title()))?;
    if target.title() != target.place {
        write!(out, " at {}", line(&target.place))?;
    }
    let settings = &run.settings;
    write!(out, "\n{DIM}{}", line(&settings.profile))?;
    if settings.seed > 0 {
        write!(out, ", seed {}", settings.seed)?;
    }
    if settings.repeat > 1 {
        write!(out, ", each check {} times", settings.repeat)?;
    }
    writeln!(out, ", {:.1} s{DIM:#}\n", run.seconds)?;
    scores(run, out)?;
    summary(run, out)?;
    all_unmet(run, out)?;
    brief(run.tolerated(), out)?;
    let is_waived = |result: &&CheckResult| result.verdict == Verdict::Waived;
    brief(run.checks.iter().filter(is_waived), out)?;
    let problems: Vec<_> = run
        .waivers
        .iter()
        .filter_map(|waiver| waiver.problem())
        .collect();
    if !problems.is_empty() {
        writeln!(out)?;
    }
    for problem in problems {
        writeln!(out, "{BAD}✗{BAD:#} {}", line(&problem))?;
    }
    let style = if run.exit_code() == 0 { GOOD } else { BAD };
    writeln!(out, "\n{style}{}{style:#}", conclusion(run))?;
    match run.unmet().next() {
        Some(first) => {
            let id = line(&first.id);
            writeln!(
                out,
                "{DIM}a2a-conformance explain {id}   explains the check{DIM:#}"
            )?;
            if settings.profile == "instrumented" {
                writeln!(
                    out,
                    "{DIM}a2a-conformance explain contract   what the agent has to do for these checks; --black-box tests an agent that does not do this{DIM:#}"
                )?;
            }
            Ok(())
        }
        None => Ok(()),
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const ADVICE: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Bytes of a value that are shown.
const SHOWN: usize = 600;

/// Number of checks shown in full.
const TOLD: usize = 25;

/// Number of rules shown of each.
const RULES: usize = 3;

/// Number of mismatches shown of each.
const MISMATCHES: usize = 4;

fn scores(run: &Run, out: &mut impl Write) -> io::Result<()> {
    let columns = run.scored_columns();
    let name = |column: &Column| line(&column.to_string()).into_owned();
    let width = columns
        .iter()
        .map(|column| name(column).width())
        .max()
        .unwrap_or_default();
    for column in &columns {
        let name = name(column);
        let score = |level| run.column_score(column, level);
        let (must, should) = (score(Level::Must), score(Level::Should));
        let all: Score = run.within(column).collect();
        let cell = |score: Score| format!("{}/{}", score.met, score.scored);
        let style = |score: Score, bad| if score.met == score.scored { GOOD } else { bad };
        let (good, fair) = (style(must, BAD), style(should, ADVICE));
        let pad = width - name.width();
        write!(out, "{BOLD}{name}{BOLD:#}{:pad$}", "")?;
        write!(out, "   {good}{:>7} MUST{good:#}", cell(must))?;
        write!(out, "   {fair}{:>7} SHOULD{fair:#}", cell(should))?;
        write!(
            out,
            "   {DIM}{:>3} not applicable{DIM:#}",
            all.not_applicable
        )?;
        let style = if all.untestable == 0 { DIM } else { BAD };
        writeln!(out, "   {style}{:>3} untestable{style:#}", all.untestable)?;
    }
    Ok(())
}

/// Prints each failed check in a line, if there are several.
fn summary(run: &Run, out: &mut impl Write) -> io::Result<()> {
    let groups = by_id(run.unmet());
    if groups.len() < 2 {
        return Ok(());
    }
    writeln!(out)?;
    for group in &groups {
        let Some(first) = group.first() else { continue };
        let (sign, places) = (first.verdict.sign(), places(group));
        write!(out, "{BAD}{sign} {}{BAD:#}", line(&first.id))?;
        writeln!(
            out,
            "  {DIM}{}{DIM:#}  {}",
            line(&places),
            line(&first.title)
        )?;
    }
    Ok(())
}

fn places(group: &[&CheckResult]) -> String {
    let places = group.iter().map(|result| result.column().to_string());
    places.collect::<Vec<_>>().join(", ")
}

/// Prints each failed check in full for the first column, and in a line for every other.
fn all_unmet(run: &Run, out: &mut impl Write) -> io::Result<()> {
    let groups = by_id(run.unmet());
    for group in groups.iter().take(TOLD) {
        let mut results = group.iter();
        if let Some(first) = results.next() {
            unmet(run, first, out)?;
        }
        for result in results {
            let place = result.column().to_string();
            write!(out, "  {BAD}{}{BAD:#} also ", result.verdict.sign())?;
            write!(out, "{}  {DIM}{}{DIM:#}", line(&place), result.words())?;
            ended_by(result, out)?;
        }
    }
    match groups.len().saturating_sub(TOLD) {
        0 => Ok(()),
        more => writeln!(out, "\n… and {more} more: --report html shows all of them"),
    }
}

fn unmet(run: &Run, result: &CheckResult, out: &mut impl Write) -> io::Result<()> {
    let level = result.level.keyword();
    let sign = result.verdict.sign();
    write!(out, "\n{BAD}{sign} {}{BAD:#}", line(&result.id))?;
    writeln!(
        out,
        "  {DIM}{} · {level} · {}{DIM:#}",
        line(&result.column().to_string()),
        result.words()
    )?;
    writeln!(out, "  {BOLD}{}{BOLD:#}", line(&result.title))?;
    for id in result.requirements.iter().take(RULES) {
        match run.requirement(id) {
            Some(rule) => {
                let (section, says) = (line(&rule.section), line(&rule.says));
                writeln!(out, "  {DIM}{} §{section}{DIM:#} {says}", line(id))?;
                if !rule.source.is_empty() {
                    writeln!(out, "  {DIM}{}{DIM:#}", line(&rule.source))?;
                }
            }
            None => writeln!(out, "  {DIM}{}{DIM:#}", line(id))?,
        }
    }
    match result.requirements.len().saturating_sub(RULES) {
        0 => {}
        more => writeln!(out, "  {DIM}and {more} more rules{DIM:#}")?,
    }
    if let Some(reason) = &result.reason {
        writeln!(out, "  {}", line(reason))?;
    }
    let mismatches = result.distinct_mismatches();
    for (mismatch, times) in mismatches.iter().take(MISMATCHES) {
        let place = line(&mismatch.place);
        match times {
            1 => writeln!(out, "    {DIM}at{DIM:#}        {place}")?,
            _ => writeln!(
                out,
                "    {DIM}at{DIM:#}        {place} {DIM}({times} times){DIM:#}"
            )?,
        }
        writeln!(
            out,
            "    {DIM}expected{DIM:#}  {GOOD}{}{GOOD:#}",
            short(&mismatch.expected)
        )?;
        writeln!(
            out,
            "    {DIM}found{DIM:#}     {BAD}{}{BAD:#}",
            short(&mismatch.found)
        )?;
    }
    match mismatches.len().saturating_sub(MISMATCHES) {
        0 => {}
        more => writeln!(out, "    {DIM}and {more} places more{DIM:#}")?,
    }
    let shown = result
        .mismatches
        .iter()
        .find_map(|mismatch| mismatch.evidence);
    let evidence = result.evidence.get(shown.unwrap_or(0));
    if let Some(failure) = evidence.and_then(|evidence| evidence.failure.as_ref()) {
        writeln!(out, "    {}", line(failure))?;
    }
    match evidence.and_then(curl) {
        Some(line) if line.len() <= SHOWN * 4 => {
            writeln!(out, "    {DIM}{}{DIM:#}", visible(&line))
        }
        _ => Ok(()),
    }
}

fn short(text: &str) -> String {
    match head(text, SHOWN) {
        (head, 0) => line(head).into_owned(),
        (head, left_out) => format!("{}… ({left_out} more bytes)", line(head)),
    }
}

/// Prints each check in a line, with all its columns.
fn brief<'a>(
    listed: impl Iterator<Item = &'a CheckResult>,
    out: &mut impl Write,
) -> io::Result<()> {
    for (number, group) in by_id(listed).into_iter().enumerate() {
        let Some(first) = group.first() else { continue };
        if number == 0 {
            writeln!(out)?;
        }
        let (sign, place) = (first.verdict.sign(), places(&group));
        write!(out, "{ADVICE}{sign} {}{ADVICE:#}", line(&first.id))?;
        write!(
            out,
            "  {DIM}{}{DIM:#}  {}",
            line(&place),
            line(&first.title)
        )?;
        ended_by(first, out)?;
    }
    Ok(())
}

fn by_id<'a>(results: impl Iterator<Item = &'a CheckResult>) -> Vec<Vec<&'a CheckResult>> {
    let mut groups: Vec<Vec<&CheckResult>> = Vec::new();
    for result in results {
        let same = |group: &&mut Vec<&CheckResult>| group.iter().any(|one| one.id == result.id);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(result),
            None => groups.push(vec![result]),
        }
    }
    groups
}

/// Prints the reason to the end of the line.
fn ended_by(result: &CheckResult, out: &mut impl Write) -> io::Result<()> {
    let reason = result.reason.as_deref();
    let first = result.mismatches.first().map(|mismatch| {
        let (expected, found) = (short(&mismatch.expected), short(&mismatch.found));
        format!("expected {expected}, found {found}")
    });
    match reason.map(|reason| line(reason).into_owned()).or(first) {
        Some(why) => writeln!(out, ": {why}"),
        None => writeln!(out),
    }
}

#[cfg(test)]
mod tests {
    use std::io::IsTerminal;

    use indicatif::InMemoryTerm;

    use super::*;

    fn result(id: &str, verdict: Verdict) -> CheckResult {
        CheckResult {
            id: id.to_owned(),
            title: String::new(),
            level: Level::Must,
            protocol_version: Some("1.0".to_owned()),
            binding: None,
            requirements: Vec::new(),
            explanation: String::new(),
            verdict,
            reason: None,
            mismatches: Vec::new(),
            evidence: Vec::new(),
            seconds: 0.0,
            unmet: None,
            same_cause_as: None,
            without_waiver: None,
        }
    }

    #[test]
    fn progress_prints_failed_checks_and_disappears() {
        let terminal = InMemoryTerm::new(5, 60);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let progress = Progress::on(target);
        progress.of(3);
        progress.done(&result("send.one", Verdict::Pass));
        progress.done(&result("send.two", Verdict::Fail));
        progress.done(&result("send.\u{1b}three", Verdict::Warn));
        assert_eq!(progress.0.position(), 3);
        // It is drawn a few times a second, so the last state may be missing.
        let shown = terminal.contents();
        assert!(shown.starts_with("✗ send.two  1.0  not met\n━"), "{shown}");
        assert!(shown.contains(" of 3 "), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        progress.finish();
        assert_eq!(terminal.contents(), "✗ send.two  1.0  not met");
    }

    #[test]
    fn without_a_terminal_there_is_no_progress() {
        let progress = Progress::new();
        assert_eq!(progress.0.is_hidden(), !io::stderr().is_terminal());
    }
}
