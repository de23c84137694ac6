//! Commands between servers.

use std::sync::atomic::{AtomicBool, Ordering};

use a2a_server::{MAX_COMMANDS, StoreError, TaskCommand};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{get, key};
use crate::connections::{Connections, Query, Repeat};
use crate::names::task_key;
use crate::store_state::StoreState;
use crate::{command_body, metric};

/// Posts a command to the server that holds the lease of a task.
pub(crate) async fn post(store: &StoreState, command: TaskCommand) -> Result<(), StoreError> {
    let (task, id) = (
        task_key(&command.owner, &command.task),
        command_id(&command)?,
    );
    if store.commands_are_full.load(Ordering::Relaxed) {
        return Err(StoreError::Full);
    }
    let (body, most) = (command_body::write(&command.content)?, MAX_COMMANDS as i64);
    let query = Query::new(POST)
        .with(&task, Type::UUID)
        .with(&id, Type::UUID)
        .with(&body, Type::BYTEA)
        .with(&most, Type::INT8)
        .with(&MAX_BYTES_OF_TASK, Type::INT8)
        .with(&command_body::FORMAT, Type::INT2);
    // Its id is unique, and known for a while after it was taken.
    let row = store.connections.row(&query, Repeat::Harmless).await?;
    let row = row.ok_or(StoreError::NoTask)?;
    if !get::<bool>(&row, 0)? {
        return Err(StoreError::Full);
    }
    store.hints.add_command();
    Ok(())
}

/// Withdraws a command; returns whether it was still there.
pub(crate) async fn withdraw(
    connections: &Connections,
    command: &TaskCommand,
) -> Result<bool, StoreError> {
    let id = command_id(command)?;
    let query = Query::new("delete from @command where id = $1 and not taken returning 1");
    let query = query.with(&id, Type::UUID);
    let withdrawn = connections.run(&query, Repeat::Harmful).await?;
    Ok(!withdrawn.is_empty())
}

/// Takes the commands of the tasks that a holder has leased. A command that cannot be read is lost, and reported.
pub(crate) async fn take(
    connections: &Connections,
    holder: &str,
    limit: usize,
) -> Result<Vec<TaskCommand>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = Query::new(TAKE)
        .with(&holder, Type::TEXT)
        .with(&limit, Type::INT8)
        .with(&MAX_AGE, Type::INT8)
        .with(&command_body::FORMAT, Type::INT2);
    let rows = connections.run(&query, Repeat::Harmful).await?;
    let mut taken = Vec::new();
    for row in &rows {
        match command(row) {
            Ok(command) => taken.push(command),
            Err(error) => {
                metric::COMMAND_UNREADABLE.count();
                let error = &error as &dyn std::error::Error;
                let task = row.try_get::<_, &str>(1).unwrap_or_default();
                tracing::error!(task, error, "lost a command that cannot be read");
            }
        }
    }
    Ok(taken)
}

/// Removes old commands, and notes whether there is room for more.
pub(crate) async fn sweep(
    connections: &Connections,
    is_full: &AtomicBool,
) -> Result<(), StoreError> {
    let query = Query::new(SWEEP)
        .with(&MAX_AGE, Type::INT8)
        .with(&MAX_SWEPT, Type::INT8);
    loop {
        let Some(row) = connections.row(&query, Repeat::Harmless).await? else {
            return Ok(());
        };
        let (count, bytes): (i64, i64) = (get(&row, 1)?, get(&row, 2)?);
        let has_room = count < MAX_WAITING && bytes < MAX_WAITING_BYTES;
        if !is_full.swap(!has_room, Ordering::Relaxed) && !has_room {
            tracing::warn!(
                count,
                bytes,
                "too many commands between servers wait: no more are posted"
            );
        }
        if get::<i64>(&row, 0)? < MAX_SWEPT {
            return Ok(());
        }
    }
}

fn command(row: &Row) -> Result<TaskCommand, StoreError> {
    metric::COMMAND_AGE.record(get(row, 4)?);
    let content = command_body::read(get(row, 3)?)?;
    let (owner, task) = key(row)?;
    let mut command = TaskCommand::new(owner, task, content);
    command.id = get::<Uuid>(row, 2)?.to_string();
    Ok(command)
}

fn command_id(command: &TaskCommand) -> Result<Uuid, StoreError> {
    Uuid::parse_str(&command.id).map_err(StoreError::failed)
}

/// Stores a command. Returns whether there was room for it or it was stored before; no row without the task, which is not
/// removed meanwhile.
const POST: &str = "
with t as (select seq from @task where key = $1 for key share),
known as (select count(*) as count, coalesce(sum(length(body)), 0) + length($3) as bytes
  from @command where task = (select seq from t) and not taken),
room as (select known.count < $4 and (known.count = 0 or known.bytes <= $5) as is_there from known),
put as (insert into @command(id, task, format, body) select $2, t.seq, $6, $3 from t, room where room.is_there
  on conflict (id) do nothing)
select room.is_there or exists(select from @command where id = $2) from t, room";

/// Takes the commands of the tasks that a holder has leased, the commands of each task in order. Commands of later formats are left to
/// servers of later releases, or to its sender.
const TAKE: &str = "
with due as materialized (
  select m.position, m.task, m.id, m.body, extract(epoch from clock_timestamp() - m.posted)::float8 as age,
    t.owner, t.id as name
  from @command m join @task t on t.seq = m.task
  where not m.taken and m.format <= $4 and m.posted > clock_timestamp() - $3 * interval '1 second'
    and t.busy and t.lease_owner = $1 and t.lease_until > clock_timestamp()
  order by m.position limit $2 for update of m skip locked),
taken as (update @command m set taken = true, body = '' from due where m.position = due.position returning m.position)
select owner, name, id, body, age from due where position in (select position from taken) order by task, position";

/// Removes old commands, and returns how many; counts the commands that wait, and their bytes. Positions are nearly in the order of time.
const SWEEP: &str = "
with gone as (delete from @command where position in (
  select position from (select position, posted from @command order by position limit $2) first
  where posted <= clock_timestamp() - $1 * interval '1 second') returning 1)
select (select count(*) from gone), count(*), coalesce(sum(length(body)), 0)::bigint from @command
where not taken and posted > clock_timestamp() - $1 * interval '1 second'";

/// Age in seconds at which a command expires. Its sender waits for a few seconds at most, unless it is a cancellation.
const MAX_AGE: i64 = 60;
/// Maximum number of bytes of the commands that wait for one task, unless there is only one.
const MAX_BYTES_OF_TASK: i64 = 16 << 20;
/// Maximum number of commands that wait, and of their bytes, beyond which no more are posted. Both are counted at
/// each sweep, so they may be exceeded for a second.
const MAX_WAITING: i64 = 10_000;
const MAX_WAITING_BYTES: i64 = 256 << 20;
/// Maximum number of commands removed by one statement.
const MAX_SWEPT: i64 = 1000;
