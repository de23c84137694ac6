//! Listing tasks.

use serde_json::{Value, json};

use super::{HTTP_BINDINGS, say, with};
use crate::rules::scripted_agent::{card, serve, serve_to_names};

fn ids(page: &Value) -> Vec<&Value> {
    page["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| &task["id"])
        .collect()
}

/// Pages go by a token, are sorted by time of status, the latest first, and hold 50 or what is asked for, 1 to 100.
/// §3.1.4.
#[tokio::test]
async fn pages_are_sorted_and_bounded() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        for _ in 0..51 {
            served.task(binding, "echo x").await;
        }
        let page = served.ask(binding, "ListTasks", json!({})).await.unwrap();
        assert_eq!(
            (ids(&page).len(), &page["pageSize"]),
            (50, &json!(50)),
            "{binding:?}"
        );
        let time = |task: &Value| task["status"]["timestamp"].as_str().unwrap().to_owned();
        let times: Vec<_> = page["tasks"].as_array().unwrap().iter().map(time).collect();
        assert!(
            times.is_sorted_by(|one, next| one >= next),
            "{binding:?}: {times:?}"
        );
        let next = json!({"pageToken": page["nextPageToken"]});
        let rest = served.ask(binding, "ListTasks", next).await.unwrap();
        assert_eq!(ids(&rest).len(), 1, "{binding:?}");
        assert!(!ids(&page).contains(&ids(&rest)[0]), "{binding:?}");
        for (size, fits) in [
            (0, false),
            (1, true),
            (100, true),
            (101, false),
            (-1, false),
        ] {
            let page = served
                .ask(binding, "ListTasks", json!({"pageSize": size}))
                .await;
            let refused = page == Err("INVALID_PARAMS".to_owned());
            assert_eq!(refused, !fits, "{binding:?} {size}: {page:?}");
        }
        let nonsense = served
            .ask(binding, "ListTasks", json!({"pageToken": "nonsense"}))
            .await;
        assert_eq!(nonsense, Err("INVALID_PARAMS".to_owned()), "{binding:?}");
    }
}

/// A page has artifacts only if asked for, always a token, which is empty at the end, and the size of the whole.
/// §3.1.4.
#[tokio::test]
async fn a_page_has_the_requested_fields() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let list = |params: Value| served.ask(binding, "ListTasks", params);
        let none = list(json!({})).await.unwrap();
        let empty = json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0});
        assert_eq!(none, empty, "{binding:?}");

        let mut stamps = Vec::new();
        for text in ["echo 1", "echo 2", "ask 3"] {
            let sent = with(say(text), json!({"contextId": "c"}));
            let task = served.ask(binding, "SendMessage", sent).await.unwrap()["task"].take();
            stamps.push(task["status"]["timestamp"].clone());
        }
        served.task(binding, "echo elsewhere").await;
        let page = list(json!({"contextId": "c", "pageSize": 2}))
            .await
            .unwrap();
        assert_eq!(
            (ids(&page).len(), &page["totalSize"]),
            (2, &json!(3)),
            "{binding:?}"
        );
        assert!(
            page["tasks"]
                .as_array()
                .unwrap()
                .iter()
                .all(|task| task.get("artifacts").is_none())
        );
        let token = page["nextPageToken"].clone();
        let next = json!({"contextId": "c", "pageSize": 2, "pageToken": token});
        let last = list(next).await.unwrap();
        assert_eq!(
            (ids(&last).len(), &last["nextPageToken"]),
            (1, &json!("")),
            "{binding:?}"
        );

        for (include, there) in [(true, true), (false, false)] {
            let completed = "TASK_STATE_COMPLETED";
            let params =
                json!({"contextId": "c", "status": completed, "includeArtifacts": include});
            let page = list(params).await.unwrap();
            assert_eq!(ids(&page).len(), 2, "{binding:?}");
            assert_eq!(
                page["tasks"][0].get("artifacts").is_some(),
                there,
                "{binding:?}"
            );
        }
        let since = list(json!({"contextId": "c", "statusTimestampAfter": stamps[2]}))
            .await
            .unwrap();
        let count = stamps
            .iter()
            .filter(|stamp| stamp.as_str() >= stamps[2].as_str())
            .count();
        assert_eq!(
            ids(&since).len(),
            count,
            "{binding:?}: one of that very time is in"
        );
        let later = list(json!({"statusTimestampAfter": "2999-01-01T00:00:00Z"}))
            .await
            .unwrap();
        assert_eq!(later["totalSize"], 0, "{binding:?}");
    }
}

/// Callers list what they may see, whatever they filter by. §13.1.
#[tokio::test]
async fn callers_list_their_own_tasks() {
    for binding in HTTP_BINDINGS {
        let served = serve_to_names(card()).await;
        let mine = with(say("echo mine"), json!({"contextId": "shared"}));
        let sent = served
            .ask_as("alice", binding, "SendMessage", mine)
            .await
            .unwrap();
        for filter in [json!({}), json!({"contextId": "shared"})] {
            let hers = served
                .ask_as("alice", binding, "ListTasks", filter.clone())
                .await
                .unwrap();
            assert_eq!(ids(&hers), [&sent["task"]["id"]], "{binding:?}");
            let his = served
                .ask_as("bob", binding, "ListTasks", filter)
                .await
                .unwrap();
            assert_eq!(
                (ids(&his).len(), &his["totalSize"]),
                (0, &json!(0)),
                "{binding:?}"
            );
        }
    }
}
