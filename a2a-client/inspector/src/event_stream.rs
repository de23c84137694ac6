//! Events of a task for the page, as Server-Sent Events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use a2a_client::{Event, TaskEventStream};
use axum::response::Sse;
use axum::response::sse::{Event as SseEvent, KeepAlive};
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::call_scope;
use crate::problem::Problem;

/// An event of a task, with its place.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskEvent {
    event: Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    /// Number of times the task was followed again so far.
    #[serde(skip_serializing_if = "is_zero")]
    reconnections: u32,
}

impl From<Event> for TaskEvent {
    fn from(event: Event) -> Self {
        Self {
            event,
            sequence: None,
            reconnections: 0,
        }
    }
}

/// Returns the events of a task with their sequence numbers.
pub(crate) fn task_events(
    updates: TaskEventStream,
) -> impl Stream<Item = Result<TaskEvent, Problem>> + Send + 'static {
    stream::unfold(updates, async |mut updates| {
        let item = updates.next().await?;
        let item = item.map_err(Problem::from).map(|event| TaskEvent {
            event,
            sequence: updates.sequence(),
            reconnections: updates.reconnections(),
        });
        Some((item, updates))
    })
}

/// Answers with events: `exchange` with the number of each exchange that is made for them, `update` with each event,
/// and then `end` or `failed`. Nothing is sent to the agent until the answer is read; a page that stops reading ends
/// the exchanges, not the task.
pub(crate) fn answer(
    events: impl Stream<Item = Result<TaskEvent, Problem>> + Send + 'static,
) -> Sse<impl Stream<Item = Result<SseEvent, Infallible>>> {
    let (started, numbers) = unbounded_channel();
    let stream = AnswerStream {
        events: events.boxed(),
        started,
        numbers,
        began: Instant::now(),
        state: State::Following,
    };
    Sse::new(stream).keep_alive(KeepAlive::default())
}

/// The answer's events.
struct AnswerStream {
    events: BoxStream<'static, Result<TaskEvent, Problem>>,
    /// Channel with the numbers of the exchanges that were started and have not been reported.
    started: UnboundedSender<u64>,
    numbers: UnboundedReceiver<u64>,
    began: Instant,
    state: State,
}

enum State {
    Following,
    /// The last event, after the numbers of the exchanges.
    Ending(SseEvent),
    Ended,
}

impl Stream for AnswerStream {
    type Item = Result<SseEvent, Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Poll::Ready(Some(number)) = this.numbers.poll_recv(cx) {
                return ready(named("exchange", &json!({"number": number})));
            }
            match std::mem::replace(&mut this.state, State::Ended) {
                State::Following => {}
                State::Ending(last) => return ready(last),
                State::Ended => return Poll::Ready(None),
            }
            let events = &mut this.events;
            let next = call_scope::sync_scoped(&this.started, || events.poll_next_unpin(cx));
            this.state = match next {
                Poll::Ready(Some(Err(ref problem))) => {
                    State::Ending(named("failed", &json!(problem)))
                }
                Poll::Ready(None) => State::Ending(named("end", &json!({}))),
                Poll::Ready(Some(Ok(_))) | Poll::Pending => State::Following,
            };
            match next {
                Poll::Ready(Some(Ok(event))) => return ready(this.update(&event)),
                Poll::Pending if this.numbers.is_empty() => return Poll::Pending,
                _ => {}
            }
        }
    }
}

impl AnswerStream {
    fn update(&self, event: &TaskEvent) -> SseEvent {
        let ms = self.began.elapsed().as_secs_f64() * 1e3;
        let mut data = json!(event);
        data["ms"] = json!((ms * 10.0).round() / 10.0);
        named("update", &data)
    }
}

fn ready(event: SseEvent) -> Poll<Option<Result<SseEvent, Infallible>>> {
    Poll::Ready(Some(Ok(event)))
}

fn named(name: &str, data: &Value) -> SseEvent {
    SseEvent::default().event(name).data(data.to_string())
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
