//! Commands of other servers of the same store, for the tasks that this one works on.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::engine::Engine;
use crate::engine::pending_message::PendingMessage;
use crate::engine::remote_tasks::COMMAND_INTERVAL;
use crate::store::{CommandContent, TaskCommand, TimedStore};

/// Takes commands for the tasks that this server works on, again and again until the server closes or is dropped.
pub(crate) fn begin_to_take(engine: &Arc<Engine>) {
    if engine.store().shared().is_none() {
        return;
    }
    let engine = Arc::downgrade(engine);
    tokio::spawn(async move {
        let mut beat = tokio::time::interval(COMMAND_INTERVAL);
        while let Some(engine) = engine.upgrade().filter(|it| !it.closed.is_cancelled()) {
            take(&engine).await;
            let store = engine.store_handle.store.clone();
            drop(engine);
            tokio::select! {
                _ = beat.tick() => {}
                () = is_posted(&store) => {}
            }
        }
    });
}

async fn take(engine: &Arc<Engine>) {
    let Some(shared) = engine.store().shared() else {
        return;
    };
    match shared
        .take_commands(&engine.store_handle.holder, MAX_COMMANDS_AT_ONCE)
        .await
    {
        Ok(all) => {
            // Commands for one task stay in order, and none waits for another task.
            let by_task = all.chunk_by(|one, next| one.task == next.task);
            let opened = by_task.map(|commands| async move {
                for command in commands {
                    open(engine, command).await;
                }
            });
            join_all(opened).await;
        }
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "could not read the messages that other servers have posted"
            );
        }
    }
}

async fn open(engine: &Arc<Engine>, command: &TaskCommand) {
    let (request, context, receipt) = match &command.content {
        CommandContent::Cancel => {
            let running = engine.active.running(&command.owner, &command.task);
            return running.into_iter().for_each(|writer| writer.cancel());
        }
        CommandContent::Message {
            request,
            context,
            receipt,
        } => (request, context, receipt),
    };
    let mut pending = PendingMessage::new((**request).clone(), (**context).clone());
    let placed = match engine.limiter.hold(pending.size()) {
        Ok(held) => {
            pending.held = Some(Arc::new(held));
            let (pending, receipt) = (Arc::new(pending), receipt.clone());
            engine.continue_task(pending, receipt, false).await
        }
        Err(error) => Err(error),
    };
    if let Err(error) = placed {
        tracing::warn!(task = %command.task, %error, "could not accept a message that another server has posted");
    }
}

/// Waits until the store reports that another server may have posted a command.
async fn is_posted(store: &TimedStore) {
    match store.shared().and_then(|shared| shared.command_posted()) {
        Some(posted) => posted.notified().await,
        None => std::future::pending().await,
    }
}

/// Maximum number of commands that are taken at once.
const MAX_COMMANDS_AT_ONCE: usize = 100;
