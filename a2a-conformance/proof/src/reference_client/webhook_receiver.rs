//! Push notifications, received by our client.

use std::convert::Infallible;
use std::future::ready;
use std::io;

use a2a_client::webhook::{JwksSource, JwtVerifier, Notification, Receiver};
use a2a_transport::http::{ServeOptions, serve};
use a2a_transport::webhook::TOKEN_HEADERS;
use a2a_types::ProtocolVersion;
use http::{HeaderValue, Request, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::instruction::{Input, InstructionLine, unimplemented, write_report};
use super::reports;
use crate::client::{Bug, ClientSubject};

/// Receives push notifications until the next line of the suite.
pub(super) async fn receive(
    line: &InstructionLine,
    subject: ClientSubject,
    input: &mut Input<impl AsyncBufRead + Unpin>,
    output: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", line.port.unwrap_or_default())).await?;
    let url = format!("http://{}/hook", listener.local_addr()?);
    let (reports, mut events) = mpsc::unbounded_channel();
    let Some(receivers) = Receivers::new(line, subject.bug(), &url, reports) else {
        return write_report(output, &line.id, unimplemented("no such checks")).await;
    };
    let lasting = receivers.make();
    let token = line
        .require
        .token
        .clone()
        .and_then(|token| HeaderValue::from_str(&token).ok());
    let service = service_fn(move |mut request: Request<Incoming>| {
        let receiver = match subject.has(Bug::EveryDelivery) {
            true => receivers.make(),
            false => lasting.clone(),
        };
        if let Some(token) = &token {
            for name in &TOKEN_HEADERS {
                let header = request.headers().get(name).map(HeaderValue::as_bytes);
                let is_taken = header.is_some_and(|header| {
                    subject.has(Bug::AnyToken)
                        || subject.has(Bug::TokenPrefix) && header.starts_with(token.as_bytes())
                });
                if is_taken {
                    request.headers_mut().insert(name, token.clone());
                }
            }
        }
        async move {
            let mut response = match receiver {
                Some(receiver) => receiver.handle(request).await,
                None => http::Response::new(a2a_transport::http::Body::empty()),
            };
            let is_garbage = response.status() == StatusCode::BAD_REQUEST;
            if subject.has(Bug::AlwaysOk) || subject.has(Bug::TakesGarbage) && is_garbage {
                *response.status_mut() = StatusCode::OK;
            }
            Ok::<_, Infallible>(response)
        }
    });
    let serving = serve(
        listener,
        service,
        ServeOptions::default(),
        std::future::pending(),
    );
    let mut serving = std::pin::pin!(serving);
    write_report(output, &line.id, json!({"listening": url})).await?;
    loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => write_report(output, &line.id, event).await?,
            _ = &mut serving => return Ok(()),
            next = input.next_line() => {
                let Some(_) = next? else { return Ok(()) };
                while let Ok(event) = events.try_recv() {
                    write_report(output, &line.id, event).await?;
                }
                return write_report(output, &line.id, json!({"done": true})).await;
            }
        }
    }
}

/// Factory of receivers that all check the same.
#[derive(Clone)]
struct Receivers {
    token: Option<String>,
    tokens: Option<JwtVerifier>,
    /// The tasks that notifications may be about; any if empty.
    tasks: Vec<String>,
    challenge: bool,
    reports: mpsc::UnboundedSender<Value>,
}

impl Receivers {
    fn new(
        line: &InstructionLine,
        bug: Option<Bug>,
        url: &str,
        reports: mpsc::UnboundedSender<Value>,
    ) -> Option<Self> {
        let jwt = line.require.jwt.as_ref();
        let tokens =
            jwt.map(|published| JwtVerifier::of(JwksSource::at(&published.jwks)).audience(url));
        let receivers = Self {
            token: line.require.token.clone(),
            tokens,
            tasks: match bug {
                Some(Bug::AnyTask) => Vec::new(),
                _ => line.require.tasks.clone(),
            },
            challenge: line.protocol_version() == ProtocolVersion::V0_1,
            reports,
        };
        receivers.make().map(|_| receivers)
    }

    fn make(&self) -> Option<Receiver> {
        let (reports, tasks) = (self.reports.clone(), self.tasks.clone());
        let mut builder = Receiver::builder(move |notification: Notification| {
            let task = notification.task.as_ref().map(ToString::to_string);
            let is_awaited = tasks.is_empty() || task.is_some_and(|task| tasks.contains(&task));
            if !is_awaited {
                return ready(Ok::<_, io::Error>(()));
            }
            let event = notification.event.as_ref();
            let event = event.map(|event| reports::event(event, false));
            // The receiver is gone once the suite has closed the conversation.
            let _ = reports.send(json!({"event": event}));
            ready(Ok(()))
        });
        if let Some(token) = &self.token {
            builder = builder.token(token);
        }
        if let Some(tokens) = &self.tokens {
            builder = builder.tokens(tokens.clone());
        }
        if self.challenge {
            builder = builder.challenge();
        }
        builder.build().ok()
    }
}
