//! Faults of a store, each with the cases that must notice it.

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident: $($case:literal),+;)*) => {
        /// One promise that is not kept.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub(crate) enum Fault {
            $($(#[$doc])* $name,)*
        }

        impl Fault {
            /// Every fault, with the cases that must notice it.
            pub(crate) const ALL: &[(Self, &[&str])] = &[$((Self::$name, &[$($case),+]),)*];
        }
    };
}

faults! {
    /// A new task loses the messages from before it began.
    LosesHistory: "random.like_a_model";
    /// Every task was created in the latest protocol version.
    LosesProtocolVersion: "random.like_a_model";
    /// The webhook that came with a task is not kept.
    LosesFirstWebhook: "random.like_a_model";
    /// A task that exists is created once more, which changes nothing.
    CreatesTwice: "race.one_message_one_task", "random.like_a_model";
    /// A task that is not created takes a message nevertheless.
    TakesMessageOfRefusedTask: "race.one_message_one_task", "random.like_a_model";
    /// Ids that differ in case are the same.
    FoldsCase: "random.like_a_model";

    /// Events that have happened to a new task already are dropped.
    LosesFirstEvents: "random.like_a_model";
    /// A task to which something illegal has happened begins without that.
    BeginsHalf: "random.like_a_model";

    /// One of three events is dropped.
    DropsEvent: "random.like_a_model";
    /// The first event of a refused append stays.
    AppliesHalf: "random.like_a_model";
    /// The message of a refused append stays.
    TakesMessageOfRefusedAppend: "random.like_a_model";
    /// An append that is refused gives the lease back.
    ReleasesWhenRefused: "random.like_a_model";
    /// Events are appended whatever the writer knows.
    IgnoresSequence: "random.like_a_model";
    /// The end of the log is looked at before, not while, the events are appended.
    ChecksSequenceFirst: "race.one_writer_wins";
    /// An impossible event is acknowledged.
    HidesIllegalEvents: "random.like_a_model";
    /// An event of no task is acknowledged.
    HidesMissingTask: "random.like_a_model";
    /// An append beyond a limit is acknowledged.
    HidesLimits: "append.message_limit", "append.byte_limit", "append.artifact_limit";
    /// An append without events makes the log longer.
    CountsAppends: "random.like_a_model";

    /// The epoch is not checked.
    IgnoresEpoch: "race.fenced_at_once", "random.like_a_model";
    /// The epoch is looked at before, not while, the events are appended.
    ChecksEpochFirst: "race.fenced_at_once";
    /// A lease is taken even if another holder has it.
    IgnoresLeases: "race.one_lease", "random.like_a_model";
    /// A lease is looked at before, not while, it is taken.
    ChecksLeaseFirst: "race.one_lease";
    /// An expired lease cannot be used, even if no other writer has taken it.
    WantsLastingLease: "random.like_a_model";
    /// A lease does not run out.
    LeasesForLong: "lease.runs_out", "random.like_a_model";
    /// A lease is over as soon as it is taken.
    LeasesForNothing: "random.like_a_model";
    /// A holder cannot take its own lease.
    MistakesHolders: "random.like_a_model";
    /// A holder that takes its lease again has the same epoch.
    KeepsEpoch: "random.like_a_model";
    /// A lease is not handed back.
    KeepsLease: "random.like_a_model";
    /// A lease that lasts cannot be seized.
    SeizesNothing: "random.like_a_model";

    /// Every webhook was asked for in the latest protocol version.
    LosesWebhooksVersion: "random.like_a_model";
    /// A notification has no trace.
    LosesTraces: "random.like_a_model";
    /// Every notification has the trace of the first one.
    KeepsFirstTrace: "random.like_a_model";
    /// A notification that is given up is put off.
    GivesUpNothing: "random.like_a_model";
    CountsWhatWasNotTried: "random.like_a_model";
    /// No notification that was given up is found.
    HidesDeadLetters: "random.like_a_model";
    /// A notification that was given up is still to be delivered.
    CountsDeadLetters: "random.like_a_model";
    /// A task may wait for its caller as long as it likes.
    WaitsForEver: "sweep.by_patience";

    /// No lease is prolonged.
    RenewsNothing: "random.like_a_model";
    /// Everybody's leases are prolonged.
    RenewsEverybodys: "random.like_a_model";
    /// Leases that were handed back are prolonged.
    RenewsGivenBack: "random.like_a_model";
    /// Leases that others have taken are prolonged.
    RenewsLost: "random.like_a_model";
    /// Leases are prolonged without end.
    RenewsForLong: "lease.runs_out", "random.like_a_model";

    /// A task that waits for its caller is an orphan.
    OrphansInterrupted: "random.like_a_model";
    /// A task that is worked on is an orphan.
    OrphansLeased: "random.like_a_model";
    /// All orphans are returned at once.
    OrphansUnlimited: "random.like_a_model";

    /// The task of a long log lacks its last artifacts.
    LosesSnapshots: "random.like_a_model";
    /// A reader misses an event.
    SkipsEvent: "random.like_a_model";
    /// A reader gets two events in each other's place.
    SwapsEvents: "race.followers_agree", "random.like_a_model";
    /// A reader that goes on gets the last event again.
    RepeatsEvent: "race.followers_agree", "random.like_a_model";
    /// A reader gets nothing although there is something.
    ReadsNothing: "random.like_a_model";
    /// A reader gets everything at once.
    ReadsEverything: "log.read_in_parts";
    /// A reader may continue after an event that does not exist.
    KnowsEveryPlace: "random.like_a_model";
    /// The agent's checkpoint is not kept.
    LosesCheckpoint: "random.like_a_model";
    /// The turn that begins is not kept.
    LosesTurn: "random.like_a_model";
    /// An interrupted task is not among the orphans, though a message waits for its turn.
    ForgetsQueuedMessages: "random.like_a_model";
    /// The first event of a task that has ended is another than it was.
    RewritesLog: "random.like_a_model";

    /// A new watch has the beginning of the log.
    WatchesFromStart: "random.like_a_model";
    /// A watch is never woken.
    WakesNobody: "watch.tells_of_growth", "race.followers_agree", "random.like_a_model";
    /// A watch is woken before the event is stored.
    WakesFirst: "race.followers_agree", "random.like_a_model";
    /// A watch sometimes goes back.
    WakesBackwards: "race.one_writer_wins", "random.like_a_model";
    /// A task that is not there can be watched.
    WatchesAnything: "random.like_a_model";

    /// The oldest tasks are listed first.
    ListsBackwards: "random.like_a_model";
    /// Tasks of every conversation are listed.
    ListsEveryContext: "random.like_a_model";
    /// Tasks in every state are listed.
    ListsEveryState: "random.like_a_model";
    /// Tasks of every time are listed.
    ListsEveryTime: "random.like_a_model";
    /// Only the tasks of a page are counted.
    CountsPage: "random.like_a_model";
    /// A page leaves out the task after the one before.
    SkipsAtCursor: "random.like_a_model";
    /// A page repeats the last task of the one before.
    RepeatsAtCursor: "random.like_a_model";
    /// No page is the last.
    PromisesMore: "random.like_a_model";
    /// A page begins after a number of tasks, not after a task.
    CountsToCursor: "random.like_a_model";
    /// Tasks are listed without what they made.
    ListsPartly: "random.like_a_model";

    /// All callers are the same caller.
    ForgetsPrincipal: "random.like_a_model";
    /// Every tenant is the same.
    ForgetsTenant: "random.like_a_model";
    /// The anonymous caller is the one with an empty name.
    NamesAnonymous: "random.like_a_model";
    /// A webhook is deleted from all tasks of the same id.
    DeletesForAll: "random.like_a_model";
    /// A message of one owner is known for all owners.
    SharesReceipts: "random.like_a_model";

    /// Webhooks are listed by their ids.
    SortsWebhooks: "random.like_a_model";
    /// Credentials of a webhook are not kept.
    LosesCredentials: "random.like_a_model";
    /// A webhook is kept in addition to the one that it should replace.
    AddsWebhooks: "random.like_a_model";
    /// A webhook that is deleted stays.
    DeletesNothing: "random.like_a_model";
    /// A webhook too many is acknowledged.
    HidesConfigLimit: "random.like_a_model";
    /// A webhook that holds too much is acknowledged.
    HidesConfigSize: "random.like_a_model";
    /// A webhook of no task is acknowledged.
    KeepsWebhookOfNothing: "random.like_a_model";

    /// No message is remembered.
    LosesReceipts: "random.like_a_model";
    /// A message is remembered and taken twice.
    IgnoresReceipts: "race.one_message_one_task", "random.like_a_model";
    /// A message is looked up before, not while, it is taken.
    ChecksReceiptFirst: "race.one_message_one_task", "race.one_answer";
    /// A message is answered twice.
    AnswersTwice: "race.one_answer", "random.like_a_model";
    /// A message with another content is another message.
    ComparesDigests: "random.like_a_model";
    /// A message is never forgotten.
    RemembersMessages: "receipt.runs_out";
    /// A message is forgotten with its task.
    ForgetsReceiptsOfSwept: "random.like_a_model";
    /// A message that was never received is known because it is in a task.
    KnowsEveryMessage: "random.like_a_model";

    /// An append of several events notifies no webhook.
    TellsLess: "random.like_a_model";
    /// Webhooks are notified of the caller's messages.
    TellsMessages: "random.like_a_model";
    /// Webhooks are notified twice.
    TellsTwice: "random.like_a_model";
    /// Webhooks are notified of everything at once.
    TellsAtOnce: "random.like_a_model";
    /// Webhooks are notified of the latest event first.
    TellsBackwards: "random.like_a_model";
    /// Two senders may take the same notification.
    TakesForNothing: "outbox.due_again", "race.taken_once", "random.like_a_model";
    /// A sender that takes a notification and dies has it for long.
    TakesForLong: "outbox.due_again", "random.like_a_model";
    /// Every attempt is the first.
    CountsNoAttempts: "random.like_a_model";
    /// An attempt that others have repeated counts like the last one.
    SettlesAnyAttempt: "outbox.late_outcome";
    /// A notification that is put off is dropped.
    DropsWhatIsLater: "outbox.due_again", "random.like_a_model";
    /// A notification that is put off is due at once.
    PutsNothingOff: "outbox.due_again", "random.like_a_model";
    /// All that is due is taken.
    TakesEverything: "random.like_a_model";
    /// A new webhook is notified of earlier events.
    TellsThePast: "random.like_a_model";
    /// A webhook is notified as it was at first.
    TellsOldWebhook: "random.like_a_model";

    /// Tasks are swept that have not ended.
    SweepsUnfinished: "race.not_swept_at_once", "random.like_a_model";
    /// Tasks that wait for their caller are swept while an agent works on them.
    SweepsWorkedOn: "sweep.not_while_worked_on";
    /// All tasks that have ended are swept, however few.
    SweepsYoung: "sweep.by_age", "sweep.by_count", "random.like_a_model";
    /// Ends are counted, not tasks that have ended.
    CountsEnds: "sweep.by_count";
    /// The task that ended last is removed first.
    SweepsLast: "sweep.by_count";
    /// The webhooks of a swept task are still there.
    LeavesWebhooks: "random.like_a_model";
}
