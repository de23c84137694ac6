//! Slips: what people get wrong by hand, in what passes over the wire. Each is small, and has to be seen
//! by some check wherever it shows.

pub(super) mod document;
mod error;
mod event;
mod list;
mod part;
mod status;
mod table;
mod task;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a_transport::Binding;
use a2a_types::Dialect;
use bytes::Bytes;
use http::Response;
use http::response::Parts;
use serde_json::Value;

pub use self::table::SLIPS;
use super::bug::Place;
use super::memory::lock;
use super::wire::{Asked, Wire};

/// Something that people get wrong.
#[derive(Clone, Copy)]
pub struct Slip {
    /// A short name.
    pub name: &'static str,
    /// Description of what the agent does wrong.
    pub says: &'static str,
    how: How,
    /// The version in which it begins to be wrong.
    since: Dialect,
    /// The version from which on it is right.
    before: Option<Dialect>,
}

impl Slip {
    /// It is wrong from that version on.
    const fn since(self, since: Dialect) -> Self {
        Self { since, ..self }
    }

    /// It is right from that version on.
    const fn before(self, before: Dialect) -> Self {
        let before = Some(before);
        Self { before, ..self }
    }
}

impl fmt::Debug for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Place that a slip changes.
#[derive(Clone, Copy)]
enum How {
    /// In documents, whether they are answers or events.
    Document(fn(&mut Seen, &Asked, &mut Value)),
    /// In events.
    Event(fn(&mut Seen, &Asked, &mut Value)),
    /// In answers that are no streams.
    Answer(fn(&mut Seen, &Asked, &mut Value)),
    /// In what is around answers that are no streams.
    Head(fn(&Asked, &mut Response<Bytes>)),
    /// In what is before streams.
    Stream(fn(&mut Parts)),
    /// In how an event is written.
    Written(fn(&Value) -> String),
    /// In what is asked.
    Question(fn(&mut Seen, &mut Asked)),
    /// In the number and the order of events: the function returns what is sent for one event.
    Block(fn(&mut Seen, &Value) -> Vec<Value>),
}

/// Memory of a slip.
#[derive(Debug, Default)]
struct Seen {
    documents: BTreeMap<String, Value>,
    count: usize,
}

/// Makes a slip.
#[derive(Debug)]
pub(super) struct Slipping {
    slip: Slip,
    place: Place,
    seen: Mutex<Seen>,
    shown: AtomicBool,
}

impl Slipping {
    /// Applies the slip in one place only; requests of the other binding beside it are answered rightly.
    pub(super) fn new(slip: Slip, place: Place) -> Self {
        Self {
            slip,
            place,
            seen: Mutex::default(),
            shown: AtomicBool::new(false),
        }
    }

    /// Returns whether the slip has changed anything.
    pub(super) fn has_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    fn is_elsewhere(&self, asked: &Asked) -> bool {
        let (dialect, binding) = self.place;
        let is_right = self.slip.before.is_some_and(|before| dialect >= before);
        is_right
            || dialect < self.slip.since
            || binding == Binding::HttpJson && asked.rpc_method().is_some()
    }

    fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }
}

impl Wire for Slipping {
    fn question(&self, asked: &mut Asked) {
        if self.is_elsewhere(asked) {
            return;
        }
        if let How::Question(change) = self.slip.how {
            let before = asked.json.clone();
            change(&mut lock(&self.seen), asked);
            if let Some(json) = asked
                .json
                .as_ref()
                .filter(|json| Some(*json) != before.as_ref())
            {
                asked.body = json.to_string().into();
                self.show();
            }
        }
    }

    fn answer(&self, asked: &Asked, answer: &mut Response<Bytes>) {
        if self.is_elsewhere(asked) {
            return;
        }
        if let How::Head(change) = self.slip.how {
            let before = (answer.status(), answer.headers().clone());
            change(asked, answer);
            if before != (answer.status(), answer.headers().clone()) {
                self.show();
            }
        }
        let (How::Document(change) | How::Answer(change)) = self.slip.how else {
            return;
        };
        let Ok(mut json) = serde_json::from_slice::<Value>(answer.body()) else {
            return;
        };
        let before = json.clone();
        change(&mut lock(&self.seen), asked, &mut json);
        if json != before {
            self.show();
            *answer.body_mut() = json.to_string().into();
        }
    }

    fn head(&self, asked: &Asked, head: &mut Parts) {
        if let How::Stream(change) = self.slip.how
            && !self.is_elsewhere(asked)
        {
            change(head);
            self.show();
        }
    }

    fn event(&self, asked: &Asked, event: &mut Value) {
        if self.is_elsewhere(asked) {
            return;
        }
        if let How::Document(change) | How::Event(change) = self.slip.how {
            let before = event.clone();
            change(&mut lock(&self.seen), asked, event);
            if before != *event {
                self.show();
            }
        }
    }

    fn block(&self, fields: &str, event: &Value) -> String {
        if let How::Written(write) = self.slip.how {
            self.show();
            return format!("{fields}data: {}\n\n", write(event));
        }
        let told = match self.slip.how {
            How::Block(change) => change(&mut lock(&self.seen), event),
            _ => vec![event.clone()],
        };
        if told != [event.clone()] {
            self.show();
        }
        let told = told.iter();
        told.map(|event| format!("{fields}data: {event}\n\n"))
            .collect()
    }
}

const fn slip(name: &'static str, says: &'static str, how: How) -> Slip {
    Slip {
        name,
        says,
        how,
        since: Dialect::V0_1,
        before: None,
    }
}
