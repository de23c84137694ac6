//! The reference agent with one fault that can be switched.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a_client::HttpClient;
use a2a_server::demo::Reference;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tokio::net::TcpListener;

use crate::harness::builder;

/// Starts the reference agent behind a proxy that gives a missing task the code of another error while it is faulty,
/// and returns its URL.
pub(super) async fn faulty_agent(is_faulty: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let inner = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let agent = format!("http://{}", inner.local_addr().unwrap());
    let server = builder(Reference::card().at(&*url), Reference)
        .build()
        .unwrap();
    tokio::spawn(server.http().listen(inner).unwrap().run(pending()));
    let forward =
        async move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| -> Response {
            let mut request = Request::builder()
                .method(method)
                .uri(format!("{agent}{uri}"));
            for (name, value) in headers.iter().filter(|(name, _)| *name != "host") {
                request = request.header(name, value);
            }
            let answer = HttpClient::default()
                .fetch(request.body(Full::from(body)).unwrap())
                .await;
            let (mut head, body) = answer.unwrap().into_parts();
            if !is_faulty.load(Ordering::SeqCst)
                || head.headers["content-type"] == "text/event-stream"
            {
                return Response::from_parts(head, Body::new(body));
            }
            let body = body.collect().await.unwrap().to_bytes();
            let body = String::from_utf8(body.to_vec()).unwrap();
            head.headers.remove("content-length");
            Response::from_parts(head, Body::from(body.replace("-32001", "-32602")))
        };
    let router = Router::new().fallback(forward);
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}
