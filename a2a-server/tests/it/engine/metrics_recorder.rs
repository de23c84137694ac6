//! Recorder of metrics for tests.

use a2a_server::{Server, ServerBuilder};
use a2a_transport::http::{Body, HttpService};
use a2a_transport::{Binding, Transport};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use serde_json::{Value, json};

/// Records the metrics of everything that happens on its thread.
pub(crate) struct MetricsRecorder(Snapshotter);

impl MetricsRecorder {
    /// Runs a test on this thread, and records its metrics.
    pub(crate) fn run(test: impl AsyncFnOnce(Self)) {
        let recorder = DebuggingRecorder::new();
        let changes = Self(recorder.snapshotter());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        metrics::with_local_recorder(&recorder, || runtime.block_on(test(changes)));
    }

    /// Checks the metrics that changed since the last check: each with the values of its labels, and
    /// its increase or the number of collected values.
    #[track_caller]
    pub(crate) fn check(&self, expected: &[(&str, &[&str])]) {
        let mut changes: Vec<_> = self.changes().collect();
        changes.sort();
        for (name, expected) in expected {
            let of_it = changes.iter().filter(|(of, _)| of == name);
            let of_it: Vec<_> = of_it.map(|(_, line)| line.as_str()).collect();
            assert_eq!(of_it, *expected, "{name}");
        }
    }

    /// Returns the names of metrics, and the change of each.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (String, String)> {
        let changed = self.0.snapshot().into_vec().into_iter();
        changed.filter_map(|(key, _, _, value)| {
            let number = match value {
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(values) => values.len() as f64,
            };
            let labels = key.key().labels().map(|label| label.value().to_owned());
            let mut line: Vec<_> = labels.collect();
            line.push(number.to_string());
            (number != 0.0).then(|| (key.key().name().to_owned(), line.join(" ")))
        })
    }
}

/// Answers as a server of this kind.
pub(crate) fn service(builder: ServerBuilder) -> HttpService<Server> {
    HttpService::new(builder.build().unwrap())
}

/// Asks by JSON-RPC.
pub(crate) async fn ask<T: Transport>(
    service: &HttpService<T>,
    body: impl Into<String>,
) -> Response<Body> {
    ask_at(service, Binding::JsonRpc, "/", body).await
}

/// Asks at a path; an answer by HTTP+JSON is 1.0.
pub(crate) async fn ask_at<T: Transport>(
    service: &HttpService<T>,
    binding: Binding,
    path: &str,
    body: impl Into<String>,
) -> Response<Body> {
    let request = Request::post(path).header("content-type", "application/json");
    let request = match binding {
        Binding::JsonRpc => request,
        _ => request.header("a2a-version", "1.0"),
    };
    let body = Full::<bytes::Bytes>::from(body.into());
    service.handle(request.body(body).unwrap()).await
}

/// A question of 1.0 by JSON-RPC.
pub(crate) fn question(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// Params of a message.
pub(crate) fn message(text: &str) -> Value {
    let id = format!("message {text}");
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// Reads an answer to its end.
pub(crate) async fn whole(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}
