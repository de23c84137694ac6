//! The liberties that ProtoJSON gives a sender of 1.0, on every type of the canonical model.

use a2a_types::{
    Event, GetTaskRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest,
    ListTasksResponse, Part, SendMessageRequest, SendMessageResponse,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::everything::{everything, round_trip};

type JsonMap = Map<String, Value>;

/// Calls `visit` with every object whose members the protocol names, `value` included.
fn objects(value: &mut Value, visit: &mut impl FnMut(&mut JsonMap)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| objects(item, visit)),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match name.as_str() {
                    "metadata" | "params" | "header" | "data" | "scopes" => {}
                    "schemes" | "securitySchemes" => {
                        let named = member.as_object_mut().into_iter().flatten();
                        named.for_each(|(_, member)| objects(member, visit));
                    }
                    _ => objects(member, visit),
                }
            }
            visit(members);
        }
        _ => {}
    }
}

fn snake_case(name: &str) -> String {
    let words = name.chars().map(|letter| match letter.is_uppercase() {
        true => format!("_{}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    });
    words.collect()
}

#[test]
fn every_member_is_read_in_both_spellings() {
    for (name, round_trip, whole) in everything() {
        assert_eq!(
            round_trip(&whole),
            Ok(whole.clone()),
            "{name} as it is written"
        );
        let mut snake = whole.clone();
        objects(&mut snake, &mut |members| {
            let renamed = std::mem::take(members).into_iter();
            members.extend(renamed.map(|(name, value)| (snake_case(&name), value)));
        });
        assert_eq!(round_trip(&snake), Ok(whole), "{name}: {snake}");
    }
}

#[test]
fn unknown_members_are_ignored() {
    for (name, round_trip, whole) in everything() {
        let mut more = whole.clone();
        objects(&mut more, &mut |members| {
            members.insert("kindOfThing".to_owned(), json!({"x": [null]}));
        });
        assert_eq!(round_trip(&more), Ok(whole), "{name}");
    }
}

/// Returns the number of members that the objects of `value` have in all.
fn count(value: &mut Value) -> usize {
    let mut count = 0;
    objects(value, &mut |members| count += members.len());
    count
}

/// Each member by itself: `null` is what is read without it, whether that can be read or not.
#[test]
fn null_is_absent() {
    for (name, round_trip, whole) in everything() {
        for nth in 0..count(&mut whole.clone()) {
            let change = |change: fn(&mut JsonMap, &str)| {
                let (mut changed, mut seen, mut path) = (whole.clone(), 0, String::new());
                objects(&mut changed, &mut |members| {
                    let names: Vec<_> = members.keys().cloned().collect();
                    for name in names {
                        if seen == nth {
                            change(members, &name);
                            path = name;
                        }
                        seen += 1;
                    }
                });
                (changed, path)
            };
            let (absent, member) = change(|members, name| drop(members.remove(name)));
            let (null, _) =
                change(|members, name| drop(members.insert(name.to_owned(), Value::Null)));
            if member == "data" {
                assert!(round_trip(&null).is_ok() && round_trip(&absent).is_err());
                continue;
            }
            match (round_trip(&null), round_trip(&absent)) {
                (Ok(null), Ok(absent)) => assert_eq!(null, absent, "{name} {member}"),
                (Err(_), Err(_)) => {}
                (null, absent) => panic!("{name} {member}: {null:?} but {absent:?}"),
            }
        }
    }
}

#[track_caller]
fn check<T: DeserializeOwned + Serialize>(json: Value, expected: Result<Value, &str>) {
    let read = round_trip::<T>(&json);
    assert_eq!(
        read.as_ref().map_err(String::as_str),
        expected.as_ref().map_err(|e| *e),
        "{json}"
    );
}

#[test]
fn numbers_are_read_or_refused() {
    let sized = |size: Value| json!({"pageSize": size});
    let read = |size: Value, number: u32| {
        check::<ListTasksRequest>(sized(size), Ok(sized(number.into())));
    };
    read(json!(10), 10);
    read(json!("10"), 10);
    read(json!(10.0), 10);
    read(json!("10.0"), 10);
    read(json!("1e1"), 10);
    read(json!(0), 0);
    read(json!(i32::MAX), 2_147_483_647);
    let refused = |size: Value, said: &str| {
        let expected = "a whole number from 0 to 2147483647";
        let problem = format!("$.pageSize: invalid value: {said}, expected {expected}");
        check::<ListTasksRequest>(sized(size), Err(&problem));
    };
    refused(json!(-1), "integer `-1`");
    refused(json!(2_147_483_648_u32), "integer `2147483648`");
    refused(json!(u64::MAX), "integer `18446744073709551615`");
    refused(json!(1.5), "floating point `1.5`");
    refused(json!("-1"), "string");
    refused(json!("ten"), "string");
    refused(json!("NaN"), "string");
    refused(json!(""), "string");
    let problem = "$.configuration.historyLength: invalid type: boolean `true`, expected a whole number from 0 to 2147483647";
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "t"}]});
    let request = json!({"message": message, "configuration": {"historyLength": true}});
    check::<SendMessageRequest>(request, Err(problem));
    check::<GetTaskRequest>(
        json!({"id": "t", "historyLength": "3"}),
        Ok(json!({"id": "t", "historyLength": 3})),
    );
    check::<ListTaskPushNotificationConfigsRequest>(
        json!({"taskId": "t", "pageSize": "3"}),
        Ok(json!({"taskId": "t", "pageSize": 3})),
    );
    check::<ListTasksResponse>(
        json!({"pageSize": "3", "totalSize": 4.0}),
        Ok(json!({"tasks": [], "nextPageToken": "", "pageSize": 3, "totalSize": 4})),
    );
}

#[test]
fn flags_and_words_are_read_or_refused() {
    for flag in [json!("true"), json!(1)] {
        let read = round_trip::<ListTasksRequest>(&json!({"includeArtifacts": flag}));
        assert!(read.unwrap_err().starts_with("$.includeArtifacts: "));
    }
    let state = |state: Value| json!({"status": state});
    let working = || Ok(json!({"status": "TASK_STATE_WORKING"}));
    check::<ListTasksRequest>(state(json!("TASK_STATE_WORKING")), working());
    check::<ListTasksRequest>(state(json!(2)), working());
    for unknown in [json!("working"), json!(9), json!(-1)] {
        let read = round_trip::<ListTasksRequest>(&state(unknown));
        assert!(read.unwrap_err().starts_with("$.status: "));
    }
}

/// A member without presence has its empty value for none.
#[test]
fn empty_is_absent() {
    check::<SendMessageRequest>(
        json!({"message": {"messageId": "m", "contextId": "", "taskId": "", "role": "ROLE_USER",
            "parts": [{"text": "", "filename": "", "mediaType": ""}]}}),
        Ok(json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": ""}]}})),
    );
    for unspecified in [json!(0), json!("TASK_STATE_UNSPECIFIED")] {
        let asked = json!({"contextId": "", "status": unspecified});
        check::<ListTasksRequest>(asked, Ok(json!({})));
    }
    check::<Event>(
        json!({"statusUpdate": {"taskId": "t", "contextId": "",
            "status": {"state": 2, "timestamp": "2026-04-02T16:59:25.331844"}}}),
        Ok(json!({"statusUpdate": {"taskId": "t",
            "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-04-02T16:59:25.331Z"}}})),
    );
}

#[test]
fn exactly_one_member_is_expected() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": []});
    let said = json!({ "message": message });
    check::<Event>(
        json!({"message": message, "task": null, "x": 1}),
        Ok(said.clone()),
    );
    check::<SendMessageResponse>(json!({"message": message, "task": null}), Ok(said));
    let problem = "$: expected exactly one of `task`, `message`";
    check::<SendMessageResponse>(json!({}), Err(problem));
    let task = json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}});
    check::<SendMessageResponse>(json!({"message": message, "task": task}), Err(problem));
    check::<Part>(json!({"text": "t", "raw": null}), Ok(json!({"text": "t"})));
    check::<Part>(json!({"data": null}), Ok(json!({"data": null})));
}

#[test]
fn updates_are_read_under_the_names_of_the_whats_new_page() {
    let update =
        json!({"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}});
    check::<Event>(
        json!({ "taskStatusUpdate": update }),
        Ok(json!({ "statusUpdate": update })),
    );
    let update =
        json!({"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": []}});
    check::<Event>(
        json!({ "taskArtifactUpdate": update }),
        Ok(json!({ "artifactUpdate": update })),
    );
}
