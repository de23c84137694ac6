//! Claims of a caller, which reach the agent and prove nothing.

use std::sync::Arc;
use std::sync::Mutex;

use a2a_gateway::Gateway;
use a2a_server::{
    AuthError, Authenticator, Failure, Principal, Server, ServerBuilder, Transport, Turn,
};
use a2a_transport::CallRequest;
use a2a_types::{
    AgentCard, GetTaskRequest, Message, ProtocolVersion, Request, SendMessageRequest, TaskId,
};
use http::request::Parts;
use serde_json::{Value, json};

use crate::profile::wire::JsonCaller;

fn request(id: &str, metadata: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {
        "kind": "message", "messageId": id, "role": "user",
        "parts": [{"kind": "text", "text": "who am I?"}], "metadata": metadata,
    }}})
}

type RecordedCallers = Arc<Mutex<Vec<String>>>;

/// A server that records its callers.
fn builder(callers: &RecordedCallers) -> ServerBuilder {
    let callers = Arc::clone(callers);
    let agent = move |turn: Turn| {
        let callers = Arc::clone(&callers);
        async move {
            let line = format!(
                "{:?} {:?} {:?}",
                turn.principal(),
                turn.claimed_user_id(),
                turn.invocation_id(),
            );
            callers.lock().unwrap().push(line);
            turn.artifact("answer").text("anonymous").finish().await?;
            Ok::<(), Failure>(())
        }
    };
    Server::builder(AgentCard::new("Who", "Knows who calls"), agent)
}

#[tokio::test]
async fn claimed_user_reaches_the_agent_but_stays_anonymous() {
    let callers = RecordedCallers::default();
    let server = builder(&callers).build().unwrap();
    let caller = JsonCaller::of(server.clone()).await;
    let said = json!({"user_id": "of-message", "invocation_id": "inv-1", "secret": true});
    caller
        .ask_with(&request("1", said.clone()), &[("X-User-ID", "of-header")])
        .await;
    caller.ask_with(&request("2", said), &[]).await;
    caller
        .ask_with(&request("3", json!({"user_id": 7})), &[])
        .await;
    let expected = [
        r#"(anonymous) Some("of-header") Some("inv-1")"#,
        r#"(anonymous) Some("of-message") Some("inv-1")"#,
        "(anonymous) None None",
    ];
    assert_eq!(*callers.lock().unwrap(), expected);
}

/// A caller without credentials is refused, whatever it claims; and no claim opens the tasks of another
/// caller.
#[tokio::test]
async fn claim_does_not_authenticate() {
    struct Tokens;
    impl Authenticator for Tokens {
        async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
            let token = head
                .headers
                .get("authorization")
                .and_then(|it| it.to_str().ok());
            match token {
                Some("Bearer a") => Ok(Principal::named("alice")),
                Some("Bearer b") => Ok(Principal::named("bob")),
                _ => Err(AuthError::unauthenticated("Bearer")),
            }
        }
    }
    let callers = RecordedCallers::default();
    let server = builder(&callers).authenticator(Tokens).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let caller = JsonCaller::at(bound.local_addr());
    tokio::spawn(bound.run(std::future::pending()));

    let refused = caller
        .ask_with(&request("1", json!({})), &[("X-User-ID", "alice")])
        .await;
    assert!(refused[0]["error"].is_object(), "{}", refused[0]);
    let alices = [("authorization", "Bearer a"), ("X-User-ID", "bob")];
    let task = caller.ask_with(&request("2", json!({})), &alices).await[0]["result"]["id"].take();
    assert_eq!(*callers.lock().unwrap(), [r#"alice Some("bob") None"#]);

    let get = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": task}});
    let bobs = [("authorization", "Bearer b"), ("X-User-ID", "alice")];
    let refused = caller.ask_with(&get, &bobs).await;
    assert_eq!(refused[0]["error"]["code"], -32001, "{}", refused[0]);
    assert!(caller.ask_with(&get, &alices).await[0]["result"].is_object());

    // A claim of a caller in the same process does not open the task either: it is not authenticated.
    let id: TaskId = task.as_str().unwrap().into();
    let mut call = CallRequest::new(Request::GetTask(GetTaskRequest {
        id,
        ..Default::default()
    }));
    call.context.claims.user_id = Some("alice".into());
    assert!(server.call(call).await.is_err());
}

/// An agent may trust its gateway about the user: the gateway passes no caller's claim on.
#[tokio::test]
async fn a_gateway_passes_no_claim_on() {
    let callers = RecordedCallers::default();
    let gateway = Gateway::new(builder(&callers).build().unwrap(), ProtocolVersion::V1_0);
    let message = Message::user("who am I?");
    let mut call = CallRequest::new(Request::SendMessage(SendMessageRequest {
        message,
        ..Default::default()
    }));
    call.context.claims.user_id = Some("alice".into());
    gateway.call(call).await.unwrap();
    assert_eq!(*callers.lock().unwrap(), ["(anonymous) None None"]);
}
