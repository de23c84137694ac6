//! Requests whose header names begin with capitals; the usual client writes lower case.

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Opens a connection on which header names begin with capitals; `None` if the URL is not plain HTTP, or
/// the connection fails.
pub(super) async fn connected(uri: &Uri) -> Option<SendRequest<Full<Bytes>>> {
    let host = uri.host().filter(|_| uri.scheme_str() == Some("http"))?;
    let address = (host.trim_matches(['[', ']']), uri.port_u16().unwrap_or(80));
    let stream = TcpStream::connect(address).await.ok()?;
    let (sender, connection) = Builder::new()
        .title_case_headers(true)
        .handshake(TokioIo::new(stream))
        .await
        .ok()?;
    tokio::spawn(connection);
    Some(sender)
}

/// Sends a request for a whole URL over such a connection.
///
/// Errors: the connection broke off.
pub(super) async fn send(
    mut sender: SendRequest<Full<Bytes>>,
    mut request: Request<Full<Bytes>>,
) -> hyper::Result<Response<Incoming>> {
    let uri = request.uri().clone();
    let host = uri
        .authority()
        .map(|one| HeaderValue::from_str(one.as_str()));
    if let Some(Ok(host)) = host {
        request.headers_mut().insert(HOST, host);
    }
    if let Some(target) = uri.path_and_query() {
        *request.uri_mut() = Uri::from(target.clone());
    }
    sender.send_request(request).await
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn names_begin_with_capitals() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/a?b", listener.local_addr().unwrap());
        let agent = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(b"HTTP/1.1 204 -\r\n\r\n").await.unwrap();
            String::from_utf8(head).unwrap()
        });
        let request = Request::get(&url).header("a2a-version", "1.0");
        let request = request.body(Full::default()).unwrap();
        let sender = connected(request.uri()).await.unwrap();
        assert_eq!(send(sender, request).await.unwrap().status(), 204);
        let head = agent.await.unwrap();
        assert!(head.starts_with("GET /a?b HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nA2a-Version: 1.0\r\n"), "{head}");
        assert!(head.contains("\r\nHost: 127.0.0.1:"), "{head}");
    }
}
