//! Slips: what people get wrong by hand, in what passes over the wire. Each is small, and has to be seen
//! by some check wherever it shows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

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
        How::Answer(other_task),
    ),
    slip(
        "other-artifacts",
        "a task that is read has the artifacts of the one before",
        How::Answer(other_artifacts),
    ),
    slip(
        "no-artifacts",
        "a task that is read has no artifacts",
        How::Answer(no_artifacts),
    ),
    slip(
        "artifacts-reversed",
        "artifacts come in the wrong order",
        How::Document(artifacts_reversed),
    ),
    slip(
        "artifact-twice",
        "artifacts are told twice",
        How::Answer(artifact_twice),
    ),
    slip(
        "parts-reversed",
        "parts of artifacts come in the wrong order",
        How::Document(parts_reversed),
    ),
    slip(
        "text-trimmed",
        "texts are trimmed",
        How::Document(text_trimmed),
    ),
    slip(
        "text-ascii",
        "texts lose what is not ASCII",
        How::Document(text_ascii),
    ),
    slip(
        "text-escaped",
        "texts are escaped for HTML",
        How::Document(text_escaped),
    ),
    slip(
        "data-as-text",
        "data is written as a string",
        How::Document(data_as_text),
    ),
    slip(
        "bytes-url-safe",
        "bytes are url-safe Base64",
        How::Document(bytes_url_safe),
    ),
    slip(
        "bytes-unpadded",
        "bytes are not padded",
        How::Document(bytes_unpadded),
    ),
    slip(
        "media-type-lost",
        "media types of files are lost",
        How::Document(media_type_lost),
    ),
    slip(
        "file-name-lost",
        "names of files are lost",
        How::Document(file_name_lost),
    ),
    slip(
        "part-metadata-lost",
        "metadata of parts is lost",
        How::Document(part_metadata_lost),
    ),
    slip(
        "history-lost",
        "there is no history",
        How::Document(history_lost),
    ),
    slip(
        "history-last-only",
        "there is only the latest message",
        How::Document(history_last_only),
    ),
    slip(
        "history-doubled",
        "every message is there twice",
        How::Document(history_doubled),
    ),
    slip(
        "history-reversed",
        "the latest message is first",
        How::Document(history_reversed),
    ),
    slip(
        "history-roles",
        "the caller says what the agent says, and the other way round",
        How::Document(history_roles),
    ),
    slip(
        "history-agent-as-user",
        "what the agent said is said by the user",
        How::Document(history_agent_as_user),
    ),
    slip(
        "history-without-metadata",
        "messages of the history lose their metadata",
        How::Document(history_without_metadata),
    ),
    slip(
        "history-length-in-get",
        "the length of history is ignored when a task is read",
        How::Question(history_length_in_get),
    ),
    slip(
        "history-length-in-send",
        "the length of history is ignored when a message is sent",
        How::Question(history_length_in_send),
    ),
    slip(
        "history-length-in-list",
        "the length of history is ignored in lists",
        How::Question(history_length_in_list),
    ),
    slip(
        "history-first",
        "of the history the first messages are told",
        How::Answer(history_first),
    ),
    slip(
        "status-role",
        "the message of a status is said by the user",
        How::Document(status_role),
    ),
    slip(
        "status-message-lost",
        "statuses have no messages",
        How::Document(status_message_lost),
    ),
    slip(
        "time-without-zone",
        "times have no zone",
        How::Document(time_without_zone),
    ),
    slip(
        "time-offset",
        "times have another zone",
        How::Document(time_offset),
    ),
    slip(
        "time-local",
        "times are local, and say that they are UTC",
        How::Document(time_local),
    ),
    slip(
        "time-zero",
        "times are those of 1970",
        How::Document(time_zero),
    ),
    slip(
        "time-numbers",
        "times are numbers",
        How::Document(time_numbers),
    ),
    slip(
        "time-backwards",
        "every time is before the one before",
        How::Document(time_backwards),
    ),
    slip(
        "message-id-same",
        "all messages of the agent have one id",
        How::Document(message_id_same),
    ),
    slip(
        "message-id-of-user",
        "the agent's message has the id of the user's",
        How::Document(message_id_of_user),
    ),
    slip(
        "context-same",
        "all tasks are in one conversation",
        How::Document(context_same),
    ),
    slip(
        "context-new",
        "every answer has a new conversation",
        How::Document(context_new),
    ),
    slip(
        "context-lost",
        "nothing tells its conversation",
        How::Document(context_lost),
    ),
    slip(
        "event-of-other-task",
        "artifact events are of another task",
        How::Event(event_of_other_task),
    ),
    slip(
        "event-of-other-context",
        "events are of another conversation",
        How::Event(event_of_other_context),
    ),
    slip(
        "event-twice",
        "every event is told twice",
        How::Block(event_twice),
    ),
    slip(
        "event-artifact-lost",
        "no artifact is told in streams",
        How::Block(event_artifact_lost),
    ),
    slip(
        "event-status-lost",
        "no status but the last is told in streams",
        How::Block(event_status_lost),
    ),
    slip(
        "event-last-lost",
        "the last status is not told in streams",
        How::Block(event_last_lost),
    ),
    slip(
        "event-third-lost",
        "every third event is not told",
        How::Block(event_third_lost),
    ),
    slip(
        "event-order",
        "two artifact events change places",
        How::Block(event_order),
    ),
    slip(
        "event-after-end",
        "the last status comes before the last artifact",
        How::Block(event_after_end),
    ),
    slip(
        "append-lost",
        "chunks are not appended",
        How::Event(append_lost),
    ),
    slip(
        "append-always",
        "the first chunk is appended, too",
        How::Event(append_always),
    ),
    slip(
        "last-chunk-lost",
        "the last chunk is not marked",
        How::Event(last_chunk_lost),
    ),
    slip(
        "last-chunk-always",
        "every chunk is the last",
        How::Event(last_chunk_always),
    ),
    slip(
        "artifact-id-new",
        "every chunk has an artifact of its own",
        How::Event(artifact_id_new),
    ),
    slip(
        "artifact-id-in-streams",
        "artifacts have other ids in streams",
        How::Event(artifact_id_in_streams),
    ),
    slip(
        "artifact-id-same",
        "all artifacts have one id",
        How::Document(artifact_id_same),
    ),
    slip(
        "final-always",
        "every status is final",
        How::Event(final_always),
    ),
    slip("final-never", "no status is final", How::Event(final_never)),
    slip(
        "error-in-result",
        "errors are told as results",
        How::Answer(error_in_result),
    ),
    slip(
        "code-internal",
        "wrong params are an internal error",
        How::Answer(code_internal),
    ),
    slip(
        "code-invalid",
        "a task that there is not is wrong params",
        How::Answer(code_invalid),
    ),
    slip("code-as-text", "codes are texts", How::Answer(code_as_text)),
    slip(
        "status-200",
        "errors come with status 200",
        How::Head(status_200),
    ),
    slip(
        "status-500",
        "results come with status 500",
        How::Head(status_500),
    ),
    slip(
        "status-404",
        "errors come with status 404",
        How::Head(status_404),
    ),
    slip(
        "plain-text",
        "answers say that they are plain text",
        How::Head(plain_text),
    ),
    slip("nulls", "what is not there is null", How::Document(nulls)),
    slip(
        "numbers-as-text",
        "numbers are texts",
        How::Answer(numbers_as_text),
    ),
    slip(
        "state-lower-case",
        "states are written in the letters of another generation",
        How::Document(state_spelling),
    ),
    slip(
        "role-spelling",
        "roles are written in the letters of another generation",
        How::Document(role_spelling),
    ),
    slip(
        "kinds",
        "results tell their kind where the generation does not, or not where it does",
        How::Document(kinds),
    ),
    slip(
        "no-wrapper",
        "what has to be wrapped is not, and what has not is",
        How::Answer(no_wrapper),
    ),
    slip(
        "total-of-page",
        "the size of everything is that of the page",
        How::Answer(total_of_page),
    ),
    slip(
        "total-off-by-one",
        "the size of everything is one too many",
        How::Answer(total_off_by_one),
    ),
    slip(
        "page-size-wrong",
        "the size of the page is how many there are",
        How::Answer(page_size_wrong),
    ),
    slip(
        "page-token-always",
        "the last page says that there is another",
        How::Answer(page_token_always),
    ),
    slip(
        "page-token-ignored",
        "the next page is the first again",
        How::Question(page_token_ignored),
    ),
    slip(
        "list-ignores-context",
        "the filter by conversation is ignored",
        How::Question(list_ignores_context),
    ),
    slip(
        "list-ignores-status",
        "the filter by state is ignored",
        How::Question(list_ignores_status),
    ),
    slip(
        "list-ignores-time",
        "the filter by time is ignored",
        How::Question(list_ignores_time),
    ),
    slip(
        "list-reversed",
        "the oldest task is listed first",
        How::Answer(list_reversed),
    ),
    slip(
        "list-artifacts-empty",
        "tasks are listed with no artifacts in a member of that name",
        How::Answer(list_artifacts_empty),
    ),
    slip(
        "push-url-lost",
        "the URL of a webhook is that of another",
        How::Answer(push_url_wrong),
    ),
    slip(
        "push-id-lost",
        "a webhook comes back without its id",
        How::Answer(push_id_lost),
    ),
    slip(
        "push-task-wrong",
        "a webhook comes back as another task's",
        How::Answer(push_task_wrong),
    ),
    slip(
        "push-list-first",
        "only the first webhook is listed",
        How::Answer(push_list_first),
    ),
    slip(
        "push-list-doubled",
        "every webhook is listed twice",
        How::Answer(push_list_doubled),
    ),
    slip(
        "cancel-keeps-state",
        "what is canceled is told to be at work",
        How::Answer(cancel_keeps_state),
    ),
    slip(
        "id-lost-in-errors",
        "errors have no id",
        How::Answer(id_lost_in_errors),
    ),
    slip(
        "id-of-first",
        "every answer has the id of the first request",
        How::Answer(id_of_first),
    ),
    slip(
        "event-id-null",
        "events have the id null",
        How::Event(event_id_null),
    ),
    slip(
        "error-data-object",
        "the data of errors is an object",
        How::Answer(error_data_object),
    ),
    slip(
        "error-reason",
        "errors tell the wrong reason",
        How::Answer(error_reason),
    ),
    slip(
        "error-message-empty",
        "errors say nothing",
        How::Answer(error_message_empty),
    ),
];

const fn slip(name: &'static str, says: &'static str, how: How) -> Slip {
    Slip { name, says, how }
}

// Tasks

fn is_get(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => matches!(method, "tasks/get" | "GetTask"),
        None => {
            asked.method == http::Method::GET
                && asked.path.contains("/tasks/")
                && !asked.path.contains("/push")
        }
    }
}

fn is_list(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => method == "ListTasks",
        None => asked.method == http::Method::GET && asked.path.ends_with("/tasks"),
    }
}

fn is_send(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => matches!(method, "tasks/send" | "message/send" | "SendMessage"),
        None => asked.path.ends_with("message:send"),
    }
}

fn is_about_push(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => method.to_lowercase().contains("pushnotification"),
        None => asked.path.contains("pushNotificationConfigs"),
    }
}

fn result<'a>(asked: &Asked, json: &'a mut Value) -> &'a mut Value {
    match asked.rpc_method() {
        Some(_) => &mut json["result"],
        None => json,
    }
}

fn other_task(seen: &mut Seen, asked: &Asked, json: &mut Value) {
    if is_get(asked) && result(asked, json).get("status").is_some() {
        let task = result(asked, json);
        *task = seen
            .documents
            .entry("task".to_owned())
            .or_insert(task.clone())
            .clone();
    }
}

fn other_artifacts(seen: &mut Seen, asked: &Asked, json: &mut Value) {
    let task = result(asked, json);
    if is_get(asked) && task.get("artifacts").is_some() {
        let before = seen
            .documents
            .insert("artifacts".to_owned(), task["artifacts"].clone());
        if let Some(before) = before {
            task["artifacts"] = before;
        }
    }
}

fn no_artifacts(_: &mut Seen, asked: &Asked, json: &mut Value) {
    if is_get(asked)
        && let Some(task) = result(asked, json).as_object_mut()
    {
        task.remove("artifacts");
    }
}

fn list_of(json: &mut Value, name: &str, change: &mut dyn FnMut(&mut Vec<Value>)) {
    each(json, &mut |thing| {
        if let Some(Value::Array(list)) = thing.get_mut(name) {
            change(list);
        }
    });
}

fn artifacts_reversed(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "artifacts", &mut |list| list.reverse());
}

fn artifact_twice(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "artifacts", &mut |list| list.extend(list.clone()));
}

fn parts_reversed(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "parts", &mut |list| list.reverse());
}

// Parts

fn text(json: &mut Value, change: &dyn Fn(&str) -> String) {
    each(json, &mut |thing| {
        if let Some(Value::String(text)) = thing.get_mut("text") {
            *text = change(text);
        }
    });
}

fn text_trimmed(_: &mut Seen, _: &Asked, json: &mut Value) {
    text(json, &|text| text.trim().to_owned());
}

fn text_ascii(_: &mut Seen, _: &Asked, json: &mut Value) {
    text(json, &|text| {
        text.replace(|letter: char| !letter.is_ascii(), "?")
    });
}

fn text_escaped(_: &mut Seen, _: &Asked, json: &mut Value) {
    text(json, &|text| {
        text.replace('&', "&amp;").replace('<', "&lt;")
    });
}

fn data_as_text(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if let Some(data) = thing.get_mut("data")
            && data.is_object()
        {
            *data = json!(data.to_string());
        }
    });
}

fn bytes(json: &mut Value, change: &dyn Fn(&str) -> String) {
    each(json, &mut |thing| {
        for name in ["raw", "bytes", "fileWithBytes"] {
            if let Some(Value::String(text)) = thing.get_mut(name) {
                *text = change(text);
            }
        }
    });
}

fn bytes_url_safe(_: &mut Seen, _: &Asked, json: &mut Value) {
    bytes(json, &|text| text.replace('+', "-").replace('/', "_"));
}

fn bytes_unpadded(_: &mut Seen, _: &Asked, json: &mut Value) {
    bytes(json, &|text| text.trim_end_matches('=').to_owned());
}

fn without(json: &mut Value, name: &str, only: &dyn Fn(&serde_json::Map<String, Value>) -> bool) {
    each(json, &mut |thing| {
        if only(thing) {
            thing.remove(name);
        }
    });
}

fn media_type_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    without(json, "mediaType", &|_| true);
    without(json, "mimeType", &|_| true);
}

fn file_name_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    without(json, "filename", &|_| true);
    let is_file = |thing: &serde_json::Map<String, Value>| {
        ["bytes", "uri", "fileWithBytes", "fileWithUri"]
            .iter()
            .any(|name| thing.contains_key(*name))
    };
    without(json, "name", &is_file);
}

fn part_metadata_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "parts", &mut |parts| {
        for part in parts {
            if let Some(part) = part.as_object_mut() {
                part.remove("metadata");
            }
        }
    });
}

// History

fn history_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    without(json, "history", &|_| true);
}

fn history_last_only(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        drop(list.drain(..list.len().saturating_sub(1)))
    });
}

fn history_doubled(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        *list = list
            .iter()
            .flat_map(|one| [one.clone(), one.clone()])
            .collect();
    });
}

fn history_reversed(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "history", &mut |list| list.reverse());
}

fn swapped(role: &Value) -> Value {
    match role.as_str().unwrap_or_default() {
        "user" => json!("agent"),
        "agent" => json!("user"),
        "ROLE_USER" => json!("ROLE_AGENT"),
        "ROLE_AGENT" => json!("ROLE_USER"),
        _ => role.clone(),
    }
}

fn history_roles(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        list.iter_mut()
            .for_each(|one| one["role"] = swapped(&one["role"]))
    });
}

fn history_agent_as_user(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        for one in list {
            if one["role"] == "agent" || one["role"] == "ROLE_AGENT" {
                one["role"] = swapped(&one["role"]);
            }
        }
    });
}

fn history_without_metadata(_: &mut Seen, _: &Asked, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        for one in list {
            if let Some(one) = one.as_object_mut() {
                one.remove("metadata");
                one.remove("extensions");
            }
        }
    });
}

fn without_params(asked: &mut Asked, names: &[&str]) {
    if let Some(json) = &mut asked.json
        && let Some(params) = json.get_mut("params").and_then(Value::as_object_mut)
    {
        for name in names {
            params.remove(*name);
            if let Some(Value::Object(inner)) = params.get_mut("configuration") {
                inner.remove(*name);
            }
        }
    }
}

fn history_length_in_get(_: &mut Seen, asked: &mut Asked) {
    if is_get(asked) {
        if let Some(json) = &mut asked.json {
            json["params"]["historyLength"] = json!(100);
        }
    }
}

fn history_length_in_send(_: &mut Seen, asked: &mut Asked) {
    if is_send(asked) {
        let is_first = asked.rpc_method() == Some("tasks/send");
        if let Some(json) = &mut asked.json {
            match (is_first, json.get("params").is_some()) {
                (true, _) => json["params"]["historyLength"] = json!(100),
                (_, true) => json["params"]["configuration"]["historyLength"] = json!(100),
                _ => json["configuration"]["historyLength"] = json!(100),
            }
        }
    }
}

fn history_length_in_list(_: &mut Seen, asked: &mut Asked) {
    if is_list(asked)
        && let Some(json) = &mut asked.json
    {
        json["params"]["historyLength"] = json!(100);
    }
}

fn history_first(_: &mut Seen, asked: &Asked, json: &mut Value) {
    if !is_get(asked) {
        return;
    }
    let length = asked
        .json
        .as_ref()
        .and_then(|json| json["params"]["historyLength"].as_u64());
    let whole = asked.json.is_none();
    list_of(json, "history", &mut |list| {
        if (length.is_some() || whole) && list.len() < 3 {
            list.reverse();
        }
    });
}

// Statuses

fn status(json: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    each(json, &mut |thing| {
        if let Some(status) = thing.get_mut("status")
            && status.is_object()
        {
            change(status);
        }
    });
}

fn status_role(_: &mut Seen, _: &Asked, json: &mut Value) {
    status(json, &mut |status| {
        if let Some(message) = status.get_mut("message") {
            message["role"] = swapped(&message["role"]);
        }
    });
}

fn status_message_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    status(json, &mut |status| {
        if let Some(status) = status.as_object_mut() {
            status.remove("message");
        }
    });
}

fn times(json: &mut Value, change: &mut dyn FnMut(&str) -> Value) {
    status(json, &mut |status| {
        if let Some(time) = status.get_mut("timestamp")
            && let Some(text) = time.as_str()
        {
            *time = change(text);
        }
    });
}

fn time_without_zone(_: &mut Seen, _: &Asked, json: &mut Value) {
    times(json, &mut |time| json!(time.trim_end_matches('Z')));
}

fn time_offset(_: &mut Seen, _: &Asked, json: &mut Value) {
    times(json, &mut |time| json!(time.replace('Z', "+02:00")));
}

fn moved(time: &str, by: jiff::SignedDuration) -> Value {
    let moved = time.parse::<jiff::Timestamp>().ok();
    let moved = moved.and_then(|time| time.checked_add(by).ok());
    moved.map_or(Value::Null, |time| json!(time.to_string()))
}

fn time_local(_: &mut Seen, _: &Asked, json: &mut Value) {
    times(json, &mut |time| {
        moved(time, jiff::SignedDuration::from_hours(2))
    });
}

fn time_zero(_: &mut Seen, _: &Asked, json: &mut Value) {
    times(json, &mut |_| json!("1970-01-01T00:00:00.000Z"));
}

fn time_numbers(_: &mut Seen, _: &Asked, json: &mut Value) {
    times(json, &mut |_| json!(1_763_000_000));
}

fn time_backwards(seen: &mut Seen, _: &Asked, json: &mut Value) {
    times(json, &mut |time| {
        seen.count += 1;
        moved(
            time,
            jiff::SignedDuration::from_secs(-2 * seen.count as i64),
        )
    });
}

// Names

fn message_id_same(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        let is_agent = thing
            .get("role")
            .is_some_and(|role| role == "agent" || role == "ROLE_AGENT");
        if is_agent && thing.contains_key("messageId") {
            thing.insert("messageId".to_owned(), json!("message"));
        }
    });
}

fn message_id_of_user(_: &mut Seen, asked: &Asked, json: &mut Value) {
    let Some(question) = &asked.json else { return };
    let message = question
        .get("message")
        .unwrap_or(&question["params"]["message"]);
    let id = message["messageId"].clone();
    each(json, &mut |thing| {
        let is_agent = thing
            .get("role")
            .is_some_and(|role| role == "agent" || role == "ROLE_AGENT");
        if is_agent && id.is_string() && thing.contains_key("messageId") {
            thing.insert("messageId".to_owned(), id.clone());
        }
    });
}

fn contexts(json: &mut Value, change: &mut dyn FnMut(&mut serde_json::Map<String, Value>, &str)) {
    each(json, &mut |thing| {
        for name in ["contextId", "sessionId"] {
            if thing.contains_key(name) {
                change(thing, name);
            }
        }
    });
}

fn context_same(_: &mut Seen, _: &Asked, json: &mut Value) {
    contexts(json, &mut |thing, name| {
        drop(thing.insert(name.to_owned(), json!("default")))
    });
}

fn context_new(seen: &mut Seen, _: &Asked, json: &mut Value) {
    seen.count += 1;
    let id = format!("context-{}", seen.count);
    contexts(json, &mut |thing, name| {
        drop(thing.insert(name.to_owned(), json!(id)))
    });
}

fn context_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    contexts(json, &mut |thing, name| drop(thing.remove(name)));
}

// Events

fn event_of_other_task(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("artifact") {
            for name in ["taskId", "id"] {
                if let Some(id @ Value::String(_)) = thing.get_mut(name) {
                    *id = json!("another");
                }
            }
        }
    });
}

fn event_of_other_context(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("artifact") && thing.contains_key("contextId") {
            thing.insert("contextId".to_owned(), json!("another"));
        }
    });
}

fn find<'a>(json: &'a Value, name: &str) -> Option<&'a Value> {
    match json {
        Value::Object(members) => match members.get(name) {
            Some(found) => Some(found),
            None => members.values().find_map(|member| find(member, name)),
        },
        _ => None,
    }
}

fn is_last(event: &Value) -> bool {
    let state = find(event, "state")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let state = state.to_lowercase();
    ["completed", "failed", "canceled", "cancelled", "rejected"]
        .iter()
        .any(|end| state.ends_with(end))
}

fn event_twice(_: &mut Seen, event: &Value) -> Vec<Value> {
    vec![event.clone(), event.clone()]
}

fn event_artifact_lost(_: &mut Seen, event: &Value) -> Vec<Value> {
    match find(event, "artifact") {
        Some(_) => Vec::new(),
        None => vec![event.clone()],
    }
}

fn event_status_lost(_: &mut Seen, event: &Value) -> Vec<Value> {
    let is_update = find(event, "status").is_some()
        && find(event, "history").is_none()
        && find(event, "task").is_none();
    match is_update && !is_last(event) {
        true => Vec::new(),
        false => vec![event.clone()],
    }
}

fn event_last_lost(_: &mut Seen, event: &Value) -> Vec<Value> {
    match is_last(event) {
        true => Vec::new(),
        false => vec![event.clone()],
    }
}

fn event_third_lost(seen: &mut Seen, event: &Value) -> Vec<Value> {
    seen.count += 1;
    match seen.count % 3 {
        0 => Vec::new(),
        _ => vec![event.clone()],
    }
}

/// Of which task an event is.
fn task_of(event: &Value) -> String {
    let id = find(event, "taskId").or_else(|| find(event.get("result").unwrap_or(event), "id"));
    id.map(Value::to_string).unwrap_or_default()
}

fn event_order(seen: &mut Seen, event: &Value) -> Vec<Value> {
    let task = task_of(event);
    match (seen.documents.remove(&task), find(event, "artifact")) {
        (None, Some(_)) => {
            seen.documents.insert(task, event.clone());
            Vec::new()
        }
        (Some(kept), Some(_)) => vec![event.clone(), kept],
        (Some(kept), None) => vec![kept, event.clone()],
        (None, None) => vec![event.clone()],
    }
}

fn event_after_end(seen: &mut Seen, event: &Value) -> Vec<Value> {
    let task = task_of(event);
    match (find(event, "artifact").is_some(), is_last(event)) {
        (true, _) => {
            let kept = seen.documents.insert(task, event.clone());
            kept.into_iter().collect()
        }
        (false, true) => {
            let kept = seen.documents.remove(&task);
            std::iter::once(event.clone()).chain(kept).collect()
        }
        _ => vec![event.clone()],
    }
}

/// What 0.1 has in the artifact, and others in the event.
fn flag(json: &mut Value, name: &str, value: Option<bool>) {
    each(json, &mut |thing| {
        let is_event = thing.contains_key("artifact");
        let is_indexed = thing.contains_key("index");
        if is_event || is_indexed {
            match value {
                Some(value) if is_indexed || !is_event || thing.contains_key("taskId") => {
                    drop(thing.insert(name.to_owned(), json!(value)))
                }
                _ => drop(thing.remove(name)),
            }
        }
    });
}

fn append_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    flag(json, "append", None);
}

fn append_always(_: &mut Seen, _: &Asked, json: &mut Value) {
    flag(json, "append", Some(true));
}

fn last_chunk_lost(_: &mut Seen, _: &Asked, json: &mut Value) {
    flag(json, "lastChunk", None);
}

fn last_chunk_always(_: &mut Seen, _: &Asked, json: &mut Value) {
    flag(json, "lastChunk", Some(true));
}

fn artifact_ids(json: &mut Value, change: &mut dyn FnMut(&Value) -> Value) {
    each(json, &mut |thing| {
        if !thing.contains_key("parts") {
            return;
        }
        for name in ["artifactId", "index"] {
            if let Some(id) = thing.get_mut(name) {
                *id = change(id);
            }
        }
    });
}

fn artifact_id_new(seen: &mut Seen, _: &Asked, json: &mut Value) {
    artifact_ids(json, &mut |id| {
        seen.count += 1;
        match id {
            Value::Number(_) => json!(seen.count),
            _ => json!(format!("artifact-{}", seen.count)),
        }
    });
}

fn artifact_id_in_streams(_: &mut Seen, _: &Asked, json: &mut Value) {
    artifact_ids(json, &mut |id| match id {
        Value::Number(number) => json!(number.as_u64().unwrap_or(0) + 1),
        _ => json!(format!("{}-streamed", id.as_str().unwrap_or_default())),
    });
}

fn artifact_id_same(_: &mut Seen, _: &Asked, json: &mut Value) {
    artifact_ids(json, &mut |id| match id {
        Value::Number(_) => json!(0),
        _ => json!("artifact"),
    });
}

fn final_always(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("final") {
            thing.insert("final".to_owned(), json!(true));
        }
    });
}

fn final_never(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("final") {
            thing.insert("final".to_owned(), json!(false));
        }
    });
}

// Errors

fn error_in_result(_: &mut Seen, _: &Asked, json: &mut Value) {
    if let Some(members) = json.as_object_mut()
        && members.contains_key("jsonrpc")
        && let Some(error) = members.remove("error")
    {
        members.insert("result".to_owned(), json!({ "error": error }));
    }
}

fn recode(json: &mut Value, from: i64, to: i64) {
    if json["error"]["code"] == from {
        json["error"]["code"] = json!(to);
    }
}

fn code_internal(_: &mut Seen, _: &Asked, json: &mut Value) {
    recode(json, -32602, -32603);
}

fn code_invalid(_: &mut Seen, _: &Asked, json: &mut Value) {
    recode(json, -32001, -32602);
}

fn code_as_text(_: &mut Seen, _: &Asked, json: &mut Value) {
    if let Some(code) = json.pointer_mut("/error/code") {
        *code = json!(code.to_string());
    }
}

fn status_200(_: &Asked, answer: &mut Response<Bytes>) {
    if answer.body().starts_with(b"{\"error\"")
        || answer.body().windows(7).any(|part| part == b"\"error\"")
    {
        *answer.status_mut() = StatusCode::OK;
    }
}

fn status_500(_: &Asked, answer: &mut Response<Bytes>) {
    if answer.status() == StatusCode::OK
        && !answer.body().windows(7).any(|part| part == b"\"error\"")
    {
        *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    }
}

fn status_404(asked: &Asked, answer: &mut Response<Bytes>) {
    if answer.status().is_client_error() && asked.rpc_method().is_none() {
        *answer.status_mut() = StatusCode::NOT_FOUND;
    }
}

fn plain_text(_: &Asked, answer: &mut Response<Bytes>) {
    let text = http::HeaderValue::from_static("text/plain");
    answer
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, text);
}

// Spelling

fn nulls(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("status") && thing.get("status").is_some_and(Value::is_object) {
            thing.entry("metadata").or_insert(Value::Null);
        }
    });
}

fn numbers_as_text(_: &mut Seen, asked: &Asked, json: &mut Value) {
    for name in ["totalSize", "pageSize"] {
        if let Some(number @ Value::Number(_)) = result(asked, json).get_mut(name) {
            *number = json!(number.to_string());
        }
    }
    list_of(json, "artifacts", &mut |list| {
        for artifact in list {
            if let Some(index @ Value::Number(_)) = artifact.get_mut("index") {
                *index = json!(index.to_string());
            }
        }
    });
}

fn state_spelling(_: &mut Seen, _: &Asked, json: &mut Value) {
    status(json, &mut |status| {
        let state = status["state"].as_str().unwrap_or_default();
        status["state"] = match state.strip_prefix("TASK_STATE_") {
            Some(state) => json!(state.to_lowercase().replace('_', "-")),
            None => json!(format!(
                "TASK_STATE_{}",
                state.to_uppercase().replace('-', "_")
            )),
        };
    });
}

fn role_spelling(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if let Some(Value::String(role)) = thing.get_mut("role") {
            *role = match role.strip_prefix("ROLE_") {
                Some(role) => role.to_lowercase(),
                None => format!("ROLE_{}", role.to_uppercase()),
            };
        }
    });
}

fn kinds(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("status") && thing.get("status").is_some_and(Value::is_object) {
            match thing.contains_key("kind") {
                true => drop(thing.remove("kind")),
                false => drop(thing.insert("kind".to_owned(), json!("task"))),
            }
        }
    });
}

fn no_wrapper(_: &mut Seen, asked: &Asked, json: &mut Value) {
    if !is_send(asked) {
        return;
    }
    let answer = result(asked, json);
    match answer.get_mut("task").map(Value::take) {
        Some(task) => *answer = task,
        None if answer.get("status").is_some() => *answer = json!({ "task": answer.take() }),
        None => {}
    }
}

// Lists

fn list(asked: &Asked, json: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    if is_list(asked) {
        let list = result(asked, json);
        if list.get("tasks").is_some() {
            change(list);
        }
    }
}

fn count(list: &Value) -> usize {
    list["tasks"].as_array().map_or(0, Vec::len)
}

fn total_of_page(_: &mut Seen, asked: &Asked, json: &mut Value) {
    list(asked, json, &mut |list| {
        list["totalSize"] = json!(count(list))
    });
}

fn total_off_by_one(_: &mut Seen, asked: &Asked, json: &mut Value) {
    list(asked, json, &mut |list| {
        list["totalSize"] = json!(list["totalSize"].as_u64().unwrap_or(0) + 1)
    });
}

fn page_size_wrong(_: &mut Seen, asked: &Asked, json: &mut Value) {
    list(asked, json, &mut |list| {
        list["pageSize"] = json!(count(list))
    });
}

fn page_token_always(_: &mut Seen, asked: &Asked, json: &mut Value) {
    list(asked, json, &mut |list| {
        if list["nextPageToken"] == "" {
            list["nextPageToken"] = json!("bm8gbW9yZQ");
        }
    });
}

fn page_token_ignored(_: &mut Seen, asked: &mut Asked) {
    if is_list(asked) {
        without_params(asked, &["pageToken"]);
    }
}

fn list_ignores_context(_: &mut Seen, asked: &mut Asked) {
    if is_list(asked) {
        without_params(asked, &["contextId"]);
    }
}

fn list_ignores_status(_: &mut Seen, asked: &mut Asked) {
    if is_list(asked) {
        without_params(asked, &["status"]);
    }
}

fn list_ignores_time(_: &mut Seen, asked: &mut Asked) {
    if is_list(asked) {
        without_params(asked, &["statusTimestampAfter"]);
    }
}

fn list_reversed(_: &mut Seen, asked: &Asked, json: &mut Value) {
    list(asked, json, &mut |list| {
        if let Some(tasks) = list["tasks"].as_array_mut() {
            tasks.reverse();
        }
    });
}

fn list_artifacts_empty(_: &mut Seen, asked: &Asked, json: &mut Value) {
    list(asked, json, &mut |list| {
        for task in list["tasks"].as_array_mut().into_iter().flatten() {
            if task.get("artifacts").is_none() {
                task["artifacts"] = json!([]);
            }
        }
    });
}

// Webhooks

fn push(
    asked: &Asked,
    json: &mut Value,
    change: &mut dyn FnMut(&mut serde_json::Map<String, Value>),
) {
    if is_about_push(asked) {
        each(result(asked, json), change);
    }
}

fn push_url_wrong(seen: &mut Seen, asked: &Asked, json: &mut Value) {
    push(asked, json, &mut |thing| {
        if let Some(url) = thing.get_mut("url") {
            *url = seen
                .documents
                .entry("url".to_owned())
                .or_insert(url.clone())
                .clone();
        }
    });
}

fn push_id_lost(_: &mut Seen, asked: &Asked, json: &mut Value) {
    push(asked, json, &mut |thing| {
        if thing.contains_key("url") {
            thing.remove("id");
        }
        thing.remove("name");
    });
}

fn push_task_wrong(_: &mut Seen, asked: &Asked, json: &mut Value) {
    push(asked, json, &mut |thing| {
        if let Some(id) = thing.get_mut("taskId") {
            *id = json!("another");
        }
        if let Some(Value::String(name)) = thing.get_mut("name") {
            *name = format!(
                "tasks/another/pushNotificationConfigs/{}",
                name.rsplit('/').next().unwrap_or_default()
            );
        }
    });
}

fn configs<'a>(asked: &Asked, json: &'a mut Value) -> Option<&'a mut Vec<Value>> {
    if !is_about_push(asked) {
        return None;
    }
    let list = result(asked, json);
    if list.get("configs").is_some() {
        list["configs"].as_array_mut()
    } else {
        list.as_array_mut()
    }
}

fn push_list_first(_: &mut Seen, asked: &Asked, json: &mut Value) {
    if let Some(list) = configs(asked, json) {
        list.truncate(1);
    }
}

fn push_list_doubled(_: &mut Seen, asked: &Asked, json: &mut Value) {
    if let Some(list) = configs(asked, json) {
        list.extend(list.clone());
    }
}

fn cancel_keeps_state(_: &mut Seen, _: &Asked, json: &mut Value) {
    status(json, &mut |status| {
        let state = status["state"].as_str().unwrap_or_default();
        status["state"] = match state {
            "canceled" => json!("working"),
            "TASK_STATE_CANCELED" | "TASK_STATE_CANCELLED" => json!("TASK_STATE_WORKING"),
            _ => return,
        };
    });
}

// JSON-RPC

fn id_lost_in_errors(_: &mut Seen, _: &Asked, json: &mut Value) {
    if let Some(members) = json.as_object_mut()
        && members.contains_key("error")
        && members.contains_key("jsonrpc")
    {
        members.insert("id".to_owned(), Value::Null);
    }
}

fn id_of_first(seen: &mut Seen, _: &Asked, json: &mut Value) {
    if json.get("jsonrpc").is_some() {
        json["id"] = seen
            .documents
            .entry("id".to_owned())
            .or_insert(json["id"].clone())
            .clone();
    }
}

fn event_id_null(_: &mut Seen, _: &Asked, json: &mut Value) {
    if json.get("jsonrpc").is_some() {
        json["id"] = Value::Null;
    }
}

fn error_data_object(_: &mut Seen, _: &Asked, json: &mut Value) {
    for place in ["/error/data", "/error/details"] {
        if let Some(data) = json.pointer_mut(place)
            && data.is_array()
        {
            *data = json!({"details": data.take()});
        }
    }
}

fn error_reason(_: &mut Seen, _: &Asked, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("reason") {
            thing.insert("reason".to_owned(), json!("INTERNAL"));
        }
    });
}

fn error_message_empty(_: &mut Seen, _: &Asked, json: &mut Value) {
    if let Some(message) = json.pointer_mut("/error/message") {
        *message = json!("");
    }
}

/// Every object in a document.
fn each(json: &mut Value, change: &mut dyn FnMut(&mut serde_json::Map<String, Value>)) {
    match json {
        Value::Object(members) => {
            change(members);
            members.values_mut().for_each(|inner| each(inner, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| each(inner, change)),
        _ => {}
    }
}
