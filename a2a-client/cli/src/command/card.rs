//! `a2a card`.

use a2a_client::CardVerifier;
use a2a_types::{AgentCard, ErrorKind};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::sign_card;
use crate::agent::{AgentArgs, FoundCard};
use crate::card_keys::trusted_keys;
use crate::failure::Failure;
use crate::show::{self, Screen, note};

/// Commands on agent cards.
#[derive(Subcommand)]
pub(crate) enum CardCommand {
    /// Show an agent's card: its skills, interfaces and authentication.
    Get(Get),
    /// Sign a card.
    Sign(sign_card::Options),
}

/// Agent whose card is shown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a card get https://agent.example
  a2a card get -a card.json --validate
  a2a card get -a https://agent.example --extended
  a2a card get -a https://agent.example -o json | jq -r .skills[].name
  a2a card get -a https://agent.example --verify https://agent.example/.well-known/jwks.json")]
pub(crate) struct Get {
    #[arg(value_name = "URL", hide = true)]
    reference: Option<String>,
    /// Check the card against the schema, and fail if it breaks a rule.
    #[arg(long)]
    validate: bool,
    /// Fetch the extended card, which agents give to authenticated callers.
    #[arg(long)]
    extended: bool,
    /// Verify the card's signatures by these keys: a JSON Web Key Set (FILE, or URL by `https`), or a public key (FILE in
    /// PEM).
    #[arg(long, value_name = "FILE|URL", conflicts_with = "no_card")]
    verify: Option<String>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

pub(crate) async fn run(command: CardCommand, screen: &Screen) -> Result<(), Failure> {
    match command {
        CardCommand::Get(options) => get(options, screen).await,
        CardCommand::Sign(options) => sign_card::run(&options, screen),
    }
}

async fn get(options: Get, screen: &Screen) -> Result<(), Failure> {
    let agent = options.agent.or(options.reference);
    let verifier = match &options.verify {
        Some(keys) => Some(trusted_keys(keys, agent.anonymous_http()?).await?.into()),
        None => None,
    };
    let found = agent.find_card().await?;
    if options.validate {
        validate(&found)?;
    }
    let (card, document) = match options.extended {
        true => {
            let card = extended(&agent, &found.card).await?;
            let document = json!(card);
            (card, document)
        }
        false => {
            let document = document(&found);
            (AgentCard::clone(&found.card), document)
        }
    };
    let (is_refused, outcome) = signature(&document, verifier.as_ref());
    if screen.json {
        screen.value(&document)?;
        note(&format!("signature: {outcome}"));
    } else {
        show::card(screen, &card)?;
        screen.field("Signature", &outcome)?;
    }
    match is_refused {
        true => Err(Failure::Verdict(format!("the signature is {outcome}"))),
        false => Ok(()),
    }
}

/// Returns a card of 1.0 as it came, and one of an older version in the form of 1.0.
fn document(found: &FoundCard) -> Value {
    let document: Value = serde_json::from_str(&found.text).unwrap_or_default();
    match document.get("supportedInterfaces") {
        Some(Value::Array(_)) => document,
        _ => json!(*found.card),
    }
}

/// Refuses a card that cannot be read strictly.
fn validate(found: &FoundCard) -> Result<(), Failure> {
    let strict = a2a_client::read_card_in(&found.text, a2a_types::reading::Mode::Strict);
    match strict {
        Ok(_) => {
            note("the card is valid");
            Ok(())
        }
        Err(violation) => Err(Failure::InvalidCard(format!(
            "the card is not valid: {violation}"
        ))),
    }
}

/// Fetches the extended card, with credentials only for a scheme of the public card.
async fn extended(agent: &AgentArgs, public: &AgentCard) -> Result<AgentCard, Failure> {
    if public.capabilities.extended_agent_card != Some(true) {
        return Err(Failure::Refused {
            kind: ErrorKind::UnsupportedOperation,
            problem: "the agent has no extended card, as its card says".to_owned(),
            hint: "without --extended the public card is shown".to_owned(),
        });
    }
    let client = match public.security_schemes.is_empty() {
        true => {
            agent
                .clone()
                .without_credentials()
                .connect_to(public)
                .await?
        }
        false => agent.connect_to(public).await?,
    };
    Ok(AgentCard::clone(&*client.extended_card().await?))
}

/// Returns whether none of the signatures of a card is by a trusted key, and whether and by which
/// key it is signed, as text.
fn signature(document: &Value, verifier: Option<&CardVerifier>) -> (bool, String) {
    let signatures = document["signatures"].as_array().map_or(0, Vec::len);
    if signatures == 0 {
        return (false, "absent".to_owned());
    }
    let Some(verifier) = verifier else {
        let outcome = "unverifiable: no trusted keys are named by --verify";
        return (false, outcome.to_owned());
    };
    match verifier.verify(document) {
        Ok(verified) => {
            let (key, algorithm) = (&verified.key, &verified.algorithm);
            let outcome = format!("verified by the key {key} ({algorithm}): {}", verified.form);
            (false, outcome)
        }
        Err(problem) => (true, format!("not verified: {problem}")),
    }
}
