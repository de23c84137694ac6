//! A near agent behind a gateway, which asks a far one; and a webhook.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_client::webhook::{Notification, Receiver};
use a2a_client::{
    Binding, Client, HttpClient, HttpTransport, Retries, SendMessageBuilder, StreamExt,
};
use a2a_client::{ResponseObserver, WireObserver};
use a2a_gateway::Gateway;
use a2a_server::{Agent, Failure, Server, TraceContext, Turn, WebhookPolicy};
use a2a_transport::http::{HttpService, ServeOptions, serve};
use a2a_types::{AgentCard, ProtocolVersion, TaskId, TaskPushNotificationConfig};
use bytes::Bytes;
use http::{HeaderMap, request, response};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Every protocol version that matters, in every binding it has.
pub(crate) const BINDINGS: [(ProtocolVersion, Binding); 5] = [
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

/// Number of notifications of a task of the near agent.
pub(crate) const NOTIFICATIONS: usize = 3;

pub(crate) struct TracedAgents {
    /// Speaks to the near agent through the gateway.
    pub(crate) client: Client,
    /// The traces that the turns of both agents belong to.
    pub(crate) turns: TurnTraces,
    /// URL of the near agent.
    pub(crate) near: String,
    pub(crate) http: HttpClient,
    /// Requests of the client and of the gateway.
    pub(crate) sent: SentHeaders,
    notifications: mpsc::UnboundedReceiver<Notification>,
    webhook: String,
}

type TurnTraces = Arc<Mutex<Vec<Option<TraceContext>>>>;

/// Answers with its message; the near one has the far one do that.
struct Relay {
    far: Option<Client>,
    turns: TurnTraces,
}

impl Agent for Relay {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        self.turns.lock().unwrap().push(turn.trace().cloned());
        turn.working("asking").await?;
        let mut text = turn.text();
        if let Some(far) = &self.far {
            let asked = far.send(text).trace(turn.trace().cloned());
            let mut updates = asked.follow();
            text = String::new();
            while let Some(event) = updates.next().await {
                text += &format!("{:?}", event?);
            }
        }
        Ok(turn.artifact("answer").text(text).finish().await?)
    }
}

impl TracedAgents {
    pub(crate) async fn start((protocol_version, binding): (ProtocolVersion, Binding)) -> Self {
        let (turns, sent) = (TurnTraces::default(), SentHeaders::default());
        let http = HttpClient::builder()
            .wire_observer(Arc::new(sent.clone()))
            .build();
        let to = |url: &str| {
            let transport = HttpTransport::new(url, protocol_version).unwrap();
            transport.binding(binding).http(http.clone())
        };
        let client = |url: &str| Client::new(to(url)).retries(Retries::none());
        let far = agent(None, &turns).await;
        let near = agent(Some(client(&far)), &turns).await;
        let gateway = Gateway::new(to(&near), protocol_version).share_tasks();
        let gateway = listen(HttpService::new(gateway)).await;
        let (sender, notifications) = mpsc::unbounded_channel();
        let receiver = Receiver::builder(move |notification| {
            let sent = sender.send(notification);
            std::future::ready(sent)
        });
        Self {
            client: client(&gateway),
            turns,
            near,
            http: http.clone(),
            sent,
            notifications,
            webhook: listen(receiver.build().unwrap()).await,
        }
    }

    /// A message of which the webhook is notified.
    pub(crate) fn send(&self, text: &str) -> SendMessageBuilder {
        self.client.send(text).webhook(TaskPushNotificationConfig {
            id: "w".into(),
            url: self.webhook.clone(),
            ..TaskPushNotificationConfig::default()
        })
    }

    /// The next notification.
    pub(crate) async fn notification(&mut self) -> Notification {
        let notification = tokio::time::timeout(MAX_WAIT, self.notifications.recv()).await;
        notification
            .expect("the webhook receives a notification")
            .unwrap()
    }
}

/// Longer than anything takes here.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(20);

async fn agent(far: Option<Client>, turns: &TurnTraces) -> String {
    let mut card = AgentCard::new("Relay", "Asks others");
    card.capabilities.push_notifications = Some(true);
    let turns = Arc::clone(turns);
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    let server = Server::builder(card, Relay { far, turns }).webhooks(policy);
    let bound = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    url
}

async fn listen<S>(service: S) -> String
where
    S: hyper::service::Service<
            http::Request<hyper::body::Incoming>,
            Response = http::Response<a2a_transport::http::Body>,
            Error = std::convert::Infallible,
            Future: Send,
        > + Clone
        + Send
        + Sync
        + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    url
}

/// The headers of all requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentHeaders(Arc<Mutex<Vec<HeaderMap>>>);

impl SentHeaders {
    /// All since the last time.
    pub(crate) fn take(&self) -> Vec<HeaderMap> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl WireObserver for SentHeaders {
    fn request(&self, head: &request::Parts, _: &Bytes) -> Box<dyn ResponseObserver> {
        self.0.lock().unwrap().push(head.headers.clone());
        Box::new(NoObserver)
    }
}

struct NoObserver;

impl ResponseObserver for NoObserver {
    fn head(&mut self, _: &response::Parts) {}
    fn data(&mut self, _: &Bytes) {}
    fn end(&mut self, _: Option<&(dyn std::error::Error + 'static)>) {}
}

/// The task that a client began.
pub(crate) async fn streamed(sending: SendMessageBuilder) -> TaskId {
    let mut updates = sending.follow();
    let mut task = None;
    while let Some(event) = updates.next().await {
        task = event.unwrap().task_id().cloned().or(task);
    }
    task.unwrap()
}
