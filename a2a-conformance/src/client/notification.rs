//! Push notifications to a client's webhook, and their sender.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_transport::webhook::{
    Algorithm, CHALLENGE, Claims, Jwks, SigningKey, TOKEN_HEADERS, WEBHOOK_ID, write_notification,
};
use a2a_types::{Event, ProtocolVersion};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::Variables;
use crate::token;

/// One push notification.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Notification {
    /// Event of the notification, in the format of 1.0; up to 0.3 a task.
    pub event: Value,
    /// The token that is shown.
    pub token: Option<String>,
    /// The JSON Web Token that is shown.
    pub jwt: Option<Jwt>,
    /// Names the delivery.
    pub id: Option<String>,
    /// The body after it was signed; nothing else is sent.
    pub body: Option<String>,
    /// The word of a challenge, as 0.1 puts it to a webhook before it uses it; nothing else is sent.
    pub challenge: Option<String>,
    /// Sends the notification of this number, from 1, as it was sent, byte by byte.
    pub again: Option<usize>,
}

/// Kind of a JSON Web Token.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Jwt {
    /// Valid.
    Good,
    /// Signed by `alg: none`.
    None,
    /// Signed by HS256, with the public key as the secret.
    Hmac,
    /// Signed by a key that the agent does not publish.
    Stranger,
    /// An hour ago.
    Old,
    /// Issued for another webhook.
    OtherAudience,
}

/// Headers and body of a notification, kept so that it can be sent again.
type Sent = (Vec<(http::HeaderName, String)>, Bytes);

/// Sender of push notifications.
pub(super) struct Sender {
    key: SigningKey,
    stranger: SigningKey,
    http: Client<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>,
}

impl Sender {
    pub(super) fn new() -> Result<Self, String> {
        let key = || SigningKey::generate(Algorithm::Es256).map_err(|error| error.to_string());
        Ok(Self {
            key: key()?,
            stranger: key()?,
            http: Client::builder(TokioExecutor::new()).build_http(),
        })
    }

    /// Returns the keys that the agent publishes.
    pub(super) fn keys(&self) -> Jwks {
        Jwks::of([&self.key])
    }

    /// Sends all notifications, one after another, and returns the answer to each.
    pub(super) async fn send(
        &self,
        all: &[Notification],
        url: &str,
        protocol_version: ProtocolVersion,
        names: &Variables,
    ) -> Vec<Value> {
        let mut sent: Vec<Sent> = Vec::new();
        let mut answers = Vec::new();
        for notify in all {
            if let Some(word) = &notify.challenge {
                let url = format!("{url}?{CHALLENGE}={word}");
                answers.push(self.ask(Request::get(url), Bytes::new()).await);
                continue;
            }
            let made = match notify
                .again
                .and_then(|number| sent.get(number.checked_sub(1)?))
            {
                Some(earlier) => Ok(earlier.clone()),
                None => self.make(notify, url, protocol_version, names),
            };
            answers.push(match made {
                Ok(made) => {
                    sent.push(made.clone());
                    self.post(url, made).await
                }
                Err(problem) => json!({"harness": problem}),
            });
        }
        answers
    }

    fn make(
        &self,
        notify: &Notification,
        url: &str,
        protocol_version: ProtocolVersion,
        names: &Variables,
    ) -> Result<Sent, String> {
        let event: Event = serde_json::from_value(names.fill(&notify.event)?)
            .map_err(|error| format!("the event: {error}"))?;
        let pushed = write_notification(event, protocol_version).ok_or_else(|| {
            format!("{protocol_version} has no push notification for such an event")
        })?;
        let mut headers = vec![(CONTENT_TYPE, pushed.media_type.to_owned())];
        if let Some(token) = &notify.token {
            headers.extend(TOKEN_HEADERS.map(|name| (name, token.clone())));
        }
        let id = notify.id.clone().unwrap_or_else(|| "delivery-1".to_owned());
        headers.push((WEBHOOK_ID, id.clone()));
        if let Some(jwt) = notify.jwt {
            let token = self.token(jwt, &pushed.body, &id, url)?;
            headers.push((AUTHORIZATION, format!("Bearer {token}")));
        }
        let body = notify.body.clone().map_or(pushed.body, String::into_bytes);
        Ok((headers, body.into()))
    }

    fn token(&self, jwt: Jwt, body: &[u8], id: &str, url: &str) -> Result<String, String> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.map_err(|error| error.to_string())?.as_secs();
        let time = if jwt == Jwt::Old { now - 3600 } else { now };
        let audience = match jwt {
            Jwt::OtherAudience => "https://other.example/hook",
            _ => url,
        };
        let claims = Claims::of(body, id, audience, time);
        let key = match jwt {
            Jwt::Stranger => &self.stranger,
            _ => &self.key,
        };
        let forged = |algorithm: &str, sign: &dyn Fn(&[u8]) -> Vec<u8>| {
            let header = json!({"alg": algorithm, "typ": "JWT", "kid": key.id()});
            let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let signing_input = format!("{}.{}", part(&header), part(&json!(claims)));
            format!(
                "{signing_input}.{}",
                URL_SAFE_NO_PAD.encode(sign(signing_input.as_bytes()))
            )
        };
        Ok(match jwt {
            Jwt::None => forged("none", &|_| Vec::new()),
            Jwt::Hmac => forged("HS256", &|signing_input| {
                token::hmac_by_public_key(key.public(), signing_input)
            }),
            _ => key.sign(&claims).map_err(|error| error.to_string())?,
        })
    }

    async fn post(&self, url: &str, (headers, body): Sent) -> Value {
        let mut request = Request::post(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        self.ask(request, body).await
    }

    async fn ask(&self, request: http::request::Builder, body: Bytes) -> Value {
        let request = match request.body(Full::from(body)) {
            Ok(request) => request,
            Err(error) => return json!({"harness": error.to_string()}),
        };
        let answer = async {
            let response = self.http.request(request).await?;
            let status = response.status().as_u16();
            let body = Limited::new(response.into_body(), MAX_ANSWER)
                .collect()
                .await?
                .to_bytes();
            let body = String::from_utf8_lossy(&body).into_owned();
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((status, body))
        };
        match tokio::time::timeout(WEBHOOK_TIMEOUT, answer).await {
            Ok(Ok((status, body))) => json!({"status": status, "body": body}),
            Ok(Err(error)) => json!({"failure": error.to_string()}),
            Err(_) => json!({"failure": "no answer"}),
        }
    }
}

/// Maximum bytes of a webhook's answer.
const MAX_ANSWER: usize = 64 << 10;

/// Time within which a webhook must answer.
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);
