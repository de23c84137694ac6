//! Values of no type in particular.

use a2a_types::{Object, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

/// Returns any JSON, with members that the protocol knows among members that it does not know.
pub(crate) fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-8_i32..8).prop_map(|number| (f64::from(number) / 4.0).into()),
        prop::sample::select(WORDS).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        let name =
            prop_oneof![4 => prop::sample::select(NAMES).prop_map(str::to_owned), 1 => ".{0,4}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .boxed()
}

/// Returns metadata without the members that a conversion adds.
pub(crate) fn metadata() -> BoxedStrategy<Option<Object>> {
    prop::option::weighted(0.4, object()).boxed()
}

pub(crate) fn object() -> BoxedStrategy<Object> {
    prop::collection::btree_map("[a-e]{0,2}", small(), 0..3)
        .prop_map(|members| members.into_iter().collect())
        .boxed()
}

/// Returns a small value.
pub(crate) fn small() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-e]|value", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .boxed()
}

/// Returns text that is not empty.
pub(crate) fn text() -> BoxedStrategy<String> {
    ".{1,8}".boxed()
}

pub(crate) fn maybe_text() -> BoxedStrategy<Option<String>> {
    prop::option::of(text()).boxed()
}

pub(crate) fn texts() -> BoxedStrategy<Vec<String>> {
    prop::collection::vec(text(), 0..3).boxed()
}

/// Returns an identifier: not empty, but else as odd as peers can make it.
pub(crate) fn id() -> BoxedStrategy<String> {
    prop_oneof![
        4 => "[a-z0-9-]{1,6}",
        1 => "[^\\p{C}]{1,5}",
        1 => Just("tasks/1".to_owned()),
        1 => Just("7".to_owned()),
    ]
    .boxed()
}

/// Times with milliseconds, between the years 1970 and 2100.
pub(crate) fn time() -> BoxedStrategy<Option<Timestamp>> {
    prop::option::of((0_i64..4_102_444_800_000).prop_map(|millis| {
        Timestamp::from_millis(millis).expect("the year 2100 is no time that cannot be reached")
    }))
    .boxed()
}

const WORDS: &[&str] = &[
    "text",
    "file",
    "data",
    "task",
    "message",
    "status-update",
    "artifact-update",
    "user",
    "agent",
    "ROLE_USER",
    "working",
    "completed",
    "cancelled",
    "TASK_STATE_WORKING",
    "tasks/1",
    "aGk=",
    "2025-04-02T16:59:25",
    "0.2",
    "1.0",
    "oauth2",
    "apiKey",
    "header",
    "JSONRPC",
];

const NAMES: &[&str] = &[
    "id",
    "sessionId",
    "contextId",
    "taskId",
    "messageId",
    "message",
    "role",
    "parts",
    "content",
    "kind",
    "type",
    "text",
    "file",
    "data",
    "bytes",
    "uri",
    "fileWithBytes",
    "raw",
    "url",
    "metadata",
    "status",
    "state",
    "timestamp",
    "artifact",
    "artifacts",
    "artifactId",
    "index",
    "append",
    "final",
    "history",
    "historyLength",
    "configuration",
    "pushNotification",
    "pushNotificationConfig",
    "taskPushNotificationConfig",
    "authentication",
    "schemes",
    "credentials",
    "blocking",
    "task",
    "tasks",
    "statusUpdate",
    "artifactUpdate",
    "configs",
    "config",
    "parent",
    "name",
    "skills",
    "description",
    "version",
    "protocolVersion",
    "capabilities",
    "supportedInterfaces",
    "security",
    "securitySchemes",
    "securityRequirements",
    "flows",
    "scopes",
    "list",
    "lastUpdatedAfter",
];
