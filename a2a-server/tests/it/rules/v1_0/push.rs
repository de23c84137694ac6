//! Rule 22: webhooks are kept.

use serde_json::{Value, json};

use super::WAYS;
use crate::rules::puppet::serve;

#[tokio::test]
async fn rule_5_4_22_webhooks_are_kept_until_they_are_deleted() {
    for way in WAYS {
        let served = serve().await;
        let task = served.task(way, "ask which").await;
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
            let made = served.ask(way, method, config).await.unwrap();
            assert_eq!(
                (&made["url"], &made["taskId"]),
                (&json!(url), &task["id"]),
                "{way:?}"
            );
            ids.push(made["id"].clone());
        }
        assert!(
            ids.iter().all(Value::is_string) && ids[0] != ids[1],
            "{way:?}: {ids:?}"
        );
        let list = async || {
            let listed = served
                .ask(way, "ListTaskPushNotificationConfigs", of(json!({})))
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
            "{way:?}"
        );
        let named = of(json!({"id": ids[0]}));
        let method = "GetTaskPushNotificationConfig";
        let read = served.ask(way, method, named.clone()).await.unwrap();
        assert_eq!(
            (&read["url"], &read["token"]),
            (&json!("https://a.example/"), &json!("t"))
        );
        for _ in 0..2 {
            let method = "DeleteTaskPushNotificationConfig";
            assert_eq!(
                served.ask(way, method, named.clone()).await,
                Ok(json!({})),
                "{way:?}"
            );
        }
        assert_eq!(list().await, ["https://b.example/"], "{way:?}");
        let gone = served.ask(way, method, named).await;
        assert_eq!(gone, Err("TASK_NOT_FOUND".to_owned()), "{way:?}");
    }
}
