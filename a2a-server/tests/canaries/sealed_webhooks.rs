//! Webhooks that are sealed in the store.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use a2a_server::{EncryptionKeys, Principal, Server, ServerBuilder, SqliteStore, Transport};
use a2a_transport::{CallRequest, Context, Error, ResponseBody};
use a2a_types::{
    AuthenticationInfo, Message, ProtocolVersion, Request, Response, SendMessageRequest,
    SendMessageResponse, TaskId, TaskPushNotificationConfig,
};
use a2a_types::{GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest};
use rusqlite::Connection;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::agent::builder;
use crate::log::{check, log};
use crate::secrets::{BEARER, TOKEN, URL_KEY, found};
use crate::stores::new_file;
use crate::waiting::{eventually, reopened};
use crate::wire::{TAKEN, hook};

const SECRETS: [&str; 3] = [TOKEN, BEARER, URL_KEY];

/// Returns keys with these ids, made of the ids.
fn keys(ids: &[&str]) -> EncryptionKeys {
    let line = |id: &&str| {
        let key: [u8; 32] = std::array::from_fn(|place| id.as_bytes()[place % id.len()]);
        format!("{id} {}", a2a_types::Base64::encode(key).as_text())
    };
    let lines: Vec<_> = ids.iter().map(line).collect();
    EncryptionKeys::parse(&lines.join("\n")).unwrap()
}

/// Starts a server with the tasks in this file; without ids nothing is sealed.
async fn serve(file: &Path, ids: &[&str], settings: fn(ServerBuilder) -> ServerBuilder) -> Server {
    serve_from(reopened(file).await, ids, settings)
}

fn serve_from(
    store: SqliteStore,
    ids: &[&str],
    settings: fn(ServerBuilder) -> ServerBuilder,
) -> Server {
    let builder = settings(builder().store(store));
    let sealed = match ids {
        [] => builder,
        ids => builder.encrypt_secrets(keys(ids)),
    };
    sealed.build().unwrap()
}

async fn ask(server: &Server, name: &str, request: impl Into<Request>) -> Result<Response, Error> {
    let context = Context::new(ProtocolVersion::V1_0).principal(Principal::named(name));
    let request = request.into();
    let reply = server.call(CallRequest { request, context }).await?;
    match reply.answer {
        ResponseBody::Once(response) => Ok(response),
        ResponseBody::Stream(_) => panic!("a stream"),
    }
}

/// Returns a webhook full of secrets.
fn config(base: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        id: "c".into(),
        url: format!("{base}?key={URL_KEY}"),
        token: Some(TOKEN.to_owned()),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some(BEARER.to_owned()),
        }),
        ..TaskPushNotificationConfig::default()
    }
}

/// Sends a message with a webhook.
async fn send(
    server: &Server,
    name: &str,
    message: &str,
    config: TaskPushNotificationConfig,
) -> Result<TaskId, Error> {
    let message = Message {
        message_id: message.into(),
        ..Message::user("ask")
    };
    let mut request = SendMessageRequest::from(message);
    let configuration = request.configuration.get_or_insert_default();
    configuration.task_push_notification_config = Some(Box::new(config));
    match ask(server, name, Request::SendMessage(request)).await? {
        Response::SendMessage(SendMessageResponse::Task(task)) => Ok(task.id),
        other => panic!("{other:?}"),
    }
}

/// Reads the webhook of a task.
async fn read(
    server: &Server,
    name: &str,
    task: &TaskId,
) -> Result<TaskPushNotificationConfig, Error> {
    let one = GetTaskPushNotificationConfigRequest {
        task_id: task.clone(),
        id: "c".into(),
        ..Default::default()
    };
    let all = ListTaskPushNotificationConfigsRequest {
        task_id: task.clone(),
        ..Default::default()
    };
    let list = ask(server, name, Request::ListTaskPushNotificationConfigs(all)).await;
    match ask(server, name, Request::GetTaskPushNotificationConfig(one)).await {
        Ok(Response::GetTaskPushNotificationConfig(config)) => {
            let Ok(Response::ListTaskPushNotificationConfigs(list)) = list else {
                panic!("{list:?}");
            };
            assert_eq!(list.configs, std::slice::from_ref(&config));
            Ok(config)
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            list.unwrap_err();
            Err(error)
        }
    }
}

/// Registers the webhook of a task again.
async fn put(server: &Server, name: &str, task: &TaskId, config: TaskPushNotificationConfig) {
    let task_id = task.clone();
    let config = TaskPushNotificationConfig { task_id, ..config };
    let put = ask(
        server,
        name,
        Request::CreateTaskPushNotificationConfig(config),
    )
    .await;
    put.unwrap();
}

/// Waits for a delivery, which has what its receiver needs.
async fn delivered(requests: &mut UnboundedReceiver<String>) {
    let request = tokio::time::timeout(Duration::from_secs(60), requests.recv()).await;
    let request = request.expect("nothing is delivered").unwrap();
    let (head, _) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(found(head), SECRETS.into(), "{head}");
    assert!(request.contains(&format!("Bearer {BEARER}")), "{request}");
}

/// Returns the secrets of webhooks in all files of a database.
fn kept(file: &Path) -> BTreeSet<&'static str> {
    let mut kept = BTreeSet::new();
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        if let Ok(bytes) = std::fs::read(name) {
            kept.extend(found(&String::from_utf8_lossy(&bytes)));
        }
    }
    kept
}

/// Returns the URL of the only webhook as it is stored.
fn stored_url(file: &Path) -> String {
    let body: Vec<u8> = Connection::open(file)
        .unwrap()
        .query_row("select body from push_config", [], |row| row.get(0))
        .unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    body["url"].as_str().unwrap().to_owned()
}

fn as_is(builder: ServerBuilder) -> ServerBuilder {
    builder
}

/// A notification that is not delivered stays so for as long as the test lasts.
fn with_late_retries(builder: ServerBuilder) -> ServerBuilder {
    builder.retry_webhooks([Duration::from_secs(3600)])
}

/// A notification that is not delivered is a dead letter at once.
fn without_retries(builder: ServerBuilder) -> ServerBuilder {
    builder.retry_webhooks([])
}

#[tokio::test]
async fn a_file_has_no_secret_of_a_webhook_that_is_sealed() {
    log();
    for (ids, secrets) in [(&["k"][..], [].into()), (&[][..], BTreeSet::from(SECRETS))] {
        let file = new_file();
        let server = serve(&file, ids, as_is).await;
        let (address, mut requests) = hook(TAKEN).await;
        let base = format!("http://{address}/");
        let task = send(&server, "ada", "m", config(&base)).await.unwrap();
        delivered(&mut requests).await;
        let shown = read(&server, "ada", &task).await.unwrap();
        assert_eq!(shown.url, format!("{base}?key={URL_KEY}"));
        assert_eq!(shown.token.as_deref(), Some(TOKEN));
        put(&server, "ada", &task, config(&base)).await;
        assert_eq!(kept(&file), secrets, "{ids:?}");
        // The same message begins no other task.
        let again = send(&server, "ada", "m", config(&base)).await;
        assert_eq!(again.unwrap(), task);
    }
    log().check();
}

#[tokio::test]
async fn a_dead_letter_has_no_secret_in_the_file() {
    log();
    let file = new_file();
    let server = serve(&file, &["k"], without_retries).await;
    let (address, mut requests) = hook("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").await;
    let task = send(&server, "ada", "m", config(&format!("http://{address}/"))).await;
    delivered(&mut requests).await;
    log()
        .until(&[&format!("task={}", task.unwrap()), "DeadLetter"])
        .await;
    let letters = server.dead_letters(10).await.unwrap();
    assert_eq!(letters[0].config.token.as_deref(), Some(TOKEN));
    server.redeliver(&letters[0]).await.unwrap();
    delivered(&mut requests).await;
    assert_eq!(kept(&file), [].into());
    log().check();
}

#[tokio::test]
async fn webhooks_in_the_clear_are_sealed_when_they_are_written() {
    let file = new_file();
    let (address, mut requests) = hook(TAKEN).await;
    let base = format!("http://{address}/");
    let clear = serve(&file, &[], as_is).await;
    let task = send(&clear, "ada", "m", config(&base)).await.unwrap();
    delivered(&mut requests).await;
    drop(clear);
    let server = serve(&file, &["new"], as_is).await;
    let shown = read(&server, "ada", &task).await.unwrap();
    assert_eq!(shown.token.as_deref(), Some(TOKEN));
    assert!(stored_url(&file).starts_with("http"), "only read so far");
    put(&server, "ada", &task, config(&base)).await;
    assert!(stored_url(&file).starts_with("sealed:1:new:"));
    assert_eq!(read(&server, "ada", &task).await.unwrap(), shown);
}

#[tokio::test]
async fn a_key_is_replaced_by_the_next() {
    let file = new_file();
    let base = "http://127.0.0.1:1/";
    let old = serve(&file, &["old"], as_is).await;
    let task = send(&old, "ada", "m", config(base)).await.unwrap();
    assert!(stored_url(&file).starts_with("sealed:1:old:"));
    drop(old);
    let both = serve(&file, &["new", "old"], as_is).await;
    let shown = read(&both, "ada", &task).await.unwrap();
    assert_eq!(shown.token.as_deref(), Some(TOKEN));
    put(&both, "ada", &task, config(base)).await;
    assert!(stored_url(&file).starts_with("sealed:1:new:"));
    drop(both);
    let new = serve(&file, &["new"], as_is).await;
    assert_eq!(read(&new, "ada", &task).await.unwrap(), shown);
}

#[tokio::test]
async fn without_its_key_a_webhook_waits() {
    log();
    let file = new_file();
    let (address, mut requests) = hook("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").await;
    let first = serve(&file, &["lost"], with_late_retries).await;
    let task = send(&first, "ada", "m", config(&format!("http://{address}/")))
        .await
        .unwrap();
    delivered(&mut requests).await;
    log().until(&[&format!("task={task}"), "Retry"]).await;
    drop(first);
    // Has the notification due at once, when no server has the file.
    let due = async || {
        let store = reopened(&file).await;
        let sql = "update push_outbox set next_at = 0, taken = 0";
        let connection = Connection::open(&file).unwrap();
        assert_eq!(connection.execute(sql, []), Ok(1));
        store
    };
    let other = serve_from(due().await, &["other"], without_retries);
    let says = [
        &*format!("task={task}"),
        "could not open the webhook of a notification",
        "sealed by the key `lost`, which is not among the sealing keys",
    ];
    log().until(&says).await;
    let refused = read(&other, "ada", &task).await.unwrap_err();
    check(&format!("{refused} {refused:?}"));
    assert!(other.dead_letters(10).await.unwrap().is_empty());
    assert!(requests.try_recv().is_err());
    until_given_back(&file).await;
    drop(other);
    let without = serve(&file, &[], without_retries).await;
    read(&without, "ada", &task).await.unwrap_err();
    drop(without);
    let _both = serve_from(due().await, &["other", "lost"], as_is);
    delivered(&mut requests).await;
    log().check();
}

/// Waits until the only notification is put off, without another attempt than the first.
async fn until_given_back(file: &Path) {
    let connection = Connection::open(file).unwrap();
    let sql = "select taken, attempt from push_outbox";
    let mut statement = connection.prepare(sql).unwrap();
    let mut read = || statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)));
    eventually(async || (read() == Ok((0_i64, 1_i64))).then_some(())).await;
}

#[tokio::test]
async fn a_webhook_that_was_moved_to_another_task_is_refused() {
    let file = new_file();
    let server = serve(&file, &["k"], as_is).await;
    let base = "http://127.0.0.1:1/";
    let ada = send(&server, "ada", "m", config(base)).await.unwrap();
    let bob = send(&server, "bob", "m", config(base)).await.unwrap();
    let own = send(&server, "bob", "n", config(base)).await.unwrap();
    let steal = |from: &TaskId| {
        let sql = "update push_config set body =
                     (select body from push_config c join task on task.seq = c.task where task.id = ?1)
                   where task = (select seq from task where id = ?2)";
        let connection = Connection::open(&file).unwrap();
        connection
            .execute(sql, [from.as_str(), bob.as_str()])
            .unwrap()
    };
    read(&server, "bob", &bob).await.unwrap();
    for from in [&ada, &own] {
        assert_eq!(steal(from), 1);
        let refused = read(&server, "bob", &bob).await.unwrap_err();
        check(&format!("{refused} {refused:?}"));
    }
    read(&server, "ada", &ada).await.unwrap();
}
