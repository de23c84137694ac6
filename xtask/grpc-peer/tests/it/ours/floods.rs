//! Peers that flood a server with frames of HTTP/2, or grant it no window. The server is a process of its own, whose
//! memory is measured.

use std::fmt;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use a2a_transport::http::ServeOptions;
use grpc_peer::v1_0::SendMessageRequest;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use super::hostile::check_answers;
use super::{SEND, STREAM, builder, framed};

/// A server in a process of its own, which ends when this is dropped.
struct ServerProcess {
    child: Child,
    url: String,
}

impl ServerProcess {
    async fn start() -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new(program);
        command.args(["--exact", "--nocapture", "ours::floods::server_process"]);
        command.env(IS_SERVER, "1").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        loop {
            let line = lines.next_line().await.unwrap().expect("a URL");
            if let Some(at) = line.find("http://") {
                let url = line[at..].to_owned();
                return Self { child, url };
            }
        }
    }

    fn address(&self) -> SocketAddr {
        let address = self.url.trim_start_matches("http://");
        address.trim_end_matches('/').parse().unwrap()
    }

    /// Returns the most memory that it has had, in MiB.
    fn peak(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id().unwrap());
        let status = std::fs::read_to_string(status).unwrap();
        let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let kib = peak.unwrap().trim().trim_end_matches(" kB");
        kib.parse::<u64>().unwrap() / 1024
    }
}

/// The server of [`ServerProcess`]. Does nothing in the process of the tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_process() {
    if std::env::var_os(IS_SERVER).is_none() {
        return;
    }
    let mut options = ServeOptions::default();
    options.write_timeout = Duration::from_secs(1);
    let server = builder().build().unwrap().http().options(options);
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    println!("{}", bound.url());
    let mut nothing = Vec::new();
    let mut stdin = tokio::io::stdin();
    // Ends with the process of the tests, however that ends.
    let ended = stdin.read_to_end(&mut nothing);
    bound.run(async { drop(ended.await) }).await.unwrap();
}

/// Environment variable that makes [`server_process`] serve.
const IS_SERVER: &str = "A2A_FLOODED_SERVER";

/// End of a flood.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
enum Outcome {
    GoAway(u32),
    Reset(u32),
    Closed,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GoAway(code) => write!(f, "GOAWAY {code}"),
            Self::Reset(code) => write!(f, "RST_STREAM {code}"),
            Self::Closed => f.write_str("closed"),
        }
    }
}

/// Sends `first` and then `repeated` without end on many connections at once. Checks that other callers are answered
/// meanwhile, and how each connection ends.
async fn check(first: &[u8], repeated: &[u8], reads: bool, expected: &[Outcome]) {
    let server = ServerProcess::start().await;
    let mut floods = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (first, repeated) = (first.to_vec(), repeated.repeat(BYTES / repeated.len()));
        floods.spawn(flood(server.address(), first, repeated, reads));
    }
    let mut outcomes = Vec::new();
    while outcomes.len() < CONNECTIONS {
        check_answers(&server.url).await;
        while let Some(outcome) = floods.try_join_next() {
            outcomes.push(outcome.unwrap());
        }
    }
    let is_expected = |outcome: &Outcome| expected.contains(outcome);
    assert!(outcomes.iter().all(is_expected), "{outcomes:?}");
    assert!(server.peak() < MAX_MEMORY, "{} MiB", server.peak());
}

async fn flood(address: SocketAddr, first: Vec<u8>, repeated: Vec<u8>, reads: bool) -> Outcome {
    let socket = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = socket.into_split();
    let write = async {
        writing.write_all(&first).await?;
        loop {
            writing.write_all(&repeated).await?;
        }
    };
    let written: std::io::Result<()> = tokio::select! {
        outcome = outcome(&mut reading), if reads => return outcome,
        written = write => written,
    };
    assert!(written.is_err());
    outcome(&mut reading).await
}

/// Reads to the first frame that ends a stream or the connection, or to the end of the connection.
async fn outcome(reading: &mut OwnedReadHalf) -> Outcome {
    while let Some((kind, _, payload)) = frame(reading).await {
        let code = |at: usize| {
            let code = payload[at..].first_chunk().copied();
            code.map_or(0, u32::from_be_bytes)
        };
        match kind {
            RST_STREAM => return Outcome::Reset(code(0)),
            GO_AWAY => return Outcome::GoAway(code(4)),
            _ => {}
        }
    }
    Outcome::Closed
}

/// Returns kind, flags and payload of the next frame; `None` at the end of the connection.
async fn frame(reading: &mut OwnedReadHalf) -> Option<(u8, u8, Vec<u8>)> {
    let mut head = [0; 9];
    reading.read_exact(&mut head).await.ok()?;
    let [a, b, c, kind, flags, ..] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    reading.read_exact(&mut payload).await.ok()?;
    Some((kind, flags, payload))
}

/// Returns the bytes of a frame.
fn raw_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

/// Returns the beginning of a connection with these settings.
fn preface(settings: &[u8]) -> Vec<u8> {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    [&preface[..], &raw_frame(SETTINGS, 0, 0, settings)].concat()
}

/// Returns the headers of a request by gRPC, as literals: RFC 7541 §6.2.2.
fn headers(path: &str) -> Vec<u8> {
    // POST, http.
    let mut block = vec![0x83, 0x86];
    for (name, value) in [
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ] {
        block.push(0);
        for text in [name, value] {
            block.push(text.len() as u8);
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// Returns a request with a message.
fn request(path: &str, stream: u32, text: &str) -> Vec<u8> {
    let body = framed(&SendMessageRequest::text(text));
    let head = raw_frame(HEADERS, END_HEADERS, stream, &headers(path));
    [head, raw_frame(DATA, END_STREAM, stream, &body)].concat()
}

#[tokio::test]
async fn continuation_flood_ends_its_connection() {
    let first = [preface(&[]), raw_frame(HEADERS, 0, 1, &headers(SEND))].concat();
    // Ten headers of a kilobyte each.
    let header = [&[0, 1, b'x', 0x7f, 0xe9, 0x07][..], &[b'a'; 1128]].concat();
    let frame = raw_frame(CONTINUATION, 0, 1, &header.repeat(10));
    check(&first, &frame, true, &[CALM, Outcome::Closed]).await;
}

#[tokio::test]
async fn flood_of_empty_continuations_ends_its_connection() {
    let first = [preface(&[]), raw_frame(HEADERS, 0, 1, &headers(SEND))].concat();
    let frame = raw_frame(CONTINUATION, 0, 1, &[]);
    check(&first, &frame, true, &[CALM, Outcome::Closed]).await;
}

#[tokio::test]
async fn flood_of_pings_ends_its_connection_if_no_answer_is_read() {
    let frame = raw_frame(PING, 0, 0, &[7; 8]);
    check(&preface(&[]), &frame, false, &[Outcome::Closed]).await;
}

#[tokio::test]
async fn flood_of_settings_ends_its_connection_if_no_answer_is_read() {
    let frame = raw_frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255]);
    check(&preface(&[]), &frame, false, &[Outcome::Closed]).await;
}

#[tokio::test]
async fn flood_of_resets_ends_its_connection() {
    let mut frames = Vec::new();
    for stream in (1..20_000).step_by(2) {
        frames.extend(raw_frame(HEADERS, END_HEADERS, stream, &headers(STREAM)));
        frames.extend(raw_frame(RST_STREAM, 0, stream, &8u32.to_be_bytes()));
    }
    let first = [preface(&[]), frames].concat();
    check(&first, &raw_frame(PING, 0, 0, &[7; 8]), true, &[CALM]).await;
}

/// Begins streams and grants no window. Checks that each stream whose answer does not fit is reset, that others are
/// answered meanwhile, and that the connection goes on.
async fn check_stalled(settings: &[u8], order: &str) {
    let server = ServerProcess::start().await;
    let socket = TcpStream::connect(server.address()).await.unwrap();
    let (mut reading, mut writing) = socket.into_split();
    writing.write_all(&preface(settings)).await.unwrap();
    for stream in (1..).step_by(2).take(STREAMS) {
        let request = request(STREAM, stream, order);
        writing.write_all(&request).await.unwrap();
    }
    check_answers(&server.url).await;
    let (mut resets, mut ended) = (0, 0);
    while resets + ended < STREAMS {
        let frame = frame(&mut reading).await;
        let (kind, flags, payload) = frame.expect("the connection goes on");
        match kind {
            RST_STREAM => resets += 1,
            DATA | HEADERS if flags & END_STREAM != 0 => ended += 1,
            GO_AWAY => panic!("the connection goes on: {payload:?}"),
            _ => {}
        }
    }
    assert!(resets > 0);
    check_answers(&server.url).await;
    assert!(server.peak() < MAX_MEMORY, "{} MiB", server.peak());
}

#[tokio::test]
async fn streams_without_a_window_are_reset() {
    check_stalled(&[0, 4, 0, 0, 0, 0], "echo hello").await;
}

#[tokio::test]
async fn streams_of_a_connection_without_a_window_are_reset() {
    let order = format!("echo {}", "a".repeat(1000));
    check_stalled(&[], &order).await;
}

const CALM: Outcome = Outcome::GoAway(11);

/// Connections that flood at once, and the bytes of one write.
const CONNECTIONS: usize = 8;
const BYTES: usize = 1 << 16;

/// Streams of a connection that grants no window.
const STREAMS: usize = 50;

/// MiB of the server.
const MAX_MEMORY: u64 = 600;

// Kinds of frames, and their flags: RFC 9113 §6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
