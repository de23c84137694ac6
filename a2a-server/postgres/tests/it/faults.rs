//! Fault-injecting stores: the suite or a test here detects each fault.

use std::time::Duration;

use a2a_postgres::Fault;
use a2a_server::{Append, Store};
use tokio::time::timeout;

use crate::database::{LONG_WAIT, open, options};
use crate::sample::{ada, chunk, new};

const FAULTS: &[(Fault, &str)] = &[
    (Fault::IgnoresEpoch, "race.fenced_at_once"),
    (Fault::IgnoresSequence, "race.one_writer_wins"),
    (Fault::IgnoresLeases, "race.one_lease"),
    (Fault::KeepsLeases, "lease.runs_out"),
    (Fault::RenewsAnybody, "random.like_a_model"),
    (Fault::ReordersEvents, "race.followers_agree"),
    (Fault::ForgetsOutbox, "random.like_a_model"),
    (Fault::NotifiesLaterFirst, "random.like_a_model"),
    (Fault::NotifiesTwice, "random.like_a_model"),
    (Fault::SettlesAnyAttempt, "outbox.late_outcome"),
    (Fault::ForgetsReceipts, "race.one_message_one_task"),
    (Fault::KeepsReceipts, "receipt.runs_out"),
    (Fault::MixesOwners, "shared.reserved_once"),
    (Fault::ListsAllOwners, "random.like_a_model"),
    (Fault::ReservesTwice, "shared.reserved_once"),
    (Fault::KeepsReservations, "shared.reservation_runs_out"),
    (Fault::ReleasesAny, "shared.reserved_once"),
    (Fault::GivesCommandsTwice, "shared.commands_in_order"),
    (
        Fault::GivesCommandsToAnyServer,
        "shared.commands_follow_the_lease",
    ),
    (Fault::KeepsWithdrawnCommands, "shared.withdrawn"),
    (Fault::TakesAnyNumberOfCommands, "shared.command_limit"),
    (Fault::SweepsByBeginning, "sweep.by_count"),
    (Fault::SweepsActive, "sweep.by_patience"),
    (Fault::SweepsLeased, "sweep.not_while_worked_on"),
];

/// One fault in this many is tested on every run, and each with `A2A_EXHAUSTIVE`.
const ONE_OF: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_is_noticed() {
    if options().is_none() {
        return;
    }
    let step = if std::env::var_os("A2A_EXHAUSTIVE").is_some() {
        1
    } else {
        ONE_OF
    };
    let mut unnoticed = Vec::new();
    for (fault, name) in FAULTS.iter().step_by(step) {
        let case = a2a_store_suite::cases()
            .find(|case| case.name == *name)
            .unwrap();
        // Without a cache, reads come from the database.
        let broken = || async { open(&options().unwrap().fault(*fault).cache_bytes(0)).await };
        let noticed = case.check(broken).await;
        if noticed.is_ok() {
            unnoticed.push(fault);
        }
    }
    assert_eq!(unnoticed, Vec::<&Fault>::new());
}

/// Returns whether a follower at one store is woken by an append at another.
async fn is_woken(fault: Option<Fault>, listen: bool, within: Duration) -> Option<bool> {
    let options = options()?.listen(listen);
    let (here, there) = (open(&options).await, options.clone());
    let there = match fault {
        Some(fault) => open(&there.fault(fault)).await,
        None => open(&there).await,
    };
    here.create(&ada(), new("t")).await.unwrap();
    let mut watch = there.watch(&ada(), &"t".into()).await.unwrap();
    let append = Append::held(1, 1, vec![chunk("t", "x")]);
    here.append(&ada(), &"t".into(), append).await.unwrap();
    let woken = timeout(within, watch.wait_for(|head| *head == 2));
    Some(woken.await.is_ok())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_elsewhere_is_woken() {
    assert!(is_woken(None, true, LONG_WAIT).await != Some(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_elsewhere_is_woken_without_hints() {
    assert!(is_woken(None, false, LONG_WAIT).await != Some(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_neither_listens_nor_looks_wakes_no_follower() {
    assert!(is_woken(Some(Fault::NeverLooks), false, Duration::from_secs(3)).await != Some(true));
}
