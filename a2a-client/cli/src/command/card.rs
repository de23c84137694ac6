//! `a2a card`.

use a2a_client::{CardVerifier, Error, Verification};
use a2a_types::AgentCard;
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use crate::agent::AgentArgs;
use crate::card_keys::trusted_keys;
use crate::exit::{Code, Failure};
use crate::show::{self, Screen};

/// Agent whose card is shown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a card https://agent.example
  a2a card https://agent.example --extended --bearer @token.txt
  a2a card https://agent.example --json | jq .skills[].name
  a2a card https://agent.example --verify jwks.json
  a2a card https://agent.example --verify https://agent.example/.well-known/jwks.json --json | jq .verification

With --verify, only what the signature covers is shown; if no signature is trusted, the exit code is 6.")]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Fetch the extended card, which agents give to authenticated callers.
    #[arg(long)]
    extended: bool,
    /// Require a card that one of these keys has signed, and tell which one: a JSON Web Key Set (FILE, or URL by
    /// `https`), or a public key (FILE in PEM).
    #[arg(long, value_name = "FILE|URL", conflicts_with = "no_card")]
    verify: Option<String>,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<Code, Failure> {
    if let Some(keys) = &options.verify {
        let keys = trusted_keys(keys, options.agent.anonymous_http()?).await?;
        return verified(options, keys.into(), screen).await;
    }
    let card = match options.extended {
        true => options.agent.connect().await?.extended_card().await?,
        false => options.agent.card().await?,
    };
    show::card(screen, &card)?;
    Ok(Code::Done)
}

/// Shows the part of the card that a trusted signature covers, and the signature.
async fn verified(
    options: Options,
    verifier: CardVerifier,
    screen: &Screen,
) -> Result<Code, Failure> {
    let client = options.agent.connect_verified(verifier.clone()).await?;
    let unverified = |problem: String| Failure::Call(Error::Unverified(problem));
    let verification = match options.extended {
        false => client.card_verification(),
        true => {
            let card = json!(client.extended_card().await?);
            let verified = verifier.verify(&card);
            Some(
                verified
                    .map_err(|error| unverified(error.to_string()))?
                    .into(),
            )
        }
    };
    let verification =
        verification.ok_or_else(|| unverified("the card was not verified".to_owned()))?;
    let Verification {
        form,
        key,
        algorithm,
        card,
        ..
    } = &*verification;
    if screen.json {
        let verification = json!({"form": form, "key": key, "algorithm": algorithm});
        screen.value(&json!({"card": card, "verification": verification}))?;
        return Ok(Code::Done);
    }
    let card = match client.card() {
        Some(card) if !options.extended => card,
        _ => AgentCard::deserialize(card)
            .map_err(|error| unverified(error.to_string()))?
            .into(),
    };
    show::card(screen, &card)?;
    show::signature(screen, key, algorithm, *form)?;
    Ok(Code::Done)
}
