//! What a client is told for one case, and what it says of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::ask::Op;
use super::case::{Case, Tls};
use super::certificate::Authority;
use super::stage::Stage;
use crate::case::Names;

/// One case, as a client is told it.
pub(super) struct Errand {
    stage: Arc<Stage>,
    /// How long the client may take.
    pub(super) within: Duration,
}

/// What came of an errand.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What the client says that it got, a report for each thing it was asked; none if it tells nothing.
    pub(super) reports: Option<Vec<Value>>,
    /// What its webhook answered.
    pub(super) webhook: Vec<Value>,
    /// What ended it, if it was a process of its own.
    pub(super) exit: Option<i32>,
    /// What it cannot do.
    pub(super) lacks: Option<String>,
    /// It took too long.
    pub(super) late: bool,
    /// It could not even be started.
    pub(super) harness: Option<String>,
}

impl Told {
    /// Takes from the reports what the client cannot do, of what the case cannot do without.
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
            // Of what has no end anyway, more is not seen in a longer time.
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

    /// Each thing that the client is asked, in order.
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

    /// All of it at once, for a client that is started for it.
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

    /// Sends the webhook what the case has for it.
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

    /// Whether the client is to receive push notifications.
    pub(super) fn receives(&self) -> bool {
        self.case().ask.iter().any(|ask| ask.op == Op::Receive)
    }
}

/// What a client says when it cannot do what it is asked.
pub(super) const UNIMPLEMENTED: &str = "UNIMPLEMENTED";

/// What a client exits with that cannot do what it is asked.
pub(super) const LACKS: i32 = 89;
