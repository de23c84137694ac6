//! Admission of messages: to a new task, an idle one, or one that is being worked on.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use a2a_types::{
    Error as A2aError, ErrorKind, Message, ProtocolVersion, TaskPushNotificationConfig, TaskState,
};
use futures_util::FutureExt;
use tokio::time::Instant;

use crate::engine::Engine;
use crate::engine::active_tasks::QueueRefusal;
use crate::engine::limiter::TurnPermit;
use crate::engine::new_task::{new_task, with_id};
use crate::engine::outcome::{Accepted, LogPosition, Outcome};
use crate::engine::pending_message::PendingMessage;
use crate::engine::received_messages::{known, reserve};
use crate::engine::remote_tasks::{PostOutcome, deliver};
use crate::engine::task_run::TaskRun;
use crate::engine::task_writer::TaskWriter;
use crate::engine::turn_end::woken;
use crate::engine::update::UpdateError;
use crate::store::{IdempotencyKey, Orphan, Owner, Snapshot, StoreError};

/// A message that the agent has been given, for the caller that sent it.
pub(crate) struct Admission {
    pub(crate) accepted: Accepted,
    /// Snapshot of the task for a caller that follows it; a caller that sends the message again reads the
    /// task itself.
    pub(crate) snapshot: Option<Snapshot>,
    /// Receipt of the message, if another server may get it too.
    pub(crate) receipt: Option<IdempotencyKey>,
}

impl Admission {
    fn without_snapshot(accepted: Accepted) -> Self {
        Self {
            accepted,
            snapshot: None,
            receipt: None,
        }
    }
}

/// Outcome of giving a message to a task that exists.
enum AdmissionOutcome {
    Admitted(Admission),
    /// Another message was faster: the task has to be read again.
    TooLate(Arc<PendingMessage>),
    /// Another server works on the task, whose log ended at this sequence number.
    Elsewhere(Arc<PendingMessage>, LogPosition),
}

impl Engine {
    /// Gives a message to the agent, unless the agent has it already. Work that has begun is finished even
    /// if the caller disconnects.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        mut pending: Arc<PendingMessage>,
        is_followed: bool,
    ) -> Result<Admission, A2aError> {
        self.check_open()?;
        let in_flight = match pending.is_recognised() {
            true => self
                .in_flight_sends
                .open(&pending.request, &pending.context)?,
            false => None,
        };
        let held = self.limiter.hold(pending.size())?;
        let only = Arc::make_mut(&mut pending);
        only.in_flight.clone_from(&in_flight);
        only.held = Some(Arc::new(held));
        let engine = Arc::clone(self);
        let accepted = to_its_end(async move {
            let Some(in_flight) = in_flight else {
                return engine.admit(pending, is_followed).await;
            };
            let mut snapshot = None;
            let admit = async || {
                let admitted = engine.admit(pending, is_followed).await?;
                snapshot = admitted.snapshot;
                Ok::<_, A2aError>(admitted.accepted)
            };
            let accepted = in_flight.accepted.get_or_try_init(admit).await?.clone();
            let is_shared = engine.store_handle.is_shared();
            Ok(Admission {
                accepted,
                snapshot,
                receipt: is_shared.then(|| in_flight.receipt()),
            })
        });
        accepted
            .await
            .unwrap_or_else(|| Err(ErrorKind::Internal.into()))
    }

    /// No more messages are taken once the server closes.
    fn check_open(&self) -> Result<(), A2aError> {
        match self.closing.is_cancelled() {
            true => {
                let text = "this agent is shutting down; try again later";
                Err(A2aError::new(ErrorKind::Unavailable, text))
            }
            false => Ok(()),
        }
    }

    /// Waits until a turn may begin.
    async fn enter(&self, owner: &Owner) -> Result<TurnPermit, A2aError> {
        let permit = self.limiter.enter(owner).await?;
        // The server may have closed meanwhile: then nothing would stop the turn.
        self.check_open()?;
        Ok(permit)
    }

    /// Gives a message to the agent: for a new task, an idle one, or one that is being worked on.
    async fn admit(
        self: &Arc<Self>,
        mut pending: Arc<PendingMessage>,
        is_followed: bool,
    ) -> Result<Admission, A2aError> {
        if let Some(in_flight) = &pending.in_flight
            && let Some(known) = known(self, in_flight, &pending).await?
        {
            return Ok(Admission::without_snapshot(known));
        }
        let owner = Owner::of(&pending.context);
        let task = pending.request.message.task_id.as_ref();
        if let Some(id) = task
            && self.find(id, &owner).await?.is_some()
        {
            let receipt = pending.receipt();
            return Box::pin(self.continue_task(pending, receipt, is_followed)).await;
        }
        if task.is_some() && !pending.may_name_new_task() {
            return Err(ErrorKind::TaskNotFound.into());
        }
        if let Some(in_flight) = &pending.in_flight
            && let Some(known) = reserve(self, in_flight, &pending).await?
        {
            return Ok(Admission::without_snapshot(known));
        }
        let permit = self.enter(&owner).await?;
        let config = pending.request.configuration.as_ref();
        let config = config.and_then(|given| given.task_push_notification_config.clone());
        let named = pending.request.message.context_id.clone();
        let message = std::mem::take(&mut Arc::make_mut(&mut pending).request.message);
        let (new, message) = new_task(
            message,
            &pending.context,
            config.map(|config| with_id(*config, &pending.context)),
            pending.receipt(),
            &self.store_handle,
        );
        let snapshot = is_followed.then(|| new.snapshot());
        let writer = Arc::new(TaskWriter::for_new(
            Arc::clone(&self.store_handle),
            owner,
            new,
        ));
        let run = match TaskRun::claim(&self.active, &writer) {
            Ok(run) => run,
            Err(busy) => {
                // Of two concurrent first messages to a task that its caller names, the second
                // finds the task begun.
                Box::pin(busy.open()).await?;
                drop(permit);
                Arc::make_mut(&mut pending).request.message = Message {
                    context_id: named,
                    ..message
                };
                let receipt = pending.receipt();
                return Box::pin(self.continue_task(pending, receipt, is_followed)).await;
            }
        };
        let needs_task = !pending.may_be_answered_directly();
        if needs_task {
            Box::pin(writer.open()).await?;
        }
        Arc::make_mut(&mut pending).request.message = message;
        if !needs_task
            && let Some(in_flight) = &pending.in_flight
            && let Some(known) = reserve(self, in_flight, &pending).await?
        {
            return Ok(Admission::without_snapshot(known));
        }
        run.start(pending, Some(permit));
        let accepted = Accepted::Run {
            writer,
            from: None,
            detached: 0,
        };
        Ok(Admission {
            accepted,
            snapshot,
            receipt: None,
        })
    }

    /// Gives a message to the agent for a task that exists.
    pub(crate) async fn continue_task(
        self: &Arc<Self>,
        mut pending: Arc<PendingMessage>,
        receipt: Option<IdempotencyKey>,
        is_followed: bool,
    ) -> Result<Admission, A2aError> {
        let owner = Owner::of(&pending.context);
        let id = pending.request.message.task_id.clone().unwrap_or_default();
        let given = Arc::make_mut(&mut pending).request.configuration.as_mut();
        let mut config = given.and_then(|given| given.task_push_notification_config.take());
        let (mut looked_after, mut unanswered) = (false, false);
        loop {
            let context = &pending.context;
            let snapshot = self.snapshot(&id, &owner).await?;
            let is_idle = snapshot.task.status.state.is_settled();
            let runs_here = self.active.running(&owner, &id).is_some();
            // Its process may have ended in the middle of a turn: recovery comes first.
            let may_take_over = self.maintenance.finds_abandoned_tasks(Instant::now());
            if !is_idle && !runs_here && !looked_after && may_take_over {
                looked_after = true;
                let (owner, task) = (owner.clone(), id.clone());
                self.maintenance.recover(Orphan::new(owner, task)).await;
                continue;
            }
            check_message(&pending, &snapshot)?;
            if let Some(config) = config.take() {
                let task_id = id.clone();
                let config = with_id(TaskPushNotificationConfig { task_id, ..*config }, context);
                self.store()
                    .put_config(&owner, config, context.protocol_version)
                    .await?;
            }
            let placing = receipt.clone();
            let placed = match self.active.running(&owner, &id) {
                // Its lease may have expired although its process is there.
                None if !is_idle && !may_take_over => {
                    let head = LogPosition::from(&snapshot);
                    Ok(AdmissionOutcome::Elsewhere(pending, head))
                }
                Some(busy) => {
                    let (state, protocol_version) =
                        (snapshot.task.status.state, snapshot.protocol_version);
                    // The message may have to wait, and a copy of the task for each waiting message would
                    // take too much memory.
                    drop(snapshot);
                    let message = (pending, placing, is_followed);
                    self.enqueue(busy, (state, protocol_version), message).await
                }
                None => {
                    self.resume_idle(snapshot, (pending, placing, is_followed))
                        .await
                }
            };
            match placed? {
                AdmissionOutcome::Admitted(admitted) => return Ok(admitted),
                AdmissionOutcome::TooLate(again) => pending = again,
                AdmissionOutcome::Elsewhere(mut posted, head) => {
                    let delivery = deliver(self, &id, &mut posted, receipt.clone(), head.sequence);
                    match delivery.await? {
                        PostOutcome::Written(sequence) => {
                            let outcome = Outcome::Task(LogPosition { sequence, ..head });
                            let known = Accepted::Known(Arc::new(outcome));
                            return Ok(Admission::without_snapshot(known));
                        }
                        PostOutcome::Unanswered if unanswered => {
                            let text =
                                "the server that works on the task does not take the message";
                            return Err(A2aError::new(ErrorKind::Unavailable, text));
                        }
                        PostOutcome::Unanswered => unanswered = true,
                        PostOutcome::NotTaken => {}
                    }
                    pending = posted;
                    looked_after = false;
                }
            }
        }
    }

    /// Begins a run for a message to an idle task, unless another run has begun meanwhile.
    async fn resume_idle(
        &self,
        known: Snapshot,
        (mut pending, receipt, is_followed): (Arc<PendingMessage>, Option<IdempotencyKey>, bool),
    ) -> Result<AdmissionOutcome, A2aError> {
        let owner = Owner::of(&pending.context);
        let writer = TaskWriter::for_known(Arc::clone(&self.store_handle), owner.clone(), &known);
        let (state, protocol_version) = (known.task.status.state, known.protocol_version);
        let head = LogPosition::from(&known);
        drop(known);
        let permit = self.enter(&owner).await?;
        let writer = Arc::new(writer);
        let Ok(run) = TaskRun::claim(&self.active, &writer) else {
            return Ok(AdmissionOutcome::TooLate(pending));
        };
        writer.place(&mut Arc::make_mut(&mut pending).request.message);
        let message = &pending.request.message;
        let then = woken(state);
        writer.belong_to(pending.context.trace.clone()).await;
        let appended = writer.append_message(message.clone(), then, receipt, true);
        let place = match appended.await {
            Ok(place) => place,
            Err(UpdateError::Store(StoreError::SequenceConflict(_))) => {
                return Ok(AdmissionOutcome::TooLate(pending));
            }
            Err(UpdateError::Store(StoreError::Leased)) => {
                return Ok(AdmissionOutcome::Elsewhere(pending, head));
            }
            Err(error) => return Err(error.into()),
        };
        Arc::make_mut(&mut pending).number = place.number;
        let from = position(&writer, protocol_version, place.sequence);
        let snapshot = first_snapshot(&writer, is_followed).await;
        run.start(pending, Some(permit));
        let accepted = Accepted::Run {
            writer,
            from: Some(from),
            detached: 0,
        };
        Ok(AdmissionOutcome::Admitted(Admission {
            accepted,
            snapshot,
            receipt: None,
        }))
    }

    /// Queues a message for a run in progress, unless the run has ended meanwhile.
    async fn enqueue(
        &self,
        busy: Arc<TaskWriter>,
        (state, protocol_version): (TaskState, ProtocolVersion),
        (mut pending, receipt, is_followed): (Arc<PendingMessage>, Option<IdempotencyKey>, bool),
    ) -> Result<AdmissionOutcome, A2aError> {
        busy.begun().await;
        if state.is_terminal() {
            // The agent is still cleaning up after its last update.
            busy.ended().await;
            return Ok(AdmissionOutcome::TooLate(pending));
        }
        let asked = state == TaskState::InputRequired;
        if asked {
            // The agent has asked and is about to return, so the answer begins a new run.
            let over = tokio::time::timeout(self.first_event_timeout, busy.ended());
            if over.await.is_ok() {
                return Ok(AdmissionOutcome::TooLate(pending));
            }
        }
        busy.place(&mut Arc::make_mut(&mut pending).request.message);
        let detached = busy.run_state().is(|run| run.detached);
        let in_order = busy.message_order.lock().await;
        let queue_reservation = match self.active.queue(&busy, Arc::clone(&pending)) {
            Ok(queue_reservation) => queue_reservation,
            Err(QueueRefusal::RunIsOver) => return Ok(AdmissionOutcome::TooLate(pending)),
            Err(QueueRefusal::Full) => {
                let text = "too many messages wait for this task's next turn";
                return Err(A2aError::new(ErrorKind::Unavailable, text));
            }
        };
        // The task is working from the answer on, even if the answer's turn comes later.
        let then = asked.then_some(TaskState::Working);
        let message = &pending.request.message;
        let appended = busy.append_message(message.clone(), then, receipt, false);
        let place = match appended.await {
            Ok(place) => place,
            // It ended in between.
            Err(UpdateError::Illegal(_)) => {
                drop((queue_reservation, in_order));
                busy.ended().await;
                return Ok(AdmissionOutcome::TooLate(pending));
            }
            Err(error) => return Err(error.into()),
        };
        let from = position(&busy, protocol_version, place.sequence);
        let snapshot = first_snapshot(&busy, is_followed).await;
        // The turn needs the only reference to the message.
        drop(pending);
        queue_reservation.confirm(place.number);
        drop(in_order);
        let accepted = Accepted::Run {
            writer: busy,
            from: Some(from),
            detached,
        };
        Ok(AdmissionOutcome::Admitted(Admission {
            accepted,
            snapshot,
            receipt: None,
        }))
    }
}

/// Reads the task for a caller that follows it from its message on. If that fails the message stays
/// written, and the caller's stream reads the task again.
async fn first_snapshot(writer: &TaskWriter, is_followed: bool) -> Option<Snapshot> {
    match is_followed {
        true => writer.snapshot().await.ok(),
        false => None,
    }
}

/// Position of a message in the log of an active task.
fn position(writer: &TaskWriter, protocol_version: ProtocolVersion, sequence: u64) -> LogPosition {
    LogPosition {
        task: writer.task_id().clone(),
        sequence,
        protocol_version,
        is_settled: false,
    }
}

/// Runs work to its end even if its caller stops waiting; returns `None` if it panicked. Spawns a task
/// only if the work does not finish at the first poll.
fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Option<T>> + Send {
    let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
    async move {
        match (&mut work).now_or_never() {
            Some(done) => done.ok(),
            None => tokio::spawn(work).await.ok()?.ok(),
        }
    }
}

/// Returns an error if the message names another context than its task, or if the task has ended and the
/// caller's protocol version does not reopen it.
fn check_message(pending: &PendingMessage, snapshot: &Snapshot) -> Result<(), A2aError> {
    let (message, task) = (&pending.request.message, &snapshot.task);
    if message.context_id.is_some() && message.context_id != task.context_id {
        let text = "the message names another context than its task belongs to";
        return Err(A2aError::new(ErrorKind::InvalidParams, text));
    }
    let state = task.status.state;
    if state.is_terminal() && !pending.reopens_ended_task() {
        let text = format!("a task that is {} takes no more messages", state.as_str());
        return Err(A2aError::new(ErrorKind::UnsupportedOperation, text));
    }
    Ok(())
}
