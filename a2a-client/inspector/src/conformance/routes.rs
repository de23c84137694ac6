//! Routes of runs.

use a2a_conformance::record::Run;
use a2a_conformance::report::{Changes, Error, curl, html, json as report_json, junit, markdown};
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Runs, Wanted};
use crate::agents::Agents;
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;
use crate::wire::ExchangeLog;

pub(crate) fn routes(runs: Runs, agents: Agents, log: ExchangeLog) -> Router {
    let start = post(start).with_state((runs.clone(), agents, log));
    Router::new()
        .route("/api/runs", get(list).merge(start))
        .route("/api/runs/compare", get(compare))
        .route("/api/runs/{id}", get(one).delete(stop))
        .route("/api/runs/{id}/report", get(report))
        .with_state(runs)
}

async fn list(State(runs): State<Runs>) -> Json<Value> {
    Json(json!({"runs": runs.summaries()}))
}

async fn start(
    State((runs, agents, log)): State<(Runs, Agents, ExchangeLog)>,
    JsonBody(wanted): JsonBody<Wanted>,
) -> Result<Json<Value>, Problem> {
    let agent = agents.find(&wanted.agent)?;
    let id = runs.start(&agent, wanted, &log).await?;
    Ok(Json(json!({"id": id})))
}

async fn one(State(runs): State<Runs>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let mut summary = runs.summary(&id)?;
    if let Ok(run) = runs.result(&id) {
        summary["run"] = with_commands(&run);
    }
    Ok(Json(summary))
}

/// Returns a run as JSON, with the shell command that repeats it for each exchange.
fn with_commands(run: &Run) -> Value {
    let mut json = run.to_json();
    for (index, check) in run.checks.iter().enumerate() {
        for (number, evidence) in check.evidence.iter().enumerate() {
            json["checks"][index]["evidence"][number]["curl"] = curl(evidence).into();
        }
    }
    json
}

async fn stop(State(runs): State<Runs>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    runs.stop(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Report {
    format: String,
}

async fn report(
    State(runs): State<Runs>,
    Path(id): Path<String>,
    Parameters(Report { format }): Parameters<Report>,
) -> Result<Response, Problem> {
    let run = runs.result(&id)?;
    let failed = |error: Error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
    let (media_type, file, text) = match &*format {
        "json" => ("application/json", "report.json", report_json(&run)),
        "html" => (
            "text/html; charset=utf-8",
            "report.html",
            html(&run).map_err(failed)?,
        ),
        "markdown" => ("text/markdown; charset=utf-8", "report.md", markdown(&run)),
        "junit" => ("application/xml", "junit.xml", junit(&run).map_err(failed)?),
        other => {
            let problem =
                format!("`format`: expected json, html, markdown or junit, found {other:?}");
            return Err(Problem::bad_request(problem));
        }
    };
    let headers = [
        (CONTENT_TYPE, media_type.to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{file}\""),
        ),
    ];
    Ok((headers, text).into_response())
}

#[derive(Deserialize)]
struct Comparison {
    before: String,
    after: String,
}

async fn compare(
    State(runs): State<Runs>,
    Parameters(Comparison { before, after }): Parameters<Comparison>,
) -> Result<Json<Value>, Problem> {
    let (before, after) = (runs.result(&before)?, runs.result(&after)?);
    let changes = Changes::between(&before, &after);
    let mut compared = json!(changes);
    compared["summary"] = changes.summary().into();
    compared["isWorse"] = changes.is_worse().into();
    Ok(Json(compared))
}
