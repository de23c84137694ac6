//! An agent that writes down what it is asked, and answers from a script.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use a2a_client::Client;
use a2a_types::{ListTasksRequest, TaskPushNotificationConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    pub(crate) verb: String,
    /// With the query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    /// Null if there was none.
    pub(crate) body: Value,
}

impl RecordedRequest {
    /// The value of a header, if it was sent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A refusal of JSON-RPC.
    pub(crate) fn error(&self, error: Value) -> ScriptedAnswer {
        ScriptedAnswer::json(json!({"jsonrpc": "2.0", "id": self.body["id"], "error": error}))
    }

    /// A stream of JSON-RPC.
    pub(crate) fn results(&self, results: &[Value]) -> ScriptedAnswer {
        let event = |result| json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result});
        let lines = results
            .iter()
            .map(|result| format!("data: {}\n\n", event(result)));
        ScriptedAnswer {
            status: 200,
            media_type: "text/event-stream",
            body: lines.collect(),
        }
    }
}

pub(crate) struct ScriptedAnswer {
    status: u16,
    media_type: &'static str,
    body: String,
}

impl ScriptedAnswer {
    pub(crate) fn json(body: Value) -> Self {
        Self {
            status: 200,
            media_type: "application/json",
            body: body.to_string(),
        }
    }

    /// A stream of one event.
    pub(crate) fn event(data: &Value) -> Self {
        let body = format!("data: {data}\n\n");
        Self {
            status: 200,
            media_type: "text/event-stream",
            body,
        }
    }

    /// There is nothing here.
    pub(crate) fn nothing() -> Self {
        Self {
            status: 404,
            media_type: "text/plain",
            body: String::new(),
        }
    }
}

/// Listens at an address.
pub(crate) struct RecordingAgent {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl RecordingAgent {
    /// Answers what the script says.
    pub(crate) async fn new(
        script: impl Fn(&RecordedRequest) -> ScriptedAnswer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (record, script) = (Arc::clone(&asked), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&script), Arc::clone(&record)));
            }
        });
        Self { address, asked }
    }

    /// Answers everything with a card, made for this address, or with nothing.
    pub(crate) async fn with_card(card: impl Fn(&str) -> Value + Send + Sync + 'static) -> Self {
        let script = move |asked: &RecordedRequest| match asked.path.contains(".well-known") {
            true => ScriptedAnswer::json(card(asked.header("host").unwrap())),
            false => ScriptedAnswer::nothing(),
        };
        Self::new(script).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the requests so far, but for cards.
    pub(crate) fn asked(&self) -> Vec<RecordedRequest> {
        let asked = self.asked.lock().unwrap();
        let others = asked
            .iter()
            .filter(|asked| !asked.path.contains(".well-known"));
        others.cloned().collect()
    }
}

async fn answer(
    stream: TcpStream,
    script: Arc<impl Fn(&RecordedRequest) -> ScriptedAnswer>,
    record: Arc<Mutex<Vec<RecordedRequest>>>,
) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    let mut words = line.split(' ').map(str::to_owned);
    let (Some(verb), Some(path)) = (words.next(), words.next()) else {
        return;
    };
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut asked = RecordedRequest {
        verb,
        path,
        headers,
        body: Value::Null,
    };
    let length = asked
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    asked.body = serde_json::from_slice(&body).unwrap_or_default();
    let ScriptedAnswer {
        status,
        media_type,
        body,
    } = script(&asked);
    record.lock().unwrap().push(asked);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
    stream.shutdown().await.unwrap();
}

/// A client that finds its agent by the card.
pub(crate) async fn client_of(recorder: &RecordingAgent) -> Client {
    Client::connect(&recorder.url()).await.unwrap()
}

/// Asks for every operation there is, whatever the answers are.
pub(crate) async fn ask_everything(client: &Client) {
    let config = TaskPushNotificationConfig {
        task_id: "t".into(),
        url: "https://a.example/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    drop(client.send("x").await);
    drop(client.stream("x").await);
    drop(client.get_task("t", Some(1)).await);
    drop(client.list_tasks(ListTasksRequest::default()).await);
    drop(client.cancel_task("t").await);
    drop(client.subscribe("t").await);
    drop(client.create_push_config(config).await);
    drop(client.push_config("t", Some("c".into())).await);
    drop(client.push_configs("t").await);
    drop(client.delete_push_config("t", "c").await);
    drop(client.extended_card().await);
}
