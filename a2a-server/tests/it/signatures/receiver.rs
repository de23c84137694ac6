//! A receiver at a socket, and what it was sent.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use a2a_client::webhook::{BoxError, Notification, Receiver, ReceiverBuilder};
use a2a_transport::http::{ServeOptions, serve};
use a2a_transport::webhook::key_id;
use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A receiver at a socket.
pub(crate) struct ReceiverServer {
    /// Origin, without a path.
    pub(crate) url: String,
    /// The requests, in the order in which they were answered.
    pub(crate) requests: Arc<Mutex<Vec<SignedRequest>>>,
    /// Notifications that the receiver took.
    pub(crate) notifications: mpsc::UnboundedReceiver<Notification>,
}

/// A request, and how it was answered.
#[derive(Clone, Debug)]
pub(crate) struct SignedRequest {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) status: u16,
}

impl SignedRequest {
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut values = self.headers.get_all(name).into_iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().unwrap(),
            _ => panic!("not one `{name}` in {self:?}"),
        }
    }

    /// The key that has signed it.
    #[track_caller]
    pub(crate) fn key(&self) -> String {
        let token = self.header("authorization").strip_prefix("Bearer ");
        key_id(token.unwrap()).unwrap().unwrap()
    }
}

impl ReceiverServer {
    /// A receiver that is made for its own URL.
    pub(crate) async fn new(
        configure: impl FnOnce(&str, ReceiverBuilder) -> ReceiverBuilder,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, notifications) = mpsc::unbounded_channel();
        let handler = move |notification: Notification| {
            // This fails once the test has dropped its receiver.
            let _ = sender.send(notification);
            std::future::ready(Ok::<_, BoxError>(()))
        };
        let receiver = configure(&url, Receiver::builder(handler)).build().unwrap();
        let requests = Arc::<Mutex<Vec<SignedRequest>>>::default();
        let kept = Arc::clone(&requests);
        let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let (receiver, kept) = (receiver.clone(), Arc::clone(&kept));
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let mut got = SignedRequest {
                    method: head.method.clone(),
                    target: head.uri.to_string(),
                    headers: head.headers.clone(),
                    body: body.clone(),
                    status: 0,
                };
                let request = http::Request::from_parts(head, Full::new(body));
                let answer = receiver.handle(request).await;
                got.status = answer.status().as_u16();
                kept.lock().unwrap().push(got);
                Ok::<_, Infallible>(answer)
            }
        });
        let options = ServeOptions::default();
        tokio::spawn(serve(listener, service, options, std::future::pending()));
        Self {
            url,
            requests,
            notifications,
        }
    }

    pub(crate) fn requests(&self) -> Vec<SignedRequest> {
        self.requests.lock().unwrap().clone()
    }
}
