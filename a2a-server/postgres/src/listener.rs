//! Hints sent to other servers and received from them, and the poll that replaces lost ones.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_server::StoreError;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_postgres::AsyncMessage;
use tokio_postgres::types::Type;

use crate::columns::{get, number};
use crate::connections::{Query, Repeat};
use crate::hint_text::Hint;
use crate::lock::lock;
use crate::names::task_key;
use crate::store_state::StoreState;
use crate::{PostgresError, metric};

/// Sends queued hints to other servers. Never ends.
pub(crate) async fn send_hints(store: Arc<StoreState>) {
    let mut beat = interval(SEND_EVERY);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        store.hints.added.notified().await;
        let pending = std::mem::take(&mut *lock(&store.hints.pending));
        let hint = Hint {
            from: store.hints.name,
            at: pending.since.map_or(0, millis),
            command: pending.command,
            heads: pending.heads.into_iter().collect(),
        };
        let text = hint.write();
        // The commit need not wait for the disk, because the poll makes up for a lost hint.
        let query =
            Query::new("select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)");
        let query = query
            .with(&store.hints.channel, Type::TEXT)
            .with(&text, Type::TEXT);
        if let Err(error) = store.connections.run(&query, Repeat::Harmless).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "could not tell other servers"
            );
        }
        beat.tick().await;
    }
}

/// Listens for hints of other servers, and connects again after an error. Never ends.
pub(crate) async fn listen(store: Arc<StoreState>) {
    let mut beat = interval(LISTEN_AGAIN_EVERY);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        if let Err(error) = listen_once(&store).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "does not hear of other servers' events: looks for them instead"
            );
        }
    }
}

async fn listen_once(store: &StoreState) -> Result<(), PostgresError> {
    let (client, mut connection) = store.connections.connect_listener().await?;
    let hears = async {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(told))) => hear(store, told.payload()).await,
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(PostgresError::of_statement(error)),
                None => return Ok(()),
            }
        }
    };
    let asks = async {
        let listen = format!("listen \"{}\"", store.hints.channel.replace('"', "\"\""));
        client
            .batch_execute(&listen)
            .await
            .map_err(PostgresError::of_statement)?;
        let _listening = metric::LISTENING.raise();
        // No hint reports earlier appends.
        look_and_warn(store).await;
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

async fn hear(store: &StoreState, text: &str) {
    let Some(hint) = Hint::read(text) else {
        store.hints.command.notify_one();
        return look_and_warn(store).await;
    };
    if hint.from == store.hints.name {
        return;
    }
    if hint.command {
        store.hints.command.notify_one();
    }
    let mut is_first = true;
    for (key, sequence) in hint.heads {
        let Some((owner, task)) = store.hints.followed(&key) else {
            continue;
        };
        if std::mem::take(&mut is_first) {
            let now = millis(SystemTime::now());
            metric::HINT_LATENCY.record(now.saturating_sub(hint.at) as f64 / 1000.0);
        }
        store.task_notifier.wake(&owner, &task, sequence);
    }
}

/// Polls the heads of all followed tasks at an interval. Never ends.
pub(crate) async fn look_often(store: Arc<StoreState>, every: Duration) {
    let mut beat = interval(every);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        look_and_warn(&store).await;
    }
}

async fn look_and_warn(store: &StoreState) {
    if let Err(error) = look(store).await {
        let error = &error as &dyn std::error::Error;
        tracing::debug!(error, "could not look for other servers' events");
    }
}

async fn look(store: &StoreState) -> Result<(), StoreError> {
    let watched = store.task_notifier.watched();
    let keys: Vec<_> = watched
        .iter()
        .map(|(owner, task, _)| task_key(owner, task))
        .collect();
    let names = watched
        .iter()
        .map(|(owner, task, _)| (owner.clone(), task.clone()));
    store
        .hints
        .replace_followed(keys.iter().copied().zip(names).collect());
    for (watched, keys) in watched.chunks(MAX_HEADS).zip(keys.chunks(MAX_HEADS)) {
        let heads: Vec<_> = watched.iter().map(|(.., head)| *head as i64).collect();
        let query = Query::new(LOOK)
            .with(&keys, Type::UUID_ARRAY)
            .with(&heads, Type::INT8_ARRAY);
        for row in store.connections.run(&query, Repeat::Harmless).await? {
            let Some((owner, task, _)) = watched.get(number(&row, 0)? - 1) else {
                continue;
            };
            store.recent.note_server(get(&row, 2)?);
            match get::<Option<i64>>(&row, 1)? {
                Some(head) => store.task_notifier.wake(owner, task, head as u64),
                None => store.forget(&(owner.clone(), task.clone())),
            }
        }
    }
    Ok(())
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
const MAX_HEADS: usize = 5000;
