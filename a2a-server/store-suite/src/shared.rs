//! Cases of a store that several servers share; a store that only one may use passes them unasked.

use a2a_server::{
    CommandContent, IdempotencyKey, MAX_COMMANDS, Owner, SharedStore, StoreError, TaskCommand,
};
use a2a_types::{Message, TaskId};

use crate::bench::{Bench, eventually};
use crate::case::promises;
use crate::observation::{Checked, Observation, holds, refused, same};
use crate::sample::{LONG, NONE, SHORT, ada, new_by, owner, receipt, seized};

promises! {
    of a shared store:
    "shared.reserved_once": reserved_once = "a message of an owner is reserved for one holder until that reservation is released";
    "shared.reservation_runs_out": reservation_runs_out = "a reservation that is not prolonged runs out and may be replaced by its number, and one that is prolonged does not";
    "shared.outcome_counts": outcome_counts = "what is stored of a message ends its reservation, and before that nothing is known of it";
    "shared.commands_in_order": commands_in_order = "the holder of a lease gets the commands of its task, in order, each once";
    "shared.commands_follow_the_lease": commands_follow_the_lease = "commands that were not taken go to the next holder of the lease";
    "shared.withdrawn": withdrawn = "a command is taken back unless it was taken";
    "shared.commands_with_their_task": commands_with_their_task = "there is no command for a task that is not there";
    "shared.command_limit": command_limit = "commands beyond what a task may have are refused";
}

async fn reserve(shared: &dyn SharedStore, owner: &Owner, holder: &str) -> Result<u64, StoreError> {
    let receipt: IdempotencyKey = receipt("m");
    shared.reserve(owner, &receipt, holder, LONG, None).await
}

async fn reserved_once(_: &Bench, shared: &dyn SharedStore) -> Checked {
    let first = reserve(shared, &ada(), "h").await?;
    let second = reserve(shared, &ada(), "h").await?;
    refused!(reserve(shared, &ada(), "i").await, StoreError::Leased);
    // The message of another owner is another one.
    reserve(shared, &owner("bob"), "i").await?;
    // The release of an earlier reservation comes late.
    shared.release(&ada(), &"m".into(), first).await?;
    refused!(reserve(shared, &ada(), "i").await, StoreError::Leased);
    shared.release(&ada(), &"m".into(), second).await?;
    reserve(shared, &ada(), "i").await?;
    refused!(reserve(shared, &ada(), "h").await, StoreError::Leased);
    Ok(())
}

async fn reservation_runs_out(bench: &Bench, shared: &dyn SharedStore) -> Checked {
    for (holder, message) in [("h", "lost"), ("i", "kept")] {
        let receipt = receipt(message);
        shared
            .reserve(&ada(), &receipt, holder, SHORT, None)
            .await?;
    }
    bench.store.renew("i", LONG).await?;
    let reserve = |message: &'static str, replaces| async move {
        let receipt = receipt(message);
        shared.reserve(&ada(), &receipt, "j", LONG, replaces).await
    };
    let expired = eventually("a reservation runs out", || async {
        match reserve("lost", None).await {
            Err(StoreError::ReservationExpired(number)) => Ok(Some(number)),
            Err(StoreError::Leased) => Ok(None),
            Err(other) => Err(Observation::from(other)),
            Ok(_) => Err(Observation::new("it was replaced unasked")),
        }
    })
    .await?;
    refused!(reserve("kept", None).await, StoreError::Leased);
    let another = reserve("lost", Some(expired + 1)).await;
    refused!(another, StoreError::ReservationExpired(_));
    reserve("lost", Some(expired)).await?;
    Ok(())
}

async fn outcome_counts(bench: &Bench, shared: &dyn SharedStore) -> Checked {
    reserve(shared, &ada(), "h").await?;
    let found = bench.store.received(&ada(), &"m".into()).await?;
    same("what became of it", found, None)?;
    bench.create(&ada(), new_by(receipt("m"), "t")).await?;
    for holder in ["h", "i"] {
        refused!(
            reserve(shared, &ada(), holder).await,
            StoreError::DuplicateMessage
        );
    }
    let answered = receipt("answered");
    let reservation = shared.reserve(&ada(), &answered, "h", LONG, None).await?;
    let (store, answer) = (&bench.store, Message::agent("hello"));
    store
        .store_response(&ada(), answered.clone(), answer)
        .await?;
    let again = shared.reserve(&ada(), &answered, "i", LONG, None).await;
    refused!(again, StoreError::DuplicateMessage);
    // Released too late, it changes nothing.
    let message = "answered".into();
    shared.release(&ada(), &message, reservation).await?;
    let found = store.received(&ada(), &message).await?;
    holds("the answer is known", found.is_some())
}

fn cancel(task: &str) -> TaskCommand {
    TaskCommand::new(ada(), TaskId::from(task), CommandContent::Cancel)
}

async fn taken(shared: &dyn SharedStore, holder: &str) -> Checked<Vec<String>> {
    let command = shared.take_commands(holder, 1000).await?;
    Ok(command.into_iter().map(|command| command.id).collect())
}

async fn commands_in_order(bench: &Bench, shared: &dyn SharedStore) -> Checked {
    bench.begin("t").await?;
    let all = [cancel("t"), cancel("t"), cancel("t")];
    for command in &all {
        shared.post(command.clone()).await?;
    }
    let ids = all.map(|command| command.id);
    same("the commands of others", taken(shared, "i").await?, vec![])?;
    let first = shared.take_commands("h", 2).await?;
    let first: Vec<_> = first.into_iter().map(|command| command.id).collect();
    same("the first commands", first, ids[..2].to_vec())?;
    same("the rest", taken(shared, "h").await?, ids[2..].to_vec())?;
    same("what is left", taken(shared, "h").await?, vec![])
}

async fn commands_follow_the_lease(bench: &Bench, shared: &dyn SharedStore) -> Checked {
    let mut writer = bench.begin("t").await?;
    let posted = cancel("t");
    shared.post(posted.clone()).await?;
    writer.write(writer.with(seized("i", LONG), vec![])).await?;
    same("without the lease", taken(shared, "h").await?, vec![])?;
    writer.write(writer.with(seized("j", NONE), vec![])).await?;
    let command = taken(shared, "j").await?;
    same("with a lease that ran out", command, vec![])?;
    writer.write(writer.with(seized("k", LONG), vec![])).await?;
    same("with the lease", taken(shared, "k").await?, vec![posted.id])
}

async fn withdrawn(bench: &Bench, shared: &dyn SharedStore) -> Checked {
    bench.begin("t").await?;
    let (one, other) = (cancel("t"), cancel("t"));
    for command in [&one, &other] {
        shared.post(command.clone()).await?;
    }
    holds("it is there", shared.withdraw(&one).await?)?;
    holds("it is gone", !shared.withdraw(&one).await?)?;
    let command = taken(shared, "h").await?;
    same("the commands", command, vec![other.id.clone()])?;
    holds("it was taken", !shared.withdraw(&other).await?)
}

async fn commands_with_their_task(bench: &Bench, shared: &dyn SharedStore) -> Checked {
    refused!(shared.post(cancel("t")).await, StoreError::NoTask);
    bench.begin("t").await?;
    let of_another = TaskCommand::new(owner("bob"), "t".into(), CommandContent::Cancel);
    refused!(shared.post(of_another).await, StoreError::NoTask);
    Ok(())
}

async fn command_limit(bench: &Bench, shared: &dyn SharedStore) -> Checked {
    bench.begin("t").await?;
    bench.begin("u").await?;
    for _ in 0..MAX_COMMANDS {
        shared.post(cancel("t")).await?;
    }
    refused!(shared.post(cancel("t")).await, StoreError::Full);
    shared.post(cancel("u")).await?;
    let command = taken(shared, "h").await?;
    same("how many commands", command.len(), MAX_COMMANDS + 1)?;
    Ok(shared.post(cancel("t")).await?)
}
