//! An agent with secrets, whose callers have some, too.

use std::net::SocketAddr;

use a2a_server::{
    Algorithm, AuthError, Authenticator, Failure, Principal, Secret, Server, ServerBuilder,
    SigningKey, Turn, WebhookKeys, WebhookPolicy,
};
use a2a_types::{AgentCard, Base64};
use http::request::Parts;
use serde_json::{Value, json};

use crate::secrets::{
    API_KEY, AUTHORIZATION, BASIC, BEARER, CONTENT, COOKIE, SECRET, SIGNING, TOKEN, URL_KEY,
};
use crate::wire::{RawAnswer, RawRequest};

/// A builder of the agent, which asks back when it is asked to, and says everything else back.
pub(crate) fn builder() -> ServerBuilder {
    let agent = |turn: Turn| async move {
        match turn.text().starts_with("ask") {
            true => turn.ask("which?").await?,
            false => turn.artifact("echo").text(turn.text()).finish().await?,
        }
        Ok::<(), Failure>(())
    };
    let mut card = AgentCard::new("Agent", "Says it back");
    card.capabilities.push_notifications = Some(true);
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    Server::builder(card, agent)
        .authenticator(SecretAuthenticator)
        .webhooks(policy)
        .sign_webhooks(keys())
}

/// The keys of the agent, both of which are made of canaries.
pub(crate) fn keys() -> WebhookKeys {
    WebhookKeys::new(signing_key()).secret(secret())
}

pub(crate) fn signing_key() -> SigningKey {
    // RFC 8410 §7: the seed follows a fixed prefix.
    let before = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let key = [before, SIGNING.as_bytes()].concat();
    SigningKey::from_pkcs8(Algorithm::EdDsa, &key).unwrap()
}

pub(crate) fn secret() -> Secret {
    Secret::parse(&format!("whsec_{}", Base64::encode(SECRET).as_text())).unwrap()
}

/// Serves it to callers with the right credentials.
pub(crate) async fn serve(server: &Server) -> SocketAddr {
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let bound = bound.body_limit(16 << 10);
    let address = bound.local_addr();
    tokio::spawn(bound.run(std::future::pending()));
    address
}

/// Admits callers that show one of the secrets, and another caller that has none.
struct SecretAuthenticator;

impl Authenticator for SecretAuthenticator {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let is_owner = header("authorization") == Some(&format!("Bearer {AUTHORIZATION}"))
            || header("x-api-key") == Some(API_KEY)
            || header("cookie") == Some(&format!("session={COOKIE}"));
        let name = header("x-name").unwrap_or_default();
        match (is_owner, name) {
            (true, _) => Ok(Principal::named("owner")),
            (false, "forbidden") => Err(AuthError::forbidden()),
            (false, "other") => Ok(Principal::named("other")),
            (false, _) => Err(AuthError::unauthenticated("Bearer")),
        }
    }
}

/// Asks as the owner: with all the secrets that a caller has.
pub(crate) async fn as_owner(address: SocketAddr, ask: &RawRequest) -> RawAnswer {
    let ask = ask
        .clone()
        .with("authorization", format!("Bearer {AUTHORIZATION}"));
    let ask = ask.with("x-api-key", API_KEY);
    ask.with("cookie", format!("session={COOKIE}"))
        .to(address)
        .await
}

/// Asks as other callers: one that is known, one that is forbidden, one that is not known, and one that
/// shows secrets where they are none.
pub(crate) async fn as_others(address: SocketAddr, ask: &RawRequest) -> Vec<RawAnswer> {
    let with = |name, value: &str| ask.clone().with(name, value);
    vec![
        with("x-name", "other").to(address).await,
        with("x-name", "forbidden").to(address).await,
        with("authorization", &format!("Basic {AUTHORIZATION}"))
            .to(address)
            .await,
        with("cookie", &format!("{COOKIE}={API_KEY}"))
            .to(address)
            .await,
    ]
}

/// A request by JSON-RPC.
pub(crate) fn rpc(method: &str, params: &Value) -> RawRequest {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    RawRequest::post("/", body.to_string())
}

/// Authentication of the sender to a webhook.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scheme {
    Bearer,
    Basic,
    /// By the keys of the agent.
    Signed,
}

/// Webhook config of 0.x, full of secrets.
pub(crate) fn config(base: &str, scheme: Scheme) -> Value {
    let mut config = json!({"url": format!("{base}hook?key={URL_KEY}"), "token": TOKEN});
    match scheme {
        Scheme::Signed => {}
        Scheme::Bearer => {
            config["authentication"] = json!({"schemes": ["Bearer"], "credentials": BEARER});
        }
        Scheme::Basic => {
            let credentials = Base64::encode(format!("agent:{BASIC}"));
            let credentials = credentials.as_text();
            config["authentication"] = json!({"schemes": ["Basic"], "credentials": credentials});
        }
    }
    config
}

/// The same as 1.0 spells it.
pub(crate) fn config_1_0(base: &str, scheme: Scheme) -> Value {
    let mut config = config(base, scheme);
    if let Some(authentication) = config.get_mut("authentication") {
        authentication["scheme"] = authentication["schemes"][0].take();
        authentication.as_object_mut().unwrap().remove("schemes");
    }
    config
}

/// Text of a message.
pub(crate) fn words(command: &str) -> String {
    format!("{command} {CONTENT}")
}

/// A message with a webhook, in each protocol version by which it can be sent: the method, and its params.
pub(crate) fn messages(command: &str, base: &str, scheme: Scheme) -> [(&'static str, Value); 3] {
    let id = uuid::Uuid::new_v4().to_string();
    let parts = |kind: &str| json!([{kind: "text", "text": words(command)}]);
    let old = json!({
        "id": id,
        "message": {"role": "user", "parts": parts("type")},
        "pushNotification": config(base, scheme),
    });
    let middle = json!({
        "message": {"kind": "message", "messageId": id, "role": "user", "parts": parts("kind")},
        "configuration": {
            "acceptedOutputModes": [], "blocking": true,
            "pushNotificationConfig": config(base, scheme),
        },
    });
    let new = json!({
        "message": {"messageId": format!("{id}-1"), "role": "ROLE_USER", "parts": [{"text": words(command)}]},
        "configuration": {"taskPushNotificationConfig": config_1_0(base, scheme)},
    });
    [
        ("tasks/send", old),
        ("message/send", middle),
        ("SendMessage", new),
    ]
}

/// The id of the task in an answer, of any protocol version.
#[track_caller]
pub(crate) fn task_of(raw: &RawAnswer) -> String {
    let answer = raw.json();
    let result = answer.get("result").unwrap_or(&answer);
    let task = result.get("task").unwrap_or(result);
    task["id"]
        .as_str()
        .unwrap_or_else(|| panic!("no task: {answer}"))
        .to_owned()
}
