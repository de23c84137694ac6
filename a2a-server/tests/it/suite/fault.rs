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
    LosesHistory: "create.begins_the_log", "random.like_a_model";
    /// Every task was created in the latest protocol version.
    LosesDialect: "create.keeps_the_dialect", "random.like_a_model";
    /// The webhook that came with a task is not kept.
    LosesFirstWebhook: "create.keeps_the_webhook", "random.like_a_model";
    /// A task that exists is created once more, which changes nothing.
    CreatesTwice: "create.once", "race.one_id_one_task", "random.like_a_model";
    /// A task that is not created takes a message nevertheless.
    TakesMessageOfRefusedTask: "create.once", "race.one_id_one_task";
    /// Ids that differ in case are the same.
    FoldsCase: "create.any_name";

    /// Events that have happened to a new task already are dropped.
    LosesFirstEvents: "create.with_what_has_happened";
    /// A task to which something illegal has happened begins without that.
    BeginsHalf: "create.or_not_at_all";

    /// One of three events is dropped.
    DropsEvent: "append.adds_at_the_end", "log.task_is_its_fold", "random.like_a_model";
    /// Of an append that is refused the first event stays.
    AppliesHalf: "append.all_or_nothing", "random.like_a_model";
    /// Of an append that is refused the message stays.
    TakesMessageOfRefusedAppend: "append.all_or_nothing", "append.no_task";
    /// An append that is refused gives the lease back.
    ReleasesWhenRefused: "append.all_or_nothing";
    /// Events are appended whatever the writer knows.
    IgnoresGeneration: "append.at_the_known_end", "append.without_events", "random.like_a_model";
    /// The end of the log is looked at before, not while, the events are appended.
    ChecksGenerationFirst: "race.one_writer_wins";
    /// An impossible event is acknowledged.
    HidesIllegalEvents: "append.nothing_after_the_end", "append.of_this_task", "random.like_a_model";
    /// An event of no task is acknowledged.
    HidesMissingTask: "append.no_task", "owner.not_there_for_others", "sweep.all_of_it";
    /// An append beyond a limit is acknowledged.
    HidesLimits: "append.so_many_messages", "append.so_many_bytes", "append.so_many_artifacts";
    /// An append without events makes the log longer.
    CountsAppends: "append.without_events";

    /// Nobody asks for the epoch.
    IgnoresEpoch: "create.leases", "lease.fenced", "lease.taken_again", "race.fenced_at_once", "random.like_a_model";
    /// The epoch is looked at before, not while, the events are appended.
    ChecksEpochFirst: "race.fenced_at_once";
    /// A lease is taken even if another holder has it.
    IgnoresLeases: "create.leases", "lease.respected", "race.one_lease", "random.like_a_model";
    /// A lease is looked at before, not while, it is taken.
    ChecksLeaseFirst: "race.one_lease";
    /// A lease that ran out is good for nothing.
    WantsLastingLease: "lease.held_after_it_ran_out";
    /// A lease does not run out.
    LeasesForLong: "lease.runs_out", "orphan.unfinished", "renew.own";
    /// A lease is over as soon as it is taken.
    LeasesForNothing: "lease.counted", "lease.handed_back";
    /// A holder cannot take its own lease.
    MistakesHolders: "lease.taken_again";
    /// A holder that takes its lease again has the same epoch.
    KeepsEpoch: "lease.counted", "lease.taken_again";
    /// A lease is not handed back.
    KeepsLease: "lease.handed_back", "orphan.without_a_lease", "random.like_a_model";
    /// A lease that lasts cannot be seized.
    SeizesNothing: "lease.seized_always";

    /// Every webhook was asked for in the latest protocol version.
    LosesWebhooksGeneration: "outbox.in_its_generation";
    /// A notification has no trace.
    LosesTraces: "outbox.in_its_trace";
    /// Every notification has the trace of the first one.
    KeepsFirstTrace: "outbox.in_its_trace";
    /// A notification that is given up is put off.
    GivesUpNothing: "outbox.given_up";
    CountsWhatWasNotTried: "outbox.untried";
    /// No notification that was given up is found.
    HidesDeadLetters: "outbox.given_up";
    /// A notification that was given up is still to be delivered.
    CountsDeadLetters: "outbox.undelivered";
    /// A task may wait for its caller as long as it likes.
    WaitsForEver: "sweep.by_patience";

    /// No lease is prolonged.
    RenewsNothing: "renew.prolongs";
    /// Everybody's leases are prolonged.
    RenewsEverybodys: "renew.own", "random.like_a_model";
    /// Leases that were handed back are prolonged.
    RenewsGivenBack: "renew.not_given_back";
    /// Leases that others have taken are prolonged.
    RenewsLost: "renew.not_lost";
    /// Leases are prolonged without end.
    RenewsForLong: "renew.for_the_term";

    /// A task that waits for its caller is an orphan.
    OrphansInterrupted: "orphan.unfinished", "random.like_a_model";
    /// A task that is worked on is an orphan.
    OrphansLeased: "orphan.without_a_lease", "random.like_a_model";
    /// All orphans are returned at once.
    OrphansUnlimited: "orphan.so_many";

    /// A long log's task lacks what it made last.
    LosesSnapshots: "log.task_is_its_fold";
    /// A reader misses an event.
    SkipsEvent: "log.read_once_in_order", "append.adds_at_the_end";
    /// A reader gets two events in each other's place.
    SwapsEvents: "log.read_once_in_order", "race.followers_agree";
    /// A reader that goes on gets the last event again.
    RepeatsEvent: "log.read_once_in_order", "log.known_places", "race.followers_agree";
    /// A reader gets nothing although there is something.
    ReadsNothing: "log.read_once_in_order";
    /// A reader gets everything at once.
    ReadsEverything: "log.read_in_parts";
    /// A reader may have read what there is not.
    KnowsEveryPlace: "log.known_places";
    /// The agent's checkpoint is not kept.
    LosesCheckpoint: "log.keeps_the_checkpoint", "append.without_events", "random.like_a_model";
    /// The first event of a task that has ended is another than it was.
    RewritesLog: "log.keeps_what_is_shared";

    /// A new watch has the beginning of the log.
    WatchesFromStart: "watch.begins_at_the_end", "random.like_a_model";
    /// A watch is never woken.
    WakesNobody: "watch.tells_of_growth", "watch.closed", "race.followers_agree";
    /// A watch is woken before the event is stored.
    WakesFirst: "watch.stored_first", "race.followers_agree";
    /// A watch sometimes goes back.
    WakesBackwards: "watch.never_back";
    /// A task that is not there can be watched.
    WatchesAnything: "watch.no_task", "owner.not_there_for_others";

    /// The oldest tasks are listed first.
    ListsBackwards: "list.in_order", "random.like_a_model";
    /// Tasks of every conversation are listed.
    ListsEveryContext: "list.filtered", "random.like_a_model";
    /// Tasks in every state are listed.
    ListsEveryState: "list.filtered", "list.as_they_stand", "random.like_a_model";
    /// Tasks of every time are listed.
    ListsEveryTime: "list.filtered", "list.as_they_stand", "random.like_a_model";
    /// Only the tasks of a page are counted.
    CountsPage: "list.in_pages", "random.like_a_model";
    /// A page leaves out the task after the one before.
    SkipsAtCursor: "list.in_pages", "list.stays_in_place", "random.like_a_model";
    /// A page repeats the last task of the one before.
    RepeatsAtCursor: "list.in_pages", "random.like_a_model";
    /// No page is the last.
    PromisesMore: "list.in_order", "list.in_pages", "random.like_a_model";
    /// A page begins after so many tasks, not after a task.
    CountsToCursor: "list.stays_in_place";
    /// Tasks are listed without what they made.
    ListsPartly: "list.as_they_stand", "random.like_a_model";

    /// Everybody is the same caller.
    ForgetsPrincipal: "owner.not_there_for_others", "owner.same_task_id", "list.own", "random.like_a_model";
    /// Every tenant is the same.
    ForgetsTenant: "owner.not_there_in_other_tenants", "owner.same_task_id", "list.own", "random.like_a_model";
    /// The anonymous caller is the one with an empty name.
    NamesAnonymous: "owner.told_apart";
    /// A webhook is deleted from all tasks of the same id.
    DeletesForAll: "owner.same_task_id";
    /// A message of one owner is known for all owners.
    SharesReceipts: "owner.same_message_id", "random.like_a_model";

    /// Webhooks are listed by their ids.
    SortsWebhooks: "config.in_order";
    /// Credentials of a webhook are not kept.
    LosesCredentials: "config.in_order", "create.keeps_the_webhook";
    /// A webhook is kept beside the one that it should replace.
    AddsWebhooks: "config.replaced", "random.like_a_model";
    /// A webhook that is deleted stays.
    DeletesNothing: "config.deleted", "random.like_a_model";
    /// A webhook too many is acknowledged.
    HidesConfigLimit: "config.so_many";
    /// A webhook that holds too much is acknowledged.
    HidesConfigSize: "config.so_large";
    /// A webhook of no task is acknowledged.
    KeepsWebhookOfNothing: "config.of_a_task", "owner.not_there_for_others";

    /// No message is remembered.
    LosesReceipts: "receipt.of_a_task", "receipt.of_an_append", "random.like_a_model";
    /// A message is remembered and taken twice.
    IgnoresReceipts: "create.once_a_message", "receipt.of_an_append", "race.one_message_one_task", "random.like_a_model";
    /// A message is looked up before, not while, it is taken.
    ChecksReceiptFirst: "race.one_message_one_task", "race.one_answer";
    /// A message is answered twice.
    AnswersTwice: "receipt.of_an_answer", "race.one_answer", "random.like_a_model";
    /// A message with another content is another message.
    ComparesDigests: "receipt.by_its_id";
    /// A message is never forgotten.
    RemembersMessages: "receipt.runs_out";
    /// A message is forgotten with its task.
    ForgetsReceiptsOfSwept: "receipt.outlives_its_task";
    /// A message that was never received is known because it is in a task.
    KnowsEveryMessage: "receipt.unknown";

    /// Of several events webhooks are notified of none.
    TellsLess: "outbox.every_event_once", "random.like_a_model";
    /// Webhooks are notified of the caller's messages.
    TellsMessages: "outbox.every_event_once", "random.like_a_model";
    /// Webhooks are notified twice.
    TellsTwice: "outbox.every_event_once";
    /// Webhooks are notified of everything at once.
    TellsAtOnce: "outbox.one_at_a_time", "random.like_a_model";
    /// Webhooks are notified of the latest event first.
    TellsBackwards: "outbox.every_event_once", "random.like_a_model";
    /// Two senders may take the same notification.
    TakesForNothing: "outbox.taken", "race.taken_once", "random.like_a_model";
    /// A sender that takes a notification and dies has it for long.
    TakesForLong: "outbox.taken", "random.like_a_model";
    /// Every attempt is the first.
    CountsNoAttempts: "outbox.counted", "random.like_a_model";
    /// A notification that is put off is dropped.
    DropsWhatIsLater: "outbox.put_off", "random.like_a_model";
    /// A notification that is put off is due at once.
    PutsNothingOff: "outbox.put_off", "random.like_a_model";
    /// All that is due is taken.
    TakesEverything: "outbox.so_many", "random.like_a_model";
    /// A new webhook is notified of earlier events.
    TellsThePast: "outbox.only_later_events", "outbox.forgotten_with_the_webhook";
    /// A webhook is notified as it was at first.
    TellsOldWebhook: "outbox.as_the_webhook_is_now";

    /// Tasks are swept that have not ended.
    SweepsUnfinished: "sweep.only_what_has_ended", "race.not_swept_at_once", "random.like_a_model";
    /// All tasks that have ended are swept, however few.
    SweepsYoung: "sweep.only_what_has_ended", "sweep.by_age", "sweep.by_count";
    /// Ends are counted, not tasks that have ended.
    CountsEnds: "sweep.from_the_last_end";
    /// The last to end is the first to go.
    SweepsLast: "sweep.by_count";
    /// The webhooks of a swept task are still there.
    LeavesWebhooks: "sweep.all_of_it";
}
