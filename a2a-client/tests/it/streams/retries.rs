//! Retried and unretried requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use a2a_client::{Client, Error, ProtocolVersion, Retries, Retrying, Transport};
use a2a_transport::{BoxFuture, CallRequest, CallResponse};
use a2a_types::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, ErrorKind,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, Operation, Request, Response,
    SendMessageRequest, SubscribeToTaskRequest, TaskPushNotificationConfig, TaskState,
};
use tokio::time::Instant;

use crate::streams::scripted_agent::{Answer, ScriptedAgent, looked, refused, task};

/// An agent that never answers, but with this error.
struct FailingAgent {
    error: fn() -> Error,
    asked: Arc<AtomicU32>,
}

impl Transport for FailingAgent {
    fn call(&self, _: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Err((self.error)()) })
    }
}

/// Returns the number of attempts of a request that fails with this error.
async fn asked(request: impl Into<Request>, retries: Retries, error: fn() -> Error) -> u32 {
    let asked = Arc::new(AtomicU32::new(0));
    let failing = FailingAgent {
        error,
        asked: Arc::clone(&asked),
    };
    let reply = Retrying::new(failing, retries)
        .call(CallRequest::new(request))
        .await;
    assert!(reply.is_err());
    asked.load(Ordering::Relaxed)
}

fn cut() -> Error {
    Error::Connection("cut".into())
}

fn unreachable() -> Error {
    Error::Unreachable("no server".into())
}

fn bad_gateway() -> Error {
    Error::NotA2a {
        status: 502,
        problem: "no agent".to_owned(),
    }
}

fn invalid() -> Error {
    ErrorKind::InvalidParams.into()
}

fn send() -> SendMessageRequest {
    SendMessageRequest::from("go")
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_safe_to_repeat_are_retried() {
    let safe: [Request; 8] = [
        GetTaskRequest::default().into(),
        ListTasksRequest::default().into(),
        CancelTaskRequest::default().into(),
        GetTaskPushNotificationConfigRequest::default().into(),
        ListTaskPushNotificationConfigsRequest::default().into(),
        DeleteTaskPushNotificationConfigRequest::default().into(),
        GetExtendedAgentCardRequest::default().into(),
        Request::SubscribeToTask(SubscribeToTaskRequest::default()),
    ];
    for request in safe {
        for error in [cut, bad_gateway, unreachable] {
            let times = asked(request.clone(), Retries::default(), error).await;
            assert_eq!(times, 4, "{request:?}");
        }
        assert_eq!(asked(request, Retries::default(), invalid).await, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_is_sent_again_only_if_nothing_was_done_or_the_agent_knows_it() {
    let resending = || Retries::default().resend_messages(true);
    let streaming = || Request::SendStreamingMessage(send());
    for request in [Request::SendMessage(send()), streaming()] {
        for error in [cut, bad_gateway] {
            assert_eq!(asked(request.clone(), Retries::default(), error).await, 1);
            assert_eq!(asked(request.clone(), resending(), error).await, 4);
        }
        assert_eq!(asked(request, Retries::default(), unreachable).await, 4);
    }
    let mut nameless = send();
    nameless.message.message_id = Default::default();
    assert_eq!(asked(nameless, resending(), cut).await, 1);

    let webhook = TaskPushNotificationConfig::default;
    assert_eq!(asked(webhook(), Retries::default(), cut).await, 1);
    let mut named = webhook();
    named.id = "mine".into();
    assert_eq!(asked(named, Retries::default(), cut).await, 4);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for() {
    fn busy() -> Error {
        Error::Busy {
            answer: ErrorKind::Unavailable.into(),
            after: Some(Duration::from_secs(20)),
        }
    }
    fn busy_for_long() -> Error {
        Error::Busy {
            answer: ErrorKind::Unavailable.into(),
            after: Some(Duration::from_secs(3600)),
        }
    }
    let begun = Instant::now();
    assert_eq!(asked(send(), Retries::default(), busy).await, 4);
    assert!(
        begun.elapsed() >= Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(asked(send(), Retries::default(), busy_for_long).await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_agent_in_need_is_not_asked_much_more() {
    let asked = Arc::new(AtomicU32::new(0));
    let failing = FailingAgent {
        error: unreachable,
        asked: Arc::clone(&asked),
    };
    let client = Client::new(failing);
    for _ in 0..1000 {
        assert!(client.clone().send("go").await.is_err());
    }
    let asked = asked.load(Ordering::Relaxed);
    assert!((1100..=1110).contains(&asked), "{asked}");
}

/// Responses of busy agents and their proxies, over a socket, in each protocol version.
#[tokio::test]
async fn busy_answers_are_understood() {
    const PAGE: &str =
        "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbusy";
    const LATER: &str =
        "HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 0\r\n\r\n";
    for &protocol_version in ProtocolVersion::ALL {
        let done = Answer::Once(
            Operation::SendMessage,
            Ok(Response::SendMessage(
                a2a_client::SendMessageResponse::Task(task(TaskState::Completed, &[])),
            )),
        );
        let agent = ScriptedAgent::new(
            protocol_version,
            [Answer::Raw(PAGE), Answer::Raw(LATER), done],
        )
        .await;
        let sent = agent.client().send("go").await;
        assert!(sent.is_ok(), "{protocol_version}: {sent:?}");
        assert_eq!(agent.operations().len(), 3);
    }
}

#[tokio::test]
async fn a_question_whose_connection_broke_is_asked_again() {
    for &protocol_version in ProtocolVersion::ALL {
        let answers = [
            Answer::Raw(""),
            Answer::Raw("HTTP/1.1 2"),
            looked(TaskState::Working, &[]),
        ];
        let agent = ScriptedAgent::new(protocol_version, answers).await;
        let got = agent.client().get_task("t", None).await;
        assert!(got.is_ok(), "{protocol_version}: {got:?}");

        let agent = ScriptedAgent::new(
            protocol_version,
            [Answer::Raw(""), refused(ErrorKind::Internal)],
        )
        .await;
        assert!(agent.client().send("go").await.is_err());
        assert_eq!(
            agent.operations(),
            [Operation::SendMessage],
            "{protocol_version}"
        );
    }
}

/// An agent that cancels a task, and whose first answer is lost.
#[derive(Default)]
struct CancelingAgent(AtomicU32);

impl Transport for CancelingAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let reply = match (call.request, self.0.fetch_add(1, Ordering::Relaxed)) {
            (Request::CancelTask(_), 0) => Err(cut()),
            (Request::CancelTask(_), _) => Err(Error::Agent(ErrorKind::TaskNotCancelable.into())),
            _ => Ok(CallResponse::once(Response::GetTask(task(
                TaskState::Canceled,
                &[],
            )))),
        };
        Box::pin(std::future::ready(reply))
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_whose_answer_was_lost_has_succeeded() {
    let cancel = || CallRequest::new(CancelTaskRequest::default());
    let retrying = Retrying::new(CancelingAgent::default(), Retries::default());
    let reply = retrying.call(cancel()).await.unwrap();
    let canceled = match reply.answer {
        a2a_transport::ResponseBody::Once(Response::CancelTask(task)) => task.status.state,
        _ => panic!("expected the answer of CancelTask"),
    };
    assert_eq!(canceled, TaskState::Canceled);
    // The agent's first word is believed.
    let refused = retrying.call(cancel()).await;
    assert!(matches!(refused, Err(Error::Agent(_))));
}
