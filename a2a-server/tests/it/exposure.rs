//! Access to a server at all: from which address, by which name, from which page.

use std::io::ErrorKind;

use a2a_server::{Failure, Server, ServerBuilder, Turn};
use a2a_transport::Principal;
use a2a_transport::http::{AuthError, Authenticator};
use a2a_types::{AgentCard, AgentInterface, ProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn builder(card: AgentCard) -> ServerBuilder {
    let silent = |_: Turn| async { Ok::<(), Failure>(()) };
    Server::builder(card, silent)
}

fn server(card: AgentCard) -> Server {
    builder(card).build().unwrap()
}

fn nameless() -> Server {
    server(AgentCard::new("Silent", "Says nothing"))
}

/// Knows everyone by the same name.
struct FixedPrincipal;

impl Authenticator for FixedPrincipal {
    async fn authenticate(&self, _: &http::request::Parts) -> Result<Principal, AuthError> {
        Ok(Principal::named("one"))
    }
}

#[tokio::test]
async fn binding_a_public_address_without_authenticator_is_refused() {
    let done = || std::future::ready(());
    let everywhere = || async { nameless().bind("0.0.0.0:0").await.unwrap() };

    let refused = everywhere().await.run(done()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    let says = refused.to_string();
    for way_out in ["authenticator", "127.0.0.1", "allow_unauthenticated"] {
        assert!(says.contains(way_out), "{says}");
    }
    let refused = nameless().serve("0.0.0.0:0").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied);

    everywhere()
        .await
        .allow_unauthenticated()
        .run(done())
        .await
        .unwrap();
    let card = AgentCard::new("Silent", "Says nothing");
    let known = builder(card).authenticator(FixedPrincipal).build().unwrap();
    let bound = known.bind("0.0.0.0:0").await.unwrap();
    bound.run(done()).await.unwrap();
    for local in ["127.0.0.1:0", "127.0.0.2:0"] {
        let bound = nameless().bind(local).await.unwrap();
        bound.run(done()).await.unwrap();
    }
}

/// Asks for the card under a host's name.
#[track_caller]
fn check(
    bound: a2a_server::BoundServer,
    expected: &'static [(&'static str, u16)],
) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let port = bound.local_addr().port();
        tokio::spawn(bound.run(std::future::pending()));
        for (headers, status) in expected {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let request =
                format!("GET /agent-card HTTP/1.1\r\nconnection: close\r\n{headers}\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let found = answer.split(' ').nth(1).unwrap();
            assert_eq!(found, status.to_string(), "{headers} ({caller})");
            assert_eq!(*status == 403, answer.contains("allow_hosts"), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_local_server_answers_as_its_own_hosts_only() {
    let local = || async { nameless().bind("127.0.0.1:0").await.unwrap() };
    check(
        local().await,
        &[
            ("host: localhost:1", 200),
            ("host: 127.0.0.1", 200),
            ("host: evil.example", 403),
            ("host: localhost\r\norigin: http://localhost:3000", 200),
            ("host: localhost\r\norigin: http://evil.example", 403),
            ("host: localhost\r\norigin: null", 403),
        ],
    )
    .await;
    check(
        local().await.public_url("https://agent.example/"),
        &[
            ("host: localhost", 200),
            ("host: agent.example", 200),
            ("host: evil.example", 403),
        ],
    )
    .await;
    let card = AgentCard::new("Silent", "Says nothing").at("https://agent.example/");
    check(
        server(card).bind("127.0.0.1:0").await.unwrap(),
        &[("host: agent.example", 200), ("host: evil.example", 403)],
    )
    .await;
    check(
        local()
            .await
            .allow_hosts(["one.example"])
            .allow_hosts(["*.two.example"]),
        &[
            ("host: localhost", 200),
            ("host: one.example", 200),
            ("host: a.two.example\r\norigin: https://one.example", 200),
            ("host: evil.example", 403),
        ],
    )
    .await;
    check(
        local().await.any_host(),
        &[("host: evil.example\r\norigin: null", 200)],
    )
    .await;
}

#[tokio::test]
async fn an_open_server_accepts_any_host_unless_hosts_are_set() {
    let open = || async {
        nameless()
            .bind("0.0.0.0:0")
            .await
            .unwrap()
            .allow_unauthenticated()
    };
    check(open().await, &[("host: some.example", 200)]).await;
    check(
        open()
            .await
            .allow_hosts(["one.example"])
            .public_url("http://two.example"),
        &[
            ("host: one.example", 200),
            ("host: two.example", 200),
            ("host: localhost", 403),
            ("host: some.example", 403),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_binding_that_the_card_does_not_name_is_not_answered() {
    const RPC: &str = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}"#;
    /// The statuses of a request by JSON-RPC and of one by HTTP+JSON.
    async fn statuses(bound: a2a_server::BoundServer) -> [u16; 2] {
        let address = bound.local_addr();
        tokio::spawn(bound.run(std::future::pending()));
        let status = async |request: String| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
            status.unwrap_or_else(|| panic!("{answer}"))
        };
        let rest = "/rest/tasks?A2A-Version=1.0";
        let head = format!("host: {address}\r\nconnection: close\r\n");
        let body = format!(
            "content-type: application/json\r\ncontent-length: {}",
            RPC.len()
        );
        [
            status(format!("POST / HTTP/1.1\r\n{head}{body}\r\n\r\n{RPC}")).await,
            status(format!("GET {rest} HTTP/1.1\r\n{head}\r\n")).await,
        ]
    }
    let named = |bindings: &[&str]| {
        let mut card = AgentCard::new("Silent", "Says nothing");
        let interfaces = bindings.iter().map(|binding| AgentInterface {
            protocol_binding: (*binding).to_owned(),
            ..AgentInterface::json_rpc("http://agent.example/", ProtocolVersion::V1_0)
        });
        card.supported_interfaces = interfaces.collect();
        server(card)
    };
    let bind = async |server: Server| server.bind("127.0.0.1:0").await.unwrap();
    let (rpc, rest) = (AgentInterface::JSON_RPC, AgentInterface::HTTP_JSON);
    assert_eq!(statuses(bind(nameless()).await).await, [200, 200]);
    assert_eq!(statuses(bind(named(&[rpc, rest])).await).await, [200, 200]);
    assert_eq!(statuses(bind(named(&[rpc])).await).await, [200, 404]);
    assert_eq!(statuses(bind(named(&[rest])).await).await, [404, 200]);
    let all = bind(named(&[rpc])).await.ignore_card_interfaces();
    assert_eq!(statuses(all).await, [200, 200]);
}
