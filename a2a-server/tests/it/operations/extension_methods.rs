//! Methods of extensions, which an agent answers besides the methods of the protocol.

use a2a_server::{AuthError, Authenticator, ExtensionCall, Failure, Principal, Server, Turn};
use a2a_types::{AgentExtension, Error, ErrorKind};
use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::engine::card;

const URI: &str = "https://example.com/stock/v1";

struct Ada;

impl Authenticator for Ada {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        match head.headers.get("authorization") {
            Some(key) if key == "Bearer ada" => Ok(Principal::named("ada")),
            _ => Err(AuthError::unauthenticated("Bearer")),
        }
    }
}

async fn echo(turn: Turn) -> Result<(), Failure> {
    Ok(turn.reply(turn.text()).await?)
}

/// Returns the number of pieces, and who asked.
async fn stock(call: ExtensionCall) -> Result<Value, Error> {
    match call.params["item"].as_str() {
        Some(item) => Ok(json!({"item": item, "for": call.context.principal.name()})),
        None => Err(Error::new(
            ErrorKind::InvalidParams,
            "$.params.item: missing",
        )),
    }
}

async fn post(key: &str, body: &str) -> Response<Bytes> {
    let card = card().extension(AgentExtension::new(URI));
    let server = Server::builder(card, echo)
        .authenticator(Ada)
        .build()
        .unwrap();
    let service = server
        .http()
        .extension_method("stock/count", stock)
        .service();
    let request = Request::post("/")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .header("a2a-extensions", URI)
        .header("authorization", format!("Bearer {key}"))
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .unwrap();
    let (head, body) = service.handle(request).await.into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}

async fn answer(method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": "7", "method": method, "params": params});
    let response = post("ada", &body.to_string()).await;
    assert_eq!(response.status(), StatusCode::OK);
    serde_json::from_slice(response.body()).unwrap()
}

#[tokio::test]
async fn a_method_of_an_extension_is_answered() {
    let counted = answer("stock/count", json!({"item": "pear"})).await;
    let result = json!({"item": "pear", "for": "ada"});
    assert_eq!(
        counted,
        json!({"jsonrpc": "2.0", "id": "7", "result": result})
    );
    let refused = answer("stock/count", json!({})).await;
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(refused["error"]["message"], "$.params.item: missing");
    let unknown = answer("stock/sell", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn it_is_for_admitted_callers_and_confirms_its_extension() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"stock/count","params":{"item":"pear"}}"#;
    assert_eq!(post("eve", call).await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(post("ada", call).await.headers()["a2a-extensions"], URI);
    let notification = r#"{"jsonrpc":"2.0","method":"stock/count","params":{"item":"pear"}}"#;
    let response = post("ada", notification).await;
    assert_eq!(
        (response.status(), response.body().len()),
        (StatusCode::NO_CONTENT, 0)
    );
}
