//! Every check can fail: servers that are wrong in everything make each of them say so.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use a2a_conformance::agent::{Options, RunError, run};
use a2a_conformance::catalogue::agent_cases;
use a2a_conformance::record::Verdict;
use a2a_conformance_proof::agent::Bug;
use a2a_server::demo::Reference;
use a2a_server::{Server, WebhookPolicy};
use a2a_transport::Principal;
use a2a_transport::http::{AuthError, Authenticator, HttpService};
use a2a_transport::webhook::Jwks;
use a2a_types::{AgentCard, AgentExtension};
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

/// Fault of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AgentFault {
    /// It refuses everything.
    Refuses,
    /// It answers every request with the same task.
    Agrees,
    /// It answers every request with a new task.
    Varies,
    /// Its answers are pages.
    Pages,
    /// Its card is wrong.
    Card,
    /// It admits every caller, as the same principal.
    LetsIn,
}

/// Authenticator that takes the token for the name of the caller; with `true`, all callers are one principal.
struct NameAuthenticator(bool);

impl Authenticator for NameAuthenticator {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let credentials = head.headers.get(AUTHORIZATION);
        match credentials.and_then(|value| value.to_str().ok()) {
            _ if self.0 => Ok(Principal::named("all")),
            Some(name @ ("Bearer first" | "Bearer second")) => Ok(Principal::named(name)),
            Some("Bearer guest") => Err(AuthError::forbidden()),
            _ => Err(AuthError::unauthenticated("Bearer")),
        }
    }
}

fn bearer(token: &str) -> HeaderMap {
    let value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    HeaderMap::from_iter([(AUTHORIZATION, value)])
}

/// Features that the card of a server declares.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DeclaredFeatures {
    /// Everything that most agents may have.
    Everything,
    /// Only what every agent must have.
    Nothing,
    /// 1.0 by JSON-RPC alone, for one tenant, with an extension that is required.
    Particular,
}

/// A card that offers everything, or nothing.
fn card(everything: bool) -> AgentCard {
    let mut card = Reference::card();
    let capabilities = &mut card.capabilities;
    capabilities.streaming = Some(everything);
    capabilities.push_notifications = Some(everything);
    capabilities.extended_agent_card = Some(everything);
    if everything {
        capabilities.extensions = vec![AgentExtension {
            uri: "https://extensions.example/mood/v1".to_owned(),
            ..AgentExtension::default()
        }];
        let scheme = json!({"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}});
        card.security_schemes = serde_json::from_value(scheme).unwrap();
        let requirement = json!([{"schemes": {"token": {"list": []}}}]);
        card.security_requirements = serde_json::from_value(requirement).unwrap();
    }
    card
}

/// Reduces a card to JSON-RPC in 1.0, for one tenant, with a required extension.
fn particular(mut card: Value) -> Value {
    let required = json!([{"uri": "https://extensions.example/mood/v1", "required": true}]);
    card["capabilities"]["extensions"] = required;
    let interfaces = card["supportedInterfaces"].as_array_mut().unwrap();
    interfaces.retain(|one| one["protocolVersion"] == "1.0" && one["protocolBinding"] == "JSONRPC");
    interfaces[0]["tenant"] = json!("one");
    let members = card.as_object_mut().unwrap();
    for old in [
        "url",
        "protocolVersion",
        "preferredTransport",
        "additionalInterfaces",
    ] {
        members.remove(old);
    }
    card
}

/// Breaks every part of a card that can be wrong while the card stays readable.
fn spoiled(mut card: Value) -> Value {
    let skill = card["skills"][0].clone();
    card["skills"].as_array_mut().unwrap().push(skill);
    card["description"] = json!("sk-0123456789abcdef");
    card["documentationUrl"] = json!("https://user:password@agent.example/");
    card["security"] = json!([{"nobody": []}]);
    card["securityRequirements"] = json!([{"schemes": {"nobody": {"list": []}}}]);
    card["securitySchemes"]["login"] = json!({
        "openIdConnectSecurityScheme": {"openIdConnectUrl": "http://agent.example/"},
        "type": "openIdConnect", "openIdConnectUrl": "http://agent.example/",
    });
    card["protocolVersion"] = json!("latest");
    card["capabilities"]["extensions"] = json!([{"uri": "mood"}]);
    card["signatures"] = json!([{"protected": "eyJhbGciOiJub25lIn0", "signature": "!"}]);
    card["preferredTransport"].take();
    let url = card["url"].clone();
    card["additionalInterfaces"] = json!([{"url": url, "transport": "HTTP+JSON"}, {"url": "http://agent.example/", "transport": "x"}]);
    let wrong =
        json!({"url": "http://agent.example/", "protocolBinding": "x", "protocolVersion": "1.0.3"});
    card["supportedInterfaces"]
        .as_array_mut()
        .unwrap()
        .push(wrong);
    card
}

async fn answer(
    service: HttpService<Server>,
    is: AgentFault,
    offer: DeclaredFeatures,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let is_card = head.uri.path().contains("/.well-known/");
    let json: Value = serde_json::from_slice(&body).unwrap_or_default();
    let request = Request::from_parts(head.clone(), Full::from(body));
    let response = match (is, is_card) {
        (AgentFault::Card, true) | (AgentFault::LetsIn, _) | (_, true) => {
            service.handle(request).await
        }
        _ => return Response::new(Full::from(broken(is, &head, &json))),
    };
    let (mut head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    if is_card
        && offer == DeclaredFeatures::Particular
        && let Ok(card) = serde_json::from_slice(&body)
    {
        head.headers.remove("content-length");
        let card = particular(card);
        return Response::from_parts(head, Full::from(card.to_string()));
    }
    if !is_card || is != AgentFault::Card {
        return Response::from_parts(head, Full::from(body));
    }
    for name in ["content-length", "etag", "last-modified", "cache-control"] {
        head.headers.remove(name);
    }
    let page = HeaderValue::from_static("text/html");
    head.headers.insert("content-type", page);
    let body = serde_json::from_slice(&body)
        .map(spoiled)
        .unwrap_or_default();
    Response::from_parts(head, Full::from(body.to_string()))
}

/// An answer that is never right.
fn broken(is: AgentFault, head: &Parts, request: &Value) -> String {
    if is == AgentFault::Pages {
        return "<html>at Main.java:7</html>".to_owned();
    }
    let is_1_0 = head.headers.contains_key("a2a-version");
    let id = match is {
        AgentFault::Varies => uuid::Uuid::new_v4().to_string(),
        _ => "t".to_owned(),
    };
    let task = match is_1_0 {
        true => json!({"id": id, "contextId": "c", "history": [],
            "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-01T00:00:00Z"}}),
        false => {
            json!({"kind": "task", "id": id, "contextId": "c", "sessionId": "c", "status": {"state": "completed"}})
        }
    };
    let sends = request["method"] == "SendMessage" || head.uri.path().contains("message:");
    let result = match is_1_0 && sends {
        true => json!({ "task": task }),
        false => task,
    };
    let error = json!({"code": -32603, "message": "no"});
    let by_rpc = request.get("jsonrpc").is_some() || !head.uri.path().contains("/rest");
    // The server has HTTP+JSON in addition to JSON-RPC, even if the card does not say so.
    let details = json!([{"reason": "TASK_NOT_FOUND"}]);
    let whole = match (is, by_rpc) {
        (AgentFault::Refuses, _) if head.uri.path().starts_with("/tasks/") => {
            json!({"error": {"code": 404, "message": "no", "details": details}})
        }
        (AgentFault::Refuses, true) => {
            json!({"jsonrpc": "2.0", "id": request["id"], "error": error})
        }
        (AgentFault::Refuses, false) => {
            json!({"error": {"code": 500, "status": "INTERNAL", "message": "no"}})
        }
        (_, true) => json!({"jsonrpc": "2.0", "id": 1, "result": result}),
        (_, false) => result,
    };
    whole.to_string()
}

/// The checks that a broken server does not pass.
async fn unmet(is: AgentFault, offer: DeclaredFeatures) -> BTreeSet<String> {
    let everything = offer == DeclaredFeatures::Everything;
    let server = Server::builder(card(everything), Reference)
        .authenticator(NameAuthenticator(is == AgentFault::LetsIn));
    let local = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    let server = match everything {
        true => server.extended_card(card(true)).webhooks(local),
        false => server,
    };
    let bound = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let bound = bound.any_host();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let service = bound.public_url(&url).service();
    let serving = tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            let service = service.clone();
            tokio::spawn(async move {
                let broken = hyper::service::service_fn(|request| {
                    let service = service.clone();
                    async move { Ok::<_, Infallible>(answer(service, is, offer, request).await) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                // The suite may close the connection early.
                let _ = http
                    .serve_connection(TokioIo::new(connection), broken)
                    .await;
            });
        }
    });
    let options = Options {
        headers: bearer("first"),
        second_headers: bearer("second"),
        forbidden_headers: bearer("guest"),
        expired_headers: bearer("expired"),
        wrong_audience_headers: bearer("of-another"),
        wrong_scope_headers: bearer("guest"),
        card_keys: Some(Jwks::default()),
        response_timeout: Duration::from_millis(150),
        delivery_timeout: Duration::from_millis(450),
        jobs: 32,
        ..Options::of(url)
    };
    let mut tested = run(&options, |_, _| {}).await;
    for _ in 0..MAX_TRIES {
        // The card comes too late if the machine is slow.
        let Err(RunError::Unreachable(_)) = tested else {
            break;
        };
        tested = run(&options, |_, _| {}).await;
    }
    let run = tested.unwrap();
    serving.abort();
    let unmet = run.checks.into_iter().filter(|result| {
        let missed = !result.mismatches.is_empty();
        assert!(missed || result.verdict != Verdict::Fail, "{result:?}");
        missed
    });
    unmet.map(|result| result.id).collect()
}

/// Number of further runs if the card is not found in time.
const MAX_TRIES: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn every_check_can_fail() {
    let mut failed = BTreeSet::new();
    for is in [
        AgentFault::Refuses,
        AgentFault::Agrees,
        AgentFault::Varies,
        AgentFault::Pages,
        AgentFault::Card,
        AgentFault::LetsIn,
    ] {
        failed.extend(unmet(is, DeclaredFeatures::Everything).await);
    }
    for is in [AgentFault::Refuses, AgentFault::Agrees] {
        failed.extend(unmet(is, DeclaredFeatures::Nothing).await);
        failed.extend(unmet(is, DeclaredFeatures::Particular).await);
    }
    // None of these fetches files, begins a task that takes webhooks, has an issuer of tokens, repeats
    // credentials, signs what it sends to webhooks, speaks gRPC, or is behind TLS. The suite's self-test proves that
    // these are caught.
    for bug in [
        Bug::FetchesFiles,
        Bug::WebhookHasOtherUrl,
        Bug::AdmitsHmacByPublicKey,
        Bug::RepeatsSecrets,
        Bug::UnpublishedSigningKey,
        Bug::AcceptsOldTls,
        Bug::NoStrictTransportSecurity,
        Bug::GrpcServesUnknownMethod,
        Bug::GrpcAcceptsMalformed,
        Bug::GrpcRefusesUnknownField,
        Bug::GrpcRenamesArtifacts,
        Bug::GrpcAdmitsWrongCredentials,
    ] {
        failed.extend(bug.mutant().caught_by.iter().cloned());
    }
    let cases = agent_cases().unwrap();
    let never = cases.iter().map(|case| case.id.as_str());
    let never: Vec<_> = never.filter(|id| !failed.contains(*id)).collect();
    assert_eq!(never, [""; 0], "they pass whatever a server does");
}
