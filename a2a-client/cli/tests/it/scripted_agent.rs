//! Scripted agent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// An agent that answers as scripted and records its requests.
pub(crate) struct ScriptedAgent {
    pub(crate) url: String,
    requests: Receiver<ReceivedRequest>,
}

/// A recorded request: its head, and its body, null if there is none.
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl ScriptedAgent {
    /// Answers with the result of `answer` for its own URL and the body of a request: a result or an
    /// error for a call, else a document. A stream may have `events` instead: results, and texts that stand in the
    /// data as they are. With `open` it is not closed after them.
    pub(crate) fn new(answer: impl Fn(&str, &Value) -> Value + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (own, (sender, requests)) = (url.clone(), channel());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let requests = read(&stream);
                let answer = answer(&own, &requests.body);
                let is_open = answer["open"] == true;
                let text = written(&requests.body, answer);
                let _ = sender.send(requests);
                let _ = stream.write_all(text.as_bytes());
                if is_open {
                    // Until the client closes the connection.
                    std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
                }
            }
        });
        Self { url, requests }
    }

    /// Answers every request with a page of HTML.
    pub(crate) fn html(page: &'static str) -> Self {
        Self::new(move |_, _| json!({ "html": page }))
    }

    /// Returns the requests received so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.try_iter().collect()
    }
}

fn read(stream: &TcpStream) -> ReceivedRequest {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        let field = line.split_once(':');
        let field = field.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        length = field.map_or(length, |(_, value)| value.trim().parse().unwrap());
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    ReceivedRequest { head, body }
}

fn written(call: &Value, mut answer: Value) -> String {
    if let Some(events) = answer["events"].as_array() {
        let data = |event: &Value| match event {
            Value::String(text) => format!("data: {text}\n\n"),
            result => {
                let envelope = json!({"jsonrpc": "2.0", "id": call["id"], "result": result});
                format!("data: {envelope}\n\n")
            }
        };
        let data: String = events.iter().map(data).collect();
        return format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{data}"
        );
    }
    if let Some(page) = answer["html"].as_str() {
        let length = page.len();
        return format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{page}"
        );
    }
    let mut media_type = "application/json";
    if let Some(method) = call["method"].as_str() {
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = call["id"].clone();
        if method.contains("Stream") {
            media_type = "text/event-stream";
        }
    }
    let body = match media_type {
        "text/event-stream" => format!("data: {answer}\n\n"),
        _ => answer.to_string(),
    };
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}
