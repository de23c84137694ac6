//! Callers over HTTP/2 that cost little: frames as bytes, and answers of which no header is read.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use grpc_peer::prost::Message as _;
use grpc_peer::v1_0::{Message, SendMessageRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::load::{self, Caller};
use crate::machine::Failure;
use crate::request_template::{FIRST_ID, RequestKind, RequestTemplate};

/// A request that is sent again and again, with a new message id each time.
#[derive(Clone, Debug)]
pub(crate) struct MultiplexedCall {
    address: SocketAddr,
    path: &'static str,
    content_type: &'static str,
    body: RequestTemplate,
    /// Returns whether a body is an answer without an error.
    is_answer: fn(&[u8]) -> bool,
}

impl MultiplexedCall {
    /// Calls by JSON-RPC.
    pub(crate) fn json_rpc(address: SocketAddr, ask: RequestKind, text: &str) -> Self {
        Self {
            address,
            path: "/",
            content_type: "application/json",
            body: RequestTemplate::with_new_ids(ask.body(FIRST_ID, text).into_bytes()),
            is_answer: load::is_answer,
        }
    }

    /// Sends a message by gRPC, to a method like `SendMessage`.
    pub(crate) fn grpc(address: SocketAddr, path: &'static str, text: &str) -> Self {
        let message = Message {
            message_id: FIRST_ID.to_owned(),
            ..Message::user(text)
        };
        let request = SendMessageRequest {
            message: Some(message),
            ..SendMessageRequest::default()
        };
        let message = request.encode_to_vec();
        let mut body = vec![0];
        body.extend((message.len() as u32).to_be_bytes());
        body.extend(message);
        Self {
            address,
            path,
            content_type: "application/grpc",
            body: RequestTemplate::with_new_ids(body),
            // An answer that is an error has trailers only.
            is_answer: |body| body.len() > GRPC_HEAD,
        }
    }

    /// Returns the headers of the first request of a connection, which the server keeps in its table.
    fn first_headers(&self) -> Vec<u8> {
        let authority = self.address.to_string();
        let headers = [
            (":path", self.path),
            (":authority", authority.as_str()),
            ("content-type", self.content_type),
            ("te", "trailers"),
            ("a2a-version", "1.0"),
        ];
        let mut block = vec![POST, HTTP];
        for (name, value) in headers {
            block.push(KEPT_LITERAL);
            for text in [name, value] {
                block.push(text.len() as u8);
                block.extend_from_slice(text.as_bytes());
            }
        }
        block
    }
}

/// Returns callers that have a connection each, and `at_once` calls open on it.
pub(crate) async fn callers(
    call: &MultiplexedCall,
    connections: usize,
    at_once: usize,
) -> Result<Vec<impl Caller + use<>>, Failure> {
    let mut callers = Vec::with_capacity(connections);
    for _ in 0..connections {
        let connection = Connection::open(call.clone()).await?;
        callers.push(MultiplexedCaller {
            connection,
            at_once,
        });
    }
    Ok(callers)
}

struct MultiplexedCaller {
    connection: Connection,
    at_once: usize,
}

impl Caller for MultiplexedCaller {
    async fn ask(&mut self, times: &mut Vec<Duration>) -> Result<(), Failure> {
        while self.connection.streams.len() < self.at_once {
            self.connection.begin();
        }
        self.connection.receive().await?;
        let is_answer = self.connection.call.is_answer;
        let ended = self.connection.streams.extract_if(.., |it| it.has_ended);
        for stream in ended {
            if !is_answer(&stream.body) {
                let body = String::from_utf8_lossy(&stream.body);
                return Err(format!("not the answer that was to come: {body:?}").into());
            }
            times.push(stream.begun.elapsed());
        }
        Ok(())
    }
}

/// A connection and its open streams.
pub(crate) struct Connection {
    call: MultiplexedCall,
    socket: TcpStream,
    pub(crate) streams: Vec<Stream>,
    next_id: u32,
    to_send: Vec<u8>,
    received: Vec<u8>,
    /// Bytes of bodies since the window of the connection was opened last.
    taken: u32,
}

/// An open stream, or one that has just ended.
pub(crate) struct Stream {
    id: u32,
    pub(crate) begun: Instant,
    /// Body of the answer as far as it has come.
    pub(crate) body: Vec<u8>,
    pub(crate) has_ended: bool,
}

impl Connection {
    pub(crate) async fn open(call: MultiplexedCall) -> Result<Self, Failure> {
        let socket = TcpStream::connect(call.address).await?;
        socket.set_nodelay(true)?;
        let mut connection = Self {
            call,
            socket,
            streams: Vec::new(),
            next_id: 1,
            to_send: PREFACE.to_vec(),
            received: Vec::with_capacity(BUFFER),
            taken: 0,
        };
        let [a, b, c, d] = MAX_WINDOW.to_be_bytes();
        connection.write_frame(SETTINGS, 0, 0, &[0, INITIAL_WINDOW, a, b, c, d]);
        let more = MAX_WINDOW - DEFAULT_WINDOW;
        connection.write_frame(WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        Ok(connection)
    }

    /// Begins a call; it is sent when answers are received next.
    pub(crate) fn begin(&mut self) {
        let id = self.next_id;
        self.next_id += 2;
        let headers = match id {
            1 => self.call.first_headers(),
            _ => LATER_HEADERS.to_vec(),
        };
        self.write_frame(HEADERS, END_HEADERS, id, &headers);
        let body = self.call.body.next();
        write_frame(&mut self.to_send, DATA, END_STREAM, id, body);
        self.streams.push(Stream {
            id,
            begun: Instant::now(),
            body: Vec::new(),
            has_ended: false,
        });
    }

    /// Sends what is to be sent, and takes what is received next.
    pub(crate) async fn receive(&mut self) -> Result<(), Failure> {
        self.socket.write_all(&self.to_send).await?;
        self.to_send.clear();
        if self.socket.read_buf(&mut self.received).await? == 0 {
            return Err("the server closed a connection".into());
        }
        let received = std::mem::take(&mut self.received);
        let mut rest = received.as_slice();
        while let Some((head, after)) = rest.split_first_chunk::<FRAME_HEAD>() {
            let [l0, l1, l2, kind, flags, id @ ..] = *head;
            let length = u32::from_be_bytes([0, l0, l1, l2]) as usize;
            let Some((payload, after)) = after.split_at_checked(length) else {
                break;
            };
            self.take(kind, flags, u32::from_be_bytes(id), payload)?;
            rest = after;
        }
        let read = received.len() - rest.len();
        self.received = received;
        self.received.drain(..read);
        self.received.reserve(BUFFER);
        Ok(())
    }

    fn take(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) -> Result<(), Failure> {
        match kind {
            DATA | HEADERS => {
                let stream = self.streams.iter_mut().find(|stream| stream.id == id);
                let stream = stream.ok_or("a frame of a stream that has ended")?;
                stream.has_ended = flags & END_STREAM != 0;
                if kind == DATA {
                    stream.body.extend_from_slice(payload);
                    self.taken += payload.len() as u32;
                }
                if self.taken > MAX_WINDOW / 2 {
                    let taken = std::mem::take(&mut self.taken);
                    self.write_frame(WINDOW_UPDATE, 0, 0, &taken.to_be_bytes());
                }
            }
            SETTINGS | PING if flags & ACK == 0 => {
                let payload = if kind == PING { payload } else { &[] };
                self.write_frame(kind, ACK, 0, payload);
            }
            RST_STREAM | GO_AWAY => {
                return Err(format!("the server ended stream {id}: {payload:?}").into());
            }
            _ => {}
        }
        Ok(())
    }

    fn write_frame(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) {
        write_frame(&mut self.to_send, kind, flags, id, payload);
    }
}

fn write_frame(out: &mut Vec<u8>, kind: u8, flags: u8, id: u32, payload: &[u8]) {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&length);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(payload);
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEAD: usize = 9;
/// Bytes before a message of gRPC.
const GRPC_HEAD: usize = 5;

// Kinds of frames, and their flags: RFC 9113 §6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Setting of the window of each stream.
const INITIAL_WINDOW: u8 = 4;
const DEFAULT_WINDOW: u32 = (1 << 16) - 1;
const MAX_WINDOW: u32 = (1 << 31) - 1;

// Headers: RFC 7541. Two of the static table, and one that is kept in the dynamic table.
const POST: u8 = 0x83;
const HTTP: u8 = 0x86;
const KEPT_LITERAL: u8 = 0x40;
/// The same headers, of which five are in the dynamic table, the last one first.
const LATER_HEADERS: [u8; 7] = [
    POST,
    HTTP,
    0x80 | 66,
    0x80 | 65,
    0x80 | 64,
    0x80 | 63,
    0x80 | 62,
];

const BUFFER: usize = 64 * 1024;
