//! `a2a-conformance verify-card URL|FILE`: checks a card and its signatures.

use std::io::{self, Write};
use std::process::ExitCode;

use a2a_client::terminal::escape_line as line;
use a2a_conformance::card::{CatalogInspection, Inspection, Problem, inspect, inspect_catalog};
use a2a_conformance::requirement::Level;
use a2a_transport::card_signature::{
    CardVerifier, SignatureForm, Verification, VerifyError, canonical,
};
use a2a_types::ProtocolVersion;
use serde_json::json;

use super::document::{DocumentError, fetch, is_url, read_file, read_keys};
use super::print::{BAD, BOLD, DIM, FAIR, GOOD, USAGE, ended, failed, print_json};

/// Card to check, and the trusted keys.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  a2a-conformance verify-card https://agent.example
  a2a-conformance verify-card card.json --jwks https://agent.example/.well-known/jwks.json
  a2a-conformance verify-card card.json --canonical | sha256sum

Exit codes: 0 it is legal, and signed if --jwks is given; 1 it is not; 2 usage, or a file that cannot be read; 3 it \
cannot be reached.")]
pub(crate) struct Args {
    /// Card to verify: a file, the URL of the card, or the URL of its agent; an AI Catalog is verified with the cards in it.
    #[arg(value_name = "URL|FILE")]
    card: String,
    /// Trusted keys, as a JSON Web Key Set: at least one of the card's signatures must be made with one
    /// of them.
    #[arg(long, value_name = "FILE|URL")]
    jwks: Option<String>,
    /// Print the bytes that are signed, and nothing else.
    #[arg(long)]
    canonical: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: &Args) -> ExitCode {
    let (place, text) = match read_card(&args.card).await {
        Ok(read) => read,
        Err(failed) => return failed.report(),
    };
    if let Some(catalog) = inspect_catalog(&text) {
        if args.jwks.is_some() || args.canonical {
            let problem = "an AI Catalog: --jwks and --canonical are for a single card";
            return failed(USAGE, &format!("{place}: {problem}"));
        }
        let printed = match args.json {
            true => print_json(&json!({"catalog": place, "inspection": catalog})),
            false => print_catalog(&place, &catalog),
        };
        return ended(&printed, u8::from(!catalog.is_legal()));
    }
    let found = match inspect(&text) {
        Ok(found) => found,
        Err(problem) => {
            return failed(1, &format!("{place}: not an agent card: {problem}"));
        }
    };
    if args.canonical {
        return print_canonical(&found);
    }
    let keys = match &args.jwks {
        None => None,
        Some(jwks) => match read_keys(jwks).await {
            Ok(keys) => Some(keys),
            Err(failed) => return failed.report(),
        },
    };
    let verified = keys.map(|keys| CardVerifier::new(keys).verify(&found.card));
    let is_fine = found.is_legal() && !matches!(verified, Some(Err(_)));
    let printed = match args.json {
        true => print_json(&as_json(&place, &found, verified.as_ref())),
        false => print(&place, &found, verified.as_ref()),
    };
    ended(&printed, u8::from(!is_fine))
}

async fn read_card(card: &str) -> Result<(String, String), DocumentError> {
    if !is_url(card) {
        return Ok((card.to_owned(), read_file(card)?));
    }
    let base = card.trim_end_matches('/');
    let mut urls = Vec::new();
    if !card.ends_with(".json") {
        urls.push(format!("{base}{}", ProtocolVersion::V1_0.card_path()));
        urls.push(format!("{base}{}", ProtocolVersion::V0_1.card_path()));
    }
    urls.push(card.to_owned());
    let mut problems = Vec::new();
    for url in urls {
        match fetch(&url).await {
            Ok(text) => return Ok((url, text)),
            Err(problem) => problems.push(problem),
        }
    }
    Err(DocumentError::Unreachable(problems.join("\n")))
}

fn print_canonical(found: &Inspection) -> ExitCode {
    match canonical(&found.card, SignatureForm::Specification) {
        Err(problem) => {
            eprintln!("{}", line(&problem.to_string()));
            ExitCode::FAILURE
        }
        Ok(bytes) => match io::stdout().write_all(&bytes) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(USAGE),
        },
    }
}

type VerifyResult = Result<Verification, VerifyError>;

fn as_json(place: &str, found: &Inspection, verified: Option<&VerifyResult>) -> serde_json::Value {
    let signature = match verified {
        None => json!(null),
        Some(Ok(verified)) => json!({
            "verified": true,
            "key": verified.key,
            "algorithm": verified.algorithm,
            "form": verified.form,
        }),
        Some(Err(problem)) => json!({"verified": false, "problem": problem.to_string()}),
    };
    json!({
        "card": place,
        "protocolVersions": found.protocol_versions,
        "problems": found.problems,
        "signature": signature,
    })
}

fn print_catalog(place: &str, catalog: &CatalogInspection) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{BOLD}AI Catalog{BOLD:#} ({})", line(place))?;
    for problem in &catalog.problems {
        writeln!(out, "  {BAD}MUST{BAD:#}   {}", line(problem))?;
    }
    drop(out);
    for (identifier, card) in &catalog.cards {
        print(identifier, card, None)?;
    }
    Ok(())
}

fn print(place: &str, found: &Inspection, verified: Option<&VerifyResult>) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let name = found.card["name"]
        .as_str()
        .unwrap_or("a card without a name");
    let protocol_versions = found.protocol_versions.join(" and ");
    let (name, place) = (line(name), line(place));
    writeln!(
        out,
        "{BOLD}{name}{BOLD:#}, A2A {protocol_versions} ({place})"
    )?;
    for Problem {
        path,
        problem,
        requirement,
        level,
    } in &found.problems
    {
        let style = if *level == Level::Must { BAD } else { FAIR };
        let level = level.name();
        let (path, problem) = (line(path), line(problem));
        writeln!(
            out,
            "  {style}{level:<6}{style:#} {path}: {problem} {DIM}({requirement}){DIM:#}"
        )?;
    }
    match (found.is_legal(), found.problems.len()) {
        (true, 0) => writeln!(out, "  {GOOD}legal{GOOD:#}")?,
        (true, _) => writeln!(out, "  {GOOD}legal{GOOD:#}, but not as it should be")?,
        (false, _) => writeln!(out, "  {BAD}not legal{BAD:#}")?,
    }
    let signatures = found.card["signatures"].as_array().map_or(0, Vec::len);
    match verified {
        None if signatures == 0 => writeln!(out, "  not signed"),
        None => writeln!(
            out,
            "  {FAIR}signed, but not verified{FAIR:#}: --jwks names the keys that are trusted"
        ),
        Some(Err(problem)) => {
            let problem = problem.to_string();
            writeln!(out, "  {BAD}not verified{BAD:#}: {}", line(&problem))
        }
        Some(Ok(verified)) => {
            let Verification {
                key,
                algorithm,
                form,
                ..
            } = verified;
            let (key, algorithm) = (line(key), line(algorithm));
            writeln!(
                out,
                "  {GOOD}signed{GOOD:#} by the key {key} ({algorithm}): {form}"
            )
        }
    }
}
