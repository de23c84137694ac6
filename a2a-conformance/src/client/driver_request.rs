//! Request to a driver of a client: the instructions of one case, and their outcome.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::case::{Case, Tls};
use super::certificate::Authority;
use super::fixture::Fixture;
use super::instruction::InstructionKind;
use crate::case::Variables;

/// Request to a driver: the instructions of one case to a client.
pub(super) struct DriverRequest {
    fixture: Arc<Fixture>,
    /// Time within which the client must be done.
    pub(super) within: Duration,
}

/// Outcome of a driver request.
#[derive(Debug, Default)]
pub(super) struct DriverOutcome {
    /// Reports of the client, one for each instruction; `None` if it makes none.
    pub(super) reports: Option<Vec<Value>>,
    /// Answers of the client's webhook.
    pub(super) webhook: Vec<Value>,
    /// Exit code, if the client was a process of its own.
    pub(super) exit: Option<i32>,
    /// Reason why the client cannot do what the case needs, if so.
    pub(super) missing_feature: Option<String>,
    /// `true` if the client took too long.
    pub(super) late: bool,
    /// Reason why the client could not be run.
    pub(super) harness: Option<String>,
}

impl DriverOutcome {
    /// Sets `missing_feature` if a report says that the client cannot do something that the case needs.
    pub(super) fn note_missing_feature(&mut self, case: &Case) {
        let reports = self.reports.iter().flatten().zip(&case.ask);
        let needed = reports.filter(|(_, ask)| !ask.optional);
        let mut errors = needed.map(|(report, _)| &report["error"]);
        if let Some(error) = errors.find(|error| error["kind"] == UNIMPLEMENTED) {
            let reason = error["message"].as_str().unwrap_or("it says so");
            self.missing_feature = Some(reason.to_owned());
        }
    }
}

impl DriverRequest {
    pub(super) fn new(fixture: &Arc<Fixture>, scale: f64) -> Self {
        let within = Duration::from_millis(fixture.case.within);
        Self {
            fixture: Arc::clone(fixture),
            // A longer time shows nothing more of a case that has no end.
            within: match fixture.case.endless {
                true => within,
                false => within.mul_f64(scale),
            },
        }
    }

    pub(super) fn case(&self) -> &Case {
        &self.fixture.case
    }

    pub(super) fn url(&self) -> &str {
        &self.fixture.url
    }

    /// Waits for the client, but not longer than the case allows; returns `None` if it is not done by then.
    ///
    /// The time of a case that has no end begins with the client's first request: such a case counts the
    /// requests, and a client that starts slowly must not be taken for one that pauses.
    pub(super) async fn in_time<T>(&self, client: impl Future<Output = T>) -> Option<T> {
        let out_of_time = async {
            if self.case().endless {
                let _ = timeout(TIME_TO_START, self.fixture.wait_for_request()).await;
            }
            sleep(self.within).await;
        };
        tokio::select! {
            done = client => Some(done),
            () = out_of_time => None,
        }
    }

    /// Returns the instructions to the client, in order.
    ///
    /// Errors: what in the case cannot be filled in.
    pub(super) fn lines(&self) -> Result<Vec<Value>, String> {
        let asks = self.fixture.case.ask.iter();
        asks.map(|ask| {
            let mut line = json!(ask);
            let common = json!({
                "case": self.fixture.case.id,
                "url": self.fixture.url,
                "protocol_version": self.fixture.interface.protocol_version.version(),
                "binding": self.fixture.interface.binding.to_string(),
            });
            crate::case::merge_patch(&mut line, &common);
            if self.fixture.case.agent.tls.is_some() {
                line["ca"] = Authority::of(Tls::Trusted).pem().into();
            }
            if ask.verify {
                line["keys"] = json!(self.fixture.keys);
            }
            if ask.require.contains_key("jwt") {
                line["require"]["jwt"] = json!({"jwks": format!("{}jwks.json", self.fixture.url)});
            }
            self.names().fill(&line)
        })
        .collect()
    }

    /// Returns all instructions at once, for a client that is started for the case.
    pub(super) fn context(&self) -> Result<Map<String, Value>, String> {
        let mut context = Map::new();
        context.insert("case".to_owned(), self.fixture.case.id.clone().into());
        context.insert("url".to_owned(), self.fixture.url.clone().into());
        context.insert("ask".to_owned(), self.lines()?.into());
        Ok(context)
    }

    pub(super) fn names(&self) -> &Variables {
        &self.fixture.names
    }

    /// Sends the notifications of the case to a webhook, and returns its answers.
    pub(super) async fn notify(&self, url: &str) -> Vec<Value> {
        let Fixture {
            case,
            interface,
            names,
            sender,
            ..
        } = &*self.fixture;
        sender
            .send(&case.notify, url, interface.protocol_version, names)
            .await
    }

    /// Returns whether the client is to receive push notifications.
    pub(super) fn receives(&self) -> bool {
        self.case()
            .ask
            .iter()
            .any(|ask| ask.op == InstructionKind::Receive)
    }
}

/// Time that a client may take until its first request, in a case that has no end.
const TIME_TO_START: Duration = Duration::from_secs(20);

/// Kind of the error that a client reports if it cannot do what it is asked.
pub const UNIMPLEMENTED: &str = "UNIMPLEMENTED";

/// Exit code of a client that cannot do what it is asked.
pub const EXIT_UNIMPLEMENTED: i32 = 89;
