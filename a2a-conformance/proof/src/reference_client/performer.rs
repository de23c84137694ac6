//! Our client as the subject of a test: its bug, and what it keeps for the length of a case.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_client::{Cards, Client, HttpClient, HttpClientBuilder, Proxy, Timeouts, Tls};
use serde_json::Value;

use super::instruction::InstructionLine;
use crate::client::{Bug, ClientSubject, TamperingProxy};

/// Our client, with the bug or peculiarity of its subject.
pub(super) struct Performer {
    pub(super) subject: ClientSubject,
    /// Proxy between the client and everything that it calls.
    pub(super) proxy: Option<Arc<TamperingProxy>>,
    /// State that lasts for one case.
    pub(super) session: Mutex<Session>,
}

/// State that lasts for one case.
#[derive(Default)]
pub(super) struct Session {
    /// Case, version, binding and URL: the port of an earlier agent may be used again.
    of: [String; 4],
    cards: Option<Cards>,
    pub(super) client: Option<Client>,
    /// Card that a client with a bug keeps forever.
    pub(super) old_card: Option<Value>,
    /// Counter of a client with a bug.
    count: u128,
}

impl Session {
    /// Drops the state of another case.
    pub(super) fn begin(&mut self, line: &InstructionLine) {
        let of = [&line.case, &line.protocol_version, &line.binding, &line.url].map(String::clone);
        if self.of != of {
            *self = Self {
                of,
                ..Self::default()
            };
        }
    }
}

impl Performer {
    pub(super) fn has(&self, bug: Bug) -> bool {
        self.subject.has(bug)
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        // Every change is of one member, so a panic elsewhere leaves it whole.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next number, from 1.
    pub(super) fn count(&self) -> u128 {
        let mut session = self.session();
        session.count += 1;
        session.count
    }

    /// Returns the cards of the case, which are kept for as long as the agent allows.
    pub(super) fn cards(&self, line: &InstructionLine) -> Cards {
        let mut session = self.session();
        let make = || Cards::new(self.http(line).build());
        session.cards.get_or_insert_with(make).clone()
    }

    pub(super) fn http(&self, line: &InstructionLine) -> HttpClientBuilder {
        let silence_timeout = match self.has(Bug::Unending) {
            true => Duration::from_secs(3600),
            false => silence_timeout(line),
        };
        let mut timeouts = Timeouts::default();
        timeouts.connect = Duration::from_secs(10);
        timeouts.first_byte = silence_timeout;
        timeouts.idle = silence_timeout;
        timeouts.body = 10 * silence_timeout;
        let most = match self.has(Bug::UnboundedBody) {
            true => 1 << 40,
            false => MAX_BODY,
        };
        let mut http = HttpClient::builder().timeouts(timeouts).limit(most);
        if let Some(pem) = &line.ca
            && let Ok(tls) = Tls::default().trust(pem.as_bytes())
        {
            http = http.tls(tls);
        }
        if let Some(proxy) = &self.proxy
            && let Ok(proxy) = Proxy::at(proxy.url())
        {
            http = http.proxy(proxy);
        }
        http
    }
}

/// Maximum bytes of an answer or an event.
pub(super) const MAX_BODY: usize = 2 << 20;

/// Returns the time after which an agent that sends nothing counts as silent.
pub(super) fn silence_timeout(line: &InstructionLine) -> Duration {
    Duration::from_millis(line.patience_ms.unwrap_or(9000))
}
