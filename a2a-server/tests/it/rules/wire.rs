//! Questions and answers as they stand on the wire.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;

use crate::rules::scripted_agent::ServedAgent;

/// An answer of HTTP.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    /// Null if the body is not JSON.
    pub(crate) body: Value,
}

impl HttpAnswer {
    /// The value of a header, empty if there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// The events of a stream, as they come.
pub(crate) struct Events {
    lines: Lines<BufReader<TcpStream>>,
}

impl Events {
    /// The JSON of the next event; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        while let Some(line) = self.lines.next_line().await.unwrap() {
            if let Some(data) = line.strip_prefix("data:") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
        None
    }

    /// All that is still to come.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

impl ServedAgent {
    /// Sends a request of HTTP/1.0, so that the answer's body is all that comes before the end.
    async fn begin(
        &self,
        verb: &str,
        path: &str,
        headers: Headers<'_>,
        body: Option<&Value>,
    ) -> (u16, Vec<(String, String)>, Lines<BufReader<TcpStream>>) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut request = format!("{verb} {path} HTTP/1.0\r\nhost: {}\r\n", self.address);
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            request += &format!(
                "content-type: application/json\r\ncontent-length: {}\r\n",
                body.len()
            );
        }
        stream
            .write_all(format!("{request}\r\n{body}").as_bytes())
            .await
            .unwrap();
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        while let Some((name, value)) = lines.next_line().await.unwrap().unwrap().split_once(": ") {
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        (status, headers, lines)
    }

    /// Asks and reads the whole answer.
    pub(crate) async fn http(
        &self,
        verb: &str,
        path: &str,
        headers: Headers<'_>,
        body: Option<&Value>,
    ) -> HttpAnswer {
        let (status, headers, lines) = self.begin(verb, path, headers, body).await;
        let mut body = Vec::new();
        lines.into_inner().read_to_end(&mut body).await.unwrap();
        HttpAnswer {
            status,
            headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        }
    }

    pub(crate) async fn get(&self, path: &str, headers: Headers<'_>) -> HttpAnswer {
        self.http("GET", path, headers, None).await
    }

    /// Asks by JSON-RPC.
    pub(crate) async fn post(&self, headers: Headers<'_>, body: &Value) -> HttpAnswer {
        self.http("POST", "/", headers, Some(body)).await
    }

    /// Asks by JSON-RPC in a version before 1.0, and returns the result or the error.
    pub(crate) async fn rpc(&self, method: &str, params: Value) -> Result<Value, Value> {
        let answer = self.post(&[], &request(method, params)).await;
        assert_eq!(
            (answer.status, &answer.body["id"]),
            (200, &json!("q")),
            "{method}: {}",
            answer.body
        );
        outcome(answer.body)
    }

    /// Asks for a stream by JSON-RPC; every event is a result.
    pub(crate) async fn rpc_stream(&self, method: &str, params: Value) -> Results {
        Results(
            self.stream("POST", "/", &[], Some(&request(method, params)))
                .await,
        )
    }

    /// Asks for a stream.
    pub(crate) async fn stream(
        &self,
        verb: &str,
        path: &str,
        headers: Headers<'_>,
        body: Option<&Value>,
    ) -> Events {
        let (status, headers, lines) = self.begin(verb, path, headers, body).await;
        let content_type = ("content-type".to_owned(), "text/event-stream".to_owned());
        assert!(
            status == 200 && headers.contains(&content_type),
            "{status} {headers:?}"
        );
        Events { lines }
    }

    /// The card that is found at a path.
    pub(crate) async fn card_at(&self, path: &str) -> Value {
        let answer = self.get(path, &[]).await;
        assert_eq!(answer.status, 200, "{path}");
        answer.body
    }
}

/// The results in the events of a stream by JSON-RPC.
pub(crate) struct Results(pub(crate) Events);

impl Results {
    pub(crate) async fn next(&mut self) -> Option<Value> {
        Some(outcome(self.0.next().await?).unwrap())
    }

    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut results = Vec::new();
        while let Some(result) = self.next().await {
            results.push(result);
        }
        results
    }
}

pub(crate) fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params})
}

/// Returns the result or the error of an answer of JSON-RPC.
pub(crate) fn outcome(mut answer: Value) -> Result<Value, Value> {
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    match answer["error"].take() {
        Value::Null => Ok(answer["result"].take()),
        error => Err(error),
    }
}

/// The code of an error.
#[track_caller]
pub(crate) fn code(outcome: Result<Value, Value>) -> i64 {
    let error = outcome.expect_err("this is refused");
    error["code"].as_i64().expect("an error has a code")
}

/// Something unique, for ids.
pub(crate) fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("id-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// All members of that name that are texts, wherever they stand, in order.
pub(crate) fn texts(of: &Value) -> Vec<&str> {
    match of {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => {
            let own = members.get("text").and_then(Value::as_str);
            own.into_iter()
                .chain(members.values().flat_map(texts))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns an address where no server listens: no test uses this port.
pub(crate) fn unused_address() -> SocketAddr {
    ([127, 0, 0, 1], 1).into()
}
