//! TLS in front of test agents.

use std::io;
use std::net::SocketAddr;

use a2a_transport::http::{HttpClient, Tls as Trust};
use http::header::{HeaderMap, HeaderValue, STRICT_TRANSPORT_SECURITY};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::bug::Bug;
use a2a_conformance::client::Tls;
use a2a_conformance::client::certificate::Authority;

/// Listener of TLS that passes the bytes of its connections to an agent without TLS.
pub(super) struct TlsFront {
    /// URL of the agent behind it.
    pub(super) url: String,
    /// Client that trusts its certificate.
    pub(super) http: HttpClient,
    pub(super) serving: AbortHandle,
}

impl TlsFront {
    /// Listens until `serving` is aborted. Must be called within a Tokio runtime.
    pub(super) async fn open(agent: SocketAddr, bug: Option<Bug>) -> io::Result<Self> {
        let made = Authority::prepare(Tls::Trusted).await;
        made.map_err(io::Error::other)?;
        let pem = Authority::of(Tls::Trusted).pem();
        let trust = Trust::default().trust(pem.as_bytes());
        let trust = trust.map_err(io::Error::other)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("https://{}/", listener.local_addr()?);
        let accepts_1_1 = bug == Some(Bug::AcceptsOldTls);
        let serving = tokio::spawn(accept(listener, agent, accepts_1_1));
        Ok(Self {
            url,
            http: HttpClient::builder().tls(trust).build(),
            serving: serving.abort_handle(),
        })
    }
}

/// Adds the header by which browsers call only by TLS.
pub(super) fn add_hsts(headers: &mut HeaderMap) {
    let value = HeaderValue::from_static("max-age=31536000");
    headers.insert(STRICT_TRANSPORT_SECURITY, value);
}

async fn accept(listener: TcpListener, agent: SocketAddr, accepts_1_1: bool) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        if let Ok((stream, _)) = accepted {
            connections.spawn(pass(stream, agent, accepts_1_1));
        }
    }
}

/// Passes the bytes of one connection, in both directions.
///
/// Errors: the handshake fails, or an end breaks off.
async fn pass(stream: TcpStream, agent: SocketAddr, accepts_1_1: bool) -> io::Result<()> {
    if accepts_1_1 {
        // A client sends its hello in one piece.
        let mut start = [0; 11];
        stream.peek(&mut start).await?;
        if start.ends_with(&TLS_1_1) {
            return begin_1_1(stream).await;
        }
    }
    let mut stream = Authority::accept(Tls::Trusted, false, stream).await?;
    let mut agent = TcpStream::connect(agent).await?;
    agent.set_nodelay(true)?;
    copy_bidirectional(&mut stream, &mut agent).await?;
    Ok(())
}

/// Begins a connection of TLS 1.1, as a server that accepts it does, and waits until the client has seen it: RFC 4346
/// §7.4.1.3.
async fn begin_1_1(mut stream: TcpStream) -> io::Result<()> {
    let body = [&TLS_1_1[..], &[7; 32], &[0], &CIPHER_SUITE, &[0]].concat();
    let length = u8::try_from(body.len()).map_err(io::Error::other)?;
    let message = [&[SERVER_HELLO, 0, 0, length][..], &body].concat();
    let record = [&[HANDSHAKE][..], &TLS_1_1, &[0, length + 4], &message].concat();
    stream.write_all(&record).await?;
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

const TLS_1_1: [u8; 2] = [3, 2];
const HANDSHAKE: u8 = 22;
const SERVER_HELLO: u8 = 2;
/// ECDHE and RSA, AES-128 with CBC, SHA-1.
const CIPHER_SUITE: [u8; 2] = [0xc0, 0x13];
