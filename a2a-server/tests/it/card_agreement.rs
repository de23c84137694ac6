//! Agreement of offers and answers: versions, hosts, tenants.

use a2a_server::{BuildError, Failure, Server, ServerBuilder, Turn};
use a2a_transport::Principal;
use a2a_transport::http::{AuthError, Authenticator, Body, HttpService};
use a2a_types::{AgentCard, AgentCardSignature, AgentInterface, ProtocolVersion};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

fn builder(card: AgentCard) -> ServerBuilder {
    let silent = |_: Turn| async { Ok::<(), Failure>(()) };
    Server::builder(card, silent)
}

fn card(interfaces: &[AgentInterface]) -> AgentCard {
    AgentCard {
        supported_interfaces: interfaces.to_vec(),
        ..AgentCard::new("Silent", "Says nothing")
    }
}

/// A card that names one version, by both bindings.
fn speaks(protocol_version: ProtocolVersion) -> AgentCard {
    card(&[
        AgentInterface::json_rpc("http://agent.example/", protocol_version),
        AgentInterface::http_json("http://agent.example/rest", protocol_version),
    ])
}

async fn bind(builder: ServerBuilder) -> a2a_server::BoundServer {
    let server = builder.build().unwrap();
    server.bind("127.0.0.1:0").await.unwrap()
}

async fn service(card: AgentCard) -> HttpService<Server> {
    bind(builder(card)).await.service()
}

/// The status and the JSON of an answer.
async fn read(response: Response<Body>) -> (u16, Value) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

async fn get(service: &HttpService<Server>, path: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    let mut request = Request::get(path).header("host", "localhost:80");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::<Bytes>::default()).unwrap();
    read(service.handle(request).await).await
}

async fn call(
    service: &HttpService<Server>,
    method: &str,
    params: Value,
    version: Option<&str>,
) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = Request::post("/").header("host", "localhost:80");
    if let Some(version) = version {
        request = request.header("a2a-version", version);
    }
    let request = request.body(Full::from(body.to_string())).unwrap();
    let (_, answer) = read(service.handle(request).await).await;
    answer["error"].clone()
}

#[tokio::test]
async fn versions_that_the_card_does_not_offer_are_refused() {
    let task = || json!({"id": "t"});
    let latest = service(speaks(ProtocolVersion::V1_0)).await;
    // Without a version it is a caller of 0.3.
    for (version, asked) in [
        (None, "0.3"),
        (Some(""), "0.3"),
        (Some("0.3"), "0.3"),
        (Some("0.1"), "0.1"),
    ] {
        let refused = call(&latest, "tasks/get", task(), version).await;
        assert_eq!(refused["code"], -32009, "{version:?}: {refused}");
        let text = format!("A2A version `{asked}` is not supported by JSONRPC; supported are 1.0");
        assert_eq!(refused["message"], text);
        let info = &refused["data"][0];
        assert_eq!(info["reason"], "VERSION_NOT_SUPPORTED");
        assert_eq!(info["metadata"]["supportedVersions"], "1.0");
    }
    let refused = call(&latest, "message/send", json!({}), Some("1.0")).await;
    assert_eq!(refused["code"], -32601, "{refused}");
    for version in [None, Some("1.0")] {
        let unknown = call(&latest, "GetTask", task(), version).await;
        assert_eq!(unknown["code"], -32001, "{unknown}");
    }
    for (path, headers, status) in [
        ("/rest/tasks", &[][..], 200),
        ("/rest/tasks", &[("a2a-version", "1.0")], 200),
        ("/rest/v1/tasks", &[], 400),
        ("/rest/tasks", &[("a2a-version", "0.3")], 400),
        ("/agent/authenticatedExtendedCard", &[], 404),
    ] {
        let (found, body) = get(&latest, path, headers).await;
        assert_eq!(found, status, "{path} {headers:?}: {body}");
        let reason = &body["error"]["details"][0]["reason"];
        assert_eq!(status == 400, reason == "VERSION_NOT_SUPPORTED", "{body}");
    }

    let older = service(speaks(ProtocolVersion::V0_3)).await;
    assert_eq!(
        call(&older, "tasks/get", task(), None).await["code"],
        -32001
    );
    assert_eq!(
        call(&older, "tasks/send", task(), None).await["code"],
        -32600
    );
    assert_eq!(call(&older, "GetTask", task(), None).await["code"], -32601);
    let refused = call(&older, "GetTask", task(), Some("1.0")).await;
    assert_eq!(refused["code"], -32009, "{refused}");
    let tasks = get(&older, "/rest/v1/tasks", &[]).await;
    assert_eq!(tasks.0, 200, "{}", tasks.1);
    let refused = get(&older, "/rest/tasks", &[("a2a-version", "1.0")]).await;
    assert_eq!(refused.0, 400, "{}", refused.1);
}

#[tokio::test]
async fn a_card_has_no_members_of_versions_that_it_does_not_offer() {
    let members = async |card| {
        let service = service(card).await;
        let mut found = Vec::new();
        for headers in [&[][..], &[("a2a-version", "1.0")]] {
            let (status, document) = get(&service, "/.well-known/agent-card.json", headers).await;
            assert_eq!(status, 200);
            let all = [
                "supportedInterfaces",
                "protocolVersion",
                "url",
                "authentication",
                "preferredTransport",
                "additionalInterfaces",
            ];
            let known = all.into_iter().filter(|name| document.get(name).is_some());
            found.push(known.collect::<Vec<_>>().join(" "));
        }
        found
    };
    let of_1_0 = "supportedInterfaces";
    let of_0_3 = "protocolVersion url preferredTransport additionalInterfaces";
    let all = "supportedInterfaces protocolVersion url authentication preferredTransport \
               additionalInterfaces";
    assert_eq!(
        members(speaks(ProtocolVersion::V1_0)).await,
        [of_1_0, of_1_0]
    );
    assert_eq!(
        members(speaks(ProtocolVersion::V0_3)).await,
        [of_0_3, of_0_3]
    );
    assert_eq!(members(card(&[])).await, [all, of_1_0]);
}

/// Knows everyone by the same name.
struct FixedPrincipal;

impl Authenticator for FixedPrincipal {
    async fn authenticate(&self, _: &http::request::Parts) -> Result<Principal, AuthError> {
        Ok(Principal::named("one"))
    }
}

#[tokio::test]
async fn the_card_has_the_host_that_its_caller_used() {
    let mut promises = card(&[]);
    promises.capabilities.extended_agent_card = Some(true);
    let server = builder(promises).extended_card(card(&[]));
    let server = server.authenticator(FixedPrincipal).build().unwrap();
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let bound = server.bind(address).await.unwrap();
        let service = bound.service();
        for host in ["localhost:8080", "127.0.0.1", "[::1]:80"] {
            let host = [("host", host)];
            let url = format!("http://{}/", host[0].1);
            let request = |path: &str| {
                let request = Request::get(path).header(host[0].0, host[0].1);
                request
                    .header("a2a-version", "1.0")
                    .body(Full::<Bytes>::default())
                    .unwrap()
            };
            for path in ["/.well-known/agent-card.json", "/rest/extendedAgentCard"] {
                let (_, card) = read(service.handle(request(path)).await).await;
                let first = &card["supportedInterfaces"][0]["url"];
                assert_eq!(*first, url, "{address} {path}: {card}");
            }
        }
    }
    let proxied = bind(builder(card(&[])))
        .await
        .public_url("https://agent.example/a");
    let (_, document) = get(&proxied.service(), "/agent-card", &[]).await;
    assert_eq!(document["url"], "https://agent.example/a");
    let named = service(speaks(ProtocolVersion::V1_0)).await;
    let (_, document) = get(&named, "/agent-card", &[]).await;
    assert_eq!(
        document["supportedInterfaces"][0]["url"],
        "http://agent.example/"
    );
}

#[tokio::test]
async fn tenants_that_the_card_does_not_name_are_refused() {
    let acme = AgentInterface {
        tenant: Some("acme".to_owned()),
        ..AgentInterface::json_rpc("http://agent.example/", ProtocolVersion::V1_0)
    };
    let rest = AgentInterface::http_json("http://agent.example/rest", ProtocolVersion::V1_0);
    let list = |tenant: &str| json!({"tenant": tenant});
    /// The code by JSON-RPC, and the statuses by a parameter and by the path of HTTP+JSON.
    async fn found(service: &HttpService<Server>, tenant: &str) -> (Value, u16, u16) {
        let refused = call(service, "ListTasks", json!({"tenant": tenant}), Some("1.0")).await;
        let version = [("a2a-version", "1.0")];
        let (in_query, _) = get(service, &format!("/rest/tasks?tenant={tenant}"), &version).await;
        let (in_path, _) = get(service, &format!("/rest/{tenant}/tasks"), &version).await;
        (refused["code"].clone(), in_query, in_path)
    }
    let named = service(card(&[acme, rest])).await;
    assert_eq!(found(&named, "acme").await, (Value::Null, 200, 200));
    assert_eq!(found(&named, "other").await, (json!(-32602), 400, 404));
    let nameless = service(card(&[])).await;
    assert_eq!(found(&nameless, "acme").await, (json!(-32602), 400, 404));
    let refused = call(&nameless, "ListTasks", list("acme"), Some("1.0")).await;
    let text = "tenant: no interface of the agent card names the tenant `acme`";
    assert_eq!(refused["message"], text);
    let none = call(&nameless, "ListTasks", list(""), Some("1.0")).await;
    assert_eq!(none, Value::Null, "the empty tenant is none");
    let any = bind(builder(card(&[])).any_tenant()).await.service();
    assert_eq!(found(&any, "acme").await, (Value::Null, 200, 200));
    // A path that begins like one of 0.3 may begin with a tenant.
    let v1 = AgentInterface {
        tenant: Some("v1".to_owned()),
        ..AgentInterface::http_json("http://agent.example/rest", ProtocolVersion::V1_0)
    };
    let v1 = service(card(&[v1])).await;
    assert_eq!(get(&v1, "/rest/v1/tasks", &[]).await.0, 200);
}

#[test]
fn a_signed_card_names_its_interfaces() {
    let signed = |card| AgentCard {
        signatures: vec![AgentCardSignature::default()],
        ..card
    };
    let refused = builder(signed(card(&[]))).build().err();
    assert_eq!(refused, Some(BuildError::SignedWithoutInterfaces));
    assert!(
        builder(signed(speaks(ProtocolVersion::V1_0)))
            .build()
            .is_ok()
    );
}

/// Returns the log of this work.
async fn logged(doing: impl Future<Output = ()>) -> String {
    use tracing::instrument::WithSubscriber;

    let (write, read) = std::sync::mpsc::channel();
    let subscriber = tracing_subscriber::fmt().with_writer(move || LogLines(write.clone()));
    doing.with_subscriber(subscriber.finish()).await;
    String::from_utf8(read.try_iter().flatten().collect()).unwrap()
}

struct LogLines(std::sync::mpsc::Sender<Vec<u8>>);

impl std::io::Write for LogLines {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.send(text.to_vec()).map_err(std::io::Error::other)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn webhook_settings_declare_the_capability() {
    use a2a_server::{BuildError, WebhookPolicy};

    let build = |said: Option<bool>| {
        let mut card = card(&[]);
        card.capabilities.push_notifications = said;
        builder(card).webhooks(WebhookPolicy::default()).build()
    };
    for said in [None, Some(true)] {
        let server = build(said).unwrap();
        assert_eq!(server.card().capabilities.push_notifications, Some(true));
    }
    assert_eq!(build(Some(false)).err(), Some(BuildError::DeniedWebhooks));
    let silent = builder(card(&[])).build().unwrap();
    assert_eq!(silent.card().capabilities.push_notifications, None);
}

#[tokio::test]
async fn an_unreachable_card_is_logged() {
    let mut promises = card(&[]);
    promises.capabilities.extended_agent_card = Some(true);
    let run = async |address: &str, allowed: &[&str], known: bool| {
        let mut server = builder(promises.clone()).extended_card(card(&[]));
        if known {
            server = server.authenticator(FixedPrincipal);
        }
        let server = server.build().unwrap();
        let mut bound = server.bind(address).await.unwrap().allow_unauthenticated();
        if !allowed.is_empty() {
            bound = bound.allow_hosts(allowed.iter().copied());
        }
        bound.run(std::future::ready(())).await.unwrap();
    };
    let (extended, host) = ("no caller gets the extended card", "set a `public_url`");
    let text = logged(run("0.0.0.0:0", &[], false)).await;
    assert!(text.contains(extended) && text.contains(host), "{text}");
    let text = logged(run("127.0.0.1:0", &[], true)).await;
    assert!(!text.contains(extended) && !text.contains(host), "{text}");
    let text = logged(run("0.0.0.0:0", &["agent.example"], true)).await;
    assert!(!text.contains(host), "{text}");
}
