//! State machine that follows a task across lost connections.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use a2a_transport::{
    BoxFuture, CallRequest, CallResponse, Context as CallContext, Error, ResponseBody, Transport,
    Update, UpdateStream, metric,
};
use a2a_types::{
    Event, GetTaskRequest, Request, Response, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskId,
};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::fault::{is_cut, lacks_operation, nothing_was_done, retry_after};
use crate::profile::{LlmResponses, Profile};
use crate::retrying::{Retrying, cannot_be_done_twice};
use crate::task_mirror::{Containment, TaskMirror};

/// Follower of one task, and its state.
pub(crate) struct Follower {
    transport: Retrying<Arc<dyn Transport>>,
    subject: Subject,
    mirror: TaskMirror,
    /// Reader of the agent's own profile and the responses of its model, if the agent declares it.
    profile: Option<Profile>,
    /// Outputs to return to the caller before the state machine goes on.
    queue: VecDeque<Output>,
    state: FollowState,
    /// Final event of a task whose stream had only states, held back until the stream ends.
    withheld: Option<Event>,
    /// Sequence number of the last event returned; `None` after an event that was derived by comparing snapshots.
    pub(crate) sequence: Option<u64>,
    /// Last event id to resume from: the last sequence number, if all events before it were returned
    /// and the numbers grow.
    resume_after: Option<u64>,
    /// Set when the agent does not stream or cannot resume a stream.
    polls: bool,
    /// Set when events were derived by comparing snapshots: the final event is then checked against the
    /// task.
    compared: bool,
    /// Number of consecutive attempts without progress.
    failures: u32,
    /// Number of consecutive subscriptions that were refused or ended before any event.
    fruitless: u32,
    /// Error of the last such subscription, until the task has been read.
    refusal: Option<Error>,
    /// Number of consecutive polls that found the task unchanged.
    unchanged_polls: u32,
    pub(crate) reconnections: u32,
    pub(crate) last_disconnect_error: Option<Error>,
    /// Limit on the bytes of memory of the task.
    pub(crate) limit: usize,
}

/// Task or message that is followed.
pub(crate) struct Subject {
    /// The message that starts it, with its request parameters.
    pub(crate) message: Option<SendMessageRequest>,
    /// The task, if it exists already.
    pub(crate) task: Option<TaskId>,
    pub(crate) tenant: Option<String>,
    /// Context of every request.
    pub(crate) context: CallContext,
    /// Set if the agent declares a profile that reports steps.
    pub(crate) profile: bool,
}

/// Output of the follower, in order.
enum Output {
    Event(Event),
    /// An event that the mirror has already.
    Told(Event),
    /// A snapshot, after the events that lead to it.
    Snapshot(Task),
    Error(Error),
}

/// State of the follower.
enum FollowState {
    /// Waiting for the reply to a request.
    AwaitingReply(Purpose, BoxFuture<'static, Result<CallResponse, Error>>),
    /// Reading a stream.
    Streaming(Stream),
    /// Waiting before a request.
    BackingOff(Pin<Box<Sleep>>, Purpose),
    /// Finished.
    Ended,
}

/// Request of the follower, with the data that its reply is used with.
enum Purpose {
    /// Sends the message and expects a stream.
    Stream,
    /// Sends the message to an agent that does not stream.
    Send,
    /// Subscribes to the task.
    Subscribe,
    /// Reads the task; a stream waits meanwhile.
    ReadTask(Option<Stream>),
    /// Reads the task once more before this final event is returned.
    ConfirmEnd(Event),
    /// Reads the task before this final event is returned, because its stream had only states.
    ReadAnswer(Event),
}

/// A stream of events, and its relation to the events returned so far.
struct Stream {
    updates: UpdateStream,
    position: Position,
    /// Set once the stream has had an event.
    has_events: bool,
    since: Instant,
    /// Timer after which silence ends the stream, or has the task read.
    silence_timer: Option<Pin<Box<Sleep>>>,
}

/// Relation of a stream to the events that were returned.
#[derive(Clone, Copy)]
enum Position {
    /// Every event is new.
    InOrder,
    /// Resumed: the caller knows a part of the task, and the first event decides.
    Resumed,
    /// A snapshot was read during the stream and may contain events that the stream has yet to send:
    /// the number of such reads, and whether any had news.
    AfterSnapshot { reads: u32, changed: bool },
}

impl Follower {
    pub(crate) fn of_message(
        transport: Retrying<Arc<dyn Transport>>,
        subject: Subject,
        streams: bool,
    ) -> Self {
        let mirror = match &subject.task {
            Some(_) => TaskMirror::default(),
            None => TaskMirror::from_the_beginning(),
        };
        let message = subject.message.as_ref().map(|request| &request.message);
        let mirror = mirror.in_context(message.and_then(|message| message.context_id.clone()));
        let mut follower = Self::new(transport, subject, mirror);
        follower.polls = !streams;
        let purpose = match streams {
            true => Purpose::Stream,
            false => Purpose::Send,
        };
        follower.state = follower.request(purpose);
        follower
    }

    /// Follows an existing task, from after an event if one is named.
    pub(crate) fn of_task(
        transport: Retrying<Arc<dyn Transport>>,
        subject: Subject,
        seen: Option<u64>,
        streams: bool,
    ) -> Self {
        let mut follower = Self::new(transport, subject, TaskMirror::default());
        (follower.resume_after, follower.sequence, follower.polls) = (seen, seen, !streams);
        let purpose = match streams {
            true => Purpose::Subscribe,
            false => Purpose::ReadTask(None),
        };
        follower.state = follower.request(purpose);
        follower
    }

    fn new(transport: Retrying<Arc<dyn Transport>>, subject: Subject, mirror: TaskMirror) -> Self {
        Self {
            transport,
            profile: subject.profile.then(Profile::default),
            subject,
            mirror,
            queue: VecDeque::new(),
            state: FollowState::Ended,
            withheld: None,
            sequence: None,
            resume_after: None,
            polls: false,
            compared: false,
            failures: 0,
            fruitless: 0,
            refusal: None,
            unchanged_polls: 0,
            reconnections: 0,
            last_disconnect_error: None,
            limit: DEFAULT_MAX_TASK_BYTES,
        }
    }

    pub(crate) fn task(&self) -> Option<&Task> {
        self.mirror.task()
    }

    pub(crate) fn llm_responses(&self) -> Option<&LlmResponses> {
        self.profile.as_ref().map(|profile| &profile.responses)
    }

    /// Returns whether the follower has finished and every item was returned.
    pub(crate) fn is_ended(&self) -> bool {
        self.queue.is_empty() && matches!(self.state, FollowState::Ended)
    }

    /// Stops following.
    pub(crate) fn end(&mut self) {
        self.queue.clear();
        self.state = FollowState::Ended;
    }

    fn too_large(&mut self) -> Error {
        self.end();
        Error::TooLarge {
            what: "task",
            limit: self.limit,
        }
    }

    /// Waits until the first request is answered. Errors: the refusal of it.
    pub(crate) fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            if let Some(Output::Error(_)) = self.queue.front()
                && let Some(Output::Error(error)) = self.queue.pop_front()
            {
                return Poll::Ready(Err(error));
            }
            let begun = !self.queue.is_empty()
                || matches!(self.state, FollowState::Streaming(_) | FollowState::Ended);
            if begun {
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_state(cx));
        }
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        loop {
            match self.queue.pop_front() {
                Some(Output::Event(event)) => {
                    self.mirror.apply(&event);
                    let of_it = self.profile.as_mut();
                    if let Some(profile) = of_it.filter(|_| !self.mirror.is_of_another(&event)) {
                        profile.add_event(&event);
                    }
                    let profile = self.profile.as_mut();
                    let is_too_large = self.mirror.exceeds(self.limit)
                        || profile.is_some_and(|profile| profile.exceeds(self.limit));
                    let item = match is_too_large {
                        false => Ok(event),
                        true => Err(self.too_large()),
                    };
                    return Poll::Ready(Some(item));
                }
                Some(Output::Told(event)) => return Poll::Ready(Some(Ok(event))),
                Some(Output::Snapshot(task)) => self.mirror.adopt(task),
                Some(Output::Error(error)) => return Poll::Ready(Some(Err(error))),
                None if matches!(self.state, FollowState::Ended) => return Poll::Ready(None),
                None => ready!(self.poll_state(cx)),
            }
        }
    }

    /// Returns whether no more events are due. After a message was sent, none are once the task waits
    /// for the next message, though some agents keep the stream open.
    fn is_over(&self) -> bool {
        self.withheld.is_some()
            || self.mirror.is_over()
            || self.subject.message.is_some() && self.mirror.waits()
    }

    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (state, ready) = match std::mem::replace(&mut self.state, FollowState::Ended) {
            FollowState::AwaitingReply(purpose, mut reply) => match reply.as_mut().poll(cx) {
                Poll::Ready(reply) => (self.on_reply(purpose, reply), true),
                Poll::Pending => (FollowState::AwaitingReply(purpose, reply), false),
            },
            FollowState::BackingOff(mut pause, purpose) => match pause.as_mut().poll(cx) {
                Poll::Ready(()) => (self.resume(purpose, cx), true),
                Poll::Pending => (FollowState::BackingOff(pause, purpose), false),
            },
            FollowState::Streaming(mut stream) => match stream.updates.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(update))) => {
                    stream.has_events = true;
                    self.fruitless = 0;
                    (self.on_update(update, stream), true)
                }
                Poll::Ready(Some(Err(error))) => (self.on_stream_end(Some(error), &stream), true),
                Poll::Ready(None) => (self.on_stream_end(None, &stream), true),
                Poll::Pending => match stream.is_silent_too_long(cx, self.is_over()) {
                    false => (FollowState::Streaming(stream), false),
                    true if self.is_over() => (self.end_of_stream(), true),
                    true => (self.request(Purpose::ReadTask(Some(stream))), true),
                },
            },
            FollowState::Ended => (FollowState::Ended, true),
        };
        self.state = state;
        match ready {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Stream {
    fn new(updates: UpdateStream, position: Position) -> Self {
        Self {
            updates,
            position,
            has_events: false,
            since: Instant::now(),
            silence_timer: None,
        }
    }

    fn on(self, position: Position) -> Self {
        Self {
            position,
            silence_timer: None,
            ..self
        }
    }

    /// Returns whether a stream that was resumed, or that should have ended, has been silent for too
    /// long.
    fn is_silent_too_long(&mut self, cx: &mut Context<'_>, over: bool) -> bool {
        if !over && !matches!(self.position, Position::Resumed) {
            return false;
        }
        let silence_timer = self.silence_timer.get_or_insert_with(|| after(MAX_SILENCE));
        silence_timer.as_mut().poll(cx).is_ready()
    }
}

fn after(period: Duration) -> Pin<Box<Sleep>> {
    Box::pin(sleep_until(Instant::now() + period))
}

/// Default limit on the bytes of memory of a task.
const DEFAULT_MAX_TASK_BYTES: usize = 128 << 20;

/// Longest silence of a stream that was just resumed or should have ended.
const MAX_SILENCE: Duration = Duration::from_secs(1);

mod transitions;
