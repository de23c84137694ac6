//! A slip on a card is a finding, and what can be called is tested all the same.

use std::convert::Infallible;
use std::time::Duration;

use a2a_conformance::agent::{Options, Selection, run};
use a2a_conformance::case::Profile;
use a2a_conformance::record::Verdict;
use a2a_server::Server;
use a2a_server::demo::Reference;
use a2a_transport::http::HttpService;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A card of 0.3 without a slip.
fn card_of_0_3(url: &str) -> Value {
    json!({
        "name": "Reference", "description": "Does what it is told", "version": "1", "url": url,
        "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC", "capabilities": {"streaming": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "echo", "name": "Echo", "description": "Says it again", "tags": ["echo"]}]
    })
}

/// A card of 1.0 without a slip.
fn card_of_1_0(url: &str) -> Value {
    json!({
        "name": "Reference", "description": "Does what it is told", "version": "1",
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "echo", "name": "Echo", "description": "Says it again", "tags": ["echo"]}]
    })
}

async fn answer(
    service: HttpService<Server>,
    card: Value,
    request: Request<Incoming>,
) -> Response<Full<hyper::body::Bytes>> {
    if request.uri().path().contains("/.well-known/") {
        let mut response = Response::new(Full::from(card.to_string()));
        let json = http::HeaderValue::from_static("application/json");
        response.headers_mut().insert("content-type", json);
        return response;
    }
    let response = service.handle(request).await;
    let (head, body) = response.into_parts();
    Response::from_parts(head, Full::from(body.collect().await.unwrap().to_bytes()))
}

/// Runs some checks against our agent behind such a card; returns whether `card.valid` and `send.task-or-message` are
/// met, or why there is no run.
async fn met(make: fn(&str) -> Value, slip: fn(&mut Value)) -> Result<[bool; 2], String> {
    let server = Server::builder(Reference::card(), Reference)
        .build()
        .unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap().any_host();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let service = bound.public_url(&url).service();
    let mut card = make(&url);
    slip(&mut card);
    let serving = tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            let (service, card) = (service.clone(), card.clone());
            tokio::spawn(async move {
                let answering = hyper::service::service_fn(|request| {
                    let answering = answer(service.clone(), card.clone(), request);
                    async move { Ok::<_, Infallible>(answering.await) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                // The suite may close the connection early.
                let _ = http
                    .serve_connection(TokioIo::new(connection), answering)
                    .await;
            });
        }
    });
    let options = Options {
        profile: Profile::BlackBox,
        selection: Selection {
            run: vec!["card.valid".to_owned(), "send.task-or-message".to_owned()],
            ..Selection::default()
        },
        response_timeout: Duration::from_secs(20),
        ..Options::of(url)
    };
    let tested = run(&options, |_, _| {}).await;
    serving.abort();
    let tested = tested.map_err(|error| error.to_string())?;
    Ok(["card.valid", "send.task-or-message"].map(|id| {
        let mut results = tested.checks.iter().filter(|result| result.id == id);
        results.all(|result| matches!(result.verdict, Verdict::Pass | Verdict::PassLenient))
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_without_a_slip_is_valid() {
    for make in [card_of_0_3, card_of_1_0] {
        assert_eq!(met(make, |_| {}).await, Ok([true, true]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slip_is_a_finding_and_the_agent_is_tested() {
    type Slip = (&'static str, fn(&str) -> Value, fn(&mut Value));
    let slips: &[Slip] = &[
        ("a provider without a URL", card_of_0_3, |card| {
            card["provider"] = json!({"name": "Acme"})
        }),
        ("a skill without an id and tags", card_of_0_3, |card| {
            card["skills"] = json!([{"name": "S", "description": "d"}]);
        }),
        ("no version", card_of_0_3, |card| {
            drop(card.as_object_mut().unwrap().remove("version"))
        }),
        ("a number as version", card_of_0_3, |card| {
            card["version"] = json!(1.0)
        }),
        ("an object as security", card_of_0_3, |card| {
            card["security"] = json!({"b": []})
        }),
        ("a list as capabilities", card_of_0_3, |card| {
            card["capabilities"] = json!(["streaming"])
        }),
        ("a text as skill", card_of_0_3, |card| {
            card["skills"] = json!(["a"])
        }),
        ("a number as protocol version", card_of_0_3, |card| {
            card["protocolVersion"] = json!(0.3)
        }),
        ("an interface of another kind", card_of_1_0, |card| {
            let interfaces = card["supportedInterfaces"].as_array_mut().unwrap();
            interfaces.insert(
                0,
                json!({"url": "http://x.example/sse", "transport": "sse"}),
            );
        }),
        ("an interface without a version", card_of_1_0, |card| {
            let interface = card["supportedInterfaces"][0].as_object_mut().unwrap();
            interface.remove("protocolVersion");
            card["protocolVersion"] = json!("1.0");
        }),
    ];
    for (name, make, slip) in slips {
        assert_eq!(met(*make, *slip).await, Ok([false, true]), "{name}");
    }
}
