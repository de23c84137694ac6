//! Export of spans to a collector of OpenTelemetry, by OTLP over HTTP.

use std::pin::Pin;
use std::time::Duration;

use a2a_client::HttpClient;
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
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use crate::failure::Failure;

/// Returns a layer that exports all spans of this process to the collector at `url`, and the guard that ends the
/// export. Batches are sent in the background: spans that the collector does not take in time are lost.
pub(crate) fn layer<S>(
    service: String,
    url: &str,
) -> Result<(impl Layer<S> + Send + Sync, ExportGuard), Failure>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let http = HttpClient::default();
    let runtime = Handle::current();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Sender { http, runtime })
        .with_endpoint(format!("{}{TRACES}", url.trim_end_matches('/')))
        .build()
        .map_err(Failure::machine("--otlp: spans cannot be exported"))?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder().with_service_name(service).build())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_tracer(provider.tracer("a2a-transport"));
    Ok((layer, ExportGuard(provider)))
}

/// Exporter of spans, which ends when this is dropped.
#[must_use = "nothing is exported any more once this is dropped"]
pub(crate) struct ExportGuard(SdkTracerProvider);

impl ExportGuard {
    /// Exports what has ended so far, and nothing later.
    pub(crate) async fn shutdown(self) {
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
            let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await?;
            Ok::<_, HttpError>(Response::from_parts(head, body.to_bytes()))
        };
        let sent = async move { timeout(TIMEOUT, answer).await? };
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
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER_BYTES: usize = 64 << 10;
