//! Callers over HTTP/2: many requests at once on each connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Failure;
use crate::load::{Seen, is_answer};
use crate::order::{Ask, next_id};

/// Connections that are kept, and what is sent over them.
pub(crate) struct Callers {
    connections: Vec<SendRequest<Full<Bytes>>>,
    url: String,
    text: String,
    at_once: usize,
}

impl Callers {
    pub(crate) async fn open(
        address: SocketAddr,
        connections: usize,
        at_once: usize,
        text: &str,
    ) -> Result<Self, Failure> {
        let mut opened = Vec::with_capacity(connections);
        for _ in 0..connections {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let (sender, connection) =
                http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
            // Whoever asks over it is told how it ended.
            tokio::spawn(async move { drop(connection.await) });
            opened.push(sender);
        }
        Ok(Self {
            connections: opened,
            url: format!("http://{address}/"),
            text: text.to_owned(),
            at_once,
        })
    }

    /// Sends for so long.
    pub(crate) async fn drive(&mut self, period: Duration) -> Result<Seen, Failure> {
        let begun = Instant::now();
        let mut callers = JoinSet::new();
        for sender in self.connections.iter().cycle().take(self.at_once) {
            let (mut sender, url, text) = (sender.clone(), self.url.clone(), self.text.clone());
            callers.spawn(async move {
                let mut times = Vec::with_capacity(64 * 1024);
                while begun.elapsed() < period {
                    let asked = Instant::now();
                    ask(&mut sender, &url, &text).await?;
                    times.push(asked.elapsed());
                }
                Ok::<_, Failure>(times)
            });
        }
        let mut times = Vec::new();
        while let Some(called) = callers.join_next().await {
            times.extend(called??);
        }
        Ok(Seen::new(times, begun.elapsed()))
    }
}

async fn ask(sender: &mut SendRequest<Full<Bytes>>, url: &str, text: &str) -> Result<(), Failure> {
    let body = Ask::Send.body(&next_id(), text);
    let request = Request::post(url)
        .header(CONTENT_TYPE, "application/json")
        .header("a2a-version", "1.0")
        .body(Full::from(body))?;
    sender.ready().await?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    match head.status.is_success() && is_answer(&body) {
        true => Ok(()),
        false => Err(format!("not the answer that was to come: {head:?} {body:?}").into()),
    }
}
