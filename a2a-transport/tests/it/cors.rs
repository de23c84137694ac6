//! Requests of web pages (CORS).

use a2a_transport::http::{AllowedOrigins, Body, Hosts, HttpService};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport};
use a2a_types::ErrorKind;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;

/// An agent without tasks.
struct NoTasks;

impl Transport for NoTasks {
    fn call(&self, _: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(std::future::ready(Err(ErrorKind::TaskNotFound.into())))
    }
}

fn service(origins: &[&str]) -> HttpService<NoTasks> {
    HttpService::new(NoTasks)
        .hosts(Hosts::loopback())
        .allow_origins(AllowedOrigins::new(origins.iter().copied()))
}

async fn ask(
    service: &HttpService<NoTasks>,
    method: Method,
    headers: &[(&str, &str)],
) -> Response<Body> {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}"#;
    let mut request = Request::new(Full::<Bytes>::from(body));
    *request.method_mut() = method;
    for (name, value) in [("host", "localhost"), ("content-type", "application/json")]
        .iter()
        .chain(headers)
    {
        let name: http::HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    service.handle(request).await
}

#[track_caller]
fn header<'a>(answer: &'a Response<Body>, name: &str) -> Option<&'a str> {
    answer.headers().get(name).map(|it| it.to_str().unwrap())
}

const ALLOWED: &str = "access-control-allow-origin";

#[tokio::test]
async fn a_page_of_an_allowed_origin_calls_and_reads_the_answer() {
    let service = service(&["https://app.example/"]);
    let preflight = [
        ("origin", "https://app.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type,a2a-version"),
    ];
    let answer = ask(&service, Method::OPTIONS, &preflight).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    assert_eq!(header(&answer, ALLOWED), Some("https://app.example"));
    let headers = header(&answer, "access-control-allow-headers");
    assert_eq!(headers, Some("content-type,a2a-version"));
    let methods = header(&answer, "access-control-allow-methods");
    assert!(methods.is_some_and(|methods| methods.contains("POST")));

    let answer = ask(&service, Method::POST, &preflight[..1]).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(header(&answer, ALLOWED), Some("https://app.example"));
    assert_eq!(header(&answer, "vary"), Some("Origin"));
    let exposed = header(&answer, "access-control-expose-headers");
    assert!(exposed.is_some_and(|exposed| exposed.contains("A2A-Version")));
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let service = service(&["https://app.example"]);
    for origin in ["https://evil.example", "http://app.example", "null"] {
        let answer = ask(&service, Method::POST, &[("origin", origin)]).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{origin}");
        assert_eq!(header(&answer, ALLOWED), None, "{origin}");
    }
    // An allowed origin does not excuse another host.
    let rebound = [("origin", "https://app.example"), ("host", "evil.example")];
    let answer = ask(&service, Method::POST, &rebound).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    // Callers that are not pages have no origin.
    let answer = ask(&service, Method::POST, &[]).await;
    assert_eq!(
        (answer.status(), header(&answer, ALLOWED)),
        (StatusCode::OK, None)
    );
}

#[tokio::test]
async fn every_page_is_allowed_by_a_star_and_none_by_default() {
    let origin = [("origin", "https://app.example")];
    let answer = ask(&service(&["*"]), Method::POST, &origin).await;
    assert_eq!(header(&answer, ALLOWED), Some("*"));
    let answer = ask(&service(&[]), Method::POST, &origin).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
}
