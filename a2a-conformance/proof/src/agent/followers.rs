//! Streams that act when their reader is dropped.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use a2a_transport::{Error, Update, UpdateStream};
use a2a_types::TaskId;
use futures_util::Stream;
use tokio::sync::watch;

use super::memory::lock;

/// The streams of each task.
#[derive(Debug, Default)]
pub(super) struct Followers {
    closed: Mutex<HashMap<TaskId, watch::Sender<bool>>>,
}

impl Followers {
    /// Returns the same stream, which ends when another of its task is closed by its reader.
    pub(super) fn linked(self: &Arc<Self>, updates: UpdateStream) -> UpdateStream {
        let followers = Arc::clone(self);
        let closed = DropHookStream::new(updates, move |task| {
            followers.of(&task).send_replace(true);
        });
        let followers = Arc::clone(self);
        Box::pin(LinkedStream {
            updates: closed,
            followers,
            closed: None,
        })
    }

    fn of(&self, task: &TaskId) -> watch::Sender<bool> {
        let mut closed = lock(&self.closed);
        closed.entry(task.clone()).or_default().clone()
    }
}

/// A stream that ends with the others of its task.
struct LinkedStream {
    updates: DropHookStream,
    followers: Arc<Followers>,
    closed: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Stream for LinkedStream {
    type Item = Result<Update, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(closed) = &mut self.closed
            && closed.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut self.updates).poll_next(cx);
        if self.closed.is_none()
            && let Some(task) = &self.updates.task
        {
            let mut closed = self.followers.of(task).subscribe();
            let waiting = async move {
                if closed.wait_for(|closed| *closed).await.is_err() {
                    std::future::pending().await
                }
            };
            self.closed = Some(Box::pin(waiting));
            cx.waker().wake_by_ref();
        }
        polled
    }
}

/// Updates with a hook that runs when they are dropped before their end.
pub(super) struct DropHookStream {
    updates: UpdateStream,
    task: Option<TaskId>,
    then: Option<Box<dyn FnOnce(TaskId) + Send>>,
}

impl DropHookStream {
    pub(super) fn new(updates: UpdateStream, then: impl FnOnce(TaskId) + Send + 'static) -> Self {
        Self {
            updates,
            task: None,
            then: Some(Box::new(then)),
        }
    }
}

impl Stream for DropHookStream {
    type Item = Result<Update, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let update = ready!(self.updates.as_mut().poll_next(cx));
        match &update {
            Some(Ok(update)) if self.task.is_none() => self.task = update.event.task_id().cloned(),
            Some(_) => {}
            None => self.then = None,
        }
        Poll::Ready(update)
    }
}

impl Drop for DropHookStream {
    fn drop(&mut self) {
        if let (Some(task), Some(then)) = (self.task.take(), self.then.take()) {
            then(task);
        }
    }
}
