//! Webhooks in every shape that peers send, and the bodies that repeat their path.

use a2a_types::reading::{Mode, Violation, WithRepairs};
use a2a_types::v0_3;
use a2a_types::{
    ListTaskPushNotificationConfigsResponse, Operation, Request, Response, TaskId,
    TaskPushNotificationConfig,
};
use serde_json::{Value, json};

use crate::proto_0_3::round_trips::{check, check_read};
use crate::proto_0_3::{hints, text, unrepaired, value};

fn webhook(id: &str) -> TaskPushNotificationConfig {
    value(
        &json!({"id": id, "taskId": "t", "url": "https://h/", "token": "k", "authentication": {"scheme": "Bearer", "credentials": "s"}}),
    )
}

#[test]
fn webhooks_round_trip() {
    let inner = json!({"id": "p", "url": "https://h/", "token": "k", "authentication": {"schemes": ["Bearer"], "credentials": "s"}});
    let wire =
        json!({"name": "tasks/t/pushNotificationConfigs/p", "pushNotificationConfig": inner});
    check(
        Response::CreateTaskPushNotificationConfig(webhook("p")),
        &wire,
    );
    check(Response::GetTaskPushNotificationConfig(webhook("p")), &wire);
    check(Response::DeleteTaskPushNotificationConfig(()), &json!({}));
    let list = |token: &str| {
        Response::ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsResponse {
            configs: vec![webhook("p")],
            next_page_token: token.to_owned(),
        })
    };
    check(list("n"), &json!({"configs": [wire], "nextPageToken": "n"}));
    check(list(""), &json!({"configs": [wire]}));
    check_read(
        Operation::ListTaskPushNotificationConfigs,
        &json!([wire]),
        &list(""),
    );
    let request = Request::CreateTaskPushNotificationConfig(webhook("p"));
    assert_eq!(
        text(v0_3::write_request(request)),
        json!({"parent": "tasks/t", "configId": "p", "config": wire})
    );
    let request = Request::CreateTaskPushNotificationConfig(value(
        &json!({"taskId": "t", "url": "https://h/"}),
    ));
    assert_eq!(
        text(v0_3::write_request(request)),
        json!({"parent": "tasks/t", "config": {"pushNotificationConfig": {"url": "https://h/"}}})
    );
}

pub(crate) fn create(
    body: &Value,
    mode: Mode,
    task: Option<&TaskId>,
) -> Result<WithRepairs<Request>, Violation> {
    let operation = Operation::CreateTaskPushNotificationConfig;
    v0_3::read_request(operation, &body.to_string(), mode, &hints(task))
}

#[test]
fn every_shape_of_a_webhook_request_is_read() {
    let task = TaskId::from("t");
    let with = |id: &str| {
        let mut config = json!({"url": "https://h/", "token": "k", "authentication": {"schemes": ["Bearer"], "credentials": "s"}});
        if !id.is_empty() {
            config["id"] = json!(id);
        }
        config
    };
    let (inner, bare) = (with("p"), with(""));
    let name = "tasks/t/pushNotificationConfigs/p";
    let nameless = "tasks/t/pushNotificationConfigs/None";
    for (body, id) in [
        (
            json!({"parent": "tasks/t", "configId": "p", "config": {"name": name, "pushNotificationConfig": inner}}),
            "p",
        ),
        (
            json!({"parent": "tasks/t", "configId": "p", "config": {"name": nameless, "pushNotificationConfig": bare}}),
            "p",
        ),
        (
            json!({"parent": "tasks/t", "configId": "", "config": {"name": nameless, "pushNotificationConfig": bare}}),
            "",
        ),
        (
            json!({"parent": "tasks/t", "config_id": "p", "config": {"push_notification_config": bare}}),
            "p",
        ),
        (json!({"name": name, "pushNotificationConfig": inner}), "p"),
        (json!({"name": name, "pushNotificationConfig": bare}), "p"),
        (
            json!({"name": "tasks/t/pushNotificationConfigs/undefined", "pushNotificationConfig": bare}),
            "",
        ),
        (json!({"name": "", "pushNotificationConfig": bare}), ""),
        (
            json!({"config": {"name": name, "pushNotificationConfig": inner}}),
            "p",
        ),
        (
            json!({"config": {"taskId": "t", "pushNotificationConfig": inner}}),
            "p",
        ),
        (json!({"config": inner}), "p"),
        (json!({"taskId": "t", "pushNotificationConfig": inner}), "p"),
        (
            json!({"task_id": "t", "pushNotificationConfig": inner}),
            "p",
        ),
        (json!({"pushNotificationConfig": inner, "unknown": 1}), "p"),
        (inner.clone(), "p"),
        (bare.clone(), ""),
    ] {
        for mode in [Mode::Strict, Mode::Lenient] {
            let read = create(&body, mode, Some(&task)).unwrap_or_else(|e| panic!("{body}: {e}"));
            assert_eq!(read.repairs, [], "{body}");
            let expected = Request::CreateTaskPushNotificationConfig(webhook(id));
            assert_eq!(read.value, expected, "{body}");
        }
    }
    let named = json!({"name": name, "pushNotificationConfig": inner});
    let unasked = unrepaired(create(&named, Mode::Strict, None));
    assert_eq!(unasked.task_id(), Some(&task));
}

#[test]
fn a_webhook_for_another_task_is_refused() {
    let task = TaskId::from("t");
    let config = json!({"url": "https://h/"});
    let name = "tasks/u/pushNotificationConfigs/p";
    for (body, path) in [
        (
            json!({"parent": "tasks/u", "config": {"pushNotificationConfig": config}}),
            "$.parent",
        ),
        (
            json!({"name": name, "pushNotificationConfig": config}),
            "$.name",
        ),
        (
            json!({"config": {"name": name, "pushNotificationConfig": config}}),
            "$.config.name",
        ),
        (
            json!({"taskId": "u", "pushNotificationConfig": config}),
            "$.taskId",
        ),
        (
            json!({"config": {"taskId": "u", "url": "https://h/"}}),
            "$.config.taskId",
        ),
        (
            json!({"parent": "projects/u", "config": config}),
            "$.parent",
        ),
        (json!({"parent": "tasks/", "config": config}), "$.parent"),
        (json!({"parent": 7, "config": config}), "$.parent"),
        (json!({"config": {"config": config}}), "$"),
        (
            json!({"config": {"pushNotificationConfig": {"url": 7}}}),
            "$.config.pushNotificationConfig.url",
        ),
        (
            json!({"pushNotificationConfig": {"id": "p"}}),
            "$.pushNotificationConfig",
        ),
        (json!({}), "$"),
        (json!([]), "$"),
    ] {
        for mode in [Mode::Strict, Mode::Lenient] {
            let refused = create(&body, mode, Some(&task)).map(|_| ()).unwrap_err();
            assert_eq!(refused.path, path, "{body}: {refused}");
        }
    }
    let unnamed = create(&config, Mode::Lenient, None).unwrap_err();
    assert_eq!(
        (&*unnamed.path, &*unnamed.problem),
        ("$", "no task is named")
    );
}

#[test]
fn a_task_is_canceled_by_its_path() {
    let task = TaskId::from("t");
    let cancel = |body: &str, task| {
        v0_3::read_request(Operation::CancelTask, body, Mode::Strict, &hints(task))
    };
    for body in [
        "",
        " ",
        "{}",
        "null",
        r#"{"name":"tasks/t"}"#,
        r#"{"name":""}"#,
        r#"{"id":"t"}"#,
    ] {
        let read = unrepaired(cancel(body, Some(&task)));
        let expected = json!({"id": "t"});
        assert_eq!(read, Request::CancelTask(value(&expected)), "{body}");
    }
    let body = r#"{"name":"tasks/t","metadata":{"x":1}}"#;
    let expected = json!({"id": "t", "metadata": {"x": 1}});
    assert_eq!(
        unrepaired(cancel(body, None)),
        Request::CancelTask(value(&expected))
    );
    for (body, path) in [
        (r#"{"name":"tasks/u"}"#, "$.name"),
        (r#"{"name":"t"}"#, "$.name"),
        (r#"{"id":"u"}"#, "$.id"),
        ("[]", "$"),
    ] {
        assert_eq!(cancel(body, Some(&task)).unwrap_err().path, path, "{body}");
    }
    assert_eq!(cancel("{}", None).unwrap_err().path, "$");
    let written = v0_3::write_request(Request::CancelTask(value(&json!({"id": "t"}))));
    assert_eq!(text(written), json!({"name": "tasks/t"}));
}
