//! Callers over HTTP/2: many requests at once on each connection.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::load::{Caller, is_answer};
use crate::machine::Failure;
use crate::request_template::{RequestKind, next_id};

/// Returns `at_once` callers that share the connections.
pub(crate) async fn callers(
    address: SocketAddr,
    connections: usize,
    at_once: usize,
    text: &str,
) -> Result<Vec<impl Caller + use<>>, Failure> {
    let mut senders = Vec::with_capacity(connections);
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        // A caller on it gets the error.
        tokio::spawn(async move { drop(connection.await) });
        senders.push(sender);
    }
    let callers = senders.into_iter().cycle().take(at_once);
    let callers = callers.map(|sender| Multiplexed {
        sender,
        url: format!("http://{address}/"),
        text: text.to_owned(),
    });
    Ok(callers.collect())
}

struct Multiplexed {
    sender: SendRequest<Full<Bytes>>,
    url: String,
    text: String,
}

impl Caller for Multiplexed {
    async fn ask(&mut self) -> Result<(), Failure> {
        let body = RequestKind::Send.body(&next_id(), &self.text);
        let request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .header("a2a-version", "1.0")
            .body(Full::from(body))?;
        self.sender.ready().await?;
        let (head, body) = self.sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        match head.status.is_success() && is_answer(&body) {
            true => Ok(()),
            false => Err(format!("not the answer that was to come: {head:?} {body:?}").into()),
        }
    }
}
