//! TLS and compression.

use grpc_peer::Server;
use grpc_peer::v1_0::SendMessageRequest;
use rcgen::generate_simple_self_signed;
use tokio::net::TcpListener;

#[tokio::test]
async fn tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let certified = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = certified.cert.pem();
    let key = certified.signing_key.serialize_pem();
    tokio::spawn(grpc_peer::serve_tls(listener, certificate.clone(), key));

    let url = format!("https://localhost:{port}");
    let connection = grpc_peer::tls(&url, &certificate).await.unwrap();
    let request = SendMessageRequest::text("hello");
    connection.v1_0().send_message(request).await.unwrap();

    let other = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let distrusting = grpc_peer::tls(&url, other.cert.pem()).await;
    assert!(distrusting.is_err());
}

#[tokio::test]
async fn gzip() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(Server::default().gzip().serve(listener));
    let connection = grpc_peer::plain(&url).await.unwrap();

    let request = SendMessageRequest::text("hello");
    for (connection, expected) in [
        (connection.clone(), None),
        (connection.gzip(), Some("gzip")),
    ] {
        let response = connection.v1_0().send_message(request.clone()).await;
        let response = response.unwrap();
        let encoding = response.metadata().get("grpc-encoding");
        assert_eq!(encoding.map(|it| it.to_str().unwrap()), expected);
    }
}
