//! Webhooks of a task, at agents that differ in what they answer about them.

use std::sync::{Arc, Mutex};

use a2a_client::{Client, Error, ProtocolVersion, Transport};
use a2a_transport::{BoxFuture, CallRequest, CallResponse};
use a2a_types::{
    ErrorKind, ListTaskPushNotificationConfigsResponse, Operation, Request, Response,
    TaskPushNotificationConfig,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// An agent whose task has these webhooks; none if it cannot list them.
#[derive(Clone)]
struct PushAgent {
    listed: Option<Vec<&'static str>>,
    asked: Arc<Mutex<Vec<Operation>>>,
}

fn config(id: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        id: id.into(),
        ..TaskPushNotificationConfig::default()
    }
}

impl Transport for PushAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        self.asked.lock().unwrap().push(call.request.operation());
        let response = match call.request {
            Request::ListTaskPushNotificationConfigs(_) => match &self.listed {
                Some(ids) => {
                    let configs = ids.iter().map(|id| config(id)).collect();
                    let list = ListTaskPushNotificationConfigsResponse {
                        configs,
                        ..ListTaskPushNotificationConfigsResponse::default()
                    };
                    Ok(Response::ListTaskPushNotificationConfigs(list))
                }
                None => Err(ErrorKind::MethodNotFound.into()),
            },
            Request::GetTaskPushNotificationConfig(params) => match &self.listed {
                Some(_) => Err(ErrorKind::TaskNotFound.into()),
                None => {
                    assert!(params.id.is_empty());
                    Ok(Response::GetTaskPushNotificationConfig(config("its own")))
                }
            },
            other => panic!("{other:?}"),
        };
        Box::pin(async move { response.map(CallResponse::once) })
    }
}

#[tokio::test]
async fn the_only_webhook_needs_no_name() {
    use Operation::{
        GetTaskPushNotificationConfig as Get, ListTaskPushNotificationConfigs as List,
    };
    let ask = async |listed| {
        let asked = Arc::default();
        let agent = PushAgent { listed, asked };
        let found = Client::new(agent.clone()).push_config("t", None).await;
        let asked = agent.asked.lock().unwrap().clone();
        (found.map(|config| config.id.to_string()), asked)
    };
    let (found, asked) = ask(Some(vec!["a"])).await;
    assert_eq!((found.unwrap().as_str(), asked), ("a", vec![List]));
    let (found, asked) = ask(None).await;
    assert_eq!(
        (found.unwrap().as_str(), asked),
        ("its own", vec![List, Get])
    );
    let (found, asked) = ask(Some(vec!["a", "b"])).await;
    let error = found.unwrap_err();
    assert!(matches!(error, Error::Ambiguous(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the task has several webhooks: name one of a, b"
    );
    assert_eq!(asked, [List]);
    let (found, asked) = ask(Some(vec![])).await;
    assert!(matches!(found, Err(Error::Agent(_))), "{found:?}");
    assert_eq!(asked, [List, Get]);
}

/// The Python SDK answers a deletion by an envelope without a result.
#[tokio::test]
async fn a_deletion_without_a_result_is_done() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let body = r#"{"id":1,"jsonrpc":"2.0"}"#;
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                content-length: {length}\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    for protocol_version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
        let client = Client::at(&url, protocol_version).unwrap();
        client.delete_push_config("t", "c").await.unwrap();
        let found = client.get_task("t", None).await;
        assert!(matches!(found, Err(Error::Malformed(_))), "{found:?}");
    }
}
