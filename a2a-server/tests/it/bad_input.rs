//! Bad input: the right code, a message that names the path, and a connection that goes on.

use serde_json::Value;
use tokio::io::AsyncWriteExt;

use crate::wire::{Connection, agent};

/// One bad body after the other on one connection, and then a good one.
#[tokio::test]
async fn bad_bodies_get_their_codes_and_the_connection_stays_open() {
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
        (b"{\"id\":1,\"method\":\"tasks/get\",\"params\":{\"id\":\"t\"}}".to_vec(), -32600, "1", "$.jsonrpc: missing"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1}".to_vec(), -32600, "1", "$.method"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}".to_vec(), -32600, "1", "$.method"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/fly\"}".to_vec(), -32601, "1", "tasks/fly"),
        (get("7").into_bytes(), -32602, "\"a\"", "$.params"),
        (get("[]").into_bytes(), -32602, "\"a\"", "$.params: expected an object"),
        (get(r#"["t"]"#).into_bytes(), -32602, "\"a\"", "$.params: expected an object"),
        (get("{}").into_bytes(), -32602, "\"a\"", "$.params: missing field `id`"),
        (get(r#"{"id":{}}"#).into_bytes(), -32602, "\"a\"", "$.params.id"),
        (get(r#"{"id":"t","historyLength":-1}"#).into_bytes(), -32602, "\"a\"", "$.params.historyLength"),
        (get(r#"{"id":"t","historyLength":"x"}"#).into_bytes(), -32602, "\"a\"", "$.params.historyLength"),
        (send("7").into_bytes(), -32602, "\"a\"", "$.params.message"),
        (send(r#"{"role":"user","parts":[{"text":"x"}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message: missing field `messageId`"),
        (send(r#"{"messageId":"m","parts":[{"text":"x"}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message: missing field `role`"),
        (send(r#"{"messageId":"m","role":"user","parts":[]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts: a message needs"),
        (send(r#"{"messageId":"m","role":"user","parts":7}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts"),
        (send(r#"{"messageId":"m","role":"user","parts":[7]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts[0]"),
        (send(r#"{"messageId":"m","role":"user","parts":[{"text":7}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts[0].text"),
        (send(r#"{"messageId":"m","role":"user","data":[{"text":7}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.data[0].text"),
        (send(r#"{"messageId":"m","role":"user","parts":[{"file":{}}]}"#).into_bytes(), -32602, "\"a\"", "$.params.message.parts[0].file"),
        (send(r#"{"messageId":"m","parts":[{"text":"x"}],"role":"boss"}"#).into_bytes(), -32602, "\"a\"", "$.params.message.role"),
        (br#"{"jsonrpc":"2.0","id":"a","method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}}"#.to_vec(), -32602, "\"a\"", "$.params.message.parts: a message needs"),
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
        .post(send(r#"{"messageId":"m","role":"user","parts":[{"text":"still here"}]}"#).as_bytes())
        .await;
    let answer: Value = serde_json::from_slice(&good.body).unwrap();
    assert_eq!(
        answer["result"]["artifacts"][0]["parts"][0]["text"],
        "still here"
    );
}

#[tokio::test]
async fn http_is_answered_in_its_own_words() {
    let address = agent().await;
    #[rustfmt::skip]
    let cases = [
        ("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", 405),
        ("POST /elsewhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n", 404),
        ("DELETE /.well-known/agent.json HTTP/1.1\r\nhost: localhost\r\n\r\n", 405),
        ("GET /.well-known/agent.json HTTP/1.1\r\nhost: localhost\r\n\r\n", 200),
        ("GET /.well-known/agent-card.json HTTP/1.1\r\nhost: localhost\r\n\r\n", 200),
        ("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}", 415),
        ("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999999\r\n\r\n", 413),
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

/// A connection that sends nothing, or half a word of HTTP/2, does not keep its place.
#[tokio::test]
async fn a_silent_connection_is_closed() {
    use a2a_transport::http::ServeOptions;
    use tokio::io::AsyncReadExt;
    let server = a2a_server::Server::builder(
        a2a_types::AgentCard::new("Echo", ""),
        |_: a2a_server::Turn| async { Ok::<(), a2a_server::Failure>(()) },
    );
    let bound = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let mut options = ServeOptions::default();
    options.header_timeout = std::time::Duration::from_millis(100);
    let bound = bound.options(options);
    let address = bound.local_addr();
    tokio::spawn(bound.run(std::future::pending()));
    for said in ["", "PRI ", "GET / HTTP/1.1\r\nx: "] {
        let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
        connection.write_all(said.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        // It ends, whether with words or without.
        let _ = connection.read_to_end(&mut rest).await;
    }
}

/// A caller has to request an extension that the card requires; the answer names the active extensions.
#[tokio::test]
async fn extensions_are_required_and_echoed() {
    let mut card = a2a_types::AgentCard::new("Echo", "");
    card.capabilities.extensions = ["urn:must", "urn:may"]
        .map(|uri| a2a_types::AgentExtension {
            uri: uri.to_owned(),
            required: uri == "urn:must",
            ..a2a_types::AgentExtension::default()
        })
        .into();
    let server = a2a_server::Server::builder(card, |_: a2a_server::Turn| async {
        Ok::<(), a2a_server::Failure>(())
    });
    let bound = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let address = bound.local_addr();
    tokio::spawn(bound.run(std::future::pending()));
    let body_0_2 = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]}}}"#;
    let body_1_0 = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}"#;
    #[rustfmt::skip]
    let cases = [
        (body_0_2, "", "-32600"),
        (body_1_0, "", "-32008"),
        (body_0_2, "x-a2a-extensions: urn:must, urn:other\r\n", "\r\nx-a2a-extensions: urn:must\r\n"),
        (body_1_0, "a2a-extensions: urn:must\r\na2a-extensions: urn:may\r\n", "\r\na2a-extensions: urn:must, urn:may\r\n"),
    ];
    for (body, headers, expected) in cases {
        use tokio::io::AsyncReadExt;
        let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        connection
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains(expected), "{headers}: {answer}");
    }
}
