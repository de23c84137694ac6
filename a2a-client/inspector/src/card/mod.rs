//! Cards of agents: as received, as understood, with their violations and signers.

mod problems;
mod signatures;
mod views;

use a2a_client::{HttpClient, read_card_in};
use a2a_types::reading::Mode;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use self::problems::problems;
use self::signatures::{KeySets, signatures};
use self::views::views;
use crate::agents::{Agents, ConnectedAgent};
use crate::capture::captured;
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;
use crate::wire::shown_deviation;

pub(crate) fn routes(agents: Agents) -> Router {
    Router::new()
        .route("/api/agents/{id}/card", get(card))
        .route("/api/agents/{id}/extended-card", get(extended_card))
        .route("/api/cards", post(any_card))
        .with_state(agents)
}

#[derive(Deserialize)]
struct TrustedKeys {
    /// URL of the JSON Web Key Set that verifies signatures, in place of the one that they name.
    keys: Option<String>,
}

async fn card(
    State(agents): State<Agents>,
    Path(id): Path<String>,
    Parameters(TrustedKeys { keys }): Parameters<TrustedKeys>,
) -> Result<Json<Value>, Problem> {
    let agent = agents.find(&id)?;
    let raw = agent.card.as_deref().ok_or_else(|| {
        Problem::not_found("the agent was connected without a card, or its card is too large")
    })?;
    let raw = String::from_utf8_lossy(raw);
    Ok(describe(KeySets::of(&agent)?, &raw, keys.as_deref()).await)
}

async fn extended_card(
    State(agents): State<Agents>,
    Path(id): Path<String>,
    Parameters(TrustedKeys { keys }): Parameters<TrustedKeys>,
) -> Result<Json<Value>, Problem> {
    let agent = agents.find(&id)?;
    let (card, body) = captured(agent.client.extended_card()).await;
    let card = card?;
    let raw = match &body {
        Some(body) => result(&String::from_utf8_lossy(body)),
        None => json!(card).to_string(),
    };
    Ok(describe(KeySets::of(&agent)?, &raw, keys.as_deref()).await)
}

/// A card that is not of a connected agent.
#[derive(Deserialize)]
struct CardText {
    text: String,
}

async fn any_card(
    Parameters(TrustedKeys { keys }): Parameters<TrustedKeys>,
    JsonBody(CardText { text }): JsonBody<CardText>,
) -> Result<Json<Value>, Problem> {
    let key_sets = KeySets::new(None, HttpClient::builder());
    Ok(describe(key_sets, &text, keys.as_deref()).await)
}

/// Returns the result in an answer of JSON-RPC, or the answer of any other binding.
fn result(body: &str) -> String {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
        #[serde(rename = "jsonrpc")]
        _jsonrpc: String,
    }
    let envelope = serde_json::from_str::<Envelope<'_>>(body);
    envelope.map_or_else(|_| body.to_owned(), |it| it.result.get().to_owned())
}

async fn describe(key_sets: KeySets, raw: &str, keys: Option<&str>) -> Json<Value> {
    let read = read_card_in(raw, Mode::Tolerant).ok();
    let (card, deviations) = read.map(|read| (read.value, read.repairs)).unzip();
    Json(json!({
        "raw": raw,
        "card": card,
        "deviations": deviations.iter().flatten().map(shown_deviation).collect::<Vec<_>>(),
        "problems": problems(raw),
        "signatures": signatures(key_sets, raw, keys).await,
        "views": views(raw),
    }))
}

impl KeySets {
    fn of(agent: &ConnectedAgent) -> Result<Self, Problem> {
        Ok(Self::new(Some(&agent.settings.url), agent.http()?))
    }
}
