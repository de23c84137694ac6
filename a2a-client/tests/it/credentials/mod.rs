//! Credentials and tokens over real sockets.

mod calls;
mod device;
mod exchange;
mod hostile;
mod oauth;
mod placement;
mod renewal;
mod selection;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use a2a_client::credentials::Keyring;
use a2a_client::{Credentials, Error, HttpClient, Origin};
use a2a_transport::http::{Body, FetchResponse, ServeOptions, serve};
use a2a_types::{AgentCard, SecurityRequirement, SecurityScheme};
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A request as a server saw it.
#[derive(Clone, Debug)]
struct ServerLog {
    /// Path and query.
    target: String,
    headers: HeaderMap,
    form: HashMap<String, String>,
}

impl ServerLog {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn authorization(&self) -> Option<&str> {
        self.header(AUTHORIZATION.as_str())
    }

    #[track_caller]
    fn field(&self, name: &str) -> &str {
        let found = self.form.get(name);
        found.unwrap_or_else(|| panic!("no `{name}` in {:?}", self.form))
    }
}

/// A scripted server.
#[derive(Clone)]
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<ServerLog>>>,
}

impl Server {
    async fn new(answer: impl Fn(&ServerLog) -> Response<String> + Send + Sync + 'static) -> Self {
        let seen = Arc::<Mutex<Vec<ServerLog>>>::default();
        let (kept, answer) = (Arc::clone(&seen), Arc::new(answer));
        let service = service_fn(move |request: Request<Incoming>| {
            let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let is_form = head
                    .headers
                    .get(CONTENT_TYPE)
                    .is_some_and(|kind| kind == "application/x-www-form-urlencoded");
                let form = form_urlencoded::parse(if is_form { &body } else { b"" });
                let request = ServerLog {
                    target: head.uri.to_string(),
                    headers: head.headers,
                    form: form.into_owned().collect(),
                };
                let response = answer(&request);
                kept.lock().unwrap().push(request);
                Ok::<_, Infallible>(response.map(Body::full))
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let options = ServeOptions::default();
        tokio::spawn(serve(listener, service, options, std::future::pending()));
        Self { url, seen }
    }

    /// Starts an agent without authentication.
    async fn open() -> Self {
        Self::new(|_| ok()).await
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Returns the requests whose target starts with `target`.
    fn asked(&self, target: &str) -> Vec<ServerLog> {
        let seen = self.seen.lock().unwrap();
        let asked = seen.iter().filter(|seen| seen.target.starts_with(target));
        asked.cloned().collect()
    }
}

fn json_of(status: u16, body: Value) -> Response<String> {
    let mut response = Response::new(body.to_string());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

fn ok() -> Response<String> {
    json_of(200, json!({}))
}

/// Returns 401 with this `WWW-Authenticate`.
fn refusal(challenge: &str) -> Response<String> {
    let mut response = json_of(401, json!({}));
    let challenge = challenge.parse().unwrap();
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// Returns a card with these schemes, which requires these by name, any entry of the list.
fn card(schemes: &[(&str, Value)], required: &[&[&str]]) -> AgentCard {
    let scheme = |(name, scheme): &(&str, Value)| {
        let scheme: SecurityScheme = serde_json::from_value(scheme.clone()).unwrap();
        ((*name).to_owned(), scheme)
    };
    let requirement = |names: &&[&str]| SecurityRequirement {
        schemes: names
            .iter()
            .map(|name| ((*name).to_owned(), Default::default()))
            .collect(),
    };
    AgentCard {
        security_schemes: schemes.iter().map(scheme).collect(),
        security_requirements: required.iter().map(requirement).collect(),
        ..AgentCard::new("n", "d")
    }
}

fn key(location: &str, name: &str) -> Value {
    json!({"apiKeySecurityScheme": {"location": location, "name": name}})
}

fn http(scheme: &str) -> Value {
    json!({"httpAuthSecurityScheme": {"scheme": scheme}})
}

fn client_credentials(token_url: &str) -> Value {
    let flow = json!({"tokenUrl": token_url, "scopes": {}});
    json!({"oauth2SecurityScheme": {"flows": {"clientCredentials": flow}}})
}

/// Returns the credentials for the agent at a server. Panics if there are none.
#[track_caller]
fn shown(keyring: &Keyring, card: &AgentCard, agent: &Server) -> Arc<dyn Credentials> {
    let shown = keyring.for_card(card, &origin(&agent.url), &HttpClient::default());
    shown.unwrap().expect("something to show")
}

fn origin(url: &str) -> Origin {
    Origin::of(url).unwrap()
}

/// Sends a request to the agent at a server.
async fn ask(agent: &Server, credentials: &Arc<dyn Credentials>) -> Result<FetchResponse, Error> {
    let http = HttpClient::default();
    http.get_as(
        Some(&**credentials),
        &agent.at("/agent?x=1"),
        &HeaderMap::new(),
    )
    .await
}

/// Returns the credentials error. Panics on any other result.
#[track_caller]
fn problem<T>(result: Result<T, Error>) -> String {
    match result {
        Err(error @ Error::Credentials(_)) => error.to_string(),
        Err(error) => panic!("another error: {error:?}"),
        Ok(_) => panic!("no error"),
    }
}
