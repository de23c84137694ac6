//! Receivers of notifications, some of which fail now and then.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use a2a_client::webhook::{Notification, Receiver, Secret};
use a2a_transport::http::Body;
use a2a_types::Event;
use bytes::Bytes;
use fastrand::Rng;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::delivery_record::DeliveryRecord;
use crate::Failure;

/// Token of every webhook config of the experiments.
pub(crate) const TOKEN: &str = "token-of-the-experiments";

/// Receives in this process, until it is dropped.
pub(crate) struct HookServer {
    address: SocketAddr,
    _accepting: JoinSet<()>,
}

impl HookServer {
    /// Receives at the given loopback address, and fails `faults` percent of requests.
    pub(crate) async fn begin(
        host: u8,
        record: &Arc<DeliveryRecord>,
        secret: &Secret,
        faults: u8,
        rng: Rng,
    ) -> Result<Self, Failure> {
        let receiver = Arc::new(FaultyReceiver {
            record: Arc::clone(record),
            secret: secret.clone(),
            faults,
            rng: Mutex::new(rng),
        });
        Self::accept(host, move |stream| {
            let receiver = Arc::clone(&receiver);
            let service = service_fn(move |request| {
                let receiver = Arc::clone(&receiver);
                async move { receiver.receive(request).await }
            });
            async move {
                // The sender may have been killed meanwhile.
                drop(
                    http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await,
                );
            }
        })
        .await
    }

    /// Accepts connections, and never answers.
    pub(crate) async fn silent(host: u8) -> Result<Self, Failure> {
        Self::accept(host, |stream| async move {
            std::future::pending::<()>().await;
            drop(stream);
        })
        .await
    }

    async fn accept<F>(
        host: u8,
        serve: impl Fn(tokio::net::TcpStream) -> F + Send + 'static,
    ) -> Result<Self, Failure>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, host), 0)).await?;
        let address = listener.local_addr()?;
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream));
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self {
            address,
            _accepting: accepting,
        })
    }

    /// The URL of a webhook at this receiver.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

struct FaultyReceiver {
    record: Arc<DeliveryRecord>,
    secret: Secret,
    faults: u8,
    rng: Mutex<Rng>,
}

/// Fault of a receiver.
#[derive(Clone, Copy)]
enum ReceiverFault {
    /// It answers so at once.
    Answers(StatusCode, Option<&'static str>),
    /// It closes the connection instead of an answer.
    Closes,
    /// It has received, and answers that it has not.
    Denies,
    /// It has received, and closes the connection instead of an answer.
    Forgets,
}

const FAULTS: [ReceiverFault; 6] = [
    ReceiverFault::Answers(StatusCode::INTERNAL_SERVER_ERROR, None),
    ReceiverFault::Answers(StatusCode::SERVICE_UNAVAILABLE, Some("0")),
    ReceiverFault::Answers(StatusCode::SERVICE_UNAVAILABLE, Some("1")),
    ReceiverFault::Closes,
    ReceiverFault::Denies,
    ReceiverFault::Forgets,
];

impl FaultyReceiver {
    async fn receive(&self, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let fault = self.fault();
        {
            let mut deliveries = self.record.deliveries();
            deliveries.requests += 1;
            deliveries.faults += usize::from(fault.is_some());
        }
        match fault {
            Some(ReceiverFault::Answers(status, after)) => return Ok(answer(status, after)),
            Some(ReceiverFault::Closes) => return Err(io::Error::other("closed on purpose")),
            Some(ReceiverFault::Denies | ReceiverFault::Forgets) | None => {}
        }
        let path = request.uri().path().to_owned();
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let Some(id) = self.read(Request::from_parts(head, body)).await else {
            let text = format!("{path} received a notification that its receiver rejects");
            self.record.deliveries().strange.push(text);
            return Ok(answer(StatusCode::BAD_REQUEST, None));
        };
        match fault {
            Some(ReceiverFault::Denies) => Ok(answer(StatusCode::INTERNAL_SERVER_ERROR, None)),
            Some(_) => Err(io::Error::other("closed on purpose")),
            None => {
                self.record
                    .deliveries()
                    .acknowledge_notification(&path, &id);
                Ok(answer(StatusCode::OK, None))
            }
        }
    }

    /// Reads and records a notification, as a receiver without memory does; returns its id.
    async fn read(&self, request: Request<Bytes>) -> Option<String> {
        let (path, body) = (request.uri().path().to_owned(), request.body().clone());
        let (sender, forwarded) = oneshot::channel::<(String, Event)>();
        let sender = Mutex::new(Some(sender));
        let receiver = Receiver::builder(move |notification: Notification| {
            let sender = sender.lock().unwrap_or_else(PoisonError::into_inner).take();
            let pair = sender.zip(notification.delivery.zip(notification.event));
            let sent = pair.map(|(sender, event)| sender.send(event));
            std::future::ready(match sent {
                Some(Ok(())) => Ok(()),
                _ => Err("a notification without an id or an event"),
            })
        });
        let receiver = receiver.token(TOKEN).secret(self.secret.clone());
        let answer = receiver.build().ok()?.handle(request.map(Full::new)).await;
        let (id, event) = forwarded
            .await
            .ok()
            .filter(|_| answer.status().is_success())?;
        self.record.deliveries().record(&path, &id, event, &body);
        Some(id)
    }

    fn fault(&self) -> Option<ReceiverFault> {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let fails = rng.u8(..100) < self.faults;
        fails.then(|| rng.choice(FAULTS)).flatten()
    }
}

fn answer(status: StatusCode, after: Option<&'static str>) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status;
    if let Some(after) = after {
        let after = HeaderValue::from_static(after);
        answer.headers_mut().insert(header::RETRY_AFTER, after);
    }
    answer
}
