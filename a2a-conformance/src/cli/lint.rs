//! `a2a-conformance lint FILE…`: whether documents are legal A2A.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2a_conformance::documents::Strict;
use a2a_conformance::lint::{Context, Finding, Linted, Mended, lint};
use a2a_types::Dialect;
use serde_json::{Value, json};

use super::print::{BAD, BOLD, DIM, FAIR, GOOD, ended, print_json, refused};
use super::values::dialects;

/// What is judged.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  a2a-conformance lint card.json task.json events.txt
  curl -sN … | a2a-conformance lint - --dialect 0.3
  a2a-conformance lint --request request.json answer.json

Exit codes: 0 all are legal, 1 one is not, 2 usage, or a file that cannot be read.")]
pub(crate) struct Args {
    /// Files with a JSON document or with Server-Sent Events; `-` is the standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The generation; else the one that each document looks like.
    #[arg(long, value_name = "VERSION", value_parser = dialects())]
    dialect: Option<Dialect>,
    /// The JSON-RPC request that the documents answer.
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    match judge(args) {
        Err(problem) => refused(&problem),
        Ok(judged) => {
            let printed = match args.json {
                true => print_json(&as_json(&judged)),
                false => print(&judged),
            };
            let documents = judged.iter().flat_map(|(_, found)| found);
            let is_fine = documents.clone().all(|one| one.verdict == Strict::Accept);
            ended(&printed, u8::from(!is_fine))
        }
    }
}

type Judged<'a> = Vec<(&'a Path, Vec<Linted>)>;

fn judge(args: &Args) -> Result<Judged<'_>, String> {
    let request = args.request.as_deref().map(|file| {
        let text = read(file)?;
        let is_no_json = |error| format!("{}: {error}", file.display());
        serde_json::from_str::<Value>(&text).map_err(is_no_json)
    });
    let context = Context {
        dialect: args.dialect,
        request: request.transpose()?,
    };
    let judge = |file: &'_ PathBuf| read(file).map(|text| lint(&text, &context));
    let files = args.files.iter();
    files
        .map(|file| Ok((file.as_path(), judge(file)?)))
        .collect()
}

fn read(file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = match file == Path::new("-") {
        true => io::stdin().lock().read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| format!("{}: {error}", file.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{}: it is no UTF-8", file.display()))
}

fn as_json(judged: &Judged<'_>) -> Value {
    let files = judged
        .iter()
        .map(|(file, found)| json!({"file": file, "documents": found}));
    json!({"files": files.collect::<Vec<_>>()})
}

fn print(judged: &Judged<'_>) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (file, found) in judged {
        for (number, one) in found.iter().enumerate() {
            let place = match found.len() {
                1 => file.display().to_string(),
                _ => format!("{}, event {}", file.display(), number + 1),
            };
            print_one(&mut out, &place, one)?;
        }
    }
    let documents = judged.iter().flat_map(|(_, found)| found);
    let accepted = documents
        .clone()
        .filter(|one| one.verdict == Strict::Accept);
    let (accepted, total) = (accepted.count(), documents.count());
    writeln!(out, "{accepted} of {total} documents accepted")
}

fn print_one(out: &mut impl Write, place: &str, one: &Linted) -> io::Result<()> {
    let (style, verdict) = match one.verdict {
        Strict::Accept => (GOOD, "accepted"),
        Strict::Reject => (BAD, "refused"),
        Strict::RejectByRule => (BAD, "refused by the words of the specification"),
    };
    let dialect = one.dialect.map(|dialect| format!(", A2A {dialect}"));
    let kind = format!("{}{}", one.kind, dialect.unwrap_or_default());
    writeln!(
        out,
        "{BOLD}{place}{BOLD:#}: {kind}: {style}{verdict}{style:#}"
    )?;
    for Finding {
        path,
        problem,
        rule,
    } in &one.findings
    {
        writeln!(out, "  {path}: {problem} {DIM}({rule}){DIM:#}")?;
    }
    for Mended { code, about, path } in &one.repairs {
        let path = path.as_deref().map(|path| format!(" at {path}"));
        let path = path.unwrap_or_default();
        writeln!(out, "  {FAIR}mended {code}{FAIR:#}{path}: {about}")?;
    }
    match &one.unusable {
        None => Ok(()),
        Some(reason) => writeln!(
            out,
            "  {BAD}not usable{BAD:#}, not even leniently: {reason}"
        ),
    }
}
