//! The generated clients and server against each other, and against the client and the server of this workspace.

mod operator_services;
mod ours;
mod transports;
mod v0_3;
mod v1_0;

use grpc_peer::Connection;
use tokio::net::TcpListener;

/// Starts a server, and connects to it.
async fn connect() -> Connection {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(grpc_peer::serve(listener));
    grpc_peer::plain(&url).await.unwrap()
}
