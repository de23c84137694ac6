//! Reading the wire types of the versions before 1.0, strictly or leniently.
//!
//! The types themselves are strict: they are what we send and what the JSON Schemas describe.
//! Lenient reading tries them first; only when they refuse is the text read as plain JSON, repaired
//! by the version's rules for known habits of peers and documents, and given to the types again.
//! So a well-formed message never pays for the leniency, and each repair is known by name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use crate::legacy::words_in_1_0;
use crate::parsing::located;
pub use crate::parsing::{read_canonical, without_values};
use crate::{ArtifactId, Event, TaskId};

/// Strictness about deviations from the specification.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Accepts every known quirk in legal JSON, and reports it.
    #[default]
    Lenient,
    /// Refuses quirks, naming the path and the rule.
    Strict,
}

/// A wire type of a protocol version.
pub trait Wire: DeserializeOwned + Serialize {
    /// Checks rules of the specification that the types cannot express.
    fn check(&self, _at: &At<'_>) -> Result<(), Violation> {
        Ok(())
    }

    /// Checks rules that a lenient reader enforces, too.
    fn insist(&self, _at: &At<'_>) -> Result<(), Violation> {
        Ok(())
    }

    /// Repairs the known quirks of an object that should have been this type.
    fn mend(_object: &mut Map<String, Value>, _mender: &mut Mender<'_>) {}
}

/// A value and the repairs that reading it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<T> {
    /// The value.
    pub value: T,
    /// Every repair, in the order in which they were made; empty if there was none.
    pub repairs: Vec<Repair>,
}

impl<T> Read<T> {
    /// Applies a function to the value and keeps the repairs.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Read<U> {
        Read {
            value: map(self.value),
            repairs: self.repairs,
        }
    }
}

/// One item of a stream as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Streamed {
    /// The event.
    pub event: Event,
    /// `true` if the event ends the stream in 0.1 to 0.3: by `final`, or as a direct answer.
    pub last: bool,
}

/// A violation of the specification in a text: the place and the problem.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Violation {
    /// The JSON path, as the sender wrote it, like `$.params.message.parts[0].text`.
    pub path: String,
    /// The problem, and what was expected.
    pub problem: String,
}

/// Context of a text that is read.
#[derive(Clone, Debug)]
pub struct Hints<'a> {
    /// The path of the text in its message, like `$.params`.
    pub root: &'a str,
    /// The task that the exchange is about.
    pub task: Option<&'a TaskId>,
    /// The artifact that the stream's previous event was about.
    pub artifact: Option<&'a ArtifactId>,
}

impl<'a> Hints<'a> {
    /// Returns hints with nothing but a path.
    pub fn at(root: &'a str) -> Self {
        Self {
            root,
            task: None,
            artifact: None,
        }
    }
}

/// Reads JSON text as a wire type.
pub fn read<T: Wire>(json: &str, mode: Mode, hints: &Hints<'_>) -> Result<Read<T>, Violation> {
    let root = At::Root(hints.root);
    let parsed: Result<T, Violation> = read_canonical(json, hints);
    let strict = parsed.and_then(|value: T| value.check(&root).map(|()| value));
    match strict {
        Ok(value) => Ok(Read {
            value,
            repairs: Vec::new(),
        }),
        Err(violation) if mode == Mode::Strict => Err(violation),
        Err(violation) => {
            let Ok(mut value @ Value::Object(_)) = serde_json::from_str(json) else {
                return Err(violation);
            };
            let mut mender = Mender::new(hints);
            if let Value::Object(object) = &mut value {
                T::mend(object, &mut mender);
            }
            located(&value, hints.root)
                .and_then(|value: T| value.insist(&root).map(|()| value))
                .map_err(|violation| mender.as_sent(violation))
                .map(|value| Read {
                    value,
                    repairs: mender.repairs,
                })
        }
    }
}

/// A place in a document, for checks that walk typed values.
#[derive(Clone, Copy, Debug)]
pub enum At<'a> {
    /// The document itself.
    Root(&'a str),
    /// A member of an object.
    Member(&'a At<'a>, &'a str),
    /// An item of an array.
    Item(&'a At<'a>, usize),
}

impl At<'_> {
    /// Returns the place of the member `name` of the object here.
    pub fn member<'a>(&'a self, name: &'a str) -> At<'a> {
        At::Member(self, name)
    }

    /// Returns the place of the item `index` of the array here.
    pub fn item(&self, index: usize) -> At<'_> {
        At::Item(self, index)
    }

    /// Returns a violation at this place.
    pub fn violation(&self, problem: impl Into<String>) -> Violation {
        Violation {
            path: self.path(),
            problem: problem.into(),
        }
    }

    fn path(&self) -> String {
        match self {
            Self::Root(root) => (*root).to_owned(),
            Self::Member(parent, name) => format!("{}.{name}", parent.path()),
            Self::Item(parent, index) => format!("{}[{index}]", parent.path()),
        }
    }
}

/// One departure from the specification that was repaired or ignored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repair {
    /// The kind of departure.
    pub quirk: Quirk,
    /// JSON path of the departure, as the sender wrote it.
    pub path: String,
}

macro_rules! quirks {
    ($($(#[doc = $doc:literal])* $quirk:ident = $code:literal;)*) => {
        /// A known departure from the specification, in legal JSON.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Quirk { $($(#[doc = $doc])* $quirk,)* }

        impl Quirk {
            /// Returns a short code, for logs and reports.
            pub fn code(self) -> &'static str {
                match self { $(Self::$quirk => $code,)* }
            }

            /// Returns a description of the departure, in a sentence for people.
            pub fn about(self) -> &'static str {
                match self { $(Self::$quirk => concat!($($doc),*).trim_ascii(),)* }
            }
        }
    };
}

quirks! {
    /// A request for a stream without `jsonrpc` and `id`, or without `id` alone.
    NoEnvelope = "NOENV";
    /// A result that stands alone, without the JSON-RPC envelope.
    Bare = "BARE";
    /// The answer to a deletion has no result.
    NoResult = "NORESULT";
    /// The answer to a request without `id` carries one.
    IdOnIdless = "IDLESS";
    /// The answer carries another `id` than the request.
    IdMismatch = "IDMIS";
    /// A task id that is a number.
    NumericId = "NUMID";
    /// `message.data` where `message.parts` belongs.
    DataForParts = "DATA4PARTS";
    /// `file.data` where `file.bytes` belongs.
    FileData = "FILEDATA";
    /// ProtoJSON's `fileWithBytes` or `fileWithUri` inside `file`.
    ProtoFile = "PROTOFILE";
    /// A form of the plain JSON of 0.3 where its ProtoJSON differs.
    OtherFlavour = "FLAVOUR";
    /// One string where a list of authentication schemes belongs.
    SchemesString = "SCHEMES";
    /// A message without `role`.
    NoRole = "NOROLE";
    /// An object without the member that tells its kind.
    NoKind = "NOKIND";
    /// `type` where the generation says `kind`, or the other way round.
    TypeForKind = "TYPE4KIND";
    /// `messageId` beside the message instead of inside.
    MessageIdOutside = "MSGIDOUT";
    /// An id that is the empty string, which names nothing.
    EmptyId = "EMPTYID";
    /// A message without `messageId`.
    NoMessageId = "NOMSGID";
    /// A time without a zone, read as UTC.
    NoTimeZone = "NOTZ";
    /// An artifact without `artifactId`.
    NoArtifactId = "NOARTID";
    /// An empty list of parts.
    EmptyParts = "EMPTYPARTS";
    /// A list that is `null`.
    NullList = "NULLLIST";
    /// A state or role that the generation does not have.
    UnknownWord = "UNKNOWN";
    /// A required member of a card that is absent.
    NoCardMember = "NOCARD";
    /// Data of a part that is no object.
    DataNotObject = "DATA";
    /// `kind` in a part of 1.0, which tells parts apart by their members.
    KindInPart = "KINDIN1.0";
    /// A security scheme that the generation does not have; what requires it stays.
    UnknownScheme = "SCHEME";
}

/// Repairs plain JSON, tracking the path and listing the repairs.
#[derive(Debug)]
pub struct Mender<'h> {
    hints: &'h Hints<'h>,
    path: Vec<String>,
    repairs: Vec<Repair>,
    renamed: Vec<(String, String)>,
}

type Object = Map<String, Value>;

impl<'h> Mender<'h> {
    fn new(hints: &'h Hints<'h>) -> Self {
        Self {
            hints,
            path: Vec::new(),
            repairs: Vec::new(),
            renamed: Vec::new(),
        }
    }

    /// Returns the task that the exchange is about.
    pub(crate) fn task(&self) -> Option<&TaskId> {
        self.hints.task
    }

    /// Returns the artifact that the stream's previous event was about.
    pub(crate) fn artifact(&self) -> Option<&ArtifactId> {
        self.hints.artifact
    }

    /// Descends into the member `name`, if it is an object.
    pub(crate) fn member(
        &mut self,
        object: &mut Object,
        name: &str,
        mend: impl FnOnce(&mut Object, &mut Self),
    ) {
        if let Some(Value::Object(inner)) = object.get_mut(name) {
            self.path.push(format!(".{name}"));
            mend(inner, self);
            self.path.pop();
        }
    }

    /// Descends into every object of the list `name`; `null` becomes an empty list.
    pub(crate) fn items(
        &mut self,
        object: &mut Object,
        name: &str,
        mut mend: impl FnMut(&mut Object, &mut Self),
    ) {
        match object.get_mut(name) {
            Some(Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Value::Object(inner) = item {
                        self.path.push(format!(".{name}[{index}]"));
                        mend(inner, self);
                        self.path.pop();
                    }
                }
            }
            Some(value @ Value::Null) => {
                *value = Value::Array(Vec::new());
                self.note(Quirk::NullList, name);
            }
            _ => {}
        }
    }

    /// Moves the value of `from` to `to`, unless `to` is present.
    pub(crate) fn rename(&mut self, object: &mut Object, from: &str, to: &str, quirk: Quirk) {
        if absent(object, to)
            && let Some(value) = object.remove(from)
        {
            object.insert(to.to_owned(), value);
            self.note(quirk, from);
            self.renamed.push((self.at(to), self.at(from)));
        }
    }

    /// Gives `name` a value, unless it has one.
    pub(crate) fn supply(
        &mut self,
        object: &mut Object,
        name: &str,
        value: impl Into<Value>,
        quirk: Quirk,
    ) {
        if absent(object, name) {
            object.insert(name.to_owned(), value.into());
            self.note(quirk, name);
        }
    }

    /// Replaces the value of `name`, if `change` returns another.
    pub(crate) fn change(
        &mut self,
        object: &mut Object,
        name: &str,
        quirk: Quirk,
        change: impl FnOnce(&Value) -> Option<Value>,
    ) {
        if let Some(value) = object.get_mut(name)
            && let Some(better) = change(value)
        {
            *value = better;
            self.note(quirk, name);
        }
    }

    /// Removes an id that is the empty string.
    pub(crate) fn drop_empty_id(&mut self, object: &mut Object, name: &str) {
        if object.get(name).and_then(Value::as_str) == Some("") {
            object.remove(name);
            self.note(Quirk::EmptyId, name);
        }
    }

    /// Records a repair of the member `name` of the current object.
    pub(crate) fn note(&mut self, quirk: Quirk, name: &str) {
        let path = self.at(name);
        self.repairs.push(Repair { quirk, path });
    }

    fn at(&self, name: &str) -> String {
        format!("{}{}.{name}", self.hints.root, self.path.concat())
    }

    /// Returns the violation with the names that the sender used.
    fn as_sent(&self, mut violation: Violation) -> Violation {
        for (to, from) in self.renamed.iter().rev() {
            if let Some(rest) = violation.path.strip_prefix(to.as_str()) {
                violation.path = format!("{from}{rest}");
            }
        }
        violation
    }
}

/// Returns whether an object lacks a member, or has it as `null`.
pub(crate) fn absent(object: &Object, name: &str) -> bool {
    object.get(name).is_none_or(Value::is_null)
}

/// Returns the first of `names` that the object has; the first of all, if it has none.
pub(crate) fn spelled<'n>(object: &Object, names: &[&'n str]) -> &'n str {
    let used = names.iter().find(|name| object.contains_key(**name));
    used.or(names.first()).copied().unwrap_or_default()
}
