//! Sealed webhooks: no secret in any table, rotation of keys, and keys that are missing.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, Error};
use a2a_postgres::PostgresOptions;
use a2a_server::{
    Append, EncryptedStore, EncryptionKeys, Owner, Principal, Server, Store, StoreError,
    WebhookPolicy,
};
use a2a_types::{
    AuthenticationInfo, Base64, ErrorKind, Message, ProtocolVersion, Task,
    TaskPushNotificationConfig,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::database::{Database, open, options, shared};
use crate::sample::{LONG, chunk, new};
use crate::worker::{Worker, card, task};

const TOKEN: &str = "Qm7tPz3TokenVx91kLrWe5";
const BEARER: &str = "Hs4dBearerNf82yUcXj06Ga";
const URL_KEY: &str = "Vy2nUrlKeyRg68sJpAq40C";
const SECRETS: [&str; 3] = [TOKEN, BEARER, URL_KEY];

/// Returns keys with these ids, made of the ids.
fn keys(ids: &[&str]) -> EncryptionKeys {
    let line = |id: &&str| {
        let key: [u8; 32] = std::array::from_fn(|place| id.as_bytes()[place % id.len()]);
        format!("{id} {}", Base64::encode(key).as_text())
    };
    let lines: Vec<_> = ids.iter().map(line).collect();
    EncryptionKeys::parse(&lines.join("\n")).unwrap()
}

/// Opens the store, with its webhooks sealed by these keys.
async fn sealed(options: &PostgresOptions, keys: EncryptionKeys) -> EncryptedStore {
    EncryptedStore::new(Arc::new(open(options).await), Some(keys))
}

/// Builds a server that tries each delivery once; without ids nothing is sealed.
async fn server(options: &PostgresOptions, ids: &[&str]) -> Server {
    let mut card = card();
    card.capabilities.push_notifications = Some(true);
    let builder = Server::builder(card, Worker::default())
        .store(open(options).await)
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .retry_webhooks([]);
    let builder = match ids {
        [] => builder,
        ids => builder.encrypt_secrets(keys(ids)),
    };
    builder.build().unwrap()
}

/// Returns a webhook full of secrets.
fn config(receiver: SocketAddr) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        id: "c".into(),
        url: format!("http://{receiver}/?key={URL_KEY}"),
        token: Some(TOKEN.to_owned()),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some(BEARER.to_owned()),
        }),
        ..TaskPushNotificationConfig::default()
    }
}

fn of_task(config: TaskPushNotificationConfig, id: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        task_id: id.into(),
        ..config
    }
}

/// Returns a webhook as it is read: its credentials are not shown.
fn as_shown(mut config: TaskPushNotificationConfig) -> TaskPushNotificationConfig {
    if let Some(authentication) = &mut config.authentication {
        authentication.credentials = None;
    }
    config
}

/// Starts a receiver that answers every delivery by this status; returns its address, and the heads of deliveries.
async fn receiver(status: &'static str) -> (SocketAddr, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, heads) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert_ne!(stream.read_line(&mut head).await.unwrap(), 0, "{head}");
            }
            let mut lines = head.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            stream.read_exact(&mut body).await.unwrap();
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            // This fails once the test has dropped its receiver.
            let _ = sender.send(head);
        }
    });
    (address, heads)
}

/// Waits for a delivery, which has all secrets that its receiver needs.
async fn delivered(heads: &mut UnboundedReceiver<String>) {
    let head = timeout(Duration::from_secs(60), heads.recv()).await;
    let head = head.expect("nothing is delivered").unwrap();
    for secret in SECRETS {
        assert!(head.contains(secret), "{head}");
    }
}

/// Returns the secrets of which a part is in a table of the schema.
fn kept(database: &Database, schema: &str) -> BTreeSet<&'static str> {
    let names = format!("select tablename from pg_tables where schemaname = '{schema}'");
    let names = database.psql(&names);
    assert!(names.lines().count() >= 9, "{names}");
    let rows = |name: &str| {
        let sql = format!("set bytea_output = 'escape'; select t::text from {schema}.{name} t");
        database.psql(&sql)
    };
    let rows: String = names.lines().map(rows).collect();
    let is_kept = |secret: &&str| parts(secret).iter().any(|part| rows.contains(part));
    SECRETS.into_iter().filter(is_kept).collect()
}

/// Returns the parts of a secret as text, as hexadecimal, and in Base64 wherever in it.
fn parts(secret: &str) -> BTreeSet<String> {
    let windows = secret.as_bytes().windows(6);
    let texts = windows
        .clone()
        .map(|part| String::from_utf8_lossy(part).into_owned());
    let hex = windows.map(|part| part.iter().map(|byte| format!("{byte:02x}")).collect());
    let mut parts: BTreeSet<String> = texts.chain(hex).collect();
    for before in 0..3 {
        let bytes = [&b"..."[..before], secret.as_bytes()].concat();
        let whole = bytes.len() / 3 * 4;
        // Without the characters that also encode the neighbouring bytes.
        let encoded = Base64::encode(&bytes);
        let inner = &encoded.as_text().as_bytes()[(before * 8).div_ceil(6)..whole];
        let windows = inner.windows(8);
        parts.extend(windows.map(|part| String::from_utf8_lossy(part).into_owned()));
    }
    parts
}

/// Returns the URL of the only webhook as it is stored.
fn stored_url(database: &Database, schema: &str) -> String {
    database.psql(&format!(
        "select convert_from(body, 'UTF8')::json ->> 'url' from {schema}.push_config"
    ))
}

fn to(task: &Task, text: &str) -> Message {
    Message {
        task_id: Some(task.id.clone()),
        ..Message::user(text)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_table_has_a_part_of_a_secret_of_a_sealed_webhook() {
    let Some(database) = shared() else { return };
    for (schema, ids, expected) in [
        ("sealed", &["k"][..], BTreeSet::new()),
        ("clear", &[], BTreeSet::from(SECRETS)),
    ] {
        let options = database.options().schema(schema);
        let (one, other) = (server(&options, ids).await, server(&options, ids).await);
        let (here, there) = (Client::new(one.clone()), Client::new(other));
        let (address, mut heads) = receiver("204 No Content").await;
        let sent = here.send("ask which").webhook(config(address)).await;
        let asked = task(sent.unwrap());
        delivered(&mut heads).await;
        let full = of_task(config(address), asked.id.as_str());
        let read = there.push_config(asked.id.clone(), None).await.unwrap();
        assert_eq!(read, as_shown(full.clone()));
        there.create_push_config(full).await.unwrap();
        there.send(to(&asked, "ask again")).await.unwrap();
        delivered(&mut heads).await;

        let (address, mut heads) = receiver("503 Service Unavailable").await;
        let sent = there.send("ask which").webhook(config(address)).await;
        sent.unwrap();
        delivered(&mut heads).await;
        let is_dead =
            format!("select count(*) = 1 from {schema}.push_outbox where dead is not null");
        database.until(&is_dead).await;
        let letters = one.dead_letters(10).await.unwrap();
        assert_eq!(letters[0].config.token.as_deref(), Some(TOKEN));
        one.redeliver(&letters[0]).await.unwrap();
        delivered(&mut heads).await;
        assert_eq!(kept(database, schema), expected, "{schema}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sealing_key_is_replaced_by_the_next() {
    let Some(database) = shared() else { return };
    let options = database.options().schema("rotation");
    let is_sealed_by = |id: &str| {
        let url = stored_url(database, "rotation");
        assert!(url.starts_with(&format!("sealed:1:{id}:")), "{url}");
    };
    let silent = SocketAddr::from(([127, 0, 0, 1], 1));
    let old = Client::new(server(&options, &["old"]).await);
    let sent = old.send("ask which").webhook(config(silent)).await;
    let id = task(sent.unwrap()).id;
    is_sealed_by("old");
    let both = Client::new(server(&options, &["new", "old"]).await);
    let full = of_task(config(silent), id.as_str());
    let shown = as_shown(full.clone());
    assert_eq!(both.push_config(id.clone(), None).await.unwrap(), shown);
    is_sealed_by("old");
    both.create_push_config(full).await.unwrap();
    is_sealed_by("new");
    let new = Client::new(server(&options, &["new"]).await);
    assert_eq!(new.push_config(id.clone(), None).await.unwrap(), shown);
    let refused = old.push_config(id, None).await.unwrap_err();
    assert!(matches!(refused, Error::Agent(_)), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn notification_waits_for_its_sealing_key_and_the_error_names_it() {
    let Some(database) = shared() else { return };
    let options = database.options().schema("lost");
    let owner = Owner::from(Principal::anonymous());
    let with = async |ids: &[&str]| sealed(&options, keys(ids)).await;
    let config = of_task(config(SocketAddr::from(([127, 0, 0, 1], 1))), "t");
    let store = with(&["lost"]).await;
    store.create(&owner, new("t")).await.unwrap();
    let put = store.put_config(&owner, config.clone(), ProtocolVersion::V1_0);
    put.await.unwrap();
    let mut append = Append::held(1, 1, vec![chunk("t", "x")]);
    append.notify = true;
    store.append(&owner, &"t".into(), append).await.unwrap();

    let other = with(&["other"]).await;
    let id = "t".into();
    let error = other.configs(&owner, &id).await.unwrap_err();
    assert!(
        causes(&error).contains("sealed by the key `lost`"),
        "{error:?}"
    );
    let is_put_off = "select attempt = 0 and next_at > clock_timestamp() + interval '30 s' from lost.push_outbox";
    assert_eq!(other.notifications(10, LONG).await.unwrap(), []);
    assert_eq!(database.psql(is_put_off), "t");
    // Another key with that id does not open it.
    let wrong = EncryptionKeys::new("lost", &[1; 32]).unwrap();
    let wrong = sealed(&options, wrong).await;
    let error = wrong.configs(&owner, &id).await.unwrap_err();
    assert!(
        causes(&error).contains("another key of that id"),
        "{error:?}"
    );

    database.psql(
        "update lost.push_outbox set next_at = clock_timestamp();
         update lost.push_config set due = clock_timestamp()",
    );
    let both = with(&["other", "lost"]).await;
    let opened = both.configs(&owner, &id).await.unwrap();
    assert_eq!(opened, std::slice::from_ref(&config));
    let due = both.notifications(10, LONG).await.unwrap();
    assert_eq!((due.len(), &due[0].config, due[0].attempt), (1, &config, 0));

    // The caller learns only that something is wrong. This server takes due notifications, so this comes
    // last.
    let client = Client::new(server(&options, &["other"]).await);
    match client.push_config("t", None).await.unwrap_err() {
        Error::Agent(error) => {
            assert_eq!(error.kind, ErrorKind::Internal);
            assert!(!error.message.contains("lost"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the texts of an error and its causes.
fn causes(error: &StoreError) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The random case of the suite, which has webhooks too, takes long here: it runs over a sealed store in memory.
#[tokio::test(flavor = "multi_thread")]
async fn sealed_store_keeps_the_promises_of_the_outbox() {
    if options().is_none() {
        return;
    }
    let is_chosen = |name: &str| name.starts_with("outbox.") || name == "race.taken_once";
    let chosen: Vec<_> = a2a_store_suite::cases()
        .filter(|case| is_chosen(case.name))
        .collect();
    assert!(chosen.len() > 2, "{chosen:?}");
    for case in chosen {
        let open = async || sealed(&options().unwrap(), keys(&["k"])).await;
        assert_eq!(case.check(open).await, Ok(()));
    }
}
