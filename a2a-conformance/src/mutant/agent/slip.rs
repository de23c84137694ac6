//! Slips: what people get wrong by hand, in what passes over the wire. Each is small, and has to be seen
//! by some check wherever it shows.

mod document;
mod error;
mod event;
mod list;
mod part;
mod status;
mod task;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::Response;
use serde_json::Value;

use super::memory::lock;
use super::wire::{Asked, Wire};

/// Something that people get wrong.
#[derive(Clone, Copy)]
pub struct Slip {
    /// A short name.
    pub name: &'static str,
    /// What the agent does wrong.
    pub says: &'static str,
    how: How,
}

impl fmt::Debug for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Where it is done.
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
    /// In what is asked.
    Question(fn(&mut Seen, &mut Asked)),
    /// How often an event is told, which is known by its number in its stream; in what order.
    Block(fn(&mut Seen, &Value) -> Vec<Value>),
}

/// What was seen so far.
#[derive(Debug, Default)]
struct Seen {
    documents: BTreeMap<String, Value>,
    count: usize,
}

/// Makes a slip.
#[derive(Debug)]
pub(super) struct Slipping {
    slip: Slip,
    seen: Mutex<Seen>,
    shown: AtomicBool,
}

impl Slipping {
    pub(super) fn new(slip: Slip) -> Self {
        Self {
            slip,
            seen: Mutex::default(),
            shown: AtomicBool::new(false),
        }
    }

    /// Whether anything was otherwise than it should have been.
    pub(super) fn has_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }
}

impl Wire for Slipping {
    fn question(&self, asked: &mut Asked) {
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

    fn event(&self, asked: &Asked, event: &mut Value) {
        if let How::Document(change) | How::Event(change) = self.slip.how {
            let before = event.clone();
            change(&mut lock(&self.seen), asked, event);
            if before != *event {
                self.show();
            }
        }
    }

    fn block(&self, fields: &str, event: &Value) -> String {
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

/// All of them.
pub const SLIPS: &[Slip] = &[
    slip(
        "other-task",
        "reading a task yields the first one that was read",
        How::Answer(task::other_task),
    ),
    slip(
        "other-artifacts",
        "a task that is read has the artifacts of the one before",
        How::Answer(task::other_artifacts),
    ),
    slip(
        "no-artifacts",
        "a task that is read has no artifacts",
        How::Answer(task::no_artifacts),
    ),
    slip(
        "artifacts-reversed",
        "artifacts come in the wrong order",
        How::Document(task::artifacts_reversed),
    ),
    slip(
        "artifact-twice",
        "artifacts are told twice",
        How::Answer(task::artifact_twice),
    ),
    slip(
        "parts-reversed",
        "parts of artifacts come in the wrong order",
        How::Document(task::parts_reversed),
    ),
    slip(
        "text-trimmed",
        "texts are trimmed",
        How::Document(part::text_trimmed),
    ),
    slip(
        "text-ascii",
        "texts lose what is not ASCII",
        How::Document(part::text_ascii),
    ),
    slip(
        "text-escaped",
        "texts are escaped for HTML",
        How::Document(part::text_escaped),
    ),
    slip(
        "data-as-text",
        "data is written as a string",
        How::Document(part::data_as_text),
    ),
    slip(
        "bytes-url-safe",
        "bytes are url-safe Base64",
        How::Document(part::bytes_url_safe),
    ),
    slip(
        "bytes-unpadded",
        "bytes are not padded",
        How::Document(part::bytes_unpadded),
    ),
    slip(
        "media-type-lost",
        "media types of files are lost",
        How::Document(part::media_type_lost),
    ),
    slip(
        "file-name-lost",
        "names of files are lost",
        How::Document(part::file_name_lost),
    ),
    slip(
        "part-metadata-lost",
        "metadata of parts is lost",
        How::Document(part::part_metadata_lost),
    ),
    slip(
        "history-lost",
        "there is no history",
        How::Document(task::history_lost),
    ),
    slip(
        "history-last-only",
        "there is only the latest message",
        How::Document(task::history_last_only),
    ),
    slip(
        "history-doubled",
        "every message is there twice",
        How::Document(task::history_doubled),
    ),
    slip(
        "history-reversed",
        "the latest message is first",
        How::Document(task::history_reversed),
    ),
    slip(
        "history-roles",
        "the caller says what the agent says, and the other way round",
        How::Document(task::history_roles),
    ),
    slip(
        "history-agent-as-user",
        "what the agent said is said by the user",
        How::Document(task::history_agent_as_user),
    ),
    slip(
        "history-without-metadata",
        "messages of the history lose their metadata",
        How::Document(task::history_without_metadata),
    ),
    slip(
        "history-length-in-get",
        "the length of history is ignored when a task is read",
        How::Question(task::history_length_in_get),
    ),
    slip(
        "history-length-in-send",
        "the length of history is ignored when a message is sent",
        How::Question(task::history_length_in_send),
    ),
    slip(
        "history-length-in-list",
        "the length of history is ignored in lists",
        How::Question(task::history_length_in_list),
    ),
    slip(
        "history-first",
        "of the history the first messages are told",
        How::Answer(task::history_first),
    ),
    slip(
        "status-role",
        "the message of a status is said by the user",
        How::Document(status::status_role),
    ),
    slip(
        "status-message-lost",
        "statuses have no messages",
        How::Document(status::status_message_lost),
    ),
    slip(
        "time-without-zone",
        "times have no zone",
        How::Document(status::time_without_zone),
    ),
    slip(
        "time-offset",
        "times have another zone",
        How::Document(status::time_offset),
    ),
    slip(
        "time-local",
        "times are local, and say that they are UTC",
        How::Document(status::time_local),
    ),
    slip(
        "time-zero",
        "times are those of 1970",
        How::Document(status::time_zero),
    ),
    slip(
        "time-numbers",
        "times are numbers",
        How::Document(status::time_numbers),
    ),
    slip(
        "time-backwards",
        "every time is before the one before",
        How::Document(status::time_backwards),
    ),
    slip(
        "message-id-same",
        "all messages of the agent have one id",
        How::Document(task::message_id_same),
    ),
    slip(
        "message-id-of-user",
        "the agent's message has the id of the user's",
        How::Document(task::message_id_of_user),
    ),
    slip(
        "context-same",
        "all tasks are in one conversation",
        How::Document(task::context_same),
    ),
    slip(
        "context-new",
        "every answer has a new conversation",
        How::Document(task::context_new),
    ),
    slip(
        "context-lost",
        "nothing tells its conversation",
        How::Document(task::context_lost),
    ),
    slip(
        "event-of-other-task",
        "artifact events are of another task",
        How::Event(event::event_of_other_task),
    ),
    slip(
        "event-of-other-context",
        "events are of another conversation",
        How::Event(event::event_of_other_context),
    ),
    slip(
        "event-twice",
        "every event is told twice",
        How::Block(event::event_twice),
    ),
    slip(
        "event-artifact-lost",
        "no artifact is told in streams",
        How::Block(event::event_artifact_lost),
    ),
    slip(
        "event-status-lost",
        "no status but the last is told in streams",
        How::Block(event::event_status_lost),
    ),
    slip(
        "event-last-lost",
        "the last status is not told in streams",
        How::Block(event::event_last_lost),
    ),
    slip(
        "event-third-lost",
        "every third event is not told",
        How::Block(event::event_third_lost),
    ),
    slip(
        "event-order",
        "two artifact events change places",
        How::Block(event::event_order),
    ),
    slip(
        "event-after-end",
        "the last status comes before the last artifact",
        How::Block(event::event_after_end),
    ),
    slip(
        "append-lost",
        "chunks are not appended",
        How::Event(event::append_lost),
    ),
    slip(
        "append-always",
        "the first chunk is appended, too",
        How::Event(event::append_always),
    ),
    slip(
        "last-chunk-lost",
        "the last chunk is not marked",
        How::Event(event::last_chunk_lost),
    ),
    slip(
        "last-chunk-always",
        "every chunk is the last",
        How::Event(event::last_chunk_always),
    ),
    slip(
        "artifact-id-new",
        "every chunk has an artifact of its own",
        How::Event(event::artifact_id_new),
    ),
    slip(
        "artifact-id-in-streams",
        "artifacts have other ids in streams",
        How::Event(event::artifact_id_in_streams),
    ),
    slip(
        "artifact-id-same",
        "all artifacts have one id",
        How::Document(event::artifact_id_same),
    ),
    slip(
        "final-always",
        "every status is final",
        How::Event(event::final_always),
    ),
    slip(
        "final-never",
        "no status is final",
        How::Event(event::final_never),
    ),
    slip(
        "error-in-result",
        "errors are told as results",
        How::Answer(error::error_in_result),
    ),
    slip(
        "code-internal",
        "wrong params are an internal error",
        How::Answer(error::code_internal),
    ),
    slip(
        "code-invalid",
        "a task that there is not is wrong params",
        How::Answer(error::code_invalid),
    ),
    slip(
        "code-as-text",
        "codes are texts",
        How::Answer(error::code_as_text),
    ),
    slip(
        "status-200",
        "errors come with status 200",
        How::Head(error::status_200),
    ),
    slip(
        "status-500",
        "results come with status 500",
        How::Head(error::status_500),
    ),
    slip(
        "status-404",
        "errors come with status 404",
        How::Head(error::status_404),
    ),
    slip(
        "plain-text",
        "answers say that they are plain text",
        How::Head(error::plain_text),
    ),
    slip(
        "nulls",
        "what is not there is null",
        How::Document(status::nulls),
    ),
    slip(
        "numbers-as-text",
        "numbers are texts",
        How::Answer(status::numbers_as_text),
    ),
    slip(
        "state-lower-case",
        "states are written in the letters of another generation",
        How::Document(status::state_spelling),
    ),
    slip(
        "role-spelling",
        "roles are written in the letters of another generation",
        How::Document(status::role_spelling),
    ),
    slip(
        "kinds",
        "results tell their kind where the generation does not, or not where it does",
        How::Document(status::kinds),
    ),
    slip(
        "no-wrapper",
        "what has to be wrapped is not, and what has not is",
        How::Answer(status::no_wrapper),
    ),
    slip(
        "total-of-page",
        "the size of everything is that of the page",
        How::Answer(list::total_of_page),
    ),
    slip(
        "total-off-by-one",
        "the size of everything is one too many",
        How::Answer(list::total_off_by_one),
    ),
    slip(
        "page-size-wrong",
        "the size of the page is how many there are",
        How::Answer(list::page_size_wrong),
    ),
    slip(
        "page-token-always",
        "the last page says that there is another",
        How::Answer(list::page_token_always),
    ),
    slip(
        "page-token-ignored",
        "the next page is the first again",
        How::Question(list::page_token_ignored),
    ),
    slip(
        "list-ignores-context",
        "the filter by conversation is ignored",
        How::Question(list::list_ignores_context),
    ),
    slip(
        "list-ignores-status",
        "the filter by state is ignored",
        How::Question(list::list_ignores_status),
    ),
    slip(
        "list-ignores-time",
        "the filter by time is ignored",
        How::Question(list::list_ignores_time),
    ),
    slip(
        "list-reversed",
        "the oldest task is listed first",
        How::Answer(list::list_reversed),
    ),
    slip(
        "list-artifacts-empty",
        "tasks are listed with no artifacts in a member of that name",
        How::Answer(list::list_artifacts_empty),
    ),
    slip(
        "push-url-lost",
        "the URL of a webhook is that of another",
        How::Answer(list::push_url_wrong),
    ),
    slip(
        "push-id-lost",
        "a webhook comes back without its id",
        How::Answer(list::push_id_lost),
    ),
    slip(
        "push-task-wrong",
        "a webhook comes back as another task's",
        How::Answer(list::push_task_wrong),
    ),
    slip(
        "push-list-first",
        "only the first webhook is listed",
        How::Answer(list::push_list_first),
    ),
    slip(
        "push-list-doubled",
        "every webhook is listed twice",
        How::Answer(list::push_list_doubled),
    ),
    slip(
        "cancel-keeps-state",
        "what is canceled is told to be at work",
        How::Answer(list::cancel_keeps_state),
    ),
    slip(
        "id-lost-in-errors",
        "errors have no id",
        How::Answer(error::id_lost_in_errors),
    ),
    slip(
        "id-of-first",
        "every answer has the id of the first request",
        How::Answer(error::id_of_first),
    ),
    slip(
        "event-id-null",
        "events have the id null",
        How::Event(error::event_id_null),
    ),
    slip(
        "error-data-object",
        "the data of errors is an object",
        How::Answer(error::error_data_object),
    ),
    slip(
        "error-reason",
        "errors tell the wrong reason",
        How::Answer(error::error_reason),
    ),
    slip(
        "error-message-empty",
        "errors say nothing",
        How::Answer(error::error_message_empty),
    ),
];

const fn slip(name: &'static str, says: &'static str, how: How) -> Slip {
    Slip { name, says, how }
}
