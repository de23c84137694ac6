//! A caller that writes and reads JSON itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use a2a_server::Server;
use a2a_transport::sse::Decoder;
use http::Request;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

pub(crate) struct JsonCaller(SocketAddr);

impl JsonCaller {
    /// A caller of a server at an address of its own.
    pub(crate) async fn of(server: Server) -> Self {
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let address = bound.local_addr();
        tokio::spawn(bound.run(std::future::pending()));
        Self(address)
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        Self(address)
    }

    /// Returns the answer: one response, or the events of a stream.
    pub(crate) async fn ask(&self, request: &Value, user_agent: &str) -> Vec<Value> {
        self.ask_with(request, &[(USER_AGENT.as_str(), user_agent)])
            .await
    }

    pub(crate) async fn ask_with(&self, request: &Value, headers: &[(&str, &str)]) -> Vec<Value> {
        let body = Full::<Bytes>::from(request.to_string());
        let mut asking = Request::post(format!("http://{}/", self.0))
            .header(CONTENT_TYPE, "application/json")
            .body(body)
            .unwrap();
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            let name: http::HeaderName = name.parse().unwrap();
            asking.headers_mut().insert(name, value.parse().unwrap());
        }
        let answer = Client::builder(TokioExecutor::new())
            .build_http()
            .request(asking)
            .await;
        let answer = answer.unwrap();
        let streams = answer.headers()[CONTENT_TYPE] == "text/event-stream";
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        if !streams {
            return vec![serde_json::from_slice(&body).unwrap()];
        }
        let mut decoder = Decoder::default();
        let mut events = decoder.push(&body).unwrap();
        events.extend(decoder.finish().unwrap());
        events
            .iter()
            .map(|event| serde_json::from_slice(&event.data).unwrap())
            .collect()
    }
}

/// The results, with a name for each id that was made up and without times.
pub(crate) fn with_made_up_things_named(answers: Vec<Value>) -> Vec<Value> {
    let mut names = BTreeMap::new();
    answers
        .into_iter()
        .map(|mut answer| {
            rename(&mut answer, &mut names);
            answer["result"].take()
        })
        .collect()
}

fn rename(value: &mut Value, names: &mut BTreeMap<String, String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        Value::Object(members) => {
            members.remove("timestamp");
            members.values_mut().for_each(|value| rename(value, names));
        }
        Value::String(text) => {
            // Only what we make up looks like this.
            let is_made_up = text.len() == 36 && text.matches('-').count() == 4;
            if is_made_up {
                let next = format!("id-{}", names.len() + 1);
                *value = json!(names.entry(text.clone()).or_insert(next));
            }
        }
        _ => {}
    }
}
