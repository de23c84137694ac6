//! Export of spans to a collector of OpenTelemetry.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use opentelemetry::Context;
use opentelemetry::trace::{FutureExt, TracerProvider};
use opentelemetry_http::{HttpClient as Sends, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::Subscriber;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

use crate::http::{HttpClient, Timeouts};

/// Sends all spans of this process, not only the spans of [`spans`](crate::spans), to a collector, by
/// OTLP over HTTP. It sends batches in the background: spans that the collector does not take in
/// time are lost.
///
/// ```no_run
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use a2a_transport::otlp::Otlp;
///
/// let exporting = Otlp::of("joker").collector("http://localhost:4318").install()?;
/// // … serve …
/// exporting.shutdown().await;
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "nothing is exported before `install`, or without the layer"]
pub struct Otlp {
    service: String,
    collector: Option<String>,
    headers: Vec<(String, String)>,
}

/// Shows no header's value: it may be a secret.
impl fmt::Debug for Otlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Otlp")
            .field("service", &self.service)
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

/// Reason for which nothing can be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadOtlp {
    /// The address of the collector, or an environment variable for it, is invalid.
    #[error("spans cannot be exported: {0}")]
    Settings(String),
    /// There is another subscriber already: give that one the [layer](Otlp::layer).
    #[error("the process already has a subscriber of spans")]
    Taken,
    /// There is no runtime of tokio to send anything in.
    #[error("there is no Tokio runtime: spans are exported in one")]
    NoRuntime,
}

impl Otlp {
    /// Makes an exporter for a service of that name.
    pub fn of(service: impl Into<String>) -> Self {
        Self {
            service: service.into(),
            collector: None,
            headers: Vec::new(),
        }
    }

    /// Sets the URL of the collector, like `http://localhost:4318`: `/v1/traces` is appended. By default it
    /// is that of the environment (`OTEL_EXPORTER_OTLP_ENDPOINT` and its kin), else this one.
    pub fn collector(mut self, url: impl Into<String>) -> Self {
        self.collector = Some(url.into());
        self
    }

    /// Sends the collector a header, such as credentials.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Exports the spans of this process from now on, as its only subscriber. To be called within a runtime
    /// of tokio, which must go on until [`ExportGuard::shutdown`].
    pub fn install(self) -> Result<ExportGuard, BadOtlp> {
        let (layer, exporting) = self.layer::<Registry>()?;
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))
            .map_err(|_| BadOtlp::Taken)?;
        Ok(exporting)
    }

    /// Returns a layer for a subscriber that has others, and is otherwise like [`install`](Self::install).
    pub fn layer<S>(self) -> Result<(impl Layer<S> + Send + Sync, ExportGuard), BadOtlp>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let runtime = Handle::try_current().map_err(|_| BadOtlp::NoRuntime)?;
        let http = HttpClient::new(Timeouts {
            connect: PATIENCE,
            first_byte: PATIENCE,
            idle: PATIENCE,
            body: PATIENCE,
        });
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Sender { http, runtime })
            .with_headers(self.headers.into_iter().collect());
        if let Some(collector) = &self.collector {
            let base = collector.trim_end_matches('/');
            exporter = exporter.with_endpoint(format!("{base}{TRACES}"));
        }
        let exporter = exporter
            .build()
            .map_err(|error| BadOtlp::Settings(error.to_string()))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(Resource::builder().with_service_name(self.service).build())
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_tracer(provider.tracer(env!("CARGO_PKG_NAME")));
        Ok((layer, ExportGuard(provider)))
    }
}

/// Spans are exported for as long as this lives.
#[derive(Debug)]
#[must_use = "nothing is exported any more once this is dropped"]
pub struct ExportGuard(SdkTracerProvider);

impl ExportGuard {
    /// Exports what has ended so far, and nothing later.
    pub async fn shutdown(self) {
        // It waits for the collector, which is reached in this very runtime.
        let ended = tokio::task::spawn_blocking(move || self.0.shutdown());
        if let Ok(Err(error)) = ended.await {
            tracing::warn!(%error, "the last spans may not have been exported");
        }
    }
}

/// HTTP client that sends in the runtime: the exporter lives in a thread of its own.
#[derive(Debug)]
struct Sender {
    http: HttpClient,
    runtime: Handle,
}

impl Sends for Sender {
    fn send_bytes<'life, 'sent>(&'life self, request: Request<Bytes>) -> Sent<'sent>
    where
        'life: 'sent,
        Self: 'sent,
    {
        let http = self.http.clone();
        let answer = async move {
            let (head, body) = http.fetch(request.map(Full::new)).await?.into_parts();
            let body = Limited::new(body, MAX_ANSWERED).collect().await?;
            Ok::<_, HttpError>(Response::from_parts(head, body.to_bytes()))
        };
        let sent = async move { timeout(PATIENCE, answer).await? };
        // The export of spans makes no spans.
        let sent = sent.with_context(Context::current());
        let sent = self.runtime.spawn(sent);
        Box::pin(async move { sent.await? })
    }
}

type Sent<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

/// Path of spans, below the URL of a collector.
const TRACES: &str = "/v1/traces";
/// Timeout of a collector.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum answer of a collector in bytes.
const MAX_ANSWERED: usize = 64 << 10;
