//! Peers that hold many connections and send no request.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::Stdio;

use a2a_transport::http::{HttpService, ServeOptions, serve};
use bytes::Bytes;
use futures_util::stream::{self, FuturesUnordered, StreamExt};
use http::Request;
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::process::Command;
use tokio::sync::mpsc::unbounded_channel;

use crate::edge::{EndlessAgent, PATIENCE, exchange, is_served, talker};

const GET: &[u8] = b"GET /rest/tasks/t HTTP/1.1\r\nhost: h\r\n\r\n";

/// Asks on a connection and reads the answer, if it is still there.
async fn ask(stream: &mut TcpStream) -> bool {
    let asking = async {
        stream.write_all(GET).await.ok()?;
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.ok()?;
        (head.starts_with(b"HTTP/1.1 404")).then_some(())
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .unwrap()
        .is_some()
}

/// Waits until the server closes a connection.
async fn is_closed(stream: &mut TcpStream) {
    let closing = async { while let Ok(1..) = stream.read(&mut [0; 1024]).await {} };
    tokio::time::timeout(PATIENCE, closing).await.unwrap();
}

#[tokio::test]
async fn idle_connections_make_room_and_busy_ones_do_not() {
    let mut options = ServeOptions::default();
    options.connections = 5;
    let (address, _left) = talker(options).await;
    let mut busy = TcpStream::connect(address).await.unwrap();
    let follow = "GET /rest/tasks/t:subscribe HTTP/1.1\r\nhost: h\r\n\r\n";
    busy.write_all(follow.as_bytes()).await.unwrap();
    busy.read_exact(&mut [0; 100]).await.unwrap();
    let mut idle = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(ask(&mut stream).await);
        idle.push(stream);
    }
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(address).await.unwrap());
        is_served(address).await;
    }
    for stream in &mut idle {
        is_closed(stream).await;
    }
    for _ in 0..1000 {
        busy.read_exact(&mut [0; 1024]).await.unwrap();
    }
}

/// Follows a task on a connection of its own, so that it is busy.
async fn busy(address: SocketAddr) -> TcpStream {
    let mut busy = TcpStream::connect(address).await.unwrap();
    let follow = "GET /rest/tasks/t:subscribe HTTP/1.1\r\nhost: h\r\n\r\n";
    busy.write_all(follow.as_bytes()).await.unwrap();
    busy.read_exact(&mut [0; 100]).await.unwrap();
    busy
}

async fn http2(address: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

#[tokio::test]
async fn connections_beyond_all_busy_ones_are_refused_and_probes_answered() {
    let mut options = ServeOptions::default();
    options.connections = 3;
    let (address, mut left) = talker(options).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(busy(address).await);
    }
    // More requests than there are surplus connections; each connection is closed after its answer.
    for _ in 0..20 {
        let answer = exchange(
            address,
            "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n",
        );
        let answer = answer.await.to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 503"), "{answer}");
        assert!(answer.contains("\r\nretry-after: 1\r\n"), "{answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        assert!(
            answer.ends_with("too many connections: ask again later\n"),
            "{answer}"
        );
        for (probe, word) in [("/healthz", "alive"), ("/readyz", "ready")] {
            let request = format!("GET {probe} HTTP/1.1\r\nhost: h\r\n\r\n");
            let answer = exchange(address, &request).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            assert!(answer.ends_with(word), "{answer}");
        }
        for (path, status) in [("/healthz", 200), ("/rest/tasks/t", 503)] {
            let mut sender = http2(address).await;
            let request = Request::get(format!("http://h{path}"));
            let request = request.body(Full::default()).unwrap();
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.status(), status, "{path}");
            assert_eq!(answer.headers().contains_key("retry-after"), status == 503);
            // The connection goes away.
            let gone = async {
                while sender.ready().await.is_ok() {
                    tokio::task::yield_now().await
                }
            };
            tokio::time::timeout(PATIENCE, gone).await.unwrap();
        }
    }
    // Silent ones make room for each other.
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let answer = exchange(address, "GET /healthz HTTP/1.1\r\nhost: h\r\n\r\n").await;
    assert!(answer.ends_with("alive"), "{answer}");
    drop(open.pop());
    tokio::time::timeout(PATIENCE, left.recv()).await.unwrap();
    let served = async {
        while !exchange(
            address,
            "GET /rest/tasks/t HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
        )
        .await
        .starts_with("HTTP/1.1 404")
        {}
    };
    tokio::time::timeout(PATIENCE, served).await.unwrap();
}

/// Heads of HTTP/2 whose bodies do not come.
#[tokio::test]
async fn open_requests_have_a_budget() {
    let mut options = ServeOptions::default();
    // 32 requests with the smallest heads.
    options.request_budget = 256 << 10;
    let (address, _left) = talker(options).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    let first = tokio::spawn(connection);
    let mut answers = FuturesUnordered::new();
    for _ in 0..32 {
        let body = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>());
        let request = Request::post("http://h/").header("content-type", "application/json");
        let request = request.header("x", "x".repeat(200)).body(body).unwrap();
        let mut sender = sender.clone();
        answers.push(async move {
            sender.ready().await.unwrap();
            sender.send_request(request).await.unwrap()
        });
    }
    // The first is not counted, and the heads count, too.
    let answer = tokio::time::timeout(PATIENCE, answers.next())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.headers()["retry-after"], "1");
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(text.starts_with(b"too many requests are open"), "{text:?}");
    // The first request of another connection gets through, the second one does not.
    is_served(address).await;
    let mut sender = http2(address).await;
    let get = |path: &str| {
        let request = Request::get(format!("http://h{path}")).header("a2a-version", "1.0");
        request.body(Full::default()).unwrap()
    };
    let following = sender
        .send_request(get("/rest/tasks/t:subscribe"))
        .await
        .unwrap();
    assert_eq!(following.status(), 200);
    assert_eq!(
        sender
            .send_request(get("/rest/tasks/t"))
            .await
            .unwrap()
            .status(),
        503
    );
    // A large head is counted in any case.
    let fill = "x".repeat(5000);
    let large =
        format!("GET /rest/tasks/t HTTP/1.1\r\nhost: h\r\nx: {fill}\r\nconnection: close\r\n\r\n");
    let answer = exchange(address, &large).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    first.abort();
    drop(answers);
    let served = async {
        while sender
            .send_request(get("/rest/tasks/t"))
            .await
            .unwrap()
            .status()
            != 404
        {}
    };
    tokio::time::timeout(PATIENCE, served).await.unwrap();
    let answer = exchange(address, &large).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
}

#[tokio::test]
async fn address_at_its_connection_limit_does_not_block_other_addresses() {
    // Another address of this machine than its loopback addresses; nothing is sent to find it.
    let outward = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    let Some(own) = outward.ok().map(|address| address.ip()) else {
        return;
    };
    for (proxies, limited) in [(vec![], !own.is_loopback()), (vec![own], false)] {
        let address = listening(proxies).await;
        let outer = SocketAddr::new(own, address.port());
        let mut open = Vec::new();
        let mut closed = 0;
        for _ in 0..10 {
            let mut stream = TcpStream::connect(outer).await.unwrap();
            let follow = "GET /rest/tasks/t:subscribe HTTP/1.1\r\nhost: h\r\n\r\n";
            // It may be closed by then.
            let _ = stream.write_all(follow.as_bytes()).await;
            match stream.read_exact(&mut [0; 100]).await {
                Ok(_) => open.push(stream),
                Err(_) => closed += 1,
            }
        }
        let expected = if limited { (3, 7) } else { (10, 0) };
        assert_eq!((open.len(), closed), expected);
        is_served(SocketAddr::new([127, 0, 0, 1].into(), address.port())).await;
    }
}

/// Starts a server at all addresses, each of which may have three connections.
async fn listening(proxies: Vec<IpAddr>) -> SocketAddr {
    let mut options = ServeOptions::default();
    options.connections_per_address = 3;
    options.proxies = proxies.into();
    let service = HttpService::new(EndlessAgent {
        left: unbounded_channel().0,
    });
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    address
}

/// Set in the process that has a network of its own.
const OWN_NETWORK: &str = "A2A_EDGE_NETWORK";

/// Makes 192.0.2.0/24, which is reserved for documentation, addresses of this machine, then runs the test.
const IN_OWN_NETWORK: &str = "ip link set lo up && ip address add local 192.0.2.0/24 dev lo && exec \"$0\" --exact --nocapture \"$1\"";

/// The test runs itself again in its own network namespace, where many addresses are not loopback
/// addresses.
#[tokio::test]
async fn idle_connections_of_many_addresses_make_room_for_new_ones() {
    if std::env::var_os(OWN_NETWORK).is_some() {
        return many_addresses().await;
    }
    let unshare = |command: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare
            .args(["--user", "--map-root-user", "--net"])
            .args(command);
        unshare
            .env(OWN_NETWORK, "1")
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        unshare.output()
    };
    let possible = unshare(&["sh", "-c", "ip address show lo"]).await;
    if !possible.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: a network of its own needs `unshare`, `ip` and user namespaces");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "edge::connection_limits::idle_connections_of_many_addresses_make_room_for_new_ones";
    let run = unshare(&["sh", "-c", IN_OWN_NETWORK, this.to_str().unwrap(), name]).await;
    let output = run.unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    assert!(stdout.contains("1 passed"), "{stdout}");
}

/// Silent connections fill a server, a few of each of many addresses. Each further one takes the place of the
/// one that is idle for the longest time, also one of an address that has none yet.
async fn many_addresses() {
    const ADDRESSES: u8 = 250;
    const EACH: usize = 4;
    const NEW: u8 = 20;
    let mut options = ServeOptions::default();
    options.connections = usize::from(ADDRESSES) * EACH;
    // No address has as many as it may.
    options.connections_per_address = EACH + 1;
    options.header_timeout = PATIENCE;
    let service = HttpService::new(EndlessAgent {
        left: unbounded_channel().0,
    });
    let listener = TcpListener::bind("192.0.2.254:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    let mut crowd = Vec::new();
    for last in (0..EACH).flat_map(|_| 1..=ADDRESSES) {
        crowd.push(connect([192, 0, 2, last], address).await);
    }
    let mut newest = Vec::new();
    for number in 0..NEW {
        let last = match number % 2 {
            0 => 1 + ADDRESSES + number % 3,
            _ => number,
        };
        let mut stream = connect([192, 0, 2, last], address).await;
        assert!(ask(&mut stream).await, "192.0.2.{last} is kept out");
        newest.push(stream);
    }
    let (longest, others) = crowd.split_at_mut(NEW.into());
    for stream in longest {
        is_closed(stream).await;
    }
    // Some more may have been closed, where the first to make room took its time.
    let middle = others.len() / 2;
    for stream in &mut others[middle..] {
        assert!(ask(stream).await);
    }
}

/// Connects from one of the addresses of this machine.
async fn connect(from: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from.into(), 0)).unwrap();
    socket.connect(to).await.unwrap()
}
