//! Requests of our client, and its fallbacks for servers that accept another form.

use a2a_transport::http::{HttpService, HttpTransport, ServeOptions, serve};
use a2a_transport::{Binding, BoxFuture, CallRequest, ResponseBody, Transport};
use a2a_types::{
    GetTaskRequest, ListTasksRequest, Message, ProtocolVersion, Request, SendMessageRequest,
    SubscribeToTaskRequest,
};
use bytes::Bytes;
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_stream::StreamExt;

use crate::http_json::{Scripted, task};

/// A request as it came in.
#[derive(Clone, Debug)]
struct CapturedRequest {
    method: Method,
    target: String,
    content_type: Option<String>,
    version: Option<String>,
    body: String,
}

type Log = Arc<Mutex<Vec<CapturedRequest>>>;

/// Rule by which a request is refused before it reaches our service.
type RefusalRule = fn(&CapturedRequest) -> Option<StatusCode>;

/// Starts our service behind a proxy that refuses the requests that a rule names.
async fn server(objection: RefusalRule) -> (String, Log) {
    let log = Log::default();
    let kept = Arc::clone(&log);
    let service = HttpService::new(Scripted::default());
    let service = service_fn(
        move |request: http::Request<Incoming>| -> BoxFuture<'static, _> {
            let (service, log) = (service.clone(), Arc::clone(&kept));
            Box::pin(async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let text = |name: &str| {
                    head.headers
                        .get(name)
                        .map(|value| value.to_str().unwrap().to_owned())
                };
                let captured = CapturedRequest {
                    method: head.method.clone(),
                    target: head.uri.to_string(),
                    content_type: text("content-type"),
                    version: text("a2a-version"),
                    body: String::from_utf8_lossy(&body).into_owned(),
                };
                log.lock().unwrap().push(captured.clone());
                let mut response = match objection(&captured) {
                    Some(status) => {
                        let mut refusal = Response::new(a2a_transport::http::Body::empty());
                        *refusal.status_mut() = status;
                        refusal
                    }
                    None => {
                        let request = http::Request::from_parts(head, Full::<Bytes>::from(body));
                        service.handle(request).await
                    }
                };
                response.headers_mut().remove("allow");
                Ok::<_, Infallible>(response)
            })
        },
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/agent", listener.local_addr().unwrap());
    // The service stands at the origin, so the objections see whole targets.
    let url = url.trim_end_matches("/agent").to_owned();
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    (url, log)
}

fn transport(url: &str, protocol_version: ProtocolVersion) -> HttpTransport {
    HttpTransport::new(url, protocol_version)
        .unwrap()
        .binding(Binding::HttpJson)
}

fn send() -> Request {
    Request::SendMessage(SendMessageRequest {
        message: Message::user("hi"),
        ..SendMessageRequest::default()
    })
}

async fn last(answer: ResponseBody) -> usize {
    let ResponseBody::Stream(mut updates) = answer else {
        panic!("expected a stream");
    };
    let mut count = 0;
    while let Some(update) = updates.next().await {
        update.unwrap();
        count += 1;
    }
    count
}

#[tokio::test]
async fn client_sends_requests_as_each_version_has_them() {
    let (url, log) = server(|_| None).await;
    let listing = Request::ListTasks(ListTasksRequest {
        page_size: Some(2),
        status_timestamp_after: Some("2026-01-02T03:04:05Z".parse().unwrap()),
        include_artifacts: true,
        ..ListTasksRequest::default()
    });
    for (protocol_version, tenant, request, method, target) in [
        (ProtocolVersion::V1_0, "", send(), "POST", "/message:send"),
        (
            ProtocolVersion::V0_3,
            "",
            send(),
            "POST",
            "/v1/message:send",
        ),
        (
            ProtocolVersion::V1_0,
            "acme",
            listing.clone(),
            "GET",
            "/tasks?includeArtifacts=true&pageSize=2&statusTimestampAfter=2026-01-02T03%3A04%3A05.000Z&tenant=acme",
        ),
        (
            ProtocolVersion::V0_3,
            "acme",
            listing,
            "GET",
            "/v1/tasks?includeArtifacts=true&lastUpdatedTime=2026-01-02T03%3A04%3A05.000Z&pageSize=2",
        ),
    ] {
        let transport = transport(&url, protocol_version).tenant(tenant);
        transport.call(CallRequest::new(request)).await.unwrap();
        let captured = log.lock().unwrap().pop().unwrap();
        assert_eq!(
            (captured.method.as_str(), captured.target.as_str()),
            (method, target)
        );
        let is_1_0 = protocol_version == ProtocolVersion::V1_0;
        assert_eq!(captured.version.is_some(), is_1_0, "{captured:?}");
        let media_type = if is_1_0 {
            "application/a2a+json"
        } else {
            "application/json"
        };
        let expected = (method == "POST").then(|| media_type.to_owned());
        assert_eq!(captured.content_type, expected, "{captured:?}");
    }
    let tenant = transport(&url, ProtocolVersion::V1_0).tenant("acme");
    tenant.call(CallRequest::new(send())).await.unwrap();
    let captured = log.lock().unwrap().pop().unwrap();
    assert!(captured.body.contains(r#""tenant":"acme""#), "{captured:?}");
}

#[tokio::test]
async fn a_server_of_1_0_0_takes_plain_json_only() {
    let (url, log) = server(|captured| {
        let own = captured.content_type.as_deref() == Some("application/a2a+json");
        own.then_some(StatusCode::UNSUPPORTED_MEDIA_TYPE)
    })
    .await;
    let transport = transport(&url, ProtocolVersion::V1_0);
    transport.call(CallRequest::new(send())).await.unwrap();
    transport.call(CallRequest::new(send())).await.unwrap();
    assert_eq!(
        log.lock().unwrap().len(),
        3,
        "asked twice once, then it is known"
    );
}

#[tokio::test]
async fn subscription_falls_back_to_get() {
    let (url, _) = server(|captured| {
        let posted = captured.method == Method::POST && captured.target.ends_with(":subscribe");
        posted.then_some(StatusCode::METHOD_NOT_ALLOWED)
    })
    .await;
    for protocol_version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
        let request = Request::SubscribeToTask(SubscribeToTaskRequest {
            id: "t".into(),
            ..SubscribeToTaskRequest::default()
        });
        let reply = transport(&url, protocol_version)
            .call(CallRequest::new(request))
            .await
            .unwrap();
        assert_eq!(last(reply.answer).await, 3, "{protocol_version}");
    }
}

#[tokio::test]
async fn a_url_with_a_query_keeps_it() {
    let (url, log) = server(|_| None).await;
    let request = Request::GetTask(GetTaskRequest {
        id: task().id,
        history_length: Some(1),
        ..GetTaskRequest::default()
    });
    let transport = transport(&format!("{url}/?key=1"), ProtocolVersion::V1_0);
    transport.call(CallRequest::new(request)).await.unwrap();
    let captured = log.lock().unwrap().pop().unwrap();
    assert_eq!(captured.target, "/tasks/t?historyLength=1&key=1");
}
