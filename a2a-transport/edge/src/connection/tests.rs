//! Peers that take too long, over a wire in memory: time is paused, so it advances only while
//! every task is idle, and every limit is met to the second.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::service::service_fn;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;
use crate::request_budget::RequestBudget;

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Number of endless answers that are being sent.
type FollowerCount = Arc<AtomicUsize>;

struct Follower(FollowerCount);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Answers `/endless` without an end, `/large` with a MiB, `/last` with a little more than the initial window
/// of a stream, `/silent` never, and other paths with a word.
fn answer(path: &str, followed: &FollowerCount) -> Answer {
    let body = match path {
        "/endless" => {
            followed.fetch_add(1, Ordering::SeqCst);
            let follower = Follower(Arc::clone(followed));
            let events = stream::repeat_with(move || {
                let _ = &follower;
                Ok(Frame::data(Bytes::from_static(&[b'x'; 200])))
            });
            StreamBody::new(events).boxed_unsync()
        }
        "/large" => Full::from(vec![b'x'; 1 << 20]).boxed_unsync(),
        "/last" => Full::from(vec![b'x'; WINDOW + 100]).boxed_unsync(),
        "/silent" => StreamBody::new(stream::pending()).boxed_unsync(),
        _ => Full::from("word").boxed_unsync(),
    };
    Response::new(body)
}

/// A connection of which we are the peer.
struct Peer {
    wire: DuplexStream,
    followed: FollowerCount,
    tended: JoinHandle<()>,
    stop: watch::Sender<bool>,
    start: Instant,
}

fn connect() -> Peer {
    connect_with(ServeOptions::default())
}

fn connect_with(options: ServeOptions) -> Peer {
    let (wire, theirs) = duplex(4096);
    let (stop, stopped) = watch::channel(false);
    let followed = FollowerCount::default();
    let follows = Arc::clone(&followed);
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer(request.uri().path(), &follows);
        async move { Ok(answer) }
    });
    let timer = Arc::new(ConnectionTimer::new(
        &options,
        RequestBudget::new(options.request_budget),
    ));
    let options = Arc::new(options);
    let tended = tokio::spawn(serve_connection(
        theirs,
        service,
        options,
        timer,
        stopped,
        (),
    ));
    Peer {
        wire,
        followed,
        tended,
        stop,
        start: Instant::now(),
    }
}

const WORD: &[u8] = b"GET /word HTTP/1.1\r\nhost: h\r\n\r\n";

impl Peer {
    /// Asks for a word, and gets it.
    async fn ask(&mut self) {
        self.wire.write_all(WORD).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"word") {
            assert_ne!(self.wire.read_buf(&mut answer).await.unwrap(), 0);
        }
    }

    /// Checks that the connection ends after this number of seconds, without a follower.
    #[track_caller]
    fn ends_at(self, seconds: u64) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            // The whole connection is moved in, so that our end stays open.
            let mut peer = self;
            in_time(&mut peer.tended).await.unwrap();
            assert_eq!(peer.start.elapsed().as_secs(), seconds, "{caller}");
            assert_eq!(peer.followed.load(Ordering::SeqCst), 0, "{caller}");
        }
    }
}

/// Fails the test if the future does not end.
async fn in_time<F: Future>(what: F) -> F::Output {
    let limit = Duration::from_secs(3600);
    tokio::time::timeout(limit, what).await.expect("in time")
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_ends() {
    connect().ends_at(10).await;
    let mut half = connect();
    half.wire.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
    half.ends_at(10).await;
}

/// Bytes that arrive steadily do not prolong the time.
#[tokio::test(start_paused = true)]
async fn a_head_that_drips_ends_its_connection() {
    for asks in [0, 1] {
        let mut peer = connect();
        for _ in 0..asks {
            peer.ask().await;
            pass(70).await;
        }
        for byte in &WORD[..9] {
            peer.wire.write_all(&[*byte]).await.unwrap();
            pass(1).await;
        }
        peer.ends_at(asks * 70 + 10).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_may_be_idle_for_longer_than_a_head_may_take() {
    let mut peer = connect();
    for _ in 0..3 {
        peer.ask().await;
        pass(70).await;
    }
    peer.ask().await;
    peer.ends_at(3 * 70 + 75).await;
}

/// A request that is being answered is not idle, however silent the answer.
#[tokio::test(start_paused = true)]
async fn an_open_request_is_not_idle() {
    let mut peer = connect();
    let request = b"GET /silent HTTP/1.1\r\nhost: h\r\n\r\n";
    peer.wire.write_all(request).await.unwrap();
    pass(10_000).await;
    assert!(!peer.tended.is_finished());
    drop(peer.wire);
    peer.tended.await.unwrap();
}

/// hyper is busy writing, and does not look at the body meanwhile.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_left_lying_ends_its_connection() {
    for path in ["/endless", "/large"] {
        let mut peer = connect();
        let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\n\r\n");
        peer.wire.write_all(request.as_bytes()).await.unwrap();
        let mut some = [0; 100];
        for _ in 0..5 {
            peer.wire.read_exact(&mut some).await.unwrap();
            pass(20).await;
        }
        // The last read made room 20 s ago.
        peer.ends_at(110).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_connection_ends_after_its_requests() {
    let mut idle = connect();
    idle.ask().await;
    idle.stop.send_replace(true);
    idle.ends_at(0).await;
    let mut peer = connect();
    let request = b"GET /endless HTTP/1.1\r\nhost: h\r\n\r\n";
    peer.wire.write_all(request).await.unwrap();
    let mut some = [0; 100];
    peer.wire.read_exact(&mut some).await.unwrap();
    peer.stop.send_replace(true);
    for _ in 0..100 {
        peer.wire.read_exact(&mut some).await.unwrap();
        pass(1).await;
    }
    peer.ends_at(129).await;
}

/// Window of a stream of HTTP/2 in bytes.
const WINDOW: usize = 20_000;

/// Opens a connection of HTTP/2. Returns its sender of requests, and the task that drives it.
async fn speak_http2(
    peer: &mut Peer,
) -> (SendRequest<Empty<Bytes>>, JoinHandle<hyper::Result<()>>) {
    let (wire, _) = duplex(1);
    let wire = std::mem::replace(&mut peer.wire, wire);
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(WINDOW as u32)
        .handshake(TokioIo::new(wire))
        .await
        .unwrap();
    (sender, tokio::spawn(connection))
}

async fn get(sender: &mut SendRequest<Empty<Bytes>>, path: &str) -> Response<Incoming> {
    let request = Request::get(format!("http://h{path}"));
    let request = request.body(Empty::new()).unwrap();
    sender.send_request(request).await.unwrap()
}

async fn ask_http2(sender: &mut SendRequest<Empty<Bytes>>) {
    let word = get(sender, "/word").await.into_body().collect().await;
    assert_eq!(word.unwrap().to_bytes(), "word");
}

#[tokio::test(start_paused = true)]
async fn an_unread_stream_is_reset_and_its_connection_stays_open() {
    let mut peer = connect();
    let (mut sender, _moving) = speak_http2(&mut peer).await;
    let mut taken = get(&mut sender, "/endless").await.into_body();
    let mut lying = Vec::new();
    for path in ["/endless", "/large", "/last"] {
        lying.push(get(&mut sender, path).await.into_body());
    }
    // A response goes on for as long as its reader takes bytes, however few.
    for _ in 0..50 {
        ask_http2(&mut sender).await;
        let mut length = 0;
        while length < WINDOW {
            let frame = taken.frame().await.unwrap().unwrap();
            length += frame.into_data().unwrap().len();
        }
        pass(1).await;
    }
    for mut body in lying {
        // Bytes that were on their way are still there.
        let mut length = 0;
        let error = loop {
            match in_time(body.frame()).await.unwrap() {
                Ok(frame) => length += frame.into_data().unwrap().len(),
                Err(error) => break error,
            }
            assert!(length <= WINDOW, "it goes on");
        };
        assert!(format!("{error:?}").contains("CANCEL"), "{error:?}");
    }
    assert_eq!(peer.followed.load(Ordering::SeqCst), 1);
    pass(31).await;
    assert_eq!(peer.followed.load(Ordering::SeqCst), 0);
    ask_http2(&mut sender).await;
    assert!(!peer.tended.is_finished());
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_http_2_is_whole() {
    let mut peer = connect();
    let (mut sender, _moving) = speak_http2(&mut peer).await;
    let large = get(&mut sender, "/large").await;
    assert_eq!(large.headers()["content-length"], (1 << 20).to_string());
    let large = large.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(large.len(), 1 << 20);
}

/// The pings that keep it open count for nothing.
#[tokio::test(start_paused = true)]
async fn an_idle_connection_of_http_2_ends_as_well() {
    let mut peer = connect();
    let (mut sender, moving) = speak_http2(&mut peer).await;
    ask_http2(&mut sender).await;
    pass(70).await;
    ask_http2(&mut sender).await;
    peer.ends_at(145).await;
    // The connection was shut down gracefully, and not cut off.
    moving.await.unwrap().unwrap();
}

/// The timer for the next head is set when the connection becomes idle.
#[tokio::test(start_paused = true)]
async fn a_connection_may_be_idle_for_less_long_than_a_head_may_take() {
    let options = ServeOptions {
        header_timeout: Duration::from_secs(100),
        ..ServeOptions::default()
    };
    let mut peer = connect_with(options.clone());
    peer.ask().await;
    peer.ends_at(75).await;
    let mut peer = connect_with(options);
    let (mut sender, _moving) = speak_http2(&mut peer).await;
    ask_http2(&mut sender).await;
    peer.ends_at(75).await;
}

/// The idle timer has expired during the answer.
#[tokio::test(start_paused = true)]
async fn a_connection_is_idle_again_after_a_long_answer() {
    let mut peer = connect();
    let (mut sender, _moving) = speak_http2(&mut peer).await;
    let silent = get(&mut sender, "/silent").await;
    pass(1000).await;
    drop(silent);
    peer.ends_at(1075).await;
}

/// A follower of a stream is not idle.
#[tokio::test(start_paused = true)]
async fn an_open_request_of_http_2_is_not_idle() {
    let mut peer = connect();
    let (mut sender, _moving) = speak_http2(&mut peer).await;
    let _silent = get(&mut sender, "/silent").await;
    pass(10_000).await;
    ask_http2(&mut sender).await;
    assert!(!peer.tended.is_finished());
}

#[tokio::test(start_paused = true)]
async fn a_request_with_too_many_headers_is_refused_in_http_2_as_well() {
    let mut peer = connect();
    let (mut sender, _moving) = speak_http2(&mut peer).await;
    for (count, status) in [(63, 200), (64, 200), (65, 431)] {
        let mut request = Request::get("http://h/word");
        for number in 0..count {
            request = request.header(format!("x-{number}"), "x");
        }
        let answer = sender.send_request(request.body(Empty::new()).unwrap());
        assert_eq!(answer.await.unwrap().status(), status, "{count}");
    }
}
