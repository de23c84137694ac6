//! Finding agents: where cards are looked for, how long they are kept, which interface is called.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use a2a_client::{Cards, Client, Error, HttpClient, Recorder};
use a2a_transport::http::{Body, HttpService, ServeOptions, serve};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Transport};
use a2a_types::{
    AgentCard, AgentInterface, Message, ProtocolVersion, Request, Response, SendMessageResponse,
};
use http::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH};
use http::{Request as HttpRequest, Response as HttpResponse, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::net::TcpListener;

/// Requests that a server received: path and `If-None-Match`.
type Log = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// Serves the result of `answer` for a path.
async fn server(
    answer: impl Fn(&str) -> HttpResponse<String> + Send + Sync + 'static,
) -> (String, Log) {
    let log = Log::default();
    let (kept, answer) = (Arc::clone(&log), Arc::new(answer));
    let service = service_fn(move |request: HttpRequest<Incoming>| {
        let (path, headers) = (request.uri().path().to_owned(), request.headers());
        let tag = headers.get(IF_NONE_MATCH);
        let tag = tag.map(|tag| tag.to_str().unwrap().to_owned());
        let mut response = answer(&path);
        let same = response
            .headers()
            .get(ETAG)
            .map(|tag| tag.to_str().unwrap());
        if tag.is_some() && tag.as_deref() == same {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response.body_mut().clear();
        }
        kept.lock().unwrap().push((path, tag));
        std::future::ready(Ok::<_, Infallible>(response.map(Body::full)))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    (url, log)
}

fn card(name: &str) -> String {
    serde_json::to_string(&AgentCard::new(name, "d").at("http://h.example/")).unwrap()
}

fn missing() -> HttpResponse<String> {
    let mut response = HttpResponse::new(String::new());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn paths(log: &Log) -> Vec<String> {
    log.lock()
        .unwrap()
        .drain(..)
        .map(|(path, _)| path)
        .collect()
}

#[tokio::test]
async fn the_later_path_first_then_the_older() {
    let old = |path: &str| match path {
        "/.well-known/agent.json" => HttpResponse::new(card("old")),
        _ => missing(),
    };
    let (url, log) = server(old).await;
    assert_eq!(Cards::default().find(&url).await.unwrap().name, "old");
    assert_eq!(
        paths(&log),
        ["/.well-known/agent-card.json", "/.well-known/agent.json"]
    );

    let (url, log) = server(|_| missing()).await;
    let none = Cards::default().find(&url).await;
    assert!(
        matches!(none, Err(Error::NotA2a { status: 404, .. })),
        "{none:?}"
    );
    assert_eq!(paths(&log).len(), 2);

    let (url, _) = server(|_| HttpResponse::new("{".to_owned())).await;
    let broken = Cards::default().find(&url).await;
    assert!(matches!(broken, Err(Error::Malformed(_))), "{broken:?}");
}

#[tokio::test]
async fn a_card_is_kept_as_its_server_allows() {
    let version = Arc::new(Mutex::new(1));
    let current = Arc::clone(&version);
    let answer = move |control: &'static str| {
        let version = *current.lock().unwrap();
        let mut response = HttpResponse::new(card(&format!("card {version}")));
        let tag = HeaderValue::from_str(&format!("\"{version}\"")).unwrap();
        response.headers_mut().insert(ETAG, tag);
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static(control));
        response
    };
    let (url, log) = server(move |path| {
        answer(match path {
            "/fresh.json" => "max-age=300",
            "/stale.json" => "no-cache",
            _ => "no-store",
        })
    })
    .await;
    let cards = Cards::default();
    let asked = |log: &Log| {
        log.lock()
            .unwrap()
            .drain(..)
            .map(|(_, tag)| tag)
            .collect::<Vec<_>>()
    };
    let tag = |tag: &str| Some(tag.to_owned());

    for _ in 0..3 {
        assert_eq!(
            cards.find(&format!("{url}/fresh.json")).await.unwrap().name,
            "card 1"
        );
    }
    assert_eq!(asked(&log), [None], "a fresh card is not asked for again");

    for _ in 0..3 {
        assert_eq!(
            cards.find(&format!("{url}/stale.json")).await.unwrap().name,
            "card 1"
        );
    }
    assert_eq!(
        asked(&log),
        [None, tag("\"1\""), tag("\"1\"")],
        "a stale one by its tag"
    );
    *version.lock().unwrap() = 2;
    assert_eq!(
        cards.find(&format!("{url}/stale.json")).await.unwrap().name,
        "card 2"
    );
    assert_eq!(
        cards.find(&format!("{url}/stale.json")).await.unwrap().name,
        "card 2"
    );
    assert_eq!(asked(&log), [tag("\"1\""), tag("\"2\"")]);

    for _ in 0..2 {
        cards
            .clone()
            .find(&format!("{url}/never.json"))
            .await
            .unwrap();
    }
    assert_eq!(asked(&log), [None, None], "what must not be kept is not");
}

/// Answers with its own name.
struct NamedAgent(&'static str);

impl Transport for NamedAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let response = match call.request {
            Request::GetExtendedAgentCard(_) => {
                Response::GetExtendedAgentCard(AgentCard::new("extended", "d"))
            }
            _ => Response::SendMessage(SendMessageResponse::Message(Message::agent(self.0))),
        };
        Box::pin(std::future::ready(Ok(CallResponse::once(response))))
    }
}

async fn agent(name: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let options = ServeOptions::default();
    let service = HttpService::new(NamedAgent(name));
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    url
}

/// Returns a client of an agent with these interfaces.
async fn client(interfaces: Vec<AgentInterface>) -> Result<Client, Error> {
    let card = AgentCard {
        supported_interfaces: interfaces,
        ..AgentCard::new("n", "d")
    };
    let json = serde_json::to_string(&card).unwrap();
    let (url, _) = server(move |_| HttpResponse::new(json.clone())).await;
    Client::connect(&url).await
}

async fn answered_by(client: &Client) -> String {
    match client.send("hi").await.unwrap() {
        SendMessageResponse::Message(message) => message.text(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_first_interface_that_we_speak_wins() {
    let (first, second) = (agent("first").await, agent("second").await);
    let pigeon = AgentInterface {
        protocol_binding: "PIGEON".to_owned(),
        ..AgentInterface::json_rpc("pigeon://h.example", ProtocolVersion::V1_0)
    };
    let future = AgentInterface {
        protocol_version: "7.0".to_owned(),
        ..AgentInterface::json_rpc(&second, ProtocolVersion::V1_0)
    };
    let rest = AgentInterface::http_json(&first, ProtocolVersion::V1_0);
    let json_rpc = AgentInterface::json_rpc(&second, ProtocolVersion::V0_3);
    let found = client(vec![pigeon.clone(), future, rest, json_rpc])
        .await
        .unwrap();
    assert_eq!(answered_by(&found).await, "first");

    let none = client(vec![pigeon]).await.err().unwrap().to_string();
    assert!(none.contains("PIGEON 1.0"), "{none}");
}

#[tokio::test]
async fn an_interface_that_cannot_be_reached_gives_way_to_the_next() {
    let (gone, here) = ("http://127.0.0.1:1/", agent("here").await);
    let found = client(vec![
        AgentInterface::json_rpc(gone, ProtocolVersion::V1_0),
        AgentInterface::json_rpc(&here, ProtocolVersion::V0_3),
    ])
    .await
    .unwrap();
    assert_eq!(answered_by(&found).await, "here");
    assert_eq!(answered_by(&found).await, "here");

    let found = client(vec![AgentInterface::json_rpc(gone, ProtocolVersion::V1_0)])
        .await
        .unwrap();
    let refused = found.send("hi").await;
    assert!(matches!(refused, Err(Error::Unreachable(_))), "{refused:?}");
}

/// A server that comes back meanwhile is then called as before.
#[tokio::test]
async fn a_server_that_cannot_be_reached_is_tried_by_one_of_its_interfaces() {
    let (gone, here) = ("http://127.0.0.1:1/", agent("here").await);
    let mut card = AgentCard::new("n", "d");
    card.supported_interfaces = vec![
        AgentInterface::json_rpc(gone, ProtocolVersion::V1_0),
        AgentInterface::http_json(format!("{gone}rest"), ProtocolVersion::V1_0),
        AgentInterface::json_rpc(&here, ProtocolVersion::V0_3),
        AgentInterface::json_rpc(gone, ProtocolVersion::V0_1),
    ];
    let json = serde_json::to_string(&card).unwrap();
    let (url, _) = server(move |_| HttpResponse::new(json.clone())).await;
    let directory = tempfile::tempdir().unwrap();
    let recorder = Arc::new(Recorder::into(directory.path()).unwrap());
    let http = HttpClient::builder().wire_observer(recorder);
    let found = Client::builder(&url).http(http).connect().await.unwrap();
    assert_eq!(answered_by(&found).await, "here");
    let exchanges = directory.path().read_dir().unwrap().count();
    assert_eq!(exchanges, 3, "the card, one that failed, and the answer");
}

#[tokio::test]
async fn the_extended_card_takes_the_place_of_the_public_one() {
    let url = agent("agent").await;
    let found = client(vec![AgentInterface::json_rpc(&url, ProtocolVersion::V1_0)])
        .await
        .unwrap();
    let clone = found.clone();
    assert_eq!(found.card().unwrap().name, "n");
    assert_eq!(found.extended_card().await.unwrap().name, "extended");
    assert_eq!(clone.card().unwrap().name, "extended");
}
