//! Spans exported by OpenTelemetry: every hop is a span of the trace, and has the right parent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use a2a_client::{Binding, Cards};
use a2a_server::TraceContext;
use a2a_types::ProtocolVersion;
use opentelemetry::trace::{SpanId, SpanKind, Status, TracerProvider};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use tokio::sync::mpsc;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Instrument};
use tracing_subscriber::layer::SubscriberExt;

use crate::traces::traced_agents::{BINDINGS, MAX_WAIT, NOTIFICATIONS, TracedAgents, streamed};

/// Hands out what is exported.
#[derive(Debug)]
struct ChannelExporter(mpsc::UnboundedSender<SpanData>);

impl SpanExporter for ChannelExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        // This fails once the test has dropped its receiver.
        batch.into_iter().for_each(|span| drop(self.0.send(span)));
        Ok(())
    }
}

/// The spans of this thread, which all tasks of a test run in.
struct ExportedSpans {
    spans: mpsc::UnboundedReceiver<SpanData>,
    /// With a single subscriber, `tracing` caches the interest of the thread that reaches a callsite first, which may
    /// be that of another test.
    _second: Dispatch,
    _listens: DefaultGuard,
}

impl ExportedSpans {
    fn listen() -> Self {
        let (hand, spans) = mpsc::unbounded_channel();
        let provider = SdkTracerProvider::builder().with_simple_exporter(ChannelExporter(hand));
        let tracer = provider.build().tracer("test");
        let layer = tracing_opentelemetry::layer().with_tracer(tracer);
        let second = Dispatch::new(NoSubscriber::default());
        let listens = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        Self {
            spans,
            _second: second,
            _listens: listens,
        }
    }

    /// Returns the next `count` spans.
    async fn take(&mut self, count: usize) -> Vec<SpanData> {
        let mut taken = Vec::new();
        while taken.len() < count {
            match tokio::time::timeout(MAX_WAIT, self.spans.recv()).await {
                Ok(span) => taken.push(span.unwrap()),
                Err(_) => panic!("{count} spans are exported, not only {:#?}", paths(&taken)),
            }
        }
        taken
    }
}

/// The path of every span from its root, and the number of spans with that path.
fn paths(spans: &[SpanData]) -> BTreeMap<String, usize> {
    let by_id: HashMap<_, _> = spans
        .iter()
        .map(|span| (span.span_context.span_id(), span))
        .collect();
    let mut paths = BTreeMap::new();
    for span in spans {
        let mut path = span.name.to_string();
        let mut parent = span.parent_span_id;
        while let Some(span) = by_id.get(&parent) {
            path = format!("{} > {path}", span.name);
            parent = span.parent_span_id;
        }
        if parent != SpanId::INVALID {
            path = format!("{parent} > {path}");
        }
        *paths.entry(path.replace("a2a.", "")).or_default() += 1;
    }
    paths
}

/// Expected spans of one request, within `above`.
fn expected(above: &str) -> BTreeMap<String, usize> {
    let hop = "client.call > server.request";
    let near = format!("{above}{hop} > {hop} > agent.turn");
    let mut expected = BTreeMap::new();
    for (whole, count) in [
        (&format!("{near} > {hop} > agent.turn"), 1),
        (
            &format!("{near} > webhook.delivery > webhook.receipt"),
            NOTIFICATIONS,
        ),
    ] {
        let names: Vec<_> = whole.split(" > ").collect();
        let first = above.split(" > ").count();
        for end in first..=names.len() {
            let path = names[..end].join(" > ");
            let of_delivery = path.contains("webhook");
            expected.insert(path, if of_delivery { count } else { 1 });
        }
    }
    expected
}

#[tokio::test]
async fn one_request_is_one_trace_with_the_right_parents() {
    let mut exported = ExportedSpans::listen();
    for way in BINDINGS {
        let mut agents = TracedAgents::start(way).await;
        for stream in [false, true] {
            let expected = expected("");
            match stream {
                true => drop(streamed(agents.send("hello")).await),
                false => drop(agents.send("hello").await.unwrap()),
            }
            let spans = exported.take(expected.values().sum()).await;
            assert_eq!(paths(&spans), expected, "{way:?} stream: {stream}");
            let trace = |span: &SpanData| span.span_context.trace_id();
            let traces: BTreeSet<_> = spans.iter().map(|span| trace(span).to_string()).collect();
            assert_eq!(traces.len(), 1, "{way:?} stream: {stream}");
            for _ in 0..NOTIFICATIONS {
                let trace = agents.notification().await.trace.unwrap();
                let receipt = spans
                    .iter()
                    .find(|span| trace.parent_id() == span.span_context.span_id().to_bytes());
                assert_eq!(receipt.unwrap().name, "a2a.webhook.receipt");
            }
            for span in &spans {
                check(span, way, stream);
            }
        }
    }
}

/// Checks that a span has what the table of [`a2a_transport::spans`] promises, and no content.
fn check(span: &SpanData, (protocol_version, binding): (ProtocolVersion, Binding), stream: bool) {
    let attributes: BTreeMap<_, _> = span
        .attributes
        .iter()
        .map(|attribute| (attribute.key.as_str(), attribute.value.to_string()))
        .collect();
    assert_eq!(
        attributes.len(),
        span.attributes.len(),
        "each once: {span:?}"
    );
    assert!(!format!("{span:?}").contains("hello"), "{span:?}");
    assert_eq!(span.status, Status::Unset, "{span:?}");
    let has = |name: &str, value: &str| {
        let found = attributes.get(name).map(String::as_str);
        assert_eq!(found, Some(value), "{name} of {span:?}");
    };
    match &*span.name {
        "a2a.client.call" | "a2a.server.request" => {
            // 0.2 and 0.3 spell this alike, and a server takes it for the later one.
            match (span.span_kind == SpanKind::Server, protocol_version) {
                (true, ProtocolVersion::V0_2) => has("a2a.protocol_version", "0.3"),
                _ => has("a2a.protocol_version", protocol_version.version()),
            }
            has("a2a.binding", &binding.to_string());
            has("a2a.outcome", "answered");
            has("http.response.status_code", "200");
            let asked = attributes["a2a.operation"].as_str();
            assert!(
                ["SendMessage", "SendStreamingMessage"].contains(&asked),
                "{span:?}"
            );
            assert_eq!(
                attributes.contains_key("rpc.system"),
                binding == Binding::JsonRpc
            );
            match span.span_kind {
                SpanKind::Client => {
                    has("server.address", "127.0.0.1");
                    assert!(attributes.contains_key("server.port"));
                }
                SpanKind::Server => {
                    assert!(!attributes["a2a.task"].is_empty());
                    // A stream gets all of it: the span lasts until its end.
                    if stream && asked == "SendStreamingMessage" {
                        has("a2a.sequence", "4");
                    }
                }
                _ => panic!("{span:?}"),
            }
        }
        "a2a.agent.turn" => {
            assert_eq!(span.span_kind, SpanKind::Internal);
            has("a2a.outcome", "done");
            assert!(!attributes["a2a.task"].is_empty());
        }
        "a2a.webhook.delivery" => {
            assert_eq!(span.span_kind, SpanKind::Client);
            has("a2a.outcome", "delivered");
            has("a2a.attempt", "0");
            assert!(["2", "3", "4"].contains(&attributes["a2a.sequence"].as_str()));
        }
        "a2a.webhook.receipt" => {
            assert_eq!(span.span_kind, SpanKind::Server);
            has("http.response.status_code", "200");
        }
        other => panic!("there is no span {other}"),
    }
}

/// The caller's own trace is gone on with; one that is not recorded is not recorded here either.
#[tokio::test]
async fn a_trace_begun_elsewhere_goes_on() {
    let mut exported = ExportedSpans::listen();
    for way in BINDINGS {
        let mut agents = TracedAgents::start(way).await;
        let unsampled = TraceContext::new([2; 16], [2; 8], false).unwrap();
        let sampled = TraceContext::new([1; 16], [3; 8], true)
            .unwrap()
            .with_state("a=1");
        for given in [unsampled, sampled] {
            let sending = agents.send("hello").trace(given.clone());
            sending.await.unwrap();
            for _ in 0..NOTIFICATIONS {
                let trace = agents.notification().await.trace.unwrap();
                assert_eq!(trace.trace_id(), given.trace_id(), "{way:?}");
                assert_eq!(trace.tracestate(), given.tracestate(), "{way:?}");
                assert_eq!(trace.is_sampled(), given.is_sampled(), "{way:?}");
            }
        }
        let expected = expected("0303030303030303 > ");
        let spans = exported.take(expected.values().sum()).await;
        assert_eq!(paths(&spans), expected, "{way:?}");
    }
}

/// A card is looked for in the span that wants it.
#[tokio::test]
async fn a_card_is_fetched_in_the_current_span() {
    let _listens = ExportedSpans::listen();
    let agents = TracedAgents::start((ProtocolVersion::V1_0, Binding::JsonRpc)).await;
    let cards = Cards::new(agents.http.clone());
    let span = tracing::info_span!("looking");
    let found = cards.find(&agents.near).instrument(span.clone()).await;
    found.unwrap();
    let own = a2a_transport::spans::join(&span, None);
    assert!(own.is_some());
    let sent = agents.sent.take();
    assert_eq!(TraceContext::read(&sent[0]), own);
}

/// A span has the name of the failure, and whose fault it was.
#[tokio::test]
async fn failed_request_is_explained_by_its_spans() {
    let mut exported = ExportedSpans::listen();
    let agents = TracedAgents::start((ProtocolVersion::V1_0, Binding::HttpJson)).await;
    agents.client.get_task("nothing", None).await.unwrap_err();
    let spans = exported.take(4).await;
    for span in &spans {
        let has = |name: &str, value: &str| {
            let mut all = span.attributes.iter();
            let found = all.find(|attribute| attribute.key.as_str() == name);
            assert_eq!(found.unwrap().value.as_str(), value, "{span:?}");
        };
        has("a2a.outcome", "failed");
        has("error.type", "TASK_NOT_FOUND");
        has("http.response.status_code", "404");
        let is_ours = matches!(span.status, Status::Error { .. });
        assert_eq!(is_ours, span.span_kind == SpanKind::Client, "{span:?}");
    }
}
