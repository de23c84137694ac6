//! Schemes, by the quality of credentials, by version, binding and operation.

use a2a_auth::{AnyOf, OperationScopes, Rate, RateLimits};
use a2a_transport::Binding;
use a2a_types::{ProtocolVersion, Request as A2aRequest, TaskId};
use serde_json::{Value, json};

use crate::credentials::cases;
use crate::fixture::{self, Credentials, Form, Response, Service};

/// Quality of credentials.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Quality {
    Right,
    Absent,
    Wrong,
    WrongScope,
}

/// Checks status, headers and body of an answer to a request.
#[track_caller]
fn check(
    response: &Response,
    form: Form,
    operation: &str,
    quality: Quality,
    challenge: &str,
    about: &str,
) {
    let about = format!("{about}: {quality:?} {form:?} {operation}: {response:?}");
    let challenges = response.challenges();
    let status = response.status.as_u16();
    match quality {
        Quality::Right => {
            assert_eq!(status, 200, "{about}");
            let expected = match operation {
                "stream" => "text/event-stream",
                _ => "json",
            };
            let content_type = response.headers["content-type"].to_str().unwrap();
            assert!(content_type.contains(expected), "{about}");
            if operation != "stream" {
                assert_eq!(response.json().get("error"), None, "{about}");
            }
            if operation == "card" {
                let text = String::from_utf8_lossy(&response.body);
                assert!(text.contains("Asker of "), "{about}");
                assert!(text.contains("ecuritySchemes"), "{about}");
            }
            assert_eq!(challenges, [] as [&str; 0], "{about}");
            return;
        }
        Quality::Absent => {
            assert_eq!(status, 401, "{about}");
            assert!(challenges[0].starts_with(challenge), "{about}");
            assert!(!challenges[0].contains("error"), "{about}");
        }
        Quality::Wrong => {
            assert_eq!(status, 401, "{about}");
            assert!(challenges[0].starts_with(challenge), "{about}");
            if challenge == "Bearer" {
                assert!(challenges[0].contains("error=\"invalid_token\""), "{about}");
            }
        }
        Quality::WrongScope => {
            assert_eq!(status, 403, "{about}");
            let expected = "Bearer error=\"insufficient_scope\", scope=\"tasks:write\"";
            assert!(challenges[0].starts_with(expected), "{about}");
        }
    }
    let (reason, message) = match quality {
        Quality::WrongScope => ("PERMISSION_DENIED", "Permission denied"),
        _ => ("UNAUTHENTICATED", "Authentication required"),
    };
    let id = match quality {
        // Only then was the body read.
        Quality::WrongScope if operation != "card" => json!(7),
        _ => Value::Null,
    };
    check_error(response, form, reason, message, &id, &about);
}

/// Checks the error of an answer, in the form of a version and binding.
#[track_caller]
fn check_error(
    response: &Response,
    form: Form,
    reason: &str,
    message: &str,
    id: &Value,
    about: &str,
) {
    let body = response.json();
    let status = response.status.as_u16();
    let mut info = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason, "domain": "a2a-protocol.org",
    }]);
    let mut data = None;
    if let Some(after) = response.headers.get("retry-after") {
        let seconds: u32 = after.to_str().unwrap().parse().unwrap();
        data = Some(json!({"retryAfter": seconds}));
        let delay = format!("{}s", after.to_str().unwrap());
        let again = "type.googleapis.com/google.rpc.RetryInfo";
        let again = json!({"@type": again, "retryDelay": delay});
        info.as_array_mut().unwrap().push(again);
    }
    let mut expected = match form {
        Form(Binding::JsonRpc, ProtocolVersion::V1_0) => json!({"jsonrpc": "2.0", "id": id,
            "error": {"code": -32000, "message": message, "data": info}}),
        Form(Binding::JsonRpc, _) => json!({"jsonrpc": "2.0", "id": id,
            "error": {"code": -32000, "message": message}}),
        Form(_, ProtocolVersion::V1_0) => {
            let grpc = match reason {
                "RATE_LIMITED" => "RESOURCE_EXHAUSTED",
                reason => reason,
            };
            json!({"error": {"code": status, "status": grpc, "message": message, "details": info}})
        }
        Form(_, _) => json!({"code": -32000, "message": message}),
    };
    match (data, form) {
        (None, _) | (_, Form(_, ProtocolVersion::V1_0)) => {}
        (Some(data), Form(Binding::JsonRpc, _)) => expected["error"]["data"] = data,
        (Some(data), Form(..)) => expected["data"] = data,
    }
    assert_eq!(body, expected, "{about}");
}

fn operations(task: &TaskId) -> [(&'static str, A2aRequest); 4] {
    [
        ("send", fixture::send()),
        ("stream", fixture::stream()),
        ("card", fixture::extended_card()),
        ("push", fixture::push_config(task)),
    ]
}

#[tokio::test]
async fn every_scheme_is_checked_in_every_version_and_binding() {
    let mut count = 0;
    for case in cases().await {
        let authenticator = AnyOf::new(case.requirement);
        let builder = fixture::builder(authenticator).authorizer(OperationScopes::default());
        let service = Service::new(builder);
        let sent = service.send(&case.right).await;
        let task: TaskId = sent.json()["result"]["task"]["id"].as_str().unwrap().into();
        let wrong = case
            .wrong
            .iter()
            .chain(&case.expired)
            .chain(&case.wrong_audience);
        let wrong = wrong.map(|credentials| (credentials, Quality::Wrong));
        let none = Credentials::none();
        let others = [
            (&case.right, Quality::Right),
            (&none, Quality::Absent),
            (&case.reader, Quality::WrongScope),
        ];
        for (credentials, quality) in wrong.chain(others) {
            for form in Form::ALL {
                for (operation, request) in operations(&task) {
                    let Some(request) = form.write(request) else {
                        assert_eq!((form.1, operation), (ProtocolVersion::V0_1, "card"));
                        continue;
                    };
                    let response = service.handle(credentials.attach(request)).await;
                    let quality = match (quality, operation) {
                        // It needs no scope.
                        (Quality::WrongScope, "card") => Quality::Right,
                        (quality, _) => quality,
                    };
                    check(
                        &response,
                        form,
                        operation,
                        quality,
                        case.challenge,
                        case.name,
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count > 800, "{count}");
}

#[tokio::test]
async fn a_reader_reads_its_own_tasks_alone() {
    for case in cases().await {
        let builder = fixture::builder(AnyOf::new(case.requirement));
        let service = Service::new(builder.authorizer(OperationScopes::default()));
        let sent = service.send(&case.right).await;
        let task: TaskId = sent.json()["result"]["task"]["id"].as_str().unwrap().into();
        let read = async |credentials: &Credentials, task: &TaskId| {
            let request = Form::LATEST.write(fixture::get(task)).unwrap();
            service.handle(credentials.attach(request)).await.json()
        };
        let own = read(&case.right, &task).await;
        assert_eq!(own["result"]["id"], task.as_str(), "{}", case.name);
        // A task of another caller looks like one that does not exist.
        let forbidden = read(&case.reader, &task).await;
        let absent = read(&case.reader, &"nowhere".into()).await;
        let mut forbidden = forbidden.to_string();
        assert!(forbidden.contains("-32001"), "{}: {forbidden}", case.name);
        forbidden = forbidden.replace(task.as_str(), "nowhere");
        assert_eq!(forbidden, absent.to_string(), "{}", case.name);
    }
}

#[tokio::test]
async fn a_rate_is_refused_in_every_version_and_binding() {
    let hour = std::time::Duration::from_secs(3600);
    for case in cases().await {
        let limited = RateLimits::new(AnyOf::new(case.requirement));
        let service = Service::of(limited.per_principal(Rate::new(1, hour)));
        assert_eq!(service.send(&case.right).await.status, 200, "{}", case.name);
        for form in Form::ALL {
            let request = form.write(fixture::send()).unwrap();
            let response = service.handle(case.right.attach(request)).await;
            let about = format!("{}: {form:?}: {response:?}", case.name);
            assert_eq!(response.status, 429, "{about}");
            let after = response.headers["retry-after"].to_str().unwrap();
            assert!(
                (3590..=3600).contains(&after.parse::<u32>().unwrap()),
                "{about}"
            );
            let message = "Too many requests";
            check_error(
                &response,
                form,
                "RATE_LIMITED",
                message,
                &Value::Null,
                &about,
            );
        }
        assert_eq!(
            service.send(&case.reader).await.status,
            200,
            "{}",
            case.name
        );
    }
}
