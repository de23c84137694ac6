//! Stream of the events of a task, across lost connections.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use a2a_transport::Error;
use a2a_types::{Event, Task};
use tokio::time::{Sleep, sleep_until};
use tokio_stream::Stream;

use crate::deadline::Deadline;
use crate::follow::Follower;
use crate::profile::LlmResponses;

/// The events of a task, each once and in order, until the task has ended or waits for its caller.
///
/// When the connection breaks, or the agent ends the stream early, the task is followed again. An agent
/// that numbers its events (by the ids of Server-Sent Events, as `a2a-server` does) continues after the
/// last one. For any other, a snapshot of the task is compared with the events so far: the difference
/// is returned as the fewest events, and events that the new stream repeats are left out. The task of
/// an agent that cannot stream at all is polled, twice a second at first, every five seconds when
/// nothing happens.
///
/// When the agent refuses a subscription, or ends it before any event, the task is read: if it has
/// ended or waits for its caller, that is the end; if not, it is subscribed to again. After the second
/// such subscription in a row (the ninth, if their connections break), or an event larger than the client's
/// [`Bounds`](crate::Bounds) allow, the task is polled.
///
/// [`Retries`](crate::Retries) limits the consecutive failures; then the stream yields the last error, and ends. A
/// message is only resent if that is safe.
///
/// ```
/// use a2a_client::{Client, StreamExt};
/// # use a2a_client::{Error, Event, Transport};
/// # use a2a_transport::{BoxFuture, CallRequest, CallResponse, Update};
/// # struct Counter;
/// # impl Transport for Counter {
/// #     fn call(&self, _: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
/// #         let mut task = a2a_types::Task::submitted("t".into(), "c".into());
/// #         task.status.state = a2a_types::TaskState::Completed;
/// #         let event = Event::Task(task);
/// #         Box::pin(async { Ok(CallResponse::stream(tokio_stream::once(Ok(Update::new(event, None))))) })
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// # let client = Client::new(Counter);
/// let mut updates = client.send("count to a million").follow();
/// while let Some(event) = updates.next().await {
///     println!("{:?}", event?);
/// }
/// let task = updates.task().expect("the agent has made a task of it");
/// println!("{:?} after {} reconnections", task.status.state, updates.reconnections());
/// # Ok(()) }
/// ```
///
/// Dropping it ends the connection and all its work; the task itself continues.
#[must_use = "nothing is asked until it is read"]
pub struct TaskEventStream {
    follower: Follower,
    deadline: Option<Deadline>,
    time: Option<Pin<Box<Sleep>>>,
}

impl TaskEventStream {
    pub(crate) fn new(follower: Follower, deadline: Option<Deadline>) -> Self {
        Self {
            follower,
            deadline,
            time: None,
        }
    }

    /// Limits the memory of the task, which is kept to compare it with snapshots, to about this number
    /// of bytes; 128 MiB by default. Above it, the stream ends with [`Error::TooLarge`].
    pub fn limit(mut self, bytes: usize) -> Self {
        self.follower.limit = bytes;
        self
    }

    /// Waits until the agent has answered. Errors: the agent refused.
    pub(crate) async fn begun(mut self) -> Result<Self, Error> {
        poll_fn(|cx| {
            if let Some(error) = self.poll_deadline(cx) {
                return Poll::Ready(Err(error));
            }
            self.follower.poll_begun(cx)
        })
        .await?;
        Ok(self)
    }

    /// Returns the task as of the events so far; `None` before the first, or if the agent answers by a
    /// message.
    pub fn task(&self) -> Option<&Task> {
        self.follower.task()
    }

    /// Returns the thoughts, texts and steps of the agent's model so far, by its responses; `None`
    /// unless the agent declares the profile that reports them. Steps come only if they were [asked
    /// for](crate::SendMessageBuilder::steps).
    pub fn llm_responses(&self) -> Option<&LlmResponses> {
        self.follower.llm_responses()
    }

    /// Returns the sequence number of the last event that was read, if the agent sends
    /// it: [`Client::subscribe_after`](crate::Client::subscribe_after) continues from there.
    pub fn sequence(&self) -> Option<u64> {
        self.follower.sequence
    }

    /// Returns the number of times the task was followed again.
    pub fn reconnections(&self) -> u32 {
        self.follower.reconnections
    }

    /// Returns the error after which the task was last followed again.
    pub fn last_disconnect_error(&self) -> Option<&Error> {
        self.follower.last_disconnect_error.as_ref()
    }

    /// Returns the error if the deadline has passed.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Option<Error> {
        let deadline = self.deadline.filter(|_| !self.follower.is_ended())?;
        let time = || Box::pin(sleep_until(deadline.at));
        let time = self.time.get_or_insert_with(time);
        if time.as_mut().poll(cx).is_pending() {
            return None;
        }
        self.follower.end();
        Some(deadline.error())
    }
}

impl Stream for TaskEventStream {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.poll_deadline(cx) {
            Some(error) => Poll::Ready(Some(Err(error))),
            None => self.follower.poll_next(cx),
        }
    }
}
