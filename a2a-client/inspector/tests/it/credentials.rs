//! Credentials: sent where the agent's card asks for them, and shown nowhere.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a_auth::{AnyOf, ApiKey, ApiKeys};
use a2a_server::demo::Echo;
use a2a_server::{ClientAuth, Server, ServerTls};
use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::{Value, json};

use crate::harness::{Page, builder, message, router, started, state};

const CANARY: &str = "CANARY0123456789";

/// Returns what the page can read of all exchanges.
async fn exchanges(page: &Page) -> String {
    let listed = page.get("/api/exchanges").await;
    let mut texts = listed.to_string();
    for exchange in listed["exchanges"].as_array().unwrap() {
        let path = format!("/api/exchanges/{}", exchange["number"]);
        for path in [&path, &format!("{path}/curl"), &format!("{path}/versions")] {
            let answer = page.call("GET", path, None).await;
            texts += &String::from_utf8_lossy(&answer.body);
        }
    }
    for path in ["/api/export/har", "/api/export/recording"] {
        texts += &String::from_utf8_lossy(&page.call("GET", path, None).await.body);
    }
    texts
}

#[tokio::test]
async fn a_key_is_sent_where_the_card_asks_for_it() {
    let places = [
        ApiKeys::header("x-api-key").unwrap(),
        ApiKeys::query("key"),
        ApiKeys::cookie("key"),
    ];
    for keys in places {
        let keys = keys.key(ApiKey::new(CANARY, "me").unwrap()).unwrap();
        let server = builder(Echo::card(), Echo).authenticator(AnyOf::new(("key", keys)));
        let url = started(server).await;
        let page = Page::open().await;
        let agent = page.connect(&url, json!({"apiKey": CANARY})).await;
        let path = format!("/api/agents/{}", agent["id"].as_str().unwrap());
        let events = page
            .message(&path, json!({"message": message("hi"), "stream": true}))
            .await;
        assert_eq!(state(&events), "TASK_STATE_COMPLETED");
        let shown = exchanges(&page).await;
        assert!(shown.contains("***"), "{shown}");
        assert!(!shown.contains(CANARY), "{shown}");
        assert!(!format!("{events:?}").contains(CANARY));

        let preferred = json!({"version": "0.3", "binding": "HTTP+JSON"});
        let again = page.call("PUT", &path, Some(preferred)).await.ok();
        assert_eq!(
            (&again["id"], &again["version"]),
            (&agent["id"], &json!("0.3"))
        );
        let events = page.message(&path, json!({"message": message("hi")})).await;
        assert_eq!(state(&events), "TASK_STATE_COMPLETED");
        assert!(!again.to_string().contains(CANARY), "{again}");

        let agent = page.path_of(&url).await;
        let events = page
            .message(&agent, json!({"message": message("hi")}))
            .await;
        let (name, problem) = events.last().unwrap();
        assert_eq!(
            (name.as_str(), &problem["kind"]),
            ("failed", &json!("refused"))
        );
    }
}

/// Starts an agent whose callers are authorized by a code that they enter elsewhere, and returns its URL. They have
/// entered it once `is_entered` is true.
pub(crate) async fn agent_of_users(is_entered: Arc<AtomicBool>) -> String {
    router(|url| {
        let flow = json!({
            "deviceAuthorizationUrl": format!("{url}/device"),
            "tokenUrl": format!("{url}/token"),
            "scopes": {},
        });
        let card = json!({
            "name": "Of users", "description": "d", "version": "1", "capabilities": {}, "skills": [],
            "defaultInputModes": [], "defaultOutputModes": [],
            "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "securitySchemes": {"user": {"oauth2SecurityScheme": {"flows": {"deviceCode": flow}}}},
            "securityRequirements": [{"schemes": {"user": {"list": []}}}],
        });
        let codes = json!({
            "device_code": CANARY, "user_code": "WDJB-MJHT", "interval": 1, "expires_in": 600,
            "verification_uri": "https://login.example/device",
        });
        let token = json!({"access_token": CANARY, "token_type": "Bearer", "expires_in": 3600});
        let token = async move || match is_entered.load(Ordering::Relaxed) {
            true => Ok(Json(token)),
            false => Err((
                StatusCode::BAD_REQUEST,
                Json(json!({"error": "authorization_pending"})),
            )),
        };
        let answer = async |headers: HeaderMap, Json(call): Json<Value>| {
            let given = headers.get("authorization").map(|value| value.as_bytes());
            match given == Some(format!("Bearer {CANARY}").as_bytes()) {
                true => Ok(Json(json!({"jsonrpc": "2.0", "id": call["id"], "result": {
                    "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]},
                }}))),
                false => Err(StatusCode::UNAUTHORIZED),
            }
        };
        axum::Router::new()
            .route("/.well-known/agent-card.json", get(async || Json(card)))
            .route("/device", post(async || Json(codes)))
            .route("/token", post(token))
            .route("/", post(answer))
    })
    .await
}

#[tokio::test]
async fn every_page_shows_the_code_that_a_user_has_to_enter() {
    let url = agent_of_users(Arc::new(true.into())).await;
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let agent = page
        .connect(&url, json!({"oauthDevice": {"clientId": "page"}}))
        .await;
    let path = format!("/api/agents/{}", agent["id"].as_str().unwrap());
    let events = page.message(&path, json!({"message": message("hi")})).await;
    let (_, update) = &events[events.len() - 2];
    assert_eq!(
        update["event"]["message"]["parts"][0]["text"], "hello",
        "{events:?}"
    );
    let prompt = changes.named("prompt").await;
    let expected = json!({
        "agentUrl": url, "userCode": "WDJB-MJHT", "verificationUri": "https://login.example/device",
        "verificationUriComplete": null, "expiresInSeconds": 600,
    });
    assert_eq!(prompt, expected);
    assert!(!exchanges(&page).await.contains(CANARY));
}

/// Agent with a certificate of its own authority, which wants one of its callers.
pub(crate) struct PrivateAgent {
    pub(crate) url: String,
    /// The authority, in PEM.
    pub(crate) authority: String,
    /// Certificate and key of a caller, in PEM.
    pub(crate) caller: (String, String),
}

impl PrivateAgent {
    pub(crate) async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name);
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "Authority");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let issue = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([name.to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            (
                params.signed_by(&key, &authority).unwrap().pem(),
                key.serialize_pem(),
            )
        };
        let (certificate, key) = issue("127.0.0.1");
        std::fs::write(file("cert.pem"), certificate).unwrap();
        std::fs::write(file("key.pem"), key).unwrap();
        std::fs::write(file("ca.pem"), authority.pem()).unwrap();
        let tls = ServerTls::builder(file("cert.pem"), file("key.pem"))
            .client_authorities(file("ca.pem"), ClientAuth::Required)
            .build()
            .unwrap();
        let server = Server::builder(Echo::card(), Echo)
            .build()
            .unwrap()
            .http()
            .tls(tls);
        let server = server.bind("127.0.0.1:0").await.unwrap();
        let url = server.url();
        tokio::spawn(server.run(pending()));
        Self {
            url,
            authority: authority.pem(),
            caller: issue("ada"),
        }
    }
}

#[tokio::test]
async fn an_agent_of_ones_own_authority_is_called_with_a_certificate() {
    let PrivateAgent {
        url,
        authority,
        caller: (certificate, key),
    } = PrivateAgent::start().await;
    let page = Page::open().await;
    let own = json!({"certificate": certificate, "key": key});
    let settings = json!({"authorities": authority, "clientCertificate": own});
    let agent = page.connect(&url, settings).await;
    assert_eq!(agent["hasSecret"], true);
    let path = format!("/api/agents/{}", agent["id"].as_str().unwrap());
    let events = page.message(&path, json!({"message": message("hi")})).await;
    assert_eq!(state(&events), "TASK_STATE_COMPLETED");

    let without = [
        json!({"authorities": authority}),
        json!({"clientCertificate": own}),
    ];
    for mut settings in without {
        settings["url"] = json!(url);
        let answer = page.call("POST", "/api/agents", Some(settings)).await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
        answer.problem();
    }
}
