//! `a2a card sign`.

use std::path::PathBuf;

use a2a_client::read_card;
use a2a_client::terminal::escape_json;
use a2a_client::webhook::Jwks;
use a2a_transport::card_signature::{header, sign};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::card_keys::signing_key;
use crate::failure::Failure;
use crate::show::Screen;

/// Card to sign, and the key.
#[derive(Args)]
#[command(after_help = "\
The signatures cover the URLs on the card: sign it as callers get it. One key makes several signatures, of which each \
verifier finds one: by the text of the specification, and as the official SDKs sign. Signatures of other keys stay.

Examples:
  openssl genpkey -algorithm ed25519 -out key.pem
  a2a card sign card.json --key key.pem --kid 2026-1 > signed.json
  a2a card sign --key key.pem --kid 2026-1 --jwks > jwks.json
  a2a card get https://agent.example --verify jwks.json")]
pub(crate) struct Options {
    /// The card, as JSON.
    #[arg(value_name = "FILE", required_unless_present = "jwks")]
    card: Option<PathBuf>,
    /// Private key (PEM, not encrypted): of P-256 or Ed25519.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Name of the key, by which verifiers find it. Default: its thumbprint (RFC 7638).
    #[arg(long, value_name = "ID")]
    kid: Option<String>,
    /// Refuse a key of another algorithm. Default: that of the key.
    #[arg(long, value_enum)]
    alg: Option<AlgorithmName>,
    /// URL at which the public key is published, to be named in the signatures.
    #[arg(long, value_name = "URL")]
    jku: Option<String>,
    /// Print the public key as a JSON Web Key Set instead.
    #[arg(long, conflicts_with_all = ["card", "jku"])]
    jwks: bool,
}

/// An algorithm of signatures.
#[derive(Clone, Copy, ValueEnum)]
enum AlgorithmName {
    #[value(name = "ES256")]
    Es256,
    #[value(name = "EdDSA")]
    EdDsa,
}

pub(crate) fn run(options: &Options, screen: &Screen) -> Result<(), Failure> {
    let mut key = signing_key(&options.key)?;
    if let Some(kid) = &options.kid {
        key = key.named(kid);
    }
    let expected = options.alg.as_ref().and_then(ValueEnum::to_possible_value);
    let algorithm = key.algorithm().name();
    if let Some(expected) = expected.filter(|expected| expected.get_name() != algorithm) {
        let file = options.key.display();
        let expected = expected.get_name();
        return Err(Failure::usage(format!(
            "{file}: expected a key of {expected}, found one of {algorithm}"
        )));
    }
    let Some(file) = &options.card else {
        print(&serde_json::json!(Jwks::of([&key])), screen)?;
        return Ok(());
    };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(Failure::machine(&*name))?;
    let refused = |problem: String| Failure::usage(format!("{name}: {problem}"));
    read_card(&text).map_err(|error| refused(format!("not an agent card: {error}")))?;
    let mut card: Value =
        serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    let signatures = sign(&card, &key, options.jku.as_deref());
    let signatures = signatures.map_err(|error| refused(error.to_string()))?;
    let is_other = |signature: &&Value| {
        header(signature).is_ok_and(|header| header.kid.as_deref() != Some(key.id()))
    };
    let others = card["signatures"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(is_other);
    let ours = signatures
        .into_iter()
        .map(|signature| serde_json::json!(signature));
    card["signatures"] = ours.chain(others.cloned()).collect();
    print(&card, screen)?;
    Ok(())
}

fn print(document: &Value, screen: &Screen) -> Result<(), Failure> {
    match screen.json {
        true => screen.value(document),
        false => screen.line(&escape_json(&format!("{document:#}"))),
    }
}
