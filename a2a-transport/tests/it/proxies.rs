//! Connections through a proxy: it receives the host and the login, and nothing else.

use std::sync::{Arc, Mutex};

use a2a_transport::Error;
use a2a_transport::http::{HttpClient, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Starts an agent that answers everything with a small document.
async fn agent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    format!("http://{address}/")
}

/// Starts a proxy that notes each request, answers so, and connects to the host that was requested.
async fn proxy(answer: &'static str) -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 4096];
            let count = stream.read(&mut head).await.unwrap();
            let head = String::from_utf8_lossy(&head[..count]).into_owned();
            let host = head.split(' ').nth(1).unwrap_or_default().to_owned();
            log.lock().unwrap().push_str(&head);
            stream.write_all(answer.as_bytes()).await.unwrap();
            if let Ok(mut there) = TcpStream::connect(host).await {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut there).await;
            }
        }
    });
    (address.to_string(), requests)
}

#[tokio::test]
async fn http_proxy_opens_a_tunnel() {
    let (address, requests) = proxy("HTTP/1.1 200 OK\r\n\r\n").await;
    let proxy = Proxy::at(&format!("http://ada:secret@{address}")).unwrap();
    let http = HttpClient::builder().proxy(proxy).build();
    let url = agent().await;
    let fetched = http.get(&url, &Default::default()).await.unwrap();
    assert_eq!(fetched.body, "{}");
    let requests = requests.lock().unwrap().to_ascii_lowercase();
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    assert!(
        requests.starts_with(&format!("connect {host} http/1.1")),
        "{requests}"
    );
    assert!(
        requests.contains("proxy-authorization: basic ywrhonnly3jlda=="),
        "{requests}"
    );
}

#[tokio::test]
async fn refusing_proxy_is_reported_as_unreachable() {
    let (address, _) = proxy("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
    let proxy = Proxy::at(&format!("http://{address}")).unwrap();
    let http = HttpClient::builder().proxy(proxy).build();
    let refused = http.get(&agent().await, &Default::default()).await;
    assert!(matches!(refused, Err(Error::Unreachable(_))), "{refused:?}");
}

/// RFC 1928 and RFC 1929: a login, and the name of the host, unresolved.
#[tokio::test]
async fn socks_proxy_receives_login_and_host_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = agent().await;
    let port: u16 = url
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let read = async |stream: &mut TcpStream, count| {
            let mut bytes = vec![0; count];
            stream.read_exact(&mut bytes).await.unwrap();
            bytes
        };
        let greeting = read(&mut stream, 2).await;
        assert_eq!(greeting[0], 5);
        let methods = read(&mut stream, greeting[1].into()).await;
        assert!(methods.contains(&2), "a login is offered: {methods:?}");
        stream.write_all(&[5, 2]).await.unwrap();
        assert_eq!(read(&mut stream, 12).await, b"\x01\x03ada\x06secret"[..12]);
        stream.write_all(&[1, 0]).await.unwrap();
        let head = read(&mut stream, 5).await;
        assert_eq!(head[..4], [5, 1, 0, 3], "the host by its name");
        let name = read(&mut stream, head[4].into()).await;
        assert_eq!(name, b"agent.test");
        assert_eq!(read(&mut stream, 2).await, port.to_be_bytes());
        stream
            .write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            .await
            .unwrap();
        let mut there = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut stream, &mut there).await;
    });
    let proxy = Proxy::at(&format!("socks5://ada:secret@{address}")).unwrap();
    let http = HttpClient::builder().proxy(proxy).build();
    let url = format!("http://agent.test:{port}/");
    let fetched = http.get(&url, &Default::default()).await;
    assert_eq!(fetched.unwrap().body, "{}");
    drop(http);
    serving.await.unwrap();
}
