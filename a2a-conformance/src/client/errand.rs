//! Instructions to a client for one case, and their outcome.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::ask::Op;
use super::case::{Case, Tls};
use super::certificate::Authority;
use super::stage::Stage;
use crate::case::Names;

/// Instructions to a client for one case.
pub(super) struct Errand {
    stage: Arc<Stage>,
    /// Time within which the client must be done.
    pub(super) within: Duration,
}

/// Outcome of one case at the client.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Reports of the client, one for each instruction; `None` if it makes none.
    pub(super) reports: Option<Vec<Value>>,
    /// Answers of the client's webhook.
    pub(super) webhook: Vec<Value>,
    /// Exit code, if the client was a process of its own.
    pub(super) exit: Option<i32>,
    /// Reason why the client cannot do what the case needs, if so.
    pub(super) lacks: Option<String>,
    /// `true` if the client took too long.
    pub(super) late: bool,
    /// Reason why the client could not be run.
    pub(super) harness: Option<String>,
}

impl Told {
    /// Sets `lacks` if a report says that the client cannot do something that the case needs.
    pub(super) fn note_lack(&mut self, case: &Case) {
        let reports = self.reports.iter().flatten().zip(&case.ask);
        let needed = reports.filter(|(_, ask)| !ask.optional);
        let mut errors = needed.map(|(report, _)| &report["error"]);
        if let Some(error) = errors.find(|error| error["kind"] == UNIMPLEMENTED) {
            let why = error["message"].as_str().unwrap_or("it says so");
            self.lacks = Some(why.to_owned());
        }
    }
}

impl Errand {
    pub(super) fn new(stage: &Arc<Stage>, scale: f64) -> Self {
        let within = Duration::from_millis(stage.case.within);
        Self {
            stage: Arc::clone(stage),
            // A longer time shows nothing more of a case that has no end.
            within: match stage.case.endless {
                true => within,
                false => within.mul_f64(scale),
            },
        }
    }

    pub(super) fn case(&self) -> &Case {
        &self.stage.case
    }

    pub(super) fn url(&self) -> &str {
        &self.stage.url
    }

    /// Returns the instructions to the client, in order.
    ///
    /// Errors: what in the case cannot be filled in.
    pub(super) fn lines(&self) -> Result<Vec<Value>, String> {
        let asks = self.stage.case.ask.iter();
        asks.map(|ask| {
            let mut line = json!(ask);
            let common = json!({
                "case": self.stage.case.id,
                "url": self.stage.url,
                "dialect": self.stage.way.dialect.version(),
                "binding": self.stage.way.binding.to_string(),
            });
            super::written::merge(&mut line, &common);
            if self.stage.case.agent.tls.is_some() {
                line["ca"] = Authority::of(Tls::Trusted).pem().into();
            }
            if ask.verify {
                line["keys"] = json!(self.stage.keys);
            }
            if ask.require.contains_key("jwt") {
                line["require"]["jwt"] = json!({"jwks": format!("{}jwks.json", self.stage.url)});
            }
            self.names().fill(&line)
        })
        .collect()
    }

    /// Returns all instructions at once, for a client that is started for the case.
    pub(super) fn context(&self) -> Result<Map<String, Value>, String> {
        let mut context = Map::new();
        context.insert("case".to_owned(), self.stage.case.id.clone().into());
        context.insert("url".to_owned(), self.stage.url.clone().into());
        context.insert("ask".to_owned(), self.lines()?.into());
        Ok(context)
    }

    pub(super) fn names(&self) -> &Names {
        &self.stage.names
    }

    /// Sends the notifications of the case to a webhook, and returns its answers.
    pub(super) async fn notify(&self, url: &str) -> Vec<Value> {
        let Stage {
            case,
            way,
            names,
            sender,
            ..
        } = &*self.stage;
        sender.send(&case.notify, url, way.dialect, names).await
    }

    /// Returns whether the client is to receive push notifications.
    pub(super) fn receives(&self) -> bool {
        self.case().ask.iter().any(|ask| ask.op == Op::Receive)
    }
}

/// Kind of the error that a client reports if it cannot do what it is asked.
pub(super) const UNIMPLEMENTED: &str = "UNIMPLEMENTED";

/// Exit code of a client that cannot do what it is asked.
pub(super) const LACKS: i32 = 89;
