//! What a server makes of bad input: the right code, a message that names the path, a connection
//! that goes on, and little memory.

use std::net::SocketAddr;

use a2a_server::{Failure, Server, Turn};
use a2a_types::{AgentCard, Dialect};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A connection that is written to and read from byte by byte.
struct Connection {
    stream: BufReader<TcpStream>,
}

struct Got {
    status: u16,
    body: Vec<u8>,
}

impl Connection {
    async fn to(address: SocketAddr) -> Self {
        Self {
            stream: BufReader::new(TcpStream::connect(address).await.unwrap()),
        }
    }

    async fn post(&mut self, body: &[u8]) -> Got {
        let head = format!(
            "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.stream
            .get_mut()
            .write_all(head.as_bytes())
            .await
            .unwrap();
        self.stream.get_mut().write_all(body).await.unwrap();
        self.answer().await
    }

    async fn answer(&mut self) -> Got {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.unwrap();
        let status = line
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .parse()
            .unwrap_or_default();
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line).await.unwrap();
            match line.trim().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        Got { status, body }
    }
}

async fn agent() -> SocketAddr {
    let echo = |turn: Turn| async move {
        turn.artifact("echo").text(turn.text()).done().await?;
        Ok::<(), Failure>(())
    };
    let server = Server::builder(AgentCard::new("Echo", "Says it back"), echo)
        .build()
        .unwrap();
    let bound = server
        .bind("127.0.0.1:0")
        .await
        .unwrap()
        .prefer(Dialect::V0_2);
    let address = bound.local_addr();
    tokio::spawn(bound.run(std::future::pending()));
    address
}

/// One bad body after the other on one connection, and then a good one.
#[tokio::test]
async fn each_gets_its_code_and_the_connection_goes_on() {
    let mut connection = Connection::to(agent().await).await;
    let deep = "[".repeat(100_000);
    let nested = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{deep}"#);
    let many = format!("[{}", r#"{"":0},"#.repeat(150_000));
    let send = |message: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"a","method":"message/send","params":{{"message":{message}}}}}"#
        )
    };
    let get = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{params}}}"#)
    };
    #[rustfmt::skip]
    let cases: Vec<(Vec<u8>, i64, &str, &str)> = vec![
        (b"".to_vec(), -32700, "null", ""),
        (b"{".to_vec(), -32700, "null", ""),
        (b"nonsense".to_vec(), -32700, "null", ""),
        (deep.into_bytes(), -32700, "null", "deep"),
        (nested.into_bytes(), -32700, "1", "$.params"),
        (many.into_bytes(), -32700, "null", "$["),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec(), -32700, "1", ""),
        (get(r#"{"id":"t","id":"u"}"#).into_bytes(), -32700, "\"a\"", "$.params"),
        (send(r#"{"metadata":{"a":1,"\u0061":2}}"#).into_bytes(), -32700, "\"a\"", "$.params.message.metadata"),
        (b"[]".to_vec(), -32600, "null", "batch"),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\"}]".to_vec(), -32600, "null", "batch"),
        (b"7".to_vec(), -32600, "null", ""),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tasks/get\"}".to_vec(), -32600, "null", "$.id"),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tasks/get\"}".to_vec(), -32600, "1", "$.jsonrpc"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1}".to_vec(), -32600, "1", "$.method"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}".to_vec(), -32600, "1", "$.method"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/fly\"}".to_vec(), -32601, "1", "tasks/fly"),
        (get("7").into_bytes(), -32602, "\"a\"", "$.params"),
        (get("[]").into_bytes(), -32602, "\"a\"", "$.params"),
        (get("{}").into_bytes(), -32602, "\"a\"", "$.params: missing field `id`"),
        (get(r#"{"id":{}}"#).into_bytes(), -32602, "\"a\"", "$.params.id"),
        (get(r#"{"id":"t","historyLength":-1}"#).into_bytes(), -32602, "\"a\"", "$.params.historyLength"),
        (get(r#"{"id":"t","historyLength":"x"}"#).into_bytes(), -32602, "\"a\"", "$.params.historyLength"),
        (send("7").into_bytes(), -32602, "\"a\"", "$.params.message"),
        (send(r#"{"parts":[]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts: a message needs"),
        (send(r#"{"parts":7}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts"),
        (send(r#"{"parts":[7]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts[0]"),
        (send(r#"{"parts":[{"text":7}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts[0].text"),
        (send(r#"{"data":[{"text":7}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.data[0].text"),
        (send(r#"{"parts":[{"file":{}}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts[0].file"),
        (send(r#"{"parts":[{"text":"x"}],"role":"boss"}"#).into_bytes(), -32602, "\"a\"", "$.params.message.role"),
        (get(r#"{"id":"unknown"}"#).into_bytes(), -32001, "\"a\"", "Task not found"),
    ];
    for (body, code, id, names) in cases {
        let label = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let got = connection.post(&body).await;
        assert_eq!(got.status, 200, "{label}");
        let answer: Value = serde_json::from_slice(&got.body).unwrap();
        assert_eq!(answer["error"]["code"], code, "{label}: {answer}");
        assert_eq!(answer["id"].to_string(), id, "{label}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(names), "{label}: {message}");
    }
    let good = connection
        .post(send(r#"{"parts":[{"text":"still here"}]}"#).as_bytes())
        .await;
    let answer: Value = serde_json::from_slice(&good.body).unwrap();
    assert_eq!(
        answer["result"]["artifacts"][0]["parts"][0]["text"],
        "still here"
    );
}

/// A chunked body that would be 1 GiB is refused after the first 4 MiB, and costs no memory.
#[tokio::test]
async fn an_endless_body_is_refused_early() {
    let address = agent().await;
    // What one good request costs is not what the bad one is blamed for.
    Connection::to(address).await.post(b"{}").await;
    let before = resident();
    let (mut read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
    let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    write.write_all(head.as_bytes()).await.unwrap();
    let writing = tokio::spawn(async move {
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let mut sent = 0_u64;
        // The server closes the connection long before the end.
        while sent < 1 << 30 && write.write_all(chunk.as_bytes()).await.is_ok() {
            sent += 0x10000;
        }
        sent
    });
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = read.read(&mut buffer).await {
        answer.extend_from_slice(&buffer[..length]);
    }
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("-32600"), "{answer}");
    let sent = writing.await.unwrap();
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    let growth = resident().saturating_sub(before);
    assert!(growth < 20 << 20, "{growth} bytes of memory");
    // The server goes on.
    assert_eq!(Connection::to(address).await.post(b"{}").await.status, 200);
}

/// A body of 4 MiB that would be hundreds of MiB as a tree of values is refused while it is read.
#[tokio::test]
async fn a_heavy_body_costs_little_memory() {
    let address = agent().await;
    let mut connection = Connection::to(address).await;
    connection.post(b"{}").await;
    let before = resident();
    let objects = r#"{"":0},"#.repeat(500_000);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"metadata":{{"a":[{objects}0]}}}}}}"#
    );
    let got = connection.post(body.as_bytes()).await;
    let answer: Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    assert_eq!(answer["id"], 1);
    let growth = resident().saturating_sub(before);
    // Both copies of the body, ours and the server's, are in this process.
    assert!(growth < 20 << 20, "{growth} bytes of memory");
}

#[tokio::test]
async fn http_is_answered_in_its_own_words() {
    let address = agent().await;
    #[rustfmt::skip]
    let cases = [
        ("GET / HTTP/1.1\r\nhost: h\r\n\r\n", 405),
        ("POST /elsewhere HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n", 404),
        ("DELETE /.well-known/agent.json HTTP/1.1\r\nhost: h\r\n\r\n", 405),
        ("GET /.well-known/agent.json HTTP/1.1\r\nhost: h\r\n\r\n", 200),
        ("GET /.well-known/agent-card.json HTTP/1.1\r\nhost: h\r\n\r\n", 200),
        ("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}", 415),
        ("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 9999999\r\n\r\n", 413),
        ("NONSENSE\r\n\r\n", 400),
    ];
    for (request, status) in cases {
        let mut connection = Connection::to(address).await;
        connection
            .stream
            .get_mut()
            .write_all(request.as_bytes())
            .await
            .unwrap();
        assert_eq!(connection.answer().await.status, status, "{request}");
    }
}

/// Bytes of memory that this process holds.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
