//! How a task is followed whatever happens to the connection: a state machine.

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

/// What is followed, and where that is.
pub(crate) struct Follower {
    transport: Retrying<Arc<dyn Transport>>,
    subject: Subject,
    known: Known,
    /// What the agent means, and what its model said, if it declares the profile.
    profile: Option<Profile>,
    /// What to tell before anything else happens.
    told: VecDeque<Told>,
    step: Step,
    /// The generation of the last event that was told.
    pub(crate) generation: Option<u64>,
    /// Where the agent can go on: the last generation, if all before it was told and it counts.
    place: Option<u64>,
    /// The agent does not stream, or cannot take up a stream again.
    polls: bool,
    /// Something was told by comparing: the last word is checked against the task.
    compared: bool,
    /// How many attempts in a row have brought nothing.
    failed: u32,
    /// How many subscriptions in a row were refused, or ended before any event.
    fruitless: u32,
    /// Why the last of them brought nothing, until the task has been read.
    refusal: Option<Error>,
    /// How many times in a row a task that is polled was as before.
    quiet: u32,
    pub(crate) reconnections: u32,
    pub(crate) last_cut: Option<Error>,
    /// How much memory the task may take.
    pub(crate) limit: usize,
}

/// What is followed.
pub(crate) struct Subject {
    /// The message that it begins with, and what to ask with it.
    pub(crate) message: Option<SendMessageRequest>,
    /// The task, if it is one that is there.
    pub(crate) task: Option<TaskId>,
    pub(crate) tenant: Option<String>,
    pub(crate) extensions: Vec<String>,
    pub(crate) claims: Claims,
    pub(crate) trace: Option<TraceContext>,
    /// The agent declares a profile in which it tells steps.
    pub(crate) profile: bool,
}

/// What is next for the caller.
enum Told {
    Event(Event),
    /// All that was missing from this is told.
    Whole(Task),
    Error(Error),
}

/// What is under way.
enum Step {
    /// A question is asked.
    Asking(Question, BoxFuture<'static, Result<Reply, Error>>),
    /// Events come.
    Hearing(Stream),
    /// Time passes before a question.
    Pausing(Pin<Box<Sleep>>, Question),
    /// Nothing is to come.
    Ended,
}

enum Question {
    /// Sends the message, to hear a stream.
    Stream,
    /// Sends the message to an agent that does not stream.
    Send,
    /// Follows the task.
    Subscribe,
    /// Reads the task as it stands; a stream waits meanwhile.
    Look(Option<Stream>),
    /// Reads the task as it stands; then this is the last word.
    Check(Event),
}

/// A stream of events, and how it stands to what was told.
struct Stream {
    updates: UpdateStream,
    footing: Footing,
    /// An event has come by it.
    has_events: bool,
    since: Instant,
    /// When silence means something.
    patience: Option<Pin<Box<Sleep>>>,
}

#[derive(Clone, Copy)]
enum Footing {
    /// What comes is what comes next.
    Firm,
    /// It has just begun, for somebody who knows a part of the task.
    Taken,
    /// A snapshot came from beside the stream, which may hold what the stream has yet to tell: the
    /// number of times that this was so.
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

    /// Follows a task that is there, from after an event if one is named.
    pub(crate) fn of_task(
        transport: Retrying<Arc<dyn Transport>>,
        subject: Subject,
        seen: Option<u64>,
        streams: bool,
    ) -> Self {
        let mut follower = Self::new(transport, subject, Known::default());
        (follower.place, follower.generation, follower.polls) = (seen, seen, !streams);
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
            generation: None,
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

    /// Whether everything is told.
    pub(crate) fn is_ended(&self) -> bool {
        self.told.is_empty() && matches!(self.step, Step::Ended)
    }

    /// Gives up.
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

    /// Ready once the first question is answered: with the error if it is refused.
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

    /// Whether nothing more is to come: to a message that was sent nothing comes once the task waits
    /// for the next one, though the subscription by which it was followed again goes on.
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

    /// Whether a silence has lasted too long: of a stream that was taken up again, or that should
    /// have ended.
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

/// How much memory a task takes at most, unless its follower says otherwise.
const LIMIT: usize = 128 << 20;

/// How long a stream may be silent when it has just been taken up, or should have ended.
const PATIENCE: Duration = Duration::from_secs(1);

mod steps;
