//! Webhooks are kept.

use serde_json::{Value, json};

use super::HTTP_BINDINGS;
use crate::rules::scripted_agent::serve;

/// Webhooks are kept until they are deleted, which may be said twice; all are listed. §3.1.7 to §3.1.10.
#[tokio::test]
async fn webhooks_are_kept_until_they_are_deleted() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let task = served.task(binding, "ask which").await;
        let of = |members: Value| {
            let mut params = json!({"taskId": task["id"]});
            params
                .as_object_mut()
                .unwrap()
                .extend(members.as_object().unwrap().clone());
            params
        };
        let mut ids = Vec::new();
        for url in ["https://a.example/", "https://b.example/"] {
            let config = of(json!({"url": url, "token": "t"}));
            let method = "CreateTaskPushNotificationConfig";
            let made = served.ask(binding, method, config).await.unwrap();
            assert_eq!(
                (&made["url"], &made["taskId"]),
                (&json!(url), &task["id"]),
                "{binding:?}"
            );
            ids.push(made["id"].clone());
        }
        assert!(
            ids.iter().all(Value::is_string) && ids[0] != ids[1],
            "{binding:?}: {ids:?}"
        );
        let list = async || {
            let listed = served
                .ask(binding, "ListTaskPushNotificationConfigs", of(json!({})))
                .await;
            let configs = listed.unwrap()["configs"].take();
            let urls = configs
                .as_array()
                .unwrap()
                .iter()
                .map(|config| config["url"].clone());
            urls.collect::<Vec<_>>()
        };
        assert_eq!(
            list().await,
            ["https://a.example/", "https://b.example/"],
            "{binding:?}"
        );
        let named = of(json!({"id": ids[0]}));
        let method = "GetTaskPushNotificationConfig";
        let read = served.ask(binding, method, named.clone()).await.unwrap();
        assert_eq!(
            (&read["url"], &read["token"]),
            (&json!("https://a.example/"), &json!("t"))
        );
        for _ in 0..2 {
            let method = "DeleteTaskPushNotificationConfig";
            assert_eq!(
                served.ask(binding, method, named.clone()).await,
                Ok(json!({})),
                "{binding:?}"
            );
        }
        assert_eq!(list().await, ["https://b.example/"], "{binding:?}");
        let gone = served.ask(binding, method, named).await;
        assert_eq!(gone, Err("TASK_NOT_FOUND".to_owned()), "{binding:?}");
    }
}
