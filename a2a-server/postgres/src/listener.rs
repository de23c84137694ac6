//! Hints sent to other servers and received from them, and the poll that replaces lost ones.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_server::StoreError;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_postgres::AsyncMessage;
use tokio_postgres::types::Type;

use crate::connections::{Query, Repeat, next_message};
use crate::hint_text::Hint;
use crate::hints::lock;
use crate::names::task_key;
use crate::reads::{get, number};
use crate::store::Inner;
use crate::{PostgresError, metric};

impl Inner {
    /// Sends queued hints to other servers. Never ends.
    pub(crate) async fn send_hints(self: Arc<Self>) {
        let mut beat = interval(SEND_EVERY);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.hints.added.notified().await;
            let pending = std::mem::take(&mut *lock(&self.hints.pending));
            let hint = Hint {
                from: self.hints.name,
                at: pending.since.map_or(0, millis),
                mail: pending.mail,
                heads: pending.heads.into_iter().collect(),
            };
            let text = hint.write();
            // The poll replaces a lost hint: the commit need not wait for the disk.
            let query = Query::new(
                "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
            );
            let query = query
                .with(&self.hints.channel, Type::TEXT)
                .with(&text, Type::TEXT);
            if let Err(error) = self.connections.run(&query, Repeat::Harmless).await {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "could not tell other servers"
                );
            }
            beat.tick().await;
        }
    }

    /// Listens for hints of other servers, and connects again after an error. Never ends.
    pub(crate) async fn listen(self: Arc<Self>) {
        let mut beat = interval(LISTEN_AGAIN_EVERY);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            if let Err(error) = self.listen_once().await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "does not hear of other servers' events: looks for them instead"
                );
            }
        }
    }

    async fn listen_once(self: &Arc<Self>) -> Result<(), PostgresError> {
        let (client, mut connection) = self.connections.connect_listener().await?;
        let hears = async {
            loop {
                match next_message(&mut connection).await {
                    Some(Ok(AsyncMessage::Notification(told))) => self.hear(told.payload()).await,
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(PostgresError::of_statement(error)),
                    None => return Ok(()),
                }
            }
        };
        let asks = async {
            let listen = format!("listen \"{}\"", self.hints.channel.replace('"', "\"\""));
            client
                .batch_execute(&listen)
                .await
                .map_err(PostgresError::of_statement)?;
            let _listening = metric::LISTENING.raise();
            // No hint reports earlier appends.
            self.look_and_warn().await;
            let mut beat = interval(IS_ALIVE_EVERY);
            loop {
                beat.tick().await;
                match timeout(IS_ALIVE_WITHIN, client.batch_execute("")).await {
                    Ok(alive) => alive.map_err(PostgresError::of_statement)?,
                    Err(_) => return Err(PostgresError::Lost(None)),
                }
            }
        };
        tokio::select! {
            ended = hears => ended,
            ended = asks => ended,
        }
    }

    async fn hear(&self, text: &str) {
        let Some(hint) = Hint::read(text) else {
            self.hints.mail.notify_one();
            return self.look_and_warn().await;
        };
        if hint.from == self.hints.name || self.is_deaf() {
            return;
        }
        if hint.mail {
            self.hints.mail.notify_one();
        }
        let mut is_first = true;
        for (key, sequence) in hint.heads {
            let Some((owner, task)) = self.hints.followed(&key) else {
                continue;
            };
            if std::mem::take(&mut is_first) {
                let now = millis(SystemTime::now());
                metric::HINT_LATENCY.record(now.saturating_sub(hint.at) as f64 / 1000.0);
            }
            self.wake_hub.wake(&owner, &task, sequence);
        }
    }

    /// Polls the heads of all followed tasks at an interval. Never ends.
    pub(crate) async fn look_often(self: Arc<Self>, every: Duration) {
        let mut beat = interval(every);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            self.look_and_warn().await;
        }
    }

    async fn look_and_warn(&self) {
        if let Err(error) = self.look().await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "could not look for other servers' events");
        }
    }

    async fn look(&self) -> Result<(), StoreError> {
        let watched = self.wake_hub.watched();
        let keys: Vec<_> = watched
            .iter()
            .map(|(owner, task, _)| task_key(owner, task))
            .collect();
        let named = watched
            .iter()
            .map(|(owner, task, _)| (owner.clone(), task.clone()));
        let now = keys.iter().copied().zip(named).collect();
        self.hints.replace_followed(now);
        if self.is_deaf() {
            return Ok(());
        }
        for (watched, keys) in watched
            .chunks(MAX_HEADS_PER_STATEMENT)
            .zip(keys.chunks(MAX_HEADS_PER_STATEMENT))
        {
            let heads: Vec<_> = watched.iter().map(|(.., head)| *head as i64).collect();
            let query = Query::new(LOOK)
                .with(&keys, Type::UUID_ARRAY)
                .with(&heads, Type::INT8_ARRAY);
            for row in self.connections.run(&query, Repeat::Harmless).await? {
                let Some((owner, task, _)) = watched.get(number(&row, 0)? - 1) else {
                    continue;
                };
                self.recent.note_server(get(&row, 2)?);
                match get::<Option<i64>>(&row, 1)? {
                    Some(head) => self.wake_hub.wake(owner, task, head as u64),
                    None => self.forget(owner, task),
                }
            }
        }
        Ok(())
    }
}

/// Heads of followed logs that have grown, and null for tasks that were removed; and the server.
const LOOK: &str = "
select w.place, t.sequence, pg_postmaster_start_time()
from unnest($1::uuid[], $2::bigint[]) with ordinality w(key, head, place)
  left join @task t on t.key = w.key
where t.sequence is null or t.sequence > w.head";

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Interval between two hints of a server.
const SEND_EVERY: Duration = Duration::from_millis(10);
/// Interval between attempts to listen; the backoff of the connections is added.
const LISTEN_AGAIN_EVERY: Duration = Duration::from_millis(250);
/// Interval between probes of the listening connection, and the time that it has to answer.
const IS_ALIVE_EVERY: Duration = Duration::from_secs(10);
const IS_ALIVE_WITHIN: Duration = Duration::from_secs(5);
/// Maximum number of tasks polled by one statement.
const MAX_HEADS_PER_STATEMENT: usize = 5000;
