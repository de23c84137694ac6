//! Bodies of HTTP/2 that are refused before their end.

use std::collections::HashSet;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use a2a_transport::Principal;
use a2a_transport::http::{
    AuthChallenge, AuthError, Authenticator, Hosts, HttpService, ServeOptions,
};
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt};
use http::{Request, StatusCode};
use http_body::{Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::edge::{EndlessAgent, PATIENCE, talker};

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Bytes of a body that no service takes by default.
const TOO_LARGE: usize = 5 << 20;

fn of_known_length(bytes: Bytes) -> Body {
    Full::from(bytes).boxed_unsync()
}

fn of_unknown_length(bytes: Bytes) -> Body {
    let frame = futures_util::stream::iter([Ok(Frame::data(bytes))]);
    StreamBody::new(frame).boxed_unsync()
}

async fn is_refused(mut sender: SendRequest<Body>, body: Body) {
    let request = Request::post("http://h/").header("content-type", "application/json");
    sender.ready().await.unwrap();
    let answer = sender.send_request(request.body(body).unwrap()).await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(body.ends_with(b"}"), "{body:?}");
}

/// The parts that were sent and are not read would fill the window of the connection several times.
#[tokio::test]
async fn refused_bodies_leave_the_window_of_their_connection() {
    const AT_ONCE: usize = 8;
    const EACH: usize = 8;
    let bytes = Bytes::from(vec![b' '; TOO_LARGE]);
    for body in [of_known_length, of_unknown_length] {
        let (address, _leaving) = talker(ServeOptions::default()).await;
        let stream = TcpStream::connect(address).await.unwrap();
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        let workers = (0..AT_ONCE).map(|_| async {
            for _ in 0..EACH {
                is_refused(sender.clone(), body(bytes.clone())).await;
            }
        });
        let refused = tokio::time::timeout(PATIENCE, join_all(workers)).await;
        refused.unwrap();
    }
}

/// A connection of HTTP/2 whose frames are written by hand: clients send no more of a body that was refused,
/// but some of it may be on its way.
struct RawConnection(TcpStream);

impl RawConnection {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    const SETTINGS: u8 = 4;
    const GOAWAY: u8 = 7;
    const END_STREAM: u8 = 1;
    const END_HEADERS: u8 = 4;

    async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.0.write_all(&frame).await.unwrap();
    }

    /// Returns the kind, the flags and the stream of the next frame.
    async fn read(&mut self) -> (u8, u8, u32) {
        let mut head = [0; 9];
        let reading = self.0.read_exact(&mut head);
        let read = tokio::time::timeout(PATIENCE, reading).await.unwrap();
        read.expect("the connection goes on");
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.0.read_exact(&mut payload).await.unwrap();
        let shown = payload.escape_ascii();
        assert_ne!(kind, Self::GOAWAY, "the connection goes on: {shown}");
        (kind, flags, u32::from_be_bytes(stream))
    }
}

#[tokio::test]
async fn late_frames_of_refused_bodies_do_not_end_their_connection() {
    type Raw = RawConnection;
    /// The maximum number of open streams.
    const STREAMS: usize = 100;
    // POST / with `content-length: 99999999`, by the static table of HPACK.
    const HEAD: &[u8] = b"\x83\x86\x84\x01\x01h\x0f\x10\x10application/json\x0f\x0d\x0899999999";
    let (address, _leaving) = talker(ServeOptions::default()).await;
    let mut connection = RawConnection(TcpStream::connect(address).await.unwrap());
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    connection.0.write_all(preface).await.unwrap();
    connection.write(Raw::SETTINGS, 0, 0, &[]).await;
    let mut ids = (1..).step_by(2);
    // A server ignores the late frames of a limited number of streams; it answers each frame of the others with
    // another reset.
    for _ in 0..4 {
        let streams: Vec<_> = ids.by_ref().take(STREAMS).collect();
        for &stream in &streams {
            connection
                .write(Raw::HEADERS, Raw::END_HEADERS, stream, HEAD)
                .await;
        }
        let mut open = HashSet::<_>::from_iter(&streams);
        while !open.is_empty() {
            if let (Raw::RST_STREAM, _, stream) = connection.read().await {
                open.remove(&stream);
            }
        }
        for &stream in &streams {
            connection.write(Raw::DATA, 0, stream, b" ").await;
        }
    }
    let last = ids.next().unwrap();
    let flags = Raw::END_HEADERS | Raw::END_STREAM;
    connection
        .write(Raw::HEADERS, flags, last, b"\x82\x86\x84\x01\x01h")
        .await;
    loop {
        let (_, flags, stream) = connection.read().await;
        if stream == last && flags & Raw::END_STREAM != 0 {
            break;
        }
    }
}

/// Refuses everyone.
struct RefusesAll;

impl Authenticator for RefusesAll {
    async fn authenticate(&self, _: &http::request::Parts) -> Result<Principal, AuthError> {
        let challenges = vec![AuthChallenge::new("Bearer")];
        Err(AuthError::Unauthenticated { challenges })
    }
}

/// Requests that are refused by their head alone, and the status of the refusal.
const BY_HEAD: [(&str, &str, &str, StatusCode); 5] = [
    (
        "/",
        "application/json",
        "a.example",
        StatusCode::UNAUTHORIZED,
    ),
    (
        "/rest/message:send",
        "application/json",
        "a.example",
        StatusCode::UNAUTHORIZED,
    ),
    (
        "/",
        "text/plain",
        "a.example",
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
    ),
    (
        "/",
        "application/json",
        "other.example",
        StatusCode::FORBIDDEN,
    ),
    (
        "/elsewhere/at/all",
        "application/json",
        "a.example",
        StatusCode::NOT_FOUND,
    ),
];

/// Sends a request whose body comes through a channel, with this `Content-Length`.
fn refused(
    case: usize,
    length: Option<usize>,
) -> (
    mpsc::UnboundedSender<Bytes>,
    impl Future<Output = StatusCode>,
) {
    let (path, media_type, host, _) = BY_HEAD[case];
    let (parts, body) = mpsc::unbounded_channel();
    let frames = UnboundedReceiverStream::new(body).map(|it| Ok::<_, Infallible>(Frame::data(it)));
    let body = HintedBody {
        body: StreamBody::new(frames),
        length,
    };
    let request = Request::post(path)
        .header("host", host)
        .header("content-type", media_type);
    let request = request.body(body).unwrap();
    let (left, _) = mpsc::unbounded_channel();
    let service = HttpService::new(EndlessAgent { left })
        .hosts(Hosts::none().and(["a.example"]))
        .authenticator(RefusesAll);
    let answering = async move { service.handle(request).await.status() };
    (parts, answering)
}

/// A body that knows its length.
struct HintedBody<B> {
    body: B,
    length: Option<usize>,
}

impl<B: http_body::Body + Unpin> http_body::Body for HintedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn size_hint(&self) -> SizeHint {
        self.length
            .map_or_else(SizeHint::default, |it| SizeHint::with_exact(it as u64))
    }
}

const SMALL: usize = 64 << 10;

#[tokio::test(start_paused = true)]
async fn a_small_body_is_read_before_its_request_is_refused() {
    for (case, (.., status)) in BY_HEAD.iter().enumerate() {
        for length in [Some(SMALL), Some(2), None] {
            let (parts, answering) = refused(case, length);
            let mut answering = pin!(answering);
            assert!(
                (&mut answering).now_or_never().is_none(),
                "{case} {length:?}"
            );
            parts
                .send(Bytes::from(vec![b' '; length.unwrap_or(SMALL)]))
                .unwrap();
            assert!(
                (&mut answering).now_or_never().is_none(),
                "{case} {length:?}"
            );
            drop(parts);
            assert_eq!(answering.now_or_never(), Some(*status), "{case} {length:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_or_slow_body_is_not_waited_for() {
    for (case, (.., status)) in BY_HEAD.iter().enumerate() {
        let (_parts, answering) = refused(case, Some(SMALL + 1));
        assert_eq!(answering.now_or_never(), Some(*status), "{case}");
        let (parts, answering) = refused(case, None);
        parts.send(Bytes::from(vec![b' '; SMALL + 1])).unwrap();
        assert_eq!(answering.now_or_never(), Some(*status), "{case}");
        // Time goes on while nothing else happens.
        let (_parts, answering) = refused(case, Some(2));
        assert_eq!(answering.await, *status, "{case}");
    }
}
