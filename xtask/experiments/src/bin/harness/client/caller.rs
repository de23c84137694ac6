//! Call paths to a server: raw HTTP, our client, and our client in process.

use std::sync::Arc;

use a2a_client::{Client, ProtocolVersion, Retries, SendMessageResponse};
use a2a_server::Server;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::Failure;
use crate::agent::CommandAgent;
use crate::serve::card;

/// Path of a call to the server.
#[derive(Clone, Copy)]
pub(super) enum CallPath {
    /// A client of HTTP that reads bytes, and looks at none.
    RawClient,
    /// Ours, by the same wire.
    Client,
    /// Ours, of a server in this process.
    InProcess,
}

impl CallPath {
    /// All paths, in the order of their numbers.
    pub(super) const ALL: [Self; 3] = [Self::RawClient, Self::Client, Self::InProcess];
}

/// A caller of the server; clones share connections.
#[derive(Clone)]
pub(super) enum Caller {
    RawClient(Arc<RawClient>),
    Client(Client),
}

/// A pool of connections, and where they go.
pub(super) struct RawClient {
    pool: hyper_util::client::legacy::Client<HttpConnector, Full<hyper::body::Bytes>>,
    url: Uri,
}

impl Caller {
    pub(super) fn by(path: CallPath, url: &str) -> Result<Self, Failure> {
        let client = match path {
            CallPath::RawClient => {
                let mut connector = HttpConnector::new();
                connector.set_nodelay(true);
                let pool = hyper_util::client::legacy::Client::builder(TokioExecutor::new());
                let (pool, url) = (pool.build(connector), url.parse()?);
                return Ok(Self::RawClient(Arc::new(RawClient { pool, url })));
            }
            CallPath::Client => Client::at(url, ProtocolVersion::V1_0)?,
            CallPath::InProcess => {
                Client::new(Server::builder(card(), CommandAgent::new(None)).build()?)
            }
        };
        Ok(Self::Client(client.retries(Retries::none())))
    }

    /// Asks once.
    pub(super) async fn call(&self) -> Result<(), Failure> {
        match self {
            Self::RawClient(raw) => raw.call().await,
            Self::Client(client) => match client.send(ORDER).await? {
                SendMessageResponse::Message(message) if message.text() == ORDER => Ok(()),
                other => Err(format!("not what was said: {other:?}").into()),
            },
        }
    }
}

impl RawClient {
    /// Sends what our client would.
    async fn call(&self) -> Result<(), Failure> {
        let id = uuid::Uuid::new_v4();
        let body = format!(
            r#"{{"jsonrpc":"2.0","method":"SendMessage","params":{{"message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"{ORDER}"}}]}}}},"id":1}}"#
        );
        let request = Request::post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .header("a2a-version", "1.0")
            .body(Full::from(body))?;
        let (head, body) = self.pool.request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        match head.status == StatusCode::OK && body.len() > ORDER.len() {
            true => Ok(()),
            false => Err(format!("not an answer: {head:?} {body:?}").into()),
        }
    }
}

/// Message sent to the agent, which answers with the same text and no task.
const ORDER: &str = "reply say this back to me";
