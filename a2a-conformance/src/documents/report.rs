//! Report of a replay, for people and for programs.

use std::collections::BTreeSet;
use std::io::{self, Write};

use a2a_client::terminal::escape_line;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::corpus::{Corpus, Document, ExampleKind, LenientVerdict, StrictVerdict};
use super::replay::{Direction, ReplayResult};

/// Report of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The judgement of the documents themselves.
    pub examples: Tally,
    /// Every example and exchange, in every direction.
    pub outcomes: Vec<ReplayResult>,
}

/// Counts of examples by verdict.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Examples in the corpus.
    pub total: usize,
    /// Examples whose verdict and repairs equal the inventory's.
    pub accounted_for: usize,
    /// HTTP heads, counted apart.
    pub heads: usize,
    /// Accepted by a strict reader.
    pub accepted: usize,
    /// Refused by a strict reader, by text, envelope or schema.
    pub refused: usize,
    /// Refused by a strict reader, by rule only.
    pub refused_by_rule: usize,
    /// Usable by a lenient reader.
    pub usable: usize,
}

impl Report {
    /// Returns the report on these outcomes.
    pub fn new(corpus: &Corpus, outcomes: Vec<ReplayResult>) -> Self {
        let mut examples = Tally::default();
        for outcome in outcomes
            .iter()
            .filter(|outcome| outcome.direction == Direction::Read)
        {
            let example = corpus.example(&outcome.id);
            if example.kind == ExampleKind::Head {
                examples.heads += 1;
                continue;
            }
            examples.total += 1;
            if !outcome.passes() {
                continue;
            }
            examples.accounted_for += 1;
            match example.strict {
                StrictVerdict::Accept => examples.accepted += 1,
                StrictVerdict::Reject => examples.refused += 1,
                StrictVerdict::RejectByRule => examples.refused_by_rule += 1,
            }
            examples.usable += usize::from(example.lenient == LenientVerdict::Usable);
        }
        Self { examples, outcomes }
    }

    /// Returns whether everything went as documented; `false` if nothing was replayed.
    pub fn passes(&self) -> bool {
        !self.outcomes.is_empty() && self.outcomes.iter().all(ReplayResult::passes)
    }

    /// Prints a table, and what is wrong.
    pub fn print(&self, corpus: &Corpus, out: &mut impl Write) -> io::Result<()> {
        let (bold, good, bad) = (
            Style::new().bold(),
            AnsiColor::Green.on_default(),
            AnsiColor::Red.on_default(),
        );
        write!(out, "{bold}{}{bold:#}", padded("document", TITLE))?;
        for title in Direction::ALL.map(Direction::title) {
            write!(out, "  {bold}{title:>17}{bold:#}")?;
        }
        writeln!(out)?;
        for Document { id, title } in &corpus.documents {
            let outcomes = self.outcomes.iter();
            let outcomes = outcomes.filter(|outcome| outcome.document == *id);
            let outcomes: Vec<_> = outcomes.collect();
            if outcomes.is_empty() {
                continue;
            }
            write!(out, "{}", padded(&format!("{id} {title}"), TITLE))?;
            for direction in Direction::ALL {
                let of = outcomes.iter().filter(|it| it.direction == direction);
                let (total, green) = (of.clone().count(), of.filter(|it| it.passes()).count());
                let cell = match total {
                    0 => "–".to_owned(),
                    _ => format!("{green} of {total}"),
                };
                let style = if green == total { good } else { bad };
                write!(out, "  {style}{cell:>17}{style:#}")?;
            }
            writeln!(out)?;
        }
        let Tally {
            total,
            accounted_for,
            heads,
            accepted,
            refused,
            refused_by_rule,
            usable,
        } = self.examples;
        writeln!(out)?;
        if total + heads > 0 {
            writeln!(
                out,
                "{bold}{accounted_for} of {total} examples accounted for{bold:#}, and {heads} HTTP heads; strictly {accepted} \
             accepted, {refused} refused, {refused_by_rule} refused by rule only; {usable} usable leniently"
            )?;
        }
        let outcomes = self.outcomes.iter();
        let exchanged = outcomes.filter(|outcome| outcome.direction != Direction::Read);
        let all: BTreeSet<_> = exchanged.clone().map(|outcome| &outcome.id).collect();
        let wrong = exchanged.filter(|outcome| !outcome.passes());
        let wrong: BTreeSet<_> = wrong.map(|outcome| &outcome.id).collect();
        let style = if self.passes() { good } else { bad };
        let (green, total) = (all.len() - wrong.len(), all.len());
        writeln!(
            out,
            "{style}{green} of {total} exchanges green at both ends{style:#}"
        )?;
        for outcome in self.outcomes.iter().filter(|outcome| !outcome.passes()) {
            let (id, title) = (&outcome.id, outcome.direction.title());
            writeln!(out, "\n{bad}{id}{bad:#} ({title})")?;
            for problem in &outcome.problems {
                writeln!(out, "  {}", escape_line(problem))?;
            }
        }
        Ok(())
    }
}

/// Columns that a document's title takes.
const TITLE: usize = 42;

/// A text cut or filled to a width; letters of some scripts are two columns wide.
fn padded(text: &str, width: usize) -> String {
    let mut columns = 0;
    let fits = |letter: &char| {
        columns += letter.width().unwrap_or_default();
        columns <= width
    };
    let clipped: String = text.chars().take_while(fits).collect();
    let rest = width.saturating_sub(clipped.width());
    format!("{clipped}{}", " ".repeat(rest))
}
