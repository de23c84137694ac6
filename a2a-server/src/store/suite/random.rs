//! Case of random operations, compared with a plain model.

use std::cmp::Reverse;

use a2a_types::{ContextId, Dialect, Message, Task, Timestamp};

use super::super::{
    Append, Lease, Listing, NewTask, Notification, Outcome, Owner, Place, Settlement,
};
use super::bench::Bench;
use super::dice::{Dice, STATES};
use super::model::{Key, Model, agrees};
use super::sample::{
    LONG, NONE, config, object, owner, receipt, seized, taken, task, time, within,
};
use super::saw::{Checked, Saw, holds, same, short};
use super::writer::Writer;

super::promises! {
    "random":
    like_a_model = "whatever is done in whatever order, a store answers as a plain model does";
}

const ROUNDS: u64 = 20;
const STEPS: usize = 70;

async fn like_a_model(bench: Bench) -> Checked {
    let mut round = Round {
        bench,
        model: Model::default(),
        dice: Dice::new(0),
        owners: Vec::new(),
        given_out: Vec::new(),
    };
    for seed in 0..ROUNDS {
        round.begin(seed);
        for step in 0..STEPS {
            let done = round.step().await;
            let at =
                |saw: Saw| Saw::new(format!("seed {seed}, step {step}: {}", String::from(saw)));
            done.map_err(at)?;
        }
        let at = |saw: Saw| Saw::new(format!("seed {seed}, at the end: {}", String::from(saw)));
        round.end().await.map_err(at)?;
    }
    Ok(())
}

/// Callers of their own in every round, on the same store.
struct Round {
    bench: Bench,
    model: Model,
    dice: Dice,
    owners: Vec<Owner>,
    /// The last notifications that were taken.
    given_out: Vec<Notification>,
}

const TASKS: [&str; 3] = ["a", "b", "c"];
const MESSAGES: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];
const WEBHOOKS: [&str; 3] = ["x", "y", "z"];
const HOLDERS: [&str; 2] = ["h", "i"];
const CONTEXTS: [&str; 2] = ["one", "two"];

impl Round {
    fn begin(&mut self, seed: u64) {
        self.dice = Dice::new(seed);
        let ada = owner(&format!("ada {seed}"));
        let bob = owner(&format!("bob {seed}"));
        self.owners = vec![ada.clone(), within("tenant", ada), bob];
    }

    fn key(&mut self) -> Key {
        let owner = self.dice.one_of(&self.owners);
        (owner, self.dice.one_of(&TASKS).to_owned())
    }

    async fn step(&mut self) -> Checked {
        let key = self.key();
        match self.dice.below(25) {
            0..4 => self.create(&key).await?,
            4..12 => self.append(&key).await?,
            12 => self.put_config(&key).await?,
            13 => self.delete_config(&key).await?,
            14 => self.keep_answer(&key.0).await?,
            15..18 => self.take().await?,
            18..21 => self.settle().await?,
            21 => self.renew().await?,
            22 | 23 => self.list(&key.0).await?,
            _ => same(
                "the orphans",
                self.bench.orphans().await?,
                self.model.orphans(),
            )?,
        }
        self.look(&key).await
    }

    async fn create(&mut self, key: &Key) -> Checked {
        let dice = &mut self.dice;
        let mut task = task(&key.1);
        task.context_id = Some(ContextId::from(dice.one_of(&CONTEXTS)));
        task.status.timestamp = dice.time();
        let id = task.id.clone();
        let new = NewTask {
            task: task.into(),
            dialect: dice.one_of(Dialect::ALL),
            config: dice.chance(2).then(|| config(&id, dice.one_of(&WEBHOOKS))),
            receipt: dice.chance(2).then(|| receipt(dice.one_of(&MESSAGES))),
            holder: dice.one_of(&HOLDERS).into(),
            term: dice.one_of(&[NONE, LONG]),
            events: Vec::new(),
            release: false,
            notify: false,
            trace: None,
        };
        let created = self.bench.store.create(&key.0, new.clone()).await;
        agrees(&created, &self.model.create(&key.0, new))
    }

    async fn append(&mut self, key: &Key) -> Checked {
        let known = self.model.logs.get(key);
        let (generation, epoch) = known.map_or((1, 1), |log| (log.look.generation, log.epoch));
        let task = known.map_or_else(|| task(&key.1), |log| log.look.task.clone());
        let dice = &mut self.dice;
        let off = [0, 0, 0, 0, 0, 0, 0, 1, 2];
        let (holder, term) = (dice.one_of(&HOLDERS), dice.one_of(&[NONE, LONG]));
        let lease = match dice.below(9) {
            0..6 => Lease::Held { epoch },
            6 => Lease::Held { epoch: epoch + 1 },
            7 => taken(holder, term),
            _ => seized(holder, term),
        };
        let count = dice.one_of(&[0, 1, 1, 1, 2, 3, 40]);
        let append = Append {
            after: (generation + dice.one_of(&off)).saturating_sub(dice.one_of(&off)),
            lease,
            release: dice.chance(6),
            events: dice.events(&task, count),
            receipt: dice.chance(4).then(|| receipt(dice.one_of(&MESSAGES))),
            checkpoint: dice
                .chance(4)
                .then(|| object("step", dice.below(100).cast_signed())),
            notify: dice.chance(2),
            trace: None,
        };
        let store = &self.bench.store;
        let task = key.1.as_str().into();
        let appended = store.append(&key.0, &task, append.clone()).await;
        match self.model.append(key, append) {
            Ok(expected) => {
                agrees(&appended, &[])?;
                same("an append", appended.ok(), Some(expected))
            }
            Err(reasons) => agrees(&appended, &reasons),
        }
    }

    async fn put_config(&mut self, key: &Key) -> Checked {
        let mut config = config(&key.1.as_str().into(), self.dice.one_of(&WEBHOOKS));
        config.url = format!("https://example.com/{}", self.dice.below(100));
        let put = self
            .bench
            .store
            .put_config(&key.0, config.clone(), Dialect::V1_0)
            .await;
        agrees(&put, &self.model.put_config(&key.0, config))
    }

    async fn delete_config(&mut self, key: &Key) -> Checked {
        let webhook = self.dice.one_of(&WEBHOOKS);
        let (owner, task) = (&key.0, key.1.as_str().into());
        let store = &self.bench.store;
        let deleted = store.delete_config(owner, &task, &webhook.into()).await;
        agrees(&deleted, &self.model.delete_config(key, webhook))
    }

    async fn keep_answer(&mut self, owner: &Owner) -> Checked {
        let receipt = receipt(self.dice.one_of(&MESSAGES));
        let answer = Message {
            message_id: "answer".into(),
            ..Message::agent("hello")
        };
        let store = &self.bench.store;
        let kept = store
            .keep_answer(owner, receipt.clone(), answer.clone())
            .await;
        let outcome = Outcome::Message(Box::new(answer));
        agrees(&kept, &self.model.keep_answer(owner, receipt, outcome))
    }

    async fn renew(&mut self) -> Checked {
        let holder = self.dice.one_of(&HOLDERS);
        self.bench.store.renew(holder, LONG).await?;
        self.model.renew(holder);
        Ok(())
    }

    async fn take(&mut self) -> Checked {
        let limit = self.dice.one_of(&[1, 2, 100]);
        let term = self.dice.one_of(&[NONE, LONG]);
        let taken = self.bench.store.notifications(limit, term).await?;
        self.model.take(&taken, limit, term)?;
        self.given_out.extend(taken);
        Ok(())
    }

    async fn settle(&mut self) -> Checked {
        for notification in std::mem::take(&mut self.given_out) {
            let later = [
                Settlement::Later(NONE),
                Settlement::Later(LONG),
                Settlement::Untried(NONE),
            ];
            let settlement = match self.dice.below(3) {
                0 => self.dice.one_of(&later),
                1 => Settlement::Delivered,
                // Another sender may have to deliver it later.
                _ => {
                    self.given_out.push(notification);
                    continue;
                }
            };
            self.bench.store.settle(&notification, settlement).await?;
            self.model.settle(&notification, settlement);
        }
        Ok(())
    }

    async fn list(&mut self, owner: &Owner) -> Checked {
        let dice = &mut self.dice;
        let own = |(of, _): &&Key| of == owner;
        let own: Vec<_> = self.model.logs.keys().filter(own).cloned().collect();
        let listing = Listing {
            context_id: dice
                .chance(3)
                .then(|| ContextId::from(dice.one_of(&CONTEXTS))),
            status: dice.chance(3).then(|| dice.one_of(&STATES)),
            since: dice.chance(3).then(|| time(2)),
            after: (dice.chance(2) && !own.is_empty())
                .then(|| Place::of(&self.model.logs[&dice.one_of(&own)].look.task)),
            limit: dice.one_of(&[1, 2, 50]),
        };
        let page = self.bench.store.list(owner, listing.clone()).await?;
        let wanted = |task: &&Task| {
            (listing.context_id.is_none() || listing.context_id == task.context_id)
                && listing
                    .status
                    .is_none_or(|state| state == task.status.state)
                && (listing.since.is_none() || task.status.timestamp >= listing.since)
        };
        let tasks = own.iter().map(|key| &self.model.logs[key].look.task);
        let mut tasks: Vec<_> = tasks.filter(wanted).cloned().collect();
        let place = |task: &Task| {
            let time = task.status.timestamp.map(Timestamp::as_millis);
            (Reverse(time.unwrap_or(i64::MIN)), task.id.clone())
        };
        tasks.sort_by_key(place);
        same("how many on all pages", page.total, tasks.len())?;
        if let Some(after) = &listing.after {
            tasks.retain(|task| place(task) > (after.time, after.task.clone()));
        }
        same(
            "whether there are more",
            page.more,
            tasks.len() > listing.limit,
        )?;
        tasks.truncate(listing.limit);
        same("the tasks", page.tasks, tasks)
    }

    /// Compares everything that can be read of a task.
    async fn look(&mut self, key: &Key) -> Checked {
        let writer = Writer {
            store: self.bench.store.clone(),
            owner: key.0.clone(),
            task: key.1.as_str().into(),
            generation: 1,
            epoch: 1,
        };
        let Some(log) = self.model.logs.get(key) else {
            return same("the task exists", writer.exists().await?, false);
        };
        same("the task", writer.look().await?, log.look.clone())?;
        let watch = self.bench.store.watch(&key.0, &writer.task).await?;
        let told = *watch.borrow();
        same("the generation that is watched", told, log.look.generation)
    }

    async fn end(&mut self) -> Checked {
        for owner in self.owners.clone() {
            for message in MESSAGES {
                let found = self.bench.store.received(&owner, &message.into()).await?;
                let key = (owner.clone(), message.to_owned());
                let expected = self.model.received.get(&key).cloned();
                same("what became of a message", found, expected)?;
            }
            for task in TASKS {
                self.look(&(owner.clone(), task.to_owned())).await?;
            }
        }
        let swept = self.bench.sweep_all().await?;
        same("how many are swept", swept, self.model.sweep_all())?;
        for owner in self.owners.clone() {
            for task in TASKS {
                self.look(&(owner.clone(), task.to_owned())).await?;
            }
        }
        // No notification is lost; hidden ones stay hidden.
        self.given_out.clear();
        for _ in 0..10_000 {
            let due = self.bench.due().await?;
            self.model.take(&due, 1000, LONG)?;
            if due.is_empty() {
                break;
            }
            for notification in due {
                let delivered = Settlement::Delivered;
                self.bench.store.settle(&notification, delivered).await?;
                self.model.settle(&notification, delivered);
            }
        }
        let orphans = self.bench.orphans().await?;
        holds(short(&orphans), orphans == self.model.orphans())
    }
}
