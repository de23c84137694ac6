//! Cards of agents: as they came, as they are understood, what is wrong with them, and who signed them.

mod problems;
mod signatures;
mod views;

use a2a_client::read_card;
use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use self::problems::problems;
use self::signatures::signatures;
use self::views::views;
use crate::Inspector;
use crate::agents::ConnectedAgent;
use crate::capture::captured;
use crate::input::Parameters;
use crate::problem::Problem;

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
        .route("/api/agents/{id}/card", get(card))
        .route("/api/agents/{id}/extended-card", get(extended_card))
}

#[derive(Deserialize)]
struct TrustedKeys {
    /// URL of the JSON Web Key Set that verifies signatures, in place of the one that they name.
    keys: Option<String>,
}

async fn card(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
    Parameters(TrustedKeys { keys }): Parameters<TrustedKeys>,
) -> Result<Json<Value>, Problem> {
    let agent = inspector.agents.find(&id)?;
    let raw = agent.card.as_deref().ok_or_else(|| {
        Problem::not_found("the agent was connected without a card, or its card is too large")
    })?;
    describe(&agent, &String::from_utf8_lossy(raw), keys.as_deref()).await
}

async fn extended_card(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
    Parameters(TrustedKeys { keys }): Parameters<TrustedKeys>,
) -> Result<Json<Value>, Problem> {
    let agent = inspector.agents.find(&id)?;
    let (card, body) = captured(agent.client.extended_card()).await;
    let card = card?;
    let raw = match &body {
        Some(body) => result(&String::from_utf8_lossy(body)),
        None => json!(card).to_string(),
    };
    describe(&agent, &raw, keys.as_deref()).await
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

async fn describe(
    agent: &ConnectedAgent,
    raw: &str,
    keys: Option<&str>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(json!({
        "raw": raw,
        "card": read_card(raw).ok(),
        "problems": problems(raw),
        "signatures": signatures(agent, raw, keys).await?,
        "views": views(raw),
    })))
}
