//! State machine that follows a task across lost connections.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use a2a_transport::{
    Answer, BoxFuture, Call, Claims, Error, Reply, TraceContext, Transport, Update, UpdateStream,
    metric,
};
use a2a_types::{
    Event, GetTaskRequest, Request, Response, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskId,
};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::fault::{is_cut, lacks_operation, nothing_was_done, retry_after};
use crate::known::{Held, Known};
use crate::profile::{LlmResponses, Profile};
use crate::retrying::{Retrying, cannot_be_done_twice};

/// Follower of one task, and its state.
pub(crate) struct Follower {
    transport: Retrying<Arc<dyn Transport>>,
    subject: Subject,
    known: Known,
    /// Reader of the agent's own profile and the responses of its model, if the agent declares it.
    profile: Option<Profile>,
    /// Items to return to the caller before the next step.
    told: VecDeque<Told>,
    step: Step,
    /// Sequence number of the last event returned.
    pub(crate) sequence: Option<u64>,
    /// Last event id to resume from: the last sequence number, if all events before it were returned
    /// and the numbers grow.
    place: Option<u64>,
    /// Set when the agent does not stream or cannot resume a stream.
    polls: bool,
    /// Set when events were derived by comparing snapshots: the final event is then checked against the
    /// task.
    compared: bool,
    /// Number of consecutive attempts without progress.
    failed: u32,
    /// Number of consecutive subscriptions that were refused or ended before any event.
    fruitless: u32,
    /// Error of the last such subscription, until the task has been read.
    refusal: Option<Error>,
    /// Number of consecutive polls that found the task unchanged.
    quiet: u32,
    pub(crate) reconnections: u32,
    pub(crate) last_cut: Option<Error>,
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
    pub(crate) extensions: Vec<String>,
    pub(crate) claims: Claims,
    pub(crate) trace: Option<TraceContext>,
    /// Set if the agent declares a profile that reports steps.
    pub(crate) profile: bool,
}

/// Item for the caller.
enum Told {
    Event(Event),
    /// A snapshot all of whose missing events were returned.
    Whole(Task),
    Error(Error),
}

/// State of the follower.
enum Step {
    /// Waiting for the reply to a request.
    Asking(Question, BoxFuture<'static, Result<Reply, Error>>),
    /// Reading a stream.
    Hearing(Stream),
    /// Waiting before a request.
    Pausing(Pin<Box<Sleep>>, Question),
    /// Finished.
    Ended,
}

enum Question {
    /// Sends the message and expects a stream.
    Stream,
    /// Sends the message to an agent that does not stream.
    Send,
    /// Subscribes to the task.
    Subscribe,
    /// Reads the task; a stream waits meanwhile.
    Look(Option<Stream>),
    /// Reads the task once more before this final event is returned.
    Check(Event),
}

/// A stream of events, and its relation to the events returned so far.
struct Stream {
    updates: UpdateStream,
    footing: Footing,
    /// Set once the stream has had an event.
    has_events: bool,
    since: Instant,
    /// Timer after which silence ends the stream, or has the task read.
    patience: Option<Pin<Box<Sleep>>>,
}

#[derive(Clone, Copy)]
enum Footing {
    /// Every event is new.
    Firm,
    /// Resumed: the caller knows a part of the task, and the first event decides.
    Taken,
    /// A snapshot was read beside the stream and may contain events that the stream has yet to send:
    /// the number of such reads, and whether any had news.
    Beside { looks: u32, moved: bool },
}

impl Follower {
    pub(crate) fn of_message(
        transport: Retrying<Arc<dyn Transport>>,
        subject: Subject,
        streams: bool,
    ) -> Self {
        let known = match &subject.task {
            Some(_) => Known::default(),
            None => Known::from_the_beginning(),
        };
        let mut follower = Self::new(transport, subject, known);
        follower.polls = !streams;
        let question = match streams {
            true => Question::Stream,
            false => Question::Send,
        };
        follower.step = follower.ask(question);
        follower
    }

    /// Follows an existing task, from after an event if one is named.
    pub(crate) fn of_task(
        transport: Retrying<Arc<dyn Transport>>,
        subject: Subject,
        seen: Option<u64>,
        streams: bool,
    ) -> Self {
        let mut follower = Self::new(transport, subject, Known::default());
        (follower.place, follower.sequence, follower.polls) = (seen, seen, !streams);
        let question = match streams {
            true => Question::Subscribe,
            false => Question::Look(None),
        };
        follower.step = follower.ask(question);
        follower
    }

    fn new(transport: Retrying<Arc<dyn Transport>>, subject: Subject, known: Known) -> Self {
        Self {
            transport,
            profile: subject.profile.then(Profile::default),
            subject,
            known,
            told: VecDeque::new(),
            step: Step::Ended,
            sequence: None,
            place: None,
            polls: false,
            compared: false,
            failed: 0,
            fruitless: 0,
            refusal: None,
            quiet: 0,
            reconnections: 0,
            last_cut: None,
            limit: LIMIT,
        }
    }

    pub(crate) fn task(&self) -> Option<&Task> {
        self.known.task()
    }

    pub(crate) fn llm_responses(&self) -> Option<&LlmResponses> {
        self.profile.as_ref().map(|profile| &profile.responses)
    }

    /// Returns whether the follower has finished and every item was returned.
    pub(crate) fn is_ended(&self) -> bool {
        self.told.is_empty() && matches!(self.step, Step::Ended)
    }

    /// Stops following.
    pub(crate) fn end(&mut self) {
        self.told.clear();
        self.step = Step::Ended;
    }

    fn too_heavy(&mut self) -> Error {
        self.end();
        Error::TooLarge {
            what: "task",
            limit: self.limit,
        }
    }

    /// Waits until the first request is answered. Errors: the refusal of it.
    pub(crate) fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            if let Some(Told::Error(_)) = self.told.front()
                && let Some(Told::Error(error)) = self.told.pop_front()
            {
                return Poll::Ready(Err(error));
            }
            let begun =
                !self.told.is_empty() || matches!(self.step, Step::Hearing(_) | Step::Ended);
            if begun {
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_step(cx));
        }
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        loop {
            match self.told.pop_front() {
                Some(Told::Event(event)) => {
                    self.known.hear(&event);
                    let of_it = self.profile.as_mut();
                    if let Some(profile) = of_it.filter(|_| !self.known.is_of_another(&event)) {
                        profile.hear(&event);
                    }
                    let profile = self.profile.as_mut();
                    let is_heavy = self.known.is_heavier_than(self.limit)
                        || profile.is_some_and(|profile| profile.is_heavier_than(self.limit));
                    let item = match is_heavy {
                        false => Ok(event),
                        true => Err(self.too_heavy()),
                    };
                    return Poll::Ready(Some(item));
                }
                Some(Told::Whole(task)) => self.known.settle(task),
                Some(Told::Error(error)) => return Poll::Ready(Some(Err(error))),
                None if matches!(self.step, Step::Ended) => return Poll::Ready(None),
                None => ready!(self.poll_step(cx)),
            }
        }
    }

    /// Returns whether no more events are due. After a message was sent, none are once the task waits
    /// for the next message, though a renewed subscription stays open.
    fn is_over(&self) -> bool {
        let is_resumed = self.subject.message.is_some() && self.reconnections > 0;
        self.known.is_over() || is_resumed && self.known.waits()
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (step, ready) = match std::mem::replace(&mut self.step, Step::Ended) {
            Step::Asking(question, mut reply) => match reply.as_mut().poll(cx) {
                Poll::Ready(reply) => (self.answered(question, reply), true),
                Poll::Pending => (Step::Asking(question, reply), false),
            },
            Step::Pausing(mut pause, question) => match pause.as_mut().poll(cx) {
                Poll::Ready(()) => (self.ask_after(question, cx), true),
                Poll::Pending => (Step::Pausing(pause, question), false),
            },
            Step::Hearing(mut stream) => match stream.updates.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(update))) => {
                    stream.has_events = true;
                    self.fruitless = 0;
                    (self.came(update, stream), true)
                }
                Poll::Ready(Some(Err(error))) => (self.broke(Some(error), &stream), true),
                Poll::Ready(None) => (self.broke(None, &stream), true),
                Poll::Pending => match stream.is_out_of_patience(cx, self.is_over()) {
                    false => (Step::Hearing(stream), false),
                    true if self.is_over() => (Step::Ended, true),
                    true => (self.ask(Question::Look(Some(stream))), true),
                },
            },
            Step::Ended => (Step::Ended, true),
        };
        self.step = step;
        match ready {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Stream {
    fn new(updates: UpdateStream, footing: Footing) -> Self {
        Self {
            updates,
            footing,
            has_events: false,
            since: Instant::now(),
            patience: None,
        }
    }

    fn on(self, footing: Footing) -> Self {
        Self {
            footing,
            patience: None,
            ..self
        }
    }

    /// Returns whether a stream that was resumed, or that should have ended, has been silent for too
    /// long.
    fn is_out_of_patience(&mut self, cx: &mut Context<'_>, over: bool) -> bool {
        if !over && !matches!(self.footing, Footing::Taken) {
            return false;
        }
        let patience = self.patience.get_or_insert_with(|| after(PATIENCE));
        patience.as_mut().poll(cx).is_ready()
    }
}

fn after(period: Duration) -> Pin<Box<Sleep>> {
    Box::pin(sleep_until(Instant::now() + period))
}

/// Default limit on the bytes of memory of a task.
const LIMIT: usize = 128 << 20;

/// Longest silence of a stream that was just resumed or should have ended.
const PATIENCE: Duration = Duration::from_secs(1);

mod steps;
