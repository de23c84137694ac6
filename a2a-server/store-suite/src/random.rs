//! Case of random operations, compared with a plain model.

use a2a_server::limits::{MAX_CONFIG_BYTES, MAX_CONFIGS};
use a2a_server::{
    Append, DeliveryResult, IdempotencyKey, Lease, ListCursor, Notification, Outcome, Owner,
    Principal,
};
use a2a_types::{ConfigId, ContextId, Message, ProtocolVersion, TaskPushNotificationConfig};

use crate::bench::Bench;
use crate::case::promises;
use crate::dice::Dice;
use crate::model::{Key, Model, agrees};
use crate::observation::{Checked, Observation, same, short};
use crate::sample::{
    LONG, NONE, config, digest, new, object, owner, receipt, retention, seized, taken, task, within,
};

promises! {
    "random.like_a_model": like_a_model = "whatever is done in whatever order, a store answers as a plain model does";
}

const ROUNDS: u64 = 13;
const STEPS: usize = 80;

async fn like_a_model(bench: Bench) -> Checked {
    let mut round = Round {
        bench,
        model: Model::default(),
        dice: Dice::new(0),
        owners: Vec::new(),
        tasks: &TASKS,
        given_out: Vec::new(),
        place: None,
        asked: String::new(),
    };
    for seed in 0..ROUNDS {
        let begun = round.begin(seed).await;
        begun.map_err(|saw| round.at("at the beginning", saw, seed))?;
        for step in 0..STEPS {
            let done = round.step().await;
            done.map_err(|saw| round.at(&format!("step {step}"), saw, seed))?;
        }
        let done = round.end().await;
        done.map_err(|saw| round.at("at the end", saw, seed))?;
    }
    Ok(())
}

/// Callers of their own in every round, on the same store.
pub(crate) struct Round {
    pub(crate) bench: Bench,
    pub(crate) model: Model,
    pub(crate) dice: Dice,
    pub(crate) owners: Vec<Owner>,
    /// The ids of the tasks of this round.
    pub(crate) tasks: &'static [&'static str],
    /// The last notifications that were taken.
    pub(crate) given_out: Vec<Notification>,
    /// The end of the last page that was listed.
    pub(crate) place: Option<ListCursor>,
    /// The last operation, for people to read.
    pub(crate) asked: String,
}

const TASKS: [&str; 4] = ["t", "T", "t ", "a"];
#[rustfmt::skip]
const ODD: [&str; 19] = [
    "", " ", "t", "T", "t ", "1", "01", "it's", "\"; --", "%", "_", "ü", "u\u{308}", "😀", "a\nb", "a/b",
    "a\\b", "null", LONG_NAME,
];
const LONG_NAME: &str = match str::from_utf8(&[b'x'; 1000]) {
    Ok(name) => name,
    Err(_) => "",
};
pub(crate) const MESSAGES: [&str; 8] = ["m", "M", "m ", "", "%", "n", "o", "begin"];
const WEBHOOKS: [&str; 4] = ["x", "c", "C", "%"];
const HOLDERS: [&str; 3] = ["h", "i", "H"];
pub(crate) const CONTEXTS: [Option<&str>; 3] = [Some("one"), Some("One"), None];

impl Round {
    /// Begins a round. Some have one task alone, to which more happens, others many tasks with odd names; the
    /// last has many owners with odd names.
    async fn begin(&mut self, seed: u64) -> Checked {
        self.dice = Dice::new(seed);
        let ada = owner(&format!("ada {seed}"));
        let bob = owner(&format!("bob {seed}"));
        let injecting = owner(&format!("it's \"me\"; -- %_\\ {seed}"));
        (self.owners, self.tasks) = match seed % 4 {
            0 if seed == ROUNDS - 1 => (odd_owners(), &TASKS[..1]),
            1 => (vec![ada], &TASKS[..1]),
            3 => (vec![injecting], &ODD[..]),
            _ => (vec![ada.clone(), within("tenant", ada), bob], &TASKS[..]),
        };
        let is_odd = seed % 4 == 3 || seed == ROUNDS - 1;
        for owner in self.owners.clone().iter().filter(|_| is_odd) {
            for task in self.tasks {
                let key = (owner.clone(), (*task).to_owned());
                while !self.model.logs.contains_key(&key) {
                    self.create(&key).await?;
                }
            }
        }
        Ok(())
    }

    /// Adds the place of an observation in the case, and the operations before it.
    fn at(&self, place: &str, saw: Observation, seed: u64) -> Observation {
        let (asked, saw) = (&self.asked, String::from(saw));
        Observation::new(format!("seed {seed}, {place}, after {asked}: {saw}"))
    }

    pub(crate) fn key(&mut self) -> Key {
        let owner = self.dice.one_of(&self.owners);
        (owner, self.dice.one_of(self.tasks).to_owned())
    }

    async fn step(&mut self) -> Checked {
        let key = self.key();
        match self.dice.below(32) {
            0..5 => self.create(&key).await?,
            5..15 => self.append(&key).await?,
            15..17 => self.put_any(&key).await?,
            17 => {
                let webhook = self.dice.one_of(&WEBHOOKS);
                self.delete_config(&key, webhook).await?;
            }
            18 => self.store_response(&key.0).await?,
            19..23 => self.take().await?,
            23..26 => self.record_delivery().await?,
            26..28 => self.renew().await?,
            28..31 => self.list(&key.0).await?,
            _ if self.dice.chance(3) => self.fill_with_configs(&key).await?,
            _ => self.sweep().await?,
        }
        self.look(&key).await?;
        let another = self.key();
        self.look(&another).await?;
        self.look_around(&key.0).await
    }

    fn receipt(&mut self) -> IdempotencyKey {
        let content = self.dice.one_of(&["this", "that"]);
        let mut receipt = receipt(self.dice.one_of(&MESSAGES));
        receipt.digest = digest(content);
        receipt
    }

    fn config(&mut self, task: &str) -> TaskPushNotificationConfig {
        let mut config = config(&task.into(), self.dice.one_of(&WEBHOOKS));
        config.url = format!("https://example.com/{}", self.dice.below(100));
        match self.dice.below(10) {
            0 => config.token = Some("x".repeat(MAX_CONFIG_BYTES)),
            1 => (config.tenant, config.token, config.authentication) = (None, None, None),
            _ => {}
        }
        config
    }

    async fn create(&mut self, key: &Key) -> Checked {
        let mut task = task(&key.1);
        let context = self.dice.one_of(&CONTEXTS);
        task.context_id = context.map(ContextId::from);
        task.status.timestamp = self.dice.time();
        let count = self.dice.one_of(&[0, 0, 1, 3]);
        let mut new = new(&key.1);
        new.protocol_version = self.dice.one_of(ProtocolVersion::ALL);
        new.config = self.dice.chance(2).then(|| self.config(&key.1));
        new.receipt = self.dice.chance(2).then(|| self.receipt());
        new.holder = self.dice.one_of(&HOLDERS).into();
        new.term = self.dice.one_of(&[NONE, LONG]);
        new.events = self.dice.events(&task, count);
        new.release = self.dice.chance(4);
        new.notify = self.dice.chance(2);
        new.trace = self.dice.trace();
        new.task = task.into();
        self.asked = format!("create by {:?}: {}", key.0, short(&new));
        let created = self.bench.store.create(&key.0, new.clone()).await;
        agrees(&created, &self.model.create(&key.0, new))
    }

    async fn append(&mut self, key: &Key) -> Checked {
        let known = self.model.logs.get(key);
        let (sequence, epoch) = known.map_or((1, 1), |log| (log.look.sequence, log.epoch));
        let task = known.map_or_else(|| task(&key.1), |log| log.look.task.clone());
        let dice = &mut self.dice;
        let off = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 100];
        let (holder, term) = (dice.one_of(&HOLDERS), dice.one_of(&[NONE, LONG]));
        let lease = match dice.below(12) {
            0..7 => Lease::Held { epoch },
            7 => Lease::Held {
                epoch: (epoch + dice.below(3)).saturating_sub(1),
            },
            8..11 => taken(holder, term),
            _ => seized(holder, term),
        };
        let count = dice.one_of(&[0, 1, 1, 1, 2, 3, 40]);
        let step = dice.below(100).cast_signed();
        let after = (sequence + dice.one_of(&off)).saturating_sub(dice.one_of(&off));
        let mut append = Append::held(after, epoch, Vec::new());
        append.lease = lease;
        append.release = dice.chance(6);
        append.events = dice.events(&task, count);
        append.checkpoint = dice.chance(4).then(|| object("step", step));
        append.turn = dice.chance(4).then(|| 1 + dice.below(3) as usize);
        append.notify = dice.chance(2);
        append.trace = dice.trace();
        append.receipt = self.dice.chance(4).then(|| self.receipt());
        self.asked = format!("append to {key:?}: {}", short(&append));
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

    async fn put_any(&mut self, key: &Key) -> Checked {
        let config = self.config(&key.1);
        self.put_config(&key.0, config).await
    }

    async fn put_config(&mut self, owner: &Owner, config: TaskPushNotificationConfig) -> Checked {
        let protocol_version = self.dice.one_of(ProtocolVersion::ALL);
        self.asked = format!(
            "put_config by {owner:?}, {protocol_version:?}: {}",
            short(&config)
        );
        let put = self
            .bench
            .store
            .put_config(owner, config.clone(), protocol_version);
        let put = put.await;
        agrees(
            &put,
            &self.model.put_config(owner, config, protocol_version),
        )
    }

    async fn delete_config(&mut self, key: &Key, webhook: &str) -> Checked {
        self.asked = format!("delete_config of {key:?}: {webhook:?}");
        let (owner, task) = (&key.0, key.1.as_str().into());
        let store = &self.bench.store;
        let deleted = store.delete_config(owner, &task, &webhook.into()).await;
        agrees(&deleted, &self.model.delete_config(key, webhook))
    }

    /// Puts more webhooks than a task may have, looks at them, and deletes them again.
    async fn fill_with_configs(&mut self, key: &Key) -> Checked {
        let ids: Vec<_> = (0..=MAX_CONFIGS).map(|number| number.to_string()).collect();
        for id in &ids {
            let numbered = TaskPushNotificationConfig {
                id: ConfigId::from(id.as_str()),
                ..self.config(&key.1)
            };
            self.put_config(&key.0, numbered).await?;
        }
        self.put_any(key).await?;
        self.look(key).await?;
        for id in &ids {
            self.delete_config(key, id).await?;
        }
        Ok(())
    }

    async fn store_response(&mut self, owner: &Owner) -> Checked {
        let receipt = self.receipt();
        let answer = Message {
            message_id: "answer".into(),
            ..Message::agent("hello")
        };
        self.asked = format!("store_response of {owner:?}: {receipt:?}");
        let store = &self.bench.store;
        let kept = store
            .store_response(owner, receipt.clone(), answer.clone())
            .await;
        let outcome = Outcome::Message(Box::new(answer));
        agrees(&kept, &self.model.store_response(owner, receipt, outcome))
    }

    async fn renew(&mut self) -> Checked {
        let holder = self.dice.one_of(&["h", "i", "H", "", "%", "other"]);
        let term = self.dice.one_of(&[NONE, LONG, LONG]);
        self.asked = format!("renew {holder:?} for {term:?}");
        self.bench.store.renew(holder, term).await?;
        self.model.renew(holder, term);
        Ok(())
    }

    async fn take(&mut self) -> Checked {
        let limit = self.dice.one_of(&[1, 2, 100]);
        let term = self.dice.one_of(&[NONE, LONG]);
        self.asked = format!("notifications, {limit} for {term:?}");
        let taken = self.bench.store.notifications(limit, term).await?;
        self.model.take(&taken, limit, term)?;
        self.given_out.extend(taken);
        Ok(())
    }

    async fn record_delivery(&mut self) -> Checked {
        let mut all = std::mem::take(&mut self.given_out);
        // A notification that was given up may be tried again.
        if self.dice.chance(3) {
            all.extend(self.model.dead_letters().pop());
        }
        for notification in all {
            let settlement = match self.dice.below(12) {
                0 => DeliveryResult::Retry(NONE),
                1 => DeliveryResult::Retry(LONG),
                2 => DeliveryResult::Deferred(NONE),
                3 => DeliveryResult::Deferred(LONG),
                4 | 5 => DeliveryResult::DeadLetter,
                6..9 => DeliveryResult::Delivered,
                // Another sender may have to deliver it later.
                _ => {
                    self.given_out.push(notification);
                    continue;
                }
            };
            self.asked = format!("settle {settlement:?}: {}", short(&notification));
            self.bench
                .store
                .record_delivery(&notification, settlement)
                .await?;
            self.model.record_delivery(&notification, settlement);
        }
        Ok(())
    }

    /// Forgets all tasks that have ended, or none.
    pub(crate) async fn sweep(&mut self) -> Checked {
        let all = self.dice.chance(2);
        let count = if all { 0 } else { usize::MAX >> 1 };
        let retention = retention(LONG, count, LONG);
        self.asked = format!("sweep {retention:?}");
        let expected = if all { self.model.sweep_all() } else { 0 };
        let swept = self.bench.store.sweep(retention).await?;
        same("how many are swept", swept, expected)?;
        // A notification of a task that is gone might be taken for one of the next task of that id.
        let logs = &self.model.logs;
        let is_left = |of: &Notification| {
            logs.contains_key(&(of.owner.clone(), of.config.task_id.to_string()))
        };
        self.given_out.retain(is_left);
        Ok(())
    }
}

/// Returns owners that a store could take for one another: the anonymous, the unnamed, none, empty, large and small.
fn odd_owners() -> Vec<Owner> {
    let names = ["", "a", "A", "a ", "a/b", "a\u{1f}b", "(anonymous)", "null"];
    let anonymous = Owner::from(Principal::anonymous());
    let within = [
        within("", anonymous.clone()),
        within("a", anonymous.clone()),
        within("", owner("")),
        within("a", owner("")),
        within("", owner("a")),
        within("b", owner("a")),
        within("a", owner("b")),
        within("%", owner("_")),
    ];
    let outside = names.into_iter().map(owner).chain([anonymous]);
    outside.chain(within).collect()
}
