//! Transitions of a follower: after a reply, an event, or the end of a stream.

use a2a_transport::Phase;
use tokio::time::timeout;

use super::*;

impl Follower {
    /// Sends a request.
    pub(super) fn request(&self, purpose: Purpose) -> FollowState {
        let Some(request) = self.build_request(&purpose) else {
            return FollowState::Ended;
        };
        let context = self.subject.context.clone();
        let mut call = CallRequest { request, context };
        if matches!(purpose, Purpose::Subscribe) {
            call.context.last_event_id = self.resume_after;
        }
        // Requests other than sends are retried by the follower itself.
        let reply: BoxFuture<'static, _> = match purpose {
            Purpose::Stream | Purpose::Send => {
                let transport = self.transport.clone();
                Box::pin(async move { transport.call(call).await })
            }
            Purpose::ReadAnswer(_) => {
                let transport = Arc::clone(self.transport.inner());
                let limit = MAX_ANSWER_WAIT;
                Box::pin(async move {
                    let read = timeout(limit, transport.call(call)).await;
                    let phase = Phase::FirstByte;
                    read.unwrap_or(Err(Error::Timeout { phase, limit }))
                })
            }
            _ => {
                let transport = Arc::clone(self.transport.inner());
                Box::pin(async move { transport.call(call).await })
            }
        };
        FollowState::AwaitingReply(purpose, reply)
    }

    fn build_request(&self, purpose: &Purpose) -> Option<Request> {
        let message = self.subject.message.clone();
        let tenant = self.subject.tenant.clone();
        let task = self.mirror.task().map(|task| &task.id);
        let id = task.or(self.subject.task.as_ref()).cloned();
        Some(match purpose {
            Purpose::Stream => Request::SendStreamingMessage(message?),
            Purpose::Send => {
                let mut message = message?;
                let configuration = message.configuration.get_or_insert_default();
                configuration.return_immediately = true;
                Request::SendMessage(message)
            }
            Purpose::Subscribe => {
                Request::SubscribeToTask(SubscribeToTaskRequest { tenant, id: id? })
            }
            Purpose::ReadTask(_) | Purpose::ConfirmEnd(_) | Purpose::ReadAnswer(_) => {
                let configuration = message.and_then(|message| message.configuration);
                Request::GetTask(GetTaskRequest {
                    tenant,
                    id: id?,
                    history_length: configuration.and_then(|wanted| wanted.history_length),
                })
            }
        })
    }

    /// Sends a request after a pause. Events that the stream has sent meanwhile are in the task that is
    /// read now, because agents publish only what they have stored.
    pub(super) fn resume(&mut self, purpose: Purpose, cx: &mut Context<'_>) -> FollowState {
        let Purpose::ReadTask(Some(mut stream)) = purpose else {
            return self.request(purpose);
        };
        for _ in 0..MAX_READY {
            match stream.updates.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(update))) => self.keep_message(update.event.into_event()),
                Poll::Ready(Some(Err(_)) | None) => return self.request(Purpose::ReadTask(None)),
                Poll::Pending => break,
            }
        }
        self.request(Purpose::ReadTask(Some(stream)))
    }

    /// Keeps a message that came by a stream, since it need not be in the task.
    fn keep_message(&mut self, event: Event) {
        if matches!(event, Event::Message(_)) && self.mirror.contains(&event) == Containment::No {
            self.queue.push_back(Output::Event(event));
        }
    }

    pub(super) fn on_reply(
        &mut self,
        purpose: Purpose,
        reply: Result<CallResponse, Error>,
    ) -> FollowState {
        match (purpose, reply.map(|reply| reply.answer)) {
            (Purpose::Stream, Ok(ResponseBody::Stream(updates))) => {
                FollowState::Streaming(Stream::new(updates, Position::InOrder))
            }
            (Purpose::Stream, Err(error)) => self.on_stream_error(error),
            (
                Purpose::Stream | Purpose::Send,
                Ok(ResponseBody::Once(Response::SendMessage(response))),
            ) => self.on_sent(response),
            (Purpose::Subscribe, Ok(ResponseBody::Stream(updates))) => self.on_subscribed(updates),
            (Purpose::Subscribe, Err(error)) => self.on_subscribe_error(error),
            (Purpose::ReadTask(stream), Ok(ResponseBody::Once(Response::GetTask(task)))) => {
                self.on_snapshot(task, stream)
            }
            (Purpose::ReadTask(stream), Err(error)) if is_cut(&error) => {
                self.retry(error, Purpose::ReadTask(stream))
            }
            (
                Purpose::ConfirmEnd(last) | Purpose::ReadAnswer(last),
                Ok(ResponseBody::Once(Response::GetTask(task))),
            ) => {
                self.compare(task);
                if !matches!(self.queue.back(), Some(Output::Snapshot(task)) if task.status.state.is_terminal())
                {
                    self.queue.push_back(Output::Event(last));
                }
                FollowState::Ended
            }
            (Purpose::ConfirmEnd(last), Err(error)) if is_cut(&error) && self.may_go_on() => {
                self.retry(error, Purpose::ConfirmEnd(last))
            }
            // The event is final even if the task cannot be read.
            (Purpose::ConfirmEnd(last), Err(_)) | (Purpose::ReadAnswer(last), _) => {
                self.queue.push_back(Output::Event(last));
                FollowState::Ended
            }
            // Some agents forget a task at its end.
            (Purpose::ReadTask(_), Err(Error::Agent(_))) if self.mirror.is_unknown() => {
                FollowState::Ended
            }
            (_, Err(error)) => self.fail(error),
            (_, Ok(_)) => self.fail(Error::NotA2a {
                status: 200,
                problem: "the agent answered with the result of another operation".to_owned(),
            }),
        }
    }

    /// Handles a refused streaming request: falls back to a plain send if the agent does not stream.
    fn on_stream_error(&mut self, error: Error) -> FollowState {
        if self.follows() && lacks_operation(&error) {
            self.polls = true;
            return self.request(Purpose::Send);
        }
        self.fail(error)
    }

    fn on_sent(&mut self, response: SendMessageResponse) -> FollowState {
        match response {
            SendMessageResponse::Message(message) => {
                self.queue.push_back(Output::Event(Event::Message(message)));
                FollowState::Ended
            }
            SendMessageResponse::Task(task) => {
                self.polls = true;
                let waits = task.status.state.ends_stream();
                self.subject.task = Some(task.id.clone());
                self.queue.push_back(Output::Event(Event::Task(task)));
                match waits {
                    true => FollowState::Ended,
                    false => self.poll_later(true),
                }
            }
        }
    }

    fn on_subscribed(&mut self, updates: UpdateStream) -> FollowState {
        let begins = self.mirror.task().is_none();
        if !begins {
            self.reconnections += 1;
            metric::RECONNECTIONS.count([]);
        }
        // A caller that names an event but has no task wants only what follows that event.
        let firm = begins && (self.resume_after.is_some() || !self.follows());
        let position = match firm {
            true => Position::InOrder,
            false => Position::Resumed,
        };
        FollowState::Streaming(Stream::new(updates, position))
    }

    /// Handles a refused subscription.
    fn on_subscribe_error(&mut self, error: Error) -> FollowState {
        if self.follows() && is_cut(&error) {
            return self.retry(error, Purpose::Subscribe);
        }
        self.on_fruitless_subscription(error)
    }

    /// Handles a subscription that was refused, by any error, or ended before any event. Agents do so
    /// for a task that has ended, so the task is read to decide.
    fn on_fruitless_subscription(&mut self, error: Error) -> FollowState {
        let refused = matches!(error, Error::Agent(_) | Error::NotA2a { .. });
        if !self.follows() || !(refused || is_cut(&error) || lacks_operation(&error)) {
            return self.fail(error);
        }
        self.fruitless += 1;
        // After several in a row, assume that the task goes on without a stream.
        let most = match error {
            Error::Connection(_) => MAX_BROKEN,
            _ => 1,
        };
        self.polls |= lacks_operation(&error) || self.fruitless > most;
        self.refusal = Some(error);
        self.request(Purpose::ReadTask(None))
    }

    fn on_snapshot(&mut self, task: Task, stream: Option<Stream>) -> FollowState {
        let begins = self.mirror.task().is_none();
        let waits = task.status.state.ends_stream();
        let over = task.status.state.is_terminal() || waits && (self.polls || stream.is_none());
        let refusal = self.refusal.take();
        let changed = self.compare(task);
        if self.polls {
            self.failures = 0;
        }
        match stream {
            _ if over => FollowState::Ended,
            Some(stream) => {
                let (reads, changed) = match stream.position {
                    Position::AfterSnapshot {
                        reads,
                        changed: before,
                    } => (reads + 1, changed || before),
                    _ => (0, changed),
                };
                self.compared |= changed && !begins;
                FollowState::Streaming(stream.on(Position::AfterSnapshot { reads, changed }))
            }
            None if self.polls => {
                let again = self.poll_later(changed);
                match self.mirror.is_unknown() && self.unchanged_polls > MAX_UNKNOWN_POLLS {
                    true => FollowState::Ended,
                    false => again,
                }
            }
            None if changed => self.pause(Purpose::Subscribe, None),
            // No news since the stream.
            None => self.retry(refusal.unwrap_or(Error::Unfinished), Purpose::Subscribe),
        }
    }

    /// Queues the events that a snapshot has beyond those returned. Returns whether there are any.
    fn compare(&mut self, snapshot: Task) -> bool {
        let events = self.mirror.diff(&snapshot);
        let changed = !events.is_empty();
        if changed {
            // The sequence number of a snapshot is unknown.
            (self.resume_after, self.sequence, self.failures) = (None, None, 0);
        }
        self.queue.extend(events.into_iter().map(Output::Event));
        self.queue.push_back(Output::Snapshot(snapshot));
        changed
    }

    /// Reads an event of a stream by the agent's own profile, if it declares one.
    pub(super) fn on_update(&mut self, update: Update, stream: Stream) -> FollowState {
        let sequence = update.sequence;
        let event = update.event.into_event();
        let Some(profile) = &mut self.profile else {
            return self.on_event(event, sequence, stream);
        };
        if self.mirror.is_of_another(&event) {
            return self.on_event(event, sequence, stream);
        }
        profile.answered |= matches!(event, Event::Message(_));
        match profile.reader.read(event) {
            Some(event) => self.on_event(event, sequence, stream),
            None => FollowState::Streaming(stream),
        }
    }

    fn on_event(&mut self, event: Event, sequence: Option<u64>, stream: Stream) -> FollowState {
        if let Some(withheld) = self.withheld.take() {
            // The stream continues after this event.
            self.mirror.apply(&withheld);
            self.queue.push_back(Output::Told(withheld));
        }
        let next = match (self.resume_after, sequence) {
            (Some(place), Some(sequence)) => place.checked_add(1) == Some(sequence),
            _ => false,
        };
        match (stream.position, event) {
            (Position::InOrder, Event::Task(task)) if self.mirror.knows(&task) => {
                // Some agents send the whole task again; only the differences are returned.
                self.compare(task);
                self.failures = 0;
                (self.resume_after, self.sequence) = (sequence, sequence.or(self.sequence));
                FollowState::Streaming(stream)
            }
            (Position::InOrder, event) => self.queue_event(event, sequence, stream),
            (Position::Resumed, Event::Task(task)) => {
                self.compare(task);
                (self.resume_after, self.sequence) = (sequence, sequence.or(self.sequence));
                FollowState::Streaming(stream.on(Position::InOrder))
            }
            (Position::Resumed | Position::AfterSnapshot { changed: false, .. }, event) if next => {
                self.queue_event(event, sequence, stream)
            }
            // The last event, repeated.
            (_, _) if sequence.is_some() && sequence == self.resume_after => {
                FollowState::Streaming(stream)
            }
            (Position::Resumed, event) => {
                self.keep_message(event);
                self.pause_for(Duration::ZERO, Purpose::ReadTask(Some(stream)))
            }
            (Position::AfterSnapshot { reads, .. }, event) => match self.mirror.contains(&event) {
                Containment::Yes => FollowState::Streaming(stream),
                Containment::No => self.queue_event(event, sequence, stream),
                Containment::Maybe => {
                    let pause = READ_INTERVAL.saturating_mul(1 << reads.min(4));
                    self.pause_for(pause, Purpose::ReadTask(Some(stream)))
                }
            },
        }
    }

    /// Queues the next event.
    fn queue_event(&mut self, event: Event, sequence: Option<u64>, stream: Stream) -> FollowState {
        let counts = match (self.resume_after, sequence) {
            (Some(place), Some(sequence)) => sequence > place || matches!(event, Event::Task(_)),
            _ => true,
        };
        self.failures = 0;
        if sequence.is_some() {
            // Numbers that do not grow are not positions in a log.
            self.resume_after = sequence.filter(|_| counts);
            self.sequence = sequence;
        }
        let ends = event
            .status()
            .is_some_and(|status| status.state.is_terminal());
        if ends && self.compared {
            return self.request(Purpose::ConfirmEnd(event));
        }
        if self.lacks_answer(&event) {
            self.withheld = Some(event);
            return FollowState::Streaming(stream.on(Position::InOrder));
        }
        self.queue.push_back(Output::Event(event));
        FollowState::Streaming(stream.on(Position::InOrder))
    }

    /// Ends; if the stream had only states, the task is read first.
    pub(super) fn end_of_stream(&mut self) -> FollowState {
        match self.withheld.take() {
            Some(last) => self.request(Purpose::ReadAnswer(last)),
            None => FollowState::Ended,
        }
    }

    /// Returns whether an event ends a task whose stream had no part of an answer.
    fn lacks_answer(&self, event: &Event) -> bool {
        let is_sent = self.subject.message.is_some() && self.follows();
        is_sent && self.profile.is_none() && self.mirror.lacks_answer(event)
    }

    /// Handles the end of a stream, normal or with an error.
    pub(super) fn on_stream_end(&mut self, error: Option<Error>, stream: &Stream) -> FollowState {
        let ended = matches!(error, None | Some(Error::Unfinished));
        let nothing = self.mirror.task().is_none();
        let answered = self
            .profile
            .as_ref()
            .is_some_and(|profile| profile.answered);
        if self.withheld.is_some()
            || self.mirror.is_over()
            || error.is_none() && (self.mirror.may_end() || answered)
        {
            return self.end_of_stream();
        }
        if !self.follows() {
            return error.map_or(FollowState::Ended, |error| self.fail(error));
        }
        let error = error.unwrap_or(Error::Unfinished);
        if matches!(error, Error::TooLarge { .. }) {
            return self.too_large_to_stream(error);
        }
        if nothing && self.subject.message.is_some() {
            return self.on_unconfirmed_send(error);
        }
        let is_stable = stream.since.elapsed() > STABLE_AFTER;
        if !stream.has_events && (nothing || !is_stable) {
            return self.on_fruitless_subscription(error);
        }
        if !is_cut(&error) {
            return self.fail(error);
        }
        if is_stable {
            self.failures = 0;
        }
        if ended && !is_stable && !matches!(stream.position, Position::InOrder) {
            // An agent that accepts a subscription and ends it at once has nothing to send.
            self.polls = true;
            return self.request(Purpose::ReadTask(None));
        }
        self.retry(error, Purpose::Subscribe)
    }

    /// Switches to polling after an event above the size limit of events: the task, which has a
    /// separate limit, has its content. A new stream might begin with an equally large event.
    fn too_large_to_stream(&mut self, error: Error) -> FollowState {
        let purpose = Purpose::ReadTask(None);
        if self.build_request(&purpose).is_none() {
            return self.fail(error);
        }
        self.polls = true;
        self.last_disconnect_error = Some(error);
        self.request(purpose)
    }

    /// Handles a stream that broke before any event: it is unknown whether the agent received the
    /// message.
    fn on_unconfirmed_send(&mut self, error: Error) -> FollowState {
        if lacks_operation(&error) {
            return self.on_stream_error(error);
        }
        let again = self.subject.message.clone().is_some_and(|message| {
            let request = Request::SendStreamingMessage(message);
            nothing_was_done(&error)
                || is_cut(&error) && cannot_be_done_twice(&request, self.transport.retries())
        });
        match again {
            true => self.retry(error, Purpose::Stream),
            false => self.fail(error),
        }
    }

    /// Retries after a pause, unless too many attempts in a row made no progress.
    fn retry(&mut self, error: Error, purpose: Purpose) -> FollowState {
        if !self.may_go_on() {
            return match self.mirror.waits() || self.mirror.is_unknown() {
                // Every event that was due has been returned.
                true => FollowState::Ended,
                false => self.fail(error),
            };
        }
        self.failures += 1;
        tracing::debug!(%error, failures = self.failures, "resuming the stream of a task");
        let retry_after = retry_after(&error);
        self.last_disconnect_error = Some(error);
        self.pause(purpose, retry_after)
    }

    fn may_go_on(&self) -> bool {
        self.failures < self.transport.retries().most_reconnections()
    }

    /// Returns whether broken streams are resumed.
    fn follows(&self) -> bool {
        self.transport.retries().most_reconnections() > 0
    }

    fn fail(&mut self, error: Error) -> FollowState {
        self.queue.push_back(Output::Error(error));
        FollowState::Ended
    }

    fn pause(&self, purpose: Purpose, retry_after: Option<Duration>) -> FollowState {
        let pause = self
            .transport
            .retries()
            .pause(self.failures.max(1), retry_after);
        self.pause_for(pause, purpose)
    }

    fn pause_for(&self, pause: Duration, purpose: Purpose) -> FollowState {
        FollowState::BackingOff(after(pause), purpose)
    }

    /// Polls the task after a pause, which grows while nothing happens.
    fn poll_later(&mut self, changed: bool) -> FollowState {
        self.unchanged_polls = match changed {
            true => 0,
            false => self.unchanged_polls + 1,
        };
        let pause = POLL_INTERVAL
            .saturating_mul(1 << self.unchanged_polls.min(4))
            .min(MAX_POLL_INTERVAL);
        self.pause_for(pause, Purpose::ReadTask(None))
    }
}

/// A stream that has lasted this long counts as a success even without events.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// Number of streams in a row whose connections may break before any event until the task is polled. A broken
/// connection says less about the agent than a refusal, of which two are enough.
const MAX_BROKEN: u32 = 8;

/// Number of buffered events read from a stream before the task is read.
const MAX_READY: usize = 1000;

/// Pause before a task is read again to resolve an event that may be in it already; doubled each time,
/// up to sixteenfold.
const READ_INTERVAL: Duration = Duration::from_millis(16);

/// Pause between polls of a task; doubled while nothing happens.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Polls that find a state that the version does not have, and no change, until the task counts as ended.
const MAX_UNKNOWN_POLLS: u32 = 2;

/// Time in which an agent must return a task after it has reported the end of that task.
const MAX_ANSWER_WAIT: Duration = Duration::from_secs(2);

/// Longest pause between polls.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(5);
