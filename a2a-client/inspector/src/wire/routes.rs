//! Routes of exchanges.

use std::convert::Infallible;
use std::ops::RangeInclusive;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::curl::command as shell_command;
use super::exchange::{Exchange, State as ExchangeState};
use super::har;
use super::log::{ExchangeLog, ExchangePage};
use super::resend::{Resend, plain_client};
use super::summary::Details;
use super::versions::Versions;
use crate::agents::Agents;
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;

pub(crate) fn routes(log: ExchangeLog, agents: Agents) -> Router {
    let resend = post(resend).with_state((log.clone(), agents));
    Router::new()
        .route("/api/exchanges", get(list).delete(clear).merge(resend))
        .route("/api/exchanges/{number}", get(one))
        .route("/api/exchanges/{number}/versions", get(versions))
        .route("/api/exchanges/{number}/curl", get(command))
        .route("/api/export/har", get(export_har))
        .route("/api/export/recording", get(export_recording))
        .with_state(log)
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    after: u64,
    limit: Option<usize>,
}

/// Exchanges in one answer, unless the page names a number.
const DEFAULT_LIMIT: usize = 1000;

async fn list(
    State(log): State<ExchangeLog>,
    Parameters(range): Parameters<Range>,
) -> Json<ExchangePage> {
    let limit = range.limit.unwrap_or(DEFAULT_LIMIT);
    Json(log.page(range.after, limit))
}

async fn clear(State(log): State<ExchangeLog>) -> StatusCode {
    log.clear();
    StatusCode::NO_CONTENT
}

fn find(log: &ExchangeLog, number: &str) -> Result<Exchange, Problem> {
    let found = number.parse().ok();
    let found = found.and_then(|number| log.get(number));
    found.ok_or_else(|| Problem::not_found(format!("exchange {number} is not in the log")))
}

async fn one(
    State(log): State<ExchangeLog>,
    Path(number): Path<String>,
) -> Result<Json<Details>, Problem> {
    Ok(Json(Details::of(&find(&log, &number)?)))
}

async fn versions(
    State(log): State<ExchangeLog>,
    Path(number): Path<String>,
) -> Result<Json<Versions>, Problem> {
    let exchange = find(&log, &number)?;
    let versions = Versions::of(&exchange).map_err(|problem| {
        Problem::conflict(format!(
            "exchange {number} is not a call of an agent: {problem}"
        ))
    });
    versions.map(Json)
}

async fn command(
    State(log): State<ExchangeLog>,
    Path(number): Path<String>,
) -> Result<Json<Value>, Problem> {
    let exchange = find(&log, &number)?;
    Ok(Json(json!({"command": shell_command(&exchange)})))
}

async fn resend(
    State((log, agents)): State<(ExchangeLog, Agents)>,
    JsonBody(request): JsonBody<Resend>,
) -> Result<Json<Value>, Problem> {
    let original = request.from.map(|from| find(&log, &from.to_string()));
    let original = original.transpose()?;
    let client = |original: Option<&Exchange>| {
        let agent = original.and_then(|original| original.source.agent());
        match agent.map(|agent| agents.find(agent)) {
            Some(Ok(agent)) => Ok(agent.http()?.build()),
            _ => Ok(plain_client(original)),
        }
    };
    let number = request.send(original.as_ref(), client, &log)?;
    Ok(Json(json!({"number": number})))
}

#[derive(Deserialize)]
struct Selection {
    /// Numbers and ranges like `7-12`, with commas between them; all exchanges if it is missing.
    numbers: Option<String>,
}

impl Selection {
    /// Returns the selected numbers of exchanges that are in the log.
    fn numbers(&self, log: &ExchangeLog) -> Result<Vec<u64>, Problem> {
        let all = log.numbers();
        let Some(numbers) = &self.numbers else {
            return Ok(all);
        };
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        };
        let ranges = numbers.split(',').map(|part| {
            range(part).ok_or_else(|| {
                let problem = format!("`numbers`: expected `3,7-12`, found {part:?}");
                Problem::bad_request(problem)
            })
        });
        let ranges: Vec<RangeInclusive<u64>> = ranges.collect::<Result<_, _>>()?;
        let is_selected = |number: &u64| ranges.iter().any(|range| range.contains(number));
        Ok(all.into_iter().filter(is_selected).collect())
    }
}

async fn export_har(
    State(log): State<ExchangeLog>,
    Parameters(selection): Parameters<Selection>,
) -> Result<Response, Problem> {
    let numbers = selection.numbers(&log)?;
    let write = |exchange: &Exchange| Some(har::entry(exchange).to_string());
    Ok(export(
        log,
        numbers,
        "a2a.har",
        har::begin(),
        write,
        har::END,
    ))
}

async fn export_recording(
    State(log): State<ExchangeLog>,
    Parameters(selection): Parameters<Selection>,
) -> Result<Response, Problem> {
    let numbers = selection.numbers(&log)?;
    let write = |exchange: &Exchange| {
        let has_ended = exchange.state != ExchangeState::Open;
        // Strings and numbers always serialise.
        has_ended.then(|| serde_json::to_string(&exchange.recorded()).unwrap_or_default())
    };
    Ok(export(
        log,
        numbers,
        "a2a-recording.json",
        "[".to_owned(),
        write,
        "]",
    ))
}

/// Writes a file of exchanges, one after the other: together they may be large. Exchanges that are evicted
/// meanwhile are left out.
fn export(
    log: ExchangeLog,
    numbers: Vec<u64>,
    file: &str,
    begin: String,
    write: impl Fn(&Exchange) -> Option<String> + Send + 'static,
    end: &'static str,
) -> Response {
    let mut is_first = true;
    let entries = numbers.into_iter().filter_map(move |number| {
        let entry = write(&log.get(number)?)?;
        let separator = if std::mem::take(&mut is_first) {
            ""
        } else {
            ",\n"
        };
        Some(format!("{separator}{entry}"))
    });
    let parts = std::iter::once(begin)
        .chain(entries)
        .chain([end.to_owned()]);
    let parts = futures_util::stream::iter(parts.map(Ok::<_, Infallible>));
    let headers = [
        (CONTENT_TYPE, "application/json".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{file}\""),
        ),
    ];
    (headers, Body::from_stream(parts)).into_response()
}
