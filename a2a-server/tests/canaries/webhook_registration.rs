//! Webhooks that are registered, read, and notified.

use std::collections::BTreeSet;

use a2a_server::{MemoryStore, Server};
use serde_json::{Value, json};

use crate::agent::{
    Scheme, as_others, as_owner, builder, config, config_1_0, messages, rpc, serve,
};
use crate::agent::{task_of, words};
use crate::log::log;
use crate::secrets::{AUTHORIZATION, BASIC, BEARER, CONTENT, TOKEN, URL_KEY, found};
use crate::stores::sqlite;
use crate::wire::{RawAnswer, RawRequest, TAKEN, hook};

/// Secrets that an owner gets back of its own webhook: callers look for the token and the URL that they
/// have sent. Credentials are for the receiver alone.
const OF_OWNER: [&str; 3] = [TOKEN, URL_KEY, CONTENT];

#[track_caller]
pub(crate) fn check_owner(answer: &RawAnswer) {
    let allowed = BTreeSet::from(OF_OWNER);
    let found = found(&answer.text);
    assert!(found.is_subset(&allowed), "{found:?} in {}", answer.text);
}

fn servers() -> [Server; 2] {
    [
        builder().store(MemoryStore::default()),
        builder().store(sqlite()),
    ]
    .map(|builder| builder.build().unwrap())
}

#[tokio::test]
async fn only_the_owner_reads_a_webhook_and_never_its_credentials() {
    log();
    for server in servers() {
        let address = serve(&server).await;
        let (hook, mut requests) = hook(TAKEN).await;
        let base = format!("http://{hook}/");
        for scheme in [Scheme::Bearer, Scheme::Basic, Scheme::Signed] {
            for (method, params) in messages("ask", &base, scheme) {
                let sent = as_owner(address, &rpc(method, &params)).await;
                check_owner(&sent);
                let task = task_of(&sent);
                let mut shown = 0;
                for ask in about(&task, &base, scheme) {
                    let answer = as_owner(address, &ask).await;
                    check_owner(&answer);
                    shown += usize::from(answer.text.contains(TOKEN));
                    for other in as_others(address, &ask).await {
                        assert_eq!(found(&other.text), [].into(), "{}", other.text);
                        assert!(other.text.contains("error"), "{}", other.text);
                    }
                }
                assert!(shown >= 8, "an owner reads its webhooks: {shown}");
                check_answer(&requests.recv().await.unwrap(), scheme);
            }
        }
        for public in ["/.well-known/jwks.json", "/.well-known/agent-card.json"] {
            let answer = RawRequest::get(public).to(address).await;
            assert_eq!((answer.status, found(&answer.text)), (200, [].into()));
        }
    }
    log().check();
}

/// All that can be asked about the webhooks of a task.
fn about(task: &str, base: &str, scheme: Scheme) -> Vec<RawRequest> {
    let config = config(base, scheme);
    let new = |id: &str| {
        let mut new = config_1_0(base, scheme);
        (new["taskId"], new["id"]) = (json!(task), json!(id));
        new
    };
    let old = json!({"id": task, "pushNotificationConfig": config});
    let middle = json!({"taskId": task, "pushNotificationConfig": config});
    let one = json!({"taskId": task, "id": "one"});
    let rest = format!("/tasks/{task}/pushNotificationConfigs");
    let rest = |below: &str| format!("{rest}{below}");
    let id = json!({"id": task});
    let rpc = |method: &str, params: &Value| rpc(method, params).with("accept", "*/*");
    vec![
        rpc("tasks/pushNotification/set", &old),
        rpc("tasks/pushNotification/get", &id),
        rpc("tasks/pushNotificationConfig/set", &middle),
        rpc("tasks/pushNotificationConfig/get", &id),
        rpc("tasks/pushNotificationConfig/list", &id),
        rpc("CreateTaskPushNotificationConfig", &new("one")),
        rpc("GetTaskPushNotificationConfig", &one),
        rpc("ListTaskPushNotificationConfigs", &json!({"taskId": task})),
        RawRequest::post(&rest(""), new("two").to_string()).with("a2a-version", "1.0"),
        RawRequest::get(&rest("/two")).with("a2a-version", "1.0"),
        RawRequest::get(&rest("")).with("a2a-version", "1.0"),
        RawRequest::get(&rest(&format!("?key={URL_KEY}"))).with("a2a-version", "1.0"),
        RawRequest::get(&rest("/two"))
            .method("DELETE")
            .with("a2a-version", "1.0"),
        rpc("DeleteTaskPushNotificationConfig", &one),
        rpc("tasks/get", &id),
    ]
}

/// A receiver gets what it needs in the head of the request; the body has nothing but the task.
#[track_caller]
fn check_answer(request: &str, scheme: Scheme) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let credentials = match scheme {
        Scheme::Bearer => Some(BEARER),
        Scheme::Basic => Some(BASIC),
        Scheme::Signed => None,
    };
    let needed = [TOKEN, URL_KEY].into_iter().chain(credentials).collect();
    assert_eq!(found(head), needed, "{head}");
    assert!(found(body).is_subset(&[CONTENT].into()), "{body}");
}

/// Readers of the agent's answers to a stream or a task see nothing of its webhooks.
#[tokio::test]
async fn a_task_says_nothing_of_its_webhooks() {
    log();
    for server in servers() {
        let address = serve(&server).await;
        let (hook, _requests) = hook(TAKEN).await;
        let base = format!("http://{hook}/");
        let [_, _, (_, params)] = messages("echo", &base, Scheme::Bearer);
        for method in ["SendMessage", "SendStreamingMessage"] {
            let mut params = params.clone();
            params["message"]["messageId"] = json!(method);
            let sent = as_owner(address, &rpc(method, &params)).await;
            assert!(sent.text.contains(&words("echo")), "{}", sent.text);
            assert_eq!(found(&sent.text), [CONTENT].into(), "{}", sent.text);
            for other in as_others(address, &rpc(method, &json!({}))).await {
                assert_eq!(found(&other.text), [].into(), "{}", other.text);
            }
        }
        let all = as_owner(address, &rpc("ListTasks", &json!({}))).await;
        assert_eq!(found(&all.text), [CONTENT].into(), "{}", all.text);
    }
    log().check();
    assert!(log().has_logged("a2a_server"), "the log is kept");
    assert!(!found(AUTHORIZATION).is_empty());
}
