//! `a2a-conformance lint FILE…`: validates documents.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2a_client::terminal::escape_line as line;
use a2a_conformance::documents::StrictVerdict;
use a2a_conformance::lint::{AppliedRepair, Context, DocumentKind, Finding, LintResult, lint};
use a2a_types::ProtocolVersion;
use serde_json::{Value, json};

use super::print::{BAD, BOLD, DIM, FAIR, GOOD, ended, print_json, refused};
use super::values::{kinds, protocol_versions};

/// Documents to check.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  a2a-conformance lint card.json task.json events.txt
  curl -sN … | a2a-conformance lint - --protocol-version 0.3
  a2a-conformance lint --as SendMessageRequest --protocol-version 1.0 body.json
  a2a-conformance lint --request request.json answer.json

Exit codes: 0 all are legal, 1 one is not, 2 usage, or a file that cannot be read.")]
pub(crate) struct Args {
    /// Files with a JSON document or with Server-Sent Events; `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Protocol version of the documents. Default: detected in each document.
    #[arg(long, value_name = "VERSION", value_parser = protocol_versions())]
    protocol_version: Option<ProtocolVersion>,
    /// Kind of the documents. Default: detected in each document.
    #[arg(long = "as", value_name = "KIND", value_parser = kinds(), ignore_case = true)]
    kind: Option<&'static DocumentKind>,
    /// File with the JSON-RPC request that the documents answer.
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// Print JSON.
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
            let is_fine = documents
                .clone()
                .all(|one| one.verdict == StrictVerdict::Accept);
            ended(&printed, u8::from(!is_fine))
        }
    }
}

type Verdicts<'a> = Vec<(&'a Path, Vec<LintResult>)>;

fn judge(args: &Args) -> Result<Verdicts<'_>, String> {
    let stdin = Path::new("-");
    let inputs = args.files.iter().chain(&args.request);
    if inputs.filter(|file| *file == stdin).count() > 1 {
        return Err("the standard input is read once: expected `-` for one file".to_owned());
    }
    if let (Some(kind), Some(protocol_version)) = (args.kind, args.protocol_version)
        && !kind.is_in(protocol_version)
    {
        let having = ProtocolVersion::ALL
            .iter()
            .filter(|protocol_version| kind.is_in(**protocol_version));
        let having: Vec<_> = having
            .map(|protocol_version| protocol_version.version())
            .collect();
        let (name, having) = (kind.name, having.join(", "));
        return Err(format!(
            "A2A {protocol_version} has no {name}: expected one of {having}"
        ));
    }
    let context = Context {
        protocol_version: args.protocol_version,
        request: args.request.as_deref().map(read_request).transpose()?,
        kind: args.kind,
    };
    let judge = |file: &Path| -> Result<Vec<LintResult>, String> {
        let bytes = read(file)?;
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => lint(text, &context),
            Err(error) => vec![no_text(error.valid_up_to())],
        })
    };
    let files = args.files.iter();
    files
        .map(|file| Ok((file.as_path(), judge(file)?)))
        .collect()
}

/// The request that is answered.
fn read_request(file: &Path) -> Result<Value, String> {
    let refused = |problem: String| format!("{}: {problem}", file.display());
    let bytes = read(file)?;
    let request: Value =
        serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))?;
    match request["method"]
        .as_str()
        .and_then(ProtocolVersion::of_method)
    {
        Some(_) => Ok(request),
        None => Err(refused(
            "expected a JSON-RPC request with a method of A2A".to_owned(),
        )),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    if file.is_dir() {
        let name = file.display();
        return Err(format!(
            "{name}: expected a file, found a directory: name its files, like {name}/*.json"
        ));
    }
    let mut bytes = Vec::new();
    let read = match file == Path::new("-") {
        true => io::stdin().lock().read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(bytes)
}

/// Returns the judgement of bytes that are not text.
fn no_text(valid: usize) -> LintResult {
    let problem = format!("not UTF-8 from byte {valid} on, as RFC 8259 §8.1 requires");
    LintResult {
        event: None,
        kind: "unknown".to_owned(),
        protocol_version: None,
        verdict: StrictVerdict::Reject,
        findings: vec![Finding {
            path: "$".to_owned(),
            problem: problem.clone(),
            rule: "JSON".to_owned(),
        }],
        repairs: Vec::new(),
        unusable: Some(problem),
    }
}

fn as_json(judged: &Verdicts<'_>) -> Value {
    let files = judged
        .iter()
        .map(|(file, found)| json!({"file": file, "documents": found}));
    json!({"files": files.collect::<Vec<_>>()})
}

fn print(judged: &Verdicts<'_>) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (file, found) in judged {
        for one in found {
            let place = match one.event {
                Some(number) if found.len() > 1 => format!("{}, event {number}", file.display()),
                _ => file.display().to_string(),
            };
            print_one(&mut out, &place, one)?;
        }
    }
    let documents = judged.iter().flat_map(|(_, found)| found);
    let accepted = documents
        .clone()
        .filter(|one| one.verdict == StrictVerdict::Accept);
    let (accepted, total) = (accepted.count(), documents.count());
    writeln!(out, "{accepted} of {total} documents accepted")
}

fn print_one(out: &mut impl Write, place: &str, one: &LintResult) -> io::Result<()> {
    let (style, verdict) = match one.verdict {
        StrictVerdict::Accept => (GOOD, "accepted"),
        StrictVerdict::Reject => (BAD, "refused"),
        StrictVerdict::RejectByRule => (BAD, "refused by the words of the specification"),
    };
    let protocol_version = one
        .protocol_version
        .map(|protocol_version| format!(", A2A {protocol_version}"));
    let kind = format!("{}{}", one.kind, protocol_version.unwrap_or_default());
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}: {}: {style}{verdict}{style:#}",
        line(place),
        line(&kind)
    )?;
    for Finding {
        path,
        problem,
        rule,
    } in &one.findings
    {
        let (path, problem, rule) = (line(path), line(problem), line(rule));
        writeln!(out, "  {path}: {problem} {DIM}({rule}){DIM:#}")?;
    }
    for AppliedRepair { code, about, path } in &one.repairs {
        let path = path.as_deref().map(|path| format!(" at {path}"));
        let path = path.unwrap_or_default();
        let (path, about) = (line(&path), line(about));
        writeln!(out, "  {FAIR}repaired {code}{FAIR:#}{path}: {about}")?;
    }
    match &one.unusable {
        None => Ok(()),
        Some(reason) => writeln!(
            out,
            "  {BAD}not usable{BAD:#}, not even leniently: {}",
            line(reason)
        ),
    }
}
