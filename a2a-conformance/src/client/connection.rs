//! A connection of a client: requests are read, and answered as the case says.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use a2a_transport::Binding;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::answering::{pause, receive};
use super::case::{Case, Close, Pause, Tls};
use super::certificate::Authority;
use super::fixture::{Fixture, Listener};
use super::http2;
use super::socket::{Request, Socket};
use super::wire_answer::{BodyPiece, Framing, WireAnswer};
use crate::interface_kind::InterfaceKind;

/// A fixture with its listeners. They close when this is dropped.
pub(super) struct RunningFixture {
    pub(super) fixture: Arc<Fixture>,
    _listeners: JoinSet<()>,
}

impl RunningFixture {
    /// Starts a case; `base` is the address and path of the agent if it has no listener of its own.
    ///
    /// Errors: what in the case cannot be done.
    pub(super) async fn start(
        case: Arc<Case>,
        interface: InterfaceKind,
        base: Option<(SocketAddr, String)>,
    ) -> Result<Self, String> {
        let bind = async || {
            let listener = TcpListener::bind("127.0.0.1:0").await;
            let listener = listener.map_err(|error| format!("cannot listen: {error}"))?;
            let address = listener.local_addr().map_err(|error| error.to_string())?;
            Ok::<_, String>((listener, address))
        };
        if let Some(tls) = case.agent.tls {
            Authority::prepare(tls).await?;
            // The authority that the client trusts.
            Authority::prepare(Tls::Trusted).await?;
        }
        let (elsewhere, strange) = bind().await?;
        let (agent, (own, prefix)) = match base {
            Some(base) => (None, base),
            None => {
                let (listener, address) = bind().await?;
                (Some(listener), (address, String::new()))
            }
        };
        let fixture = Fixture::new(case, interface, own, strange, prefix)?;
        let fixture = Arc::new(fixture);
        let mut listeners = JoinSet::new();
        let tls = fixture.case.agent.tls;
        listeners.spawn(listen(
            elsewhere,
            Listener::Elsewhere,
            None,
            Arc::clone(&fixture),
        ));
        if let Some(agent) = agent {
            listeners.spawn(listen(agent, Listener::Agent, tls, Arc::clone(&fixture)));
        }
        Ok(Self {
            fixture,
            _listeners: listeners,
        })
    }
}

/// Serves all connections until it is dropped.
async fn listen(listener: TcpListener, which: Listener, tls: Option<Tls>, fixture: Arc<Fixture>) {
    let mut connections = JoinSet::new();
    loop {
        // If a connection failed, the client has to connect again.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let fixture = Arc::clone(&fixture);
        connections.spawn(async move {
            // Small pieces are sent as they are.
            let _ = stream.set_nodelay(true);
            let is_grpc = fixture.interface.binding == Binding::Grpc;
            let mut socket = match tls {
                None => Socket::plain(stream),
                Some(tls) => match Authority::accept(tls, is_grpc, stream).await {
                    Ok(stream) => Socket::tls(stream),
                    // A client that does not trust the certificate closes the connection.
                    Err(_) => return,
                },
            };
            if is_grpc && socket.is_http2().await.unwrap_or(false) {
                return http2::serve(socket, which, fixture).await;
            }
            serve_connection(socket, which, fixture, None).await;
        });
    }
}

/// Answers the requests on a connection, `first` before any that is yet to be read. Returns the first
/// request to the agent that is outside the case's prefix, with the connection.
pub(super) async fn serve_connection(
    mut socket: Socket,
    listener: Listener,
    fixture: Arc<Fixture>,
    first: Option<Request>,
) -> Option<(Socket, Request)> {
    let mut next = first;
    loop {
        let mut request = match next.take() {
            Some(request) => request,
            None => match socket.request().await {
                Ok(Some(request)) => request,
                Ok(None) | Err(_) => return None,
            },
        };
        match request.target.strip_prefix(&fixture.prefix) {
            Some(target) => request.target = target.to_owned(),
            None if listener == Listener::Agent => return Some((socket, request)),
            None => {}
        }
        let (index, written) = receive(request, listener, &fixture);
        match write(&mut socket, &written, &fixture).await {
            Ok(()) => fixture.note(index, |received| received.delivered = true),
            // The client has closed the connection.
            Err(_) => return None,
        }
        match written.close {
            Close::Done if written.framing != Framing::Raw => {}
            Close::Done | Close::Cut => {
                // It may be gone already.
                let _ = socket.shutdown().await;
                return None;
            }
            Close::Reset => {
                socket.reset();
                return None;
            }
            Close::Open => {
                socket.closed().await;
                return None;
            }
        }
    }
}

async fn write(socket: &mut Socket, written: &WireAnswer, fixture: &Fixture) -> io::Result<()> {
    if written.framing != Framing::Raw {
        let mut head = format!("HTTP/1.1 {} -\r\n", written.status);
        for (name, value) in &written.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&match written.framing {
            Framing::Chunked => "transfer-encoding: chunked\r\n\r\n".to_owned(),
            // An answer that is cut announces more than it has.
            _ if matches!(written.close, Close::Cut | Close::Reset | Close::Open) => {
                format!("content-length: {}\r\n\r\n", written.length() + 1)
            }
            _ => format!("content-length: {}\r\n\r\n", written.length()),
        });
        socket.write_all(head.as_bytes()).await?;
        socket.flush().await?;
    }
    for piece in &written.pieces {
        match piece {
            BodyPiece::Bytes(bytes) => {
                let size = written.chunk.unwrap_or(bytes.len()).max(1);
                for part in bytes.chunks(size) {
                    write_part(socket, part, written.framing).await?;
                }
            }
            BodyPiece::LongBody(count) => {
                let block = vec![b'x'; 1 << 16];
                let mut remaining = *count;
                while remaining > 0 {
                    let size = remaining.min(block.len() as u64);
                    let part = block.get(..size as usize).unwrap_or_default();
                    write_part(socket, part, written.framing).await?;
                    remaining -= size;
                }
            }
            BodyPiece::Pause(hold) => wait(socket, hold, fixture).await?,
        }
    }
    if written.framing == Framing::Chunked && written.close == Close::Done {
        socket.write_all(b"0\r\n\r\n").await?;
    }
    socket.flush().await
}

async fn write_part(socket: &mut Socket, part: &[u8], framing: Framing) -> io::Result<()> {
    match framing {
        Framing::Chunked => {
            let mut framed = format!("{:x}\r\n", part.len()).into_bytes();
            framed.extend_from_slice(part);
            framed.extend_from_slice(b"\r\n");
            socket.write_all(&framed).await?;
        }
        Framing::Length | Framing::Raw => socket.write_all(part).await?,
    }
    socket.flush().await
}

/// Waits as a hold says, unless the client closes the connection meanwhile.
async fn wait(socket: &mut Socket, hold: &Pause, fixture: &Fixture) -> io::Result<()> {
    tokio::select! {
        () = pause(hold, fixture) => Ok(()),
        () = socket.closed() => Err(io::ErrorKind::BrokenPipe.into()),
    }
}
