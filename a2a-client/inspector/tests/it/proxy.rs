//! Recording proxies, as callers see them.

use a2a_auth::{AnyOf, ApiKey, ApiKeys};
use a2a_client::credentials::Keyring;
use a2a_client::{
    Binding, Client, ClientBuilder, Event, HttpClient, ProtocolVersion, StreamExt, TaskEventStream,
};
use a2a_server::demo::Reference;
use a2a_types::TaskId;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::exchanges::ended;
use crate::harness::{Page, builder, document, reference, started};
use crate::resend::mirror;

/// A proxy.
pub(crate) struct Proxy {
    id: String,
    pub(crate) url: String,
}

impl Proxy {
    pub(crate) async fn to(page: &Page, upstream: &str) -> Self {
        let started = page
            .post("/api/proxies", json!({"upstream": upstream}))
            .await;
        let text = |member: &str| started[member].as_str().unwrap().to_owned();
        Self {
            id: text("id"),
            url: text("url"),
        }
    }

    pub(crate) async fn fault(&self, page: &Page, fault: Value) {
        let path = format!("/api/proxies/{}/fault", self.id);
        page.call("PUT", &path, Some(fault)).await.ok();
    }

    /// Returns the fault that is set.
    pub(crate) async fn set_fault(&self, page: &Page) -> Value {
        let all = page.get("/api/proxies").await;
        let proxies = all["proxies"].as_array().unwrap();
        let own = proxies.iter().find(|proxy| proxy["id"] == self.id);
        own.unwrap()["fault"].clone()
    }

    /// Returns the exchanges that it has recorded, except exchanges of cards.
    pub(crate) async fn exchanges(&self, page: &Page) -> Vec<Value> {
        let all = page.get("/api/exchanges").await;
        let all = all["exchanges"].as_array().unwrap().clone();
        let is_own = |exchange: &Value| {
            exchange["proxy"] == self.id && exchange["operation"] != "GetAgentCard"
        };
        all.into_iter().filter(is_own).collect()
    }
}

pub(crate) const FORMS: [(ProtocolVersion, Binding); 6] = [
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

pub(crate) fn client(
    url: &str,
    (protocol_version, binding): (ProtocolVersion, Binding),
) -> ClientBuilder {
    Client::builder(url)
        .protocol_version(protocol_version)
        .binding(binding)
}

/// Begins a task that waits, and returns its open stream and its id.
pub(crate) async fn waiting(client: &Client) -> (TaskEventStream, TaskId) {
    let mut updates = client.send("wait").follow();
    match updates.next().await {
        Some(Ok(Event::Task(task))) => (updates, task.id),
        other => panic!("no task: {other:?}"),
    }
}

/// Reads updates to their end, and returns the text of their artifact.
pub(crate) async fn text(updates: &mut TaskEventStream) -> String {
    let mut text = String::new();
    while let Some(event) = updates.next().await {
        if let Event::ArtifactUpdate(update) = event.unwrap() {
            let parts = update.artifact.parts.iter();
            text.extend(parts.filter_map(|part| part.as_text()));
        }
    }
    text
}

#[tokio::test]
async fn callers_of_every_version_stay_with_the_proxy() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    for (form, number) in FORMS.into_iter().zip(1..) {
        let client = client(&proxy.url, form).connect().await.unwrap();
        for interface in &client.card().unwrap().supported_interfaces {
            assert!(interface.url.starts_with(&proxy.url), "{}", interface.url);
        }
        assert_eq!(text(&mut client.send("chunks 3").follow()).await, "1 2 3 ");
        let exchanges = proxy.exchanges(&page).await;
        assert_eq!(exchanges.len(), number, "{form:?}");
        let last = ended(&page, &exchanges.last().unwrap()["number"]).await;
        // 0.2 and 0.3 spell it alike.
        let version = match form.0 {
            ProtocolVersion::V0_2 => ProtocolVersion::V0_3,
            version => version,
        };
        assert_eq!(last["version"], version.version());
        assert_eq!(last["binding"], form.1.as_str());
        assert_eq!(
            (&last["source"], &last["state"]),
            (&json!("proxy"), &json!("done"))
        );
    }
}

#[tokio::test]
async fn events_pass_while_the_stream_is_open() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    let client = Client::connect(&proxy.url).await.unwrap();
    let (mut updates, task) = waiting(&client).await;
    let exchanges = proxy.exchanges(&page).await;
    assert_eq!(exchanges[0]["state"], "open");
    client.cancel_task(task).await.unwrap();
    while updates.next().await.is_some() {}
    assert_eq!(proxy.exchanges(&page).await[0]["state"], "done");
}

#[tokio::test]
async fn cleartext_http_2_is_spoken_with_the_agent_for_callers_that_speak_it() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    let http2 = HttpClient::builder().http2_only();
    let client = Client::builder(&proxy.url)
        .http(http2)
        .connect()
        .await
        .unwrap();
    assert_eq!(text(&mut client.send("chunks 2").follow()).await, "1 2 ");
    let number = &proxy.exchanges(&page).await[0]["number"];
    let exchange = page.get(&format!("/api/exchanges/{number}")).await;
    assert_eq!(exchange["request"]["httpVersion"], "HTTP/2");
    assert_eq!(exchange["response"]["httpVersion"], "HTTP/2");
}

#[tokio::test]
async fn the_extended_card_leads_to_the_proxy_too() {
    let page = Page::open().await;
    let mut card = Reference::card();
    card.capabilities.extended_agent_card = Some(true);
    let key = ApiKey::new("open-sesame-to-me", "me").unwrap();
    let keys = ApiKeys::header("x-api-key").unwrap().key(key).unwrap();
    let server = builder(card.clone(), Reference)
        .extended_card(card)
        .authenticator(AnyOf::new(("key", keys)));
    let proxy = Proxy::to(&page, &started(server).await).await;
    for form in FORMS
        .into_iter()
        .filter(|(protocol_version, _)| *protocol_version != ProtocolVersion::V0_1)
    {
        let keyring = Keyring::default().api_key("open-sesame-to-me");
        let builder = client(&proxy.url, form).keyring(keyring);
        let client = builder.connect().await.unwrap();
        let card = client.extended_card().await.unwrap();
        assert!(!card.supported_interfaces.is_empty());
        for interface in &card.supported_interfaces {
            assert!(
                interface.url.starts_with(&proxy.url),
                "{form:?}: {}",
                interface.url
            );
        }
    }
}

/// Sends a request, and returns the status and the body.
async fn fetch(request: Request<Full<bytes::Bytes>>) -> (StatusCode, String) {
    let response = HttpClient::default().fetch(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, String::from_utf8(body.to_vec()).unwrap())
}

/// Returns a card whose only interface of HTTP is at this URL.
fn card_of(url: &str) -> Value {
    json!({
        "name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
        "defaultInputModes": [], "defaultOutputModes": [], "signatures": [{"protected": "", "signature": ""}],
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "grpc://h", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        ],
        "securitySchemes": {
            "partner": {"apiKeySecurityScheme": {"location": "header", "name": "X-Partner"}},
            "tenant": {"type": "apiKey", "in": "query", "name": "Tenant"},
        },
    })
}

/// Reads the card through a proxy.
async fn read_card(proxy: &Proxy) -> Value {
    let place = format!("{}/.well-known/agent-card.json", proxy.url);
    let (_, card) = fetch(Request::get(&place).body(Full::default()).unwrap()).await;
    serde_json::from_str(&card).unwrap()
}

#[tokio::test]
async fn an_origin_that_a_card_names_is_reached_once_the_user_confirms_it() {
    let page = Page::open().await;
    let other = mirror().await;
    let named = format!("{other}/rpc");
    let proxy = Proxy::to(&page, &document(card_of(&named).to_string()).await).await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let card = read_card(&proxy).await;
    assert_eq!(
        card["signatures"],
        Value::Null,
        "they are of the agent's own card"
    );
    assert_eq!(card["supportedInterfaces"][0]["url"], named);
    assert_eq!(
        card["supportedInterfaces"].as_array().unwrap().len(),
        1,
        "the proxy does not forward gRPC"
    );
    let report = changes.named("proxy").await;
    assert_eq!(report["namedOrigins"], json!([other]));
    assert_eq!(report["origins"], json!([]));
    for number in 0..4 {
        let request = Request::get(format!("{}/.upstream/{number}/rpc", proxy.url));
        let (_, text) = fetch(request.body(Full::default()).unwrap()).await;
        assert!(!text.contains("\"uri\""), "{number}: {text}");
    }

    let path = format!("/api/proxies/{}/origins", proxy.id);
    for wrong in ["ftp://h", "", "h"] {
        let refused = page
            .call("POST", &path, Some(json!({"origin": wrong})))
            .await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    }
    let confirmed = page.post(&path, json!({"origin": other})).await;
    assert_eq!(confirmed["origins"], json!([other]));
    assert_eq!(confirmed["namedOrigins"], json!([]));
    let card = read_card(&proxy).await;
    let url = card["supportedInterfaces"][0]["url"].as_str().unwrap();
    assert_eq!(url, format!("{}/.upstream/1/rpc", proxy.url));
    let request = Request::post(url)
        .header("authorization", "Bearer sesame")
        .header("connection", "x-hop")
        .header("x-hop", "1")
        .header("x-end", "1");
    let (_, seen) = fetch(request.body(Full::from("{}")).unwrap()).await;
    for absent in ["x-hop", "accept-encoding"] {
        assert!(!seen.contains(absent), "{absent} in {seen}");
    }
    for sent in ["x-end", "sesame", r#""uri":"/rpc""#] {
        assert!(seen.contains(sent), "no {sent} in {seen}");
    }
    assert!(
        seen.contains(other.strip_prefix("http://").unwrap()),
        "the host is the agent's"
    );
}

#[tokio::test]
async fn an_origin_that_is_confirmed_at_the_start_is_passed_on_to() {
    let page = Page::open().await;
    let other = mirror().await;
    let agent = document(card_of(&format!("{other}/rpc")).to_string()).await;
    let settings = json!({"upstream": agent, "origins": [other]});
    let started = page.post("/api/proxies", settings).await;
    assert_eq!(started["origins"], json!([other]));
    let proxy = Proxy {
        id: started["id"].as_str().unwrap().to_owned(),
        url: started["url"].as_str().unwrap().to_owned(),
    };
    let card = read_card(&proxy).await;
    let url = card["supportedInterfaces"][0]["url"].as_str().unwrap();
    assert!(url.starts_with(&proxy.url), "{url}");
}

#[tokio::test]
async fn pages_of_other_hosts_cannot_call_an_agent_through_a_proxy() {
    let page = Page::open().await;
    let agent = mirror().await;
    let proxy = Proxy::to(&page, &agent).await;
    let port = proxy.url.rsplit(':').next().unwrap();
    let call = |host: String, origin: Option<&str>| {
        let mut request = Request::post(format!("{}/rpc", proxy.url)).header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        fetch(request.body(Full::from("{}")).unwrap())
    };
    for host in ["rebound.example", "127.0.0.1.rebound.example", "10.0.0.1"] {
        let (status, text) = call(format!("{host}:{port}"), None).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{host}");
        assert!(text.contains("this proxy answers as"), "{text}");
    }
    for origin in ["http://rebound.example", "null", "https://a.example:443"] {
        let (status, _) = call(format!("127.0.0.1:{port}"), Some(origin)).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{origin}");
    }
    assert!(
        proxy.exchanges(&page).await.is_empty(),
        "none evicts another"
    );
    let all = page.get("/api/proxies").await;
    assert_eq!(all["proxies"][0]["requests"], 0);
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let host = format!("{host}:{port}");
        let origin = format!("http://{host}");
        let (status, text) = call(host, Some(&origin)).await;
        assert_eq!(status, StatusCode::OK, "{text}");
    }
}

#[tokio::test]
async fn keys_are_masked_wherever_the_card_wants_them() {
    let page = Page::open().await;
    let agent = document(card_of("{url}/rpc").to_string()).await;
    let proxy = Proxy::to(&page, &agent).await;
    let sent = || {
        let request = Request::post(format!("{}/rpc?a=1&tenant=s3cret&token=s3cret", proxy.url))
            .header("x-partner", "s3cret")
            .header("X-Access-Token", "s3cret")
            .header("DPoP", "s3cret")
            .header("x-team", "blue");
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"t",
            "url":"https://h/?sig=s3cret","token":"s3cret","authentication":{"scheme":"Bearer","credentials":"s3cret"}}}"#;
        fetch(request.body(Full::from(body)).unwrap())
    };
    // The first one knows the card from elsewhere.
    sent().await;
    read_card(&proxy).await;
    sent().await;
    let exchanges = proxy.exchanges(&page).await;
    assert_eq!(exchanges.len(), 2);
    for exchange in exchanges {
        assert!(
            exchange["url"]
                .as_str()
                .unwrap()
                .ends_with("/rpc?a=1&tenant=***&token=***"),
            "{exchange}"
        );
        let number = &exchange["number"];
        let one = page.get(&format!("/api/exchanges/{number}")).await;
        let headers = one["request"]["headers"].as_array().unwrap();
        for name in ["x-partner", "x-access-token", "dpop"] {
            assert!(headers.contains(&json!([name, "***"])), "{headers:?}");
        }
        assert!(headers.contains(&json!(["x-team", "blue"])));
        let views = [
            page.get(&format!("/api/exchanges/{number}/curl")).await,
            page.get(&format!("/api/export/har?numbers={number}")).await,
            page.get(&format!("/api/export/recording?numbers={number}"))
                .await,
        ];
        for view in views {
            assert!(!view.to_string().contains("s3cret"), "{view}");
        }
    }
}

#[tokio::test]
async fn a_redirect_leads_back_to_the_proxy() {
    let page = Page::open().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let target = format!("{upstream}/rpc/");
    let redirect = move || std::future::ready(axum::response::Redirect::temporary(&target));
    let router = axum::Router::new().fallback(redirect);
    tokio::spawn(async { axum::serve(listener, router).await });
    let proxy = Proxy::to(&page, &upstream).await;
    let request = Request::get(format!("{}/rpc", proxy.url));
    let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
    let response = HttpClient::default().fetch(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(
        response.headers()["location"],
        format!("{}/rpc/", proxy.url)
    );
}

#[tokio::test]
async fn requests_that_cannot_be_forwarded_are_answered_and_recorded() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, "http://127.0.0.1:1").await;
    let request = Request::post(format!("{}/x", proxy.url))
        .body(Full::from("{}"))
        .unwrap();
    let (status, text) = fetch(request).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    let exchange = &proxy.exchanges(&page).await[0];
    assert_eq!(
        (&exchange["status"], &exchange["failure"]),
        (&json!(502), &json!(text))
    );
    let large = Full::from(vec![b' '; (16 << 20) + 1]);
    let request = Request::post(format!("{}/x", proxy.url))
        .body(large)
        .unwrap();
    // The connection may be closed before the whole body is taken.
    if let Ok(response) = HttpClient::default().fetch(request).await {
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    assert_eq!(proxy.exchanges(&page).await[1]["status"], 413);
}

#[tokio::test]
async fn a_proxy_of_the_command_line_is_on_the_page() {
    let page = Page::open().await;
    let upstream = reference().await;
    let started = page
        .inspector
        .start_proxy("127.0.0.1:0", &upstream, &[])
        .await;
    let address = started.unwrap().to_string();
    let all = page.get("/api/proxies").await;
    assert_eq!(all["proxies"][0]["address"], address);
    assert_eq!(
        all["proxies"][0]["upstream"],
        upstream.trim_end_matches('/')
    );
    let taken = page.inspector.start_proxy(&address, &upstream, &[]).await;
    let problem = taken.unwrap_err().to_string();
    assert!(problem.contains(&address), "{problem}");
}

#[tokio::test]
async fn proxies_are_bounded_and_stopped() {
    let page = Page::open().await;
    let agent = reference().await;
    let settings = json!({"upstream": agent});
    let mut ids = Vec::new();
    for _ in 0..16 {
        ids.push(Proxy::to(&page, &agent).await);
    }
    let refused = page
        .call("POST", "/api/proxies", Some(settings.clone()))
        .await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    let path = format!("/api/proxies/{}", ids[0].id);
    let stopped = page.call("DELETE", &path, None).await;
    assert_eq!(stopped.status, StatusCode::NO_CONTENT);
    assert_eq!(
        page.call("DELETE", &path, None).await.status,
        StatusCode::NOT_FOUND
    );
    page.post("/api/proxies", settings).await;

    page.call("DELETE", &format!("/api/proxies/{}", ids[2].id), None)
        .await
        .ok();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let taken = listener.local_addr().unwrap();
    for (settings, status) in [
        (json!({"upstream": agent, "listen": taken.to_string()}), 409),
        (
            json!({"upstream": agent, "listen": taken.port().to_string()}),
            409,
        ),
        (json!({"upstream": agent, "listen": "nonsense"}), 409),
        (json!({"upstream": "ftp://h"}), 400),
        (json!({"upstream": "http://me:pass@h"}), 400),
        (json!({"upstream": agent, "authorities": "nonsense"}), 400),
        (json!({"upstream": agent, "origins": ["nonsense"]}), 400),
    ] {
        let refused = page
            .call("POST", "/api/proxies", Some(settings.clone()))
            .await;
        assert_eq!(refused.status, status, "{settings}");
        refused.problem();
    }
    let path = format!("/api/proxies/{}/fault", ids[1].id);
    let wrong = json!({"kind": "status", "status": 200});
    let refused = page.call("PUT", &path, Some(wrong)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}
