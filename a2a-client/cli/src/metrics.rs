//! Prometheus endpoint for metrics.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use a2a_server::describe_metrics;
use a2a_transport::http::{Body, Hosts, ServeOptions, serve};
use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

use crate::failure::Failure;

/// Metrics served at an address.
pub(crate) struct Metrics {
    listener: TcpListener,
    address: SocketAddr,
    collected: PrometheusHandle,
}

impl Metrics {
    /// Binds the address and installs the recorder.
    pub(crate) async fn listen(address: SocketAddr) -> Result<Self, Failure> {
        let what = format!("--metrics {address}");
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(Failure::machine(&*what))?;
        let address = listener.local_addr().map_err(Failure::machine(&*what))?;
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            .and_then(|builder| {
                builder.set_buckets_for_metric(Matcher::Suffix("_events".to_owned()), &EVENTS)
            });
        let collected = builder.and_then(PrometheusBuilder::install_recorder);
        let collected = collected.map_err(Failure::machine(what))?;
        describe_metrics();
        a2a_postgres::describe_metrics();
        Ok(Self {
            listener,
            address,
            collected,
        })
    }

    /// Returns the URL of the metrics.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Serves the metrics until the future is dropped.
    pub(crate) async fn serve(self) {
        let hosts = Hosts::of(self.address);
        let collected = self.collected.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = answer(&collected, &hosts, request.method(), request.headers());
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let tidy = async {
            let mut period = tokio::time::interval(Duration::from_secs(5));
            loop {
                period.tick().await;
                self.collected.run_upkeep();
            }
        };
        let forever = std::future::pending();
        tokio::select! {
            () = serve(self.listener, service, ServeOptions::default(), forever) => {}
            () = tidy => {}
        }
    }
}

fn answer(
    collected: &PrometheusHandle,
    hosts: &Hosts,
    method: &Method,
    headers: &HeaderMap,
) -> Response<Body> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    // As for the agent: a web page could reach a loopback address by a host name of its own.
    let (status, text) = match hosts.has(host.unwrap_or_default()) {
        false => (StatusCode::FORBIDDEN, "unknown host\n".to_owned()),
        true if method == Method::GET => (StatusCode::OK, collected.render()),
        true => (StatusCode::METHOD_NOT_ALLOWED, "expected GET\n".to_owned()),
    };
    let mut response = Response::new(Body::full(text));
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// Upper bounds of buckets, in seconds: a store answers in microseconds, an agent in minutes.
const SECONDS: [f64; 16] = [
    0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0,
    300.0,
];
const EVENTS: [f64; 8] = [0.0, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0];
