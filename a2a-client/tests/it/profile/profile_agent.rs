//! An agent that speaks the profile from a script, over a socket, as agents of the framework do.

use std::sync::{Arc, Mutex};

use a2a_client::HttpTransport;
use a2a_types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Form of results: in JSON-RPC envelopes or without.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Envelopes {
    Sealed,
    /// Without envelopes, as the document prints the events of a stream.
    Bare,
}

/// A request as received.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

pub(crate) struct ProfileAgent {
    url: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl ProfileAgent {
    /// Answers everything by these results.
    pub(crate) async fn start(results: Vec<Value>, streams: bool, envelopes: Envelopes) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                let request = read(&mut stream).await;
                let id = &request.body["id"];
                let sealed = |result: &Value| match envelopes {
                    Envelopes::Sealed => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Envelopes::Bare => result.clone(),
                };
                let body: String = match streams {
                    false => sealed(&results[0]).to_string(),
                    true => results
                        .iter()
                        .map(|result| {
                            let name = match (envelopes, result["kind"].as_str()) {
                                (Envelopes::Bare, _) => "message",
                                (_, Some("status-update")) => "task_status_update",
                                (_, Some("artifact-update")) => "task_artifact_update",
                                _ => "message",
                            };
                            format!("event: {name}\ndata: {}\n\n", sealed(result))
                        })
                        .collect(),
                };
                record.lock().unwrap().push(request);
                let media = if streams {
                    "text/event-stream"
                } else {
                    "application/json"
                };
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    body.len(),
                );
                // A client that has all it needs closes the connection.
                drop(stream.write_all(format!("{head}{body}").as_bytes()).await);
            }
        });
        Self { url, asked }
    }

    pub(crate) fn transport(&self) -> HttpTransport {
        HttpTransport::new(&self.url, self.protocol_version()).unwrap()
    }

    pub(crate) fn protocol_version(&self) -> ProtocolVersion {
        ProtocolVersion::V0_2
    }

    pub(crate) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> ReceivedRequest {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap();
    ReceivedRequest { headers, body }
}
