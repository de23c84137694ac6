//! Transitions of a follower: after a reply, an event, or the end of a stream.

use super::*;

impl Follower {
    /// Sends a request.
    pub(super) fn ask(&self, question: Question) -> Step {
        let Some(request) = self.request(&question) else {
            return Step::Ended;
        };
        let mut call = Call::new(request);
        call.context.extensions.clone_from(&self.subject.extensions);
        call.context.claims.clone_from(&self.subject.claims);
        call.context.trace.clone_from(&self.subject.trace);
        if matches!(question, Question::Subscribe) {
            call.context.last_event_id = self.place;
        }
        // Requests other than sends are retried by the follower itself.
        let reply: BoxFuture<'static, _> = match question {
            Question::Stream | Question::Send => {
                let transport = self.transport.clone();
                Box::pin(async move { transport.call(call).await })
            }
            _ => {
                let transport = Arc::clone(self.transport.inner());
                Box::pin(async move { transport.call(call).await })
            }
        };
        Step::Asking(question, reply)
    }

    fn request(&self, question: &Question) -> Option<Request> {
        let message = self.subject.message.clone();
        let tenant = self.subject.tenant.clone();
        let task = self.known.task().map(|task| &task.id);
        let id = task.or(self.subject.task.as_ref()).cloned();
        Some(match question {
            Question::Stream => Request::SendStreamingMessage(message?),
            Question::Send => {
                let mut message = message?;
                let configuration = message.configuration.get_or_insert_default();
                configuration.return_immediately = true;
                Request::SendMessage(message)
            }
            Question::Subscribe => {
                Request::SubscribeToTask(SubscribeToTaskRequest { tenant, id: id? })
            }
            Question::Look(_) | Question::Check(_) => {
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
    pub(super) fn ask_after(&mut self, question: Question, cx: &mut Context<'_>) -> Step {
        let Question::Look(Some(mut stream)) = question else {
            return self.ask(question);
        };
        for _ in 0..MAX_READY {
            match stream.updates.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(update))) => self.keep_message(update.event.into_event()),
                Poll::Ready(Some(Err(_)) | None) => return self.ask(Question::Look(None)),
                Poll::Pending => break,
            }
        }
        self.ask(Question::Look(Some(stream)))
    }

    /// Keeps a message that came by a stream, since it need not be in the task.
    fn keep_message(&mut self, event: Event) {
        if matches!(event, Event::Message(_)) && self.known.holds(&event) == Held::No {
            self.told.push_back(Told::Event(event));
        }
    }

    pub(super) fn answered(&mut self, question: Question, reply: Result<Reply, Error>) -> Step {
        match (question, reply.map(|reply| reply.answer)) {
            (Question::Stream, Ok(Answer::Stream(updates))) => {
                Step::Hearing(Stream::new(updates, Footing::Firm))
            }
            (Question::Stream, Err(error)) => self.not_begun(error),
            (
                Question::Stream | Question::Send,
                Ok(Answer::Once(Response::SendMessage(response))),
            ) => self.sent(response),
            (Question::Subscribe, Ok(Answer::Stream(updates))) => self.subscribed(updates),
            (Question::Subscribe, Err(error)) => self.not_subscribed(error),
            (Question::Look(stream), Ok(Answer::Once(Response::GetTask(task)))) => {
                self.looked(task, stream)
            }
            (Question::Look(stream), Err(error)) if is_cut(&error) => {
                self.again(error, Question::Look(stream))
            }
            (Question::Check(last), Ok(Answer::Once(Response::GetTask(task)))) => {
                self.compare(task);
                if !matches!(self.told.back(), Some(Told::Whole(task)) if task.status.state.is_terminal())
                {
                    self.told.push_back(Told::Event(last));
                }
                Step::Ended
            }
            (Question::Check(last), Err(error)) if is_cut(&error) && self.may_go_on() => {
                self.again(error, Question::Check(last))
            }
            // The event is final even if the task cannot be read.
            (Question::Check(last), Err(_)) => {
                self.told.push_back(Told::Event(last));
                Step::Ended
            }
            (_, Err(error)) => self.fail(error),
            (_, Ok(_)) => self.fail(Error::NotA2a {
                status: 200,
                problem: "the agent answered with the result of another operation".to_owned(),
            }),
        }
    }

    /// Handles a refused streaming request: falls back to a plain send if the agent does not stream.
    fn not_begun(&mut self, error: Error) -> Step {
        if self.follows() && lacks_operation(&error) {
            self.polls = true;
            return self.ask(Question::Send);
        }
        self.fail(error)
    }

    fn sent(&mut self, response: SendMessageResponse) -> Step {
        match response {
            SendMessageResponse::Message(message) => {
                self.told.push_back(Told::Event(Event::Message(message)));
                Step::Ended
            }
            SendMessageResponse::Task(task) => {
                self.polls = true;
                let waits = task.status.state.ends_stream();
                self.subject.task = Some(task.id.clone());
                self.told.push_back(Told::Event(Event::Task(task)));
                match waits {
                    true => Step::Ended,
                    false => self.poll_later(true),
                }
            }
        }
    }

    fn subscribed(&mut self, updates: UpdateStream) -> Step {
        let begins = self.known.task().is_none();
        if !begins {
            self.reconnections += 1;
            metric::RECONNECTIONS.count([]);
        }
        // A caller that names an event but has no task wants only what follows that event.
        let firm = begins && (self.place.is_some() || !self.follows());
        let footing = match firm {
            true => Footing::Firm,
            false => Footing::Taken,
        };
        Step::Hearing(Stream::new(updates, footing))
    }

    /// Handles a refused subscription.
    fn not_subscribed(&mut self, error: Error) -> Step {
        if self.follows() && is_cut(&error) {
            return self.again(error, Question::Subscribe);
        }
        self.fruitless(error)
    }

    /// Handles a subscription that was refused, by any error, or ended before any event. Agents do so
    /// for a task that has ended, so the task is read to decide.
    fn fruitless(&mut self, error: Error) -> Step {
        let refused = matches!(error, Error::Agent(_) | Error::NotA2a { .. });
        if !self.follows() || !(refused || is_cut(&error) || lacks_operation(&error)) {
            return self.fail(error);
        }
        self.fruitless += 1;
        // After the second in a row, assume that the task goes on without a stream.
        self.polls |= lacks_operation(&error) || self.fruitless > 1;
        self.refusal = Some(error);
        self.ask(Question::Look(None))
    }

    fn looked(&mut self, task: Task, stream: Option<Stream>) -> Step {
        let begins = self.known.task().is_none();
        let waits = task.status.state.ends_stream();
        let over = task.status.state.is_terminal() || waits && (self.polls || stream.is_none());
        let refusal = self.refusal.take();
        let moved = self.compare(task);
        if self.polls {
            self.failed = 0;
        }
        match stream {
            _ if over => Step::Ended,
            Some(stream) => {
                let (looks, moved) = match stream.footing {
                    Footing::Beside {
                        looks,
                        moved: before,
                    } => (looks + 1, moved || before),
                    _ => (0, moved),
                };
                self.compared |= moved && !begins;
                Step::Hearing(stream.on(Footing::Beside { looks, moved }))
            }
            None if self.polls => self.poll_later(moved),
            None if moved => self.pause(Question::Subscribe, None),
            // No news since the stream.
            None => self.again(refusal.unwrap_or(Error::Unfinished), Question::Subscribe),
        }
    }

    /// Queues the events that a snapshot has beyond those returned. Returns whether there are any.
    fn compare(&mut self, snapshot: Task) -> bool {
        let missing = self.known.missing(&snapshot);
        let moved = !missing.is_empty();
        if moved {
            // The sequence number of a snapshot is unknown.
            (self.place, self.failed) = (None, 0);
        }
        self.told.extend(missing.into_iter().map(Told::Event));
        self.told.push_back(Told::Whole(snapshot));
        moved
    }

    /// Reads an event of a stream by the agent's own profile, if it declares one.
    pub(super) fn came(&mut self, update: Update, stream: Stream) -> Step {
        let sequence = update.sequence;
        let event = update.event.into_event();
        let Some(profile) = &mut self.profile else {
            return self.heard(event, sequence, stream);
        };
        if self.known.is_of_another(&event) {
            return self.heard(event, sequence, stream);
        }
        profile.answered |= matches!(event, Event::Message(_));
        match profile.reader.read(event) {
            Some(event) => self.heard(event, sequence, stream),
            None => Step::Hearing(stream),
        }
    }

    fn heard(&mut self, event: Event, sequence: Option<u64>, stream: Stream) -> Step {
        let next = match (self.place, sequence) {
            (Some(place), Some(sequence)) => place.checked_add(1) == Some(sequence),
            _ => false,
        };
        match (stream.footing, event) {
            (Footing::Firm, event) => self.tell(event, sequence, stream),
            (Footing::Taken, Event::Task(task)) => {
                self.compare(task);
                (self.place, self.sequence) = (sequence, sequence.or(self.sequence));
                Step::Hearing(stream.on(Footing::Firm))
            }
            (Footing::Taken | Footing::Beside { moved: false, .. }, event) if next => {
                self.tell(event, sequence, stream)
            }
            // The last event, repeated.
            (_, _) if sequence.is_some() && sequence == self.place => Step::Hearing(stream),
            (Footing::Taken, event) => {
                self.keep_message(event);
                self.pause_for(Duration::ZERO, Question::Look(Some(stream)))
            }
            (Footing::Beside { looks, .. }, event) => match self.known.holds(&event) {
                Held::Yes => Step::Hearing(stream),
                Held::No => self.tell(event, sequence, stream),
                Held::Perhaps => {
                    let pause = LOOK.saturating_mul(1 << looks.min(4));
                    self.pause_for(pause, Question::Look(Some(stream)))
                }
            },
        }
    }

    /// Queues the next event.
    fn tell(&mut self, event: Event, sequence: Option<u64>, stream: Stream) -> Step {
        let counts = match (self.place, sequence) {
            (Some(place), Some(sequence)) => sequence > place || matches!(event, Event::Task(_)),
            _ => true,
        };
        self.failed = 0;
        if sequence.is_some() {
            // Numbers that do not grow are no positions in a log.
            self.place = sequence.filter(|_| counts);
            self.sequence = sequence;
        }
        let ends = event
            .status()
            .is_some_and(|status| status.state.is_terminal());
        if ends && self.compared {
            return self.ask(Question::Check(event));
        }
        self.told.push_back(Told::Event(event));
        Step::Hearing(stream.on(Footing::Firm))
    }

    /// Handles the end of a stream, normal or with an error.
    pub(super) fn broke(&mut self, error: Option<Error>, stream: &Stream) -> Step {
        let ended = matches!(error, None | Some(Error::Unfinished));
        let nothing = self.known.task().is_none();
        let answered = self
            .profile
            .as_ref()
            .is_some_and(|profile| profile.answered);
        if self.known.is_over() || error.is_none() && (self.known.may_end() || answered) {
            return Step::Ended;
        }
        if !self.follows() {
            return error.map_or(Step::Ended, |error| self.fail(error));
        }
        let error = error.unwrap_or(Error::Unfinished);
        if matches!(error, Error::TooLarge { .. }) {
            return self.too_large_to_stream(error);
        }
        if nothing && self.subject.message.is_some() {
            return self.not_heard(error);
        }
        let lasted = stream.since.elapsed() > LASTED;
        if !stream.has_events && (nothing || !lasted) {
            return self.fruitless(error);
        }
        if !is_cut(&error) {
            return self.fail(error);
        }
        if lasted {
            self.failed = 0;
        }
        if ended && !lasted && !matches!(stream.footing, Footing::Firm) {
            // An agent that accepts a subscription and ends it at once has nothing to send.
            self.polls = true;
            return self.ask(Question::Look(None));
        }
        self.again(error, Question::Subscribe)
    }

    /// Switches to polling after an event above the size limit of events: its content is in the task,
    /// whose limit is another. Every new stream might begin with an event as large.
    fn too_large_to_stream(&mut self, error: Error) -> Step {
        let look = Question::Look(None);
        if self.request(&look).is_none() {
            return self.fail(error);
        }
        self.polls = true;
        self.last_cut = Some(error);
        self.ask(look)
    }

    /// Handles a stream that broke before any event: it is unknown whether the agent received the
    /// message.
    fn not_heard(&mut self, error: Error) -> Step {
        if lacks_operation(&error) {
            return self.not_begun(error);
        }
        let again = self.subject.message.clone().is_some_and(|message| {
            let request = Request::SendStreamingMessage(message);
            nothing_was_done(&error)
                || is_cut(&error) && cannot_be_done_twice(&request, self.transport.retries())
        });
        match again {
            true => self.again(error, Question::Stream),
            false => self.fail(error),
        }
    }

    /// Retries after a pause, unless too many attempts in a row made no progress.
    fn again(&mut self, error: Error, question: Question) -> Step {
        if !self.may_go_on() {
            return match self.known.waits() {
                // Every event that was due has been returned.
                true => Step::Ended,
                false => self.fail(error),
            };
        }
        self.failed += 1;
        tracing::debug!(%error, failed = self.failed, "following a task again");
        let told = retry_after(&error);
        self.last_cut = Some(error);
        self.pause(question, told)
    }

    fn may_go_on(&self) -> bool {
        self.failed < self.transport.retries().most_reconnections()
    }

    /// Returns whether broken streams are resumed.
    fn follows(&self) -> bool {
        self.transport.retries().most_reconnections() > 0
    }

    fn fail(&mut self, error: Error) -> Step {
        self.told.push_back(Told::Error(error));
        Step::Ended
    }

    fn pause(&self, question: Question, told: Option<Duration>) -> Step {
        let pause = self.transport.retries().pause(self.failed.max(1), told);
        self.pause_for(pause, question)
    }

    fn pause_for(&self, pause: Duration, question: Question) -> Step {
        Step::Pausing(after(pause), question)
    }

    /// Polls the task after a pause, which grows while nothing happens.
    fn poll_later(&mut self, moved: bool) -> Step {
        self.quiet = match moved {
            true => 0,
            false => self.quiet + 1,
        };
        let pause = POLL.saturating_mul(1 << self.quiet.min(4)).min(POLL_MOST);
        self.pause_for(pause, Question::Look(None))
    }
}

/// A stream that has lasted this long counts as a success even without events.
const LASTED: Duration = Duration::from_secs(10);

/// Number of buffered events read from a stream before the task is read.
const MAX_READY: usize = 1000;

/// Pause before a task is read again to resolve an event that may be in it already; doubled each time,
/// up to sixteenfold.
const LOOK: Duration = Duration::from_millis(16);

/// Pause between polls of a task; doubled while nothing happens.
const POLL: Duration = Duration::from_millis(500);

/// Longest pause between polls.
const POLL_MOST: Duration = Duration::from_secs(5);
