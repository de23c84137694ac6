//! Credentials of one call, at an agent that many users call by one client.

use std::time::Duration;

use a2a_client::credentials::{AccessToken, Challenge, bearer};
use a2a_client::{Client, ProtocolVersion, SendMessageResponse, StreamExt};
use a2a_transport::http::{AuthChallenge, AuthError, Authenticator, HttpService};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Principal, Transport, Update};
use a2a_types::{Operation, Request as A2aRequest, Response as A2aResponse, Task, TaskState};
use http::request::Parts;

use super::*;

/// An agent that names its caller in every answer. Its streams break after their first event.
#[derive(Clone, Default)]
pub(super) struct UserAgent {
    /// The users, by their tokens.
    tokens: Arc<Mutex<HashMap<String, &'static str>>>,
    /// Operations and their users.
    calls: Arc<Mutex<Vec<(Operation, String)>>>,
    /// `Authorization` of all requests.
    sent: Arc<Mutex<Vec<String>>>,
}

impl UserAgent {
    /// Serves an agent that accepts these tokens.
    pub(super) async fn serve(tokens: &[(&str, &'static str)]) -> (Self, String) {
        let agent = Self::default();
        tokens
            .iter()
            .for_each(|(token, user)| agent.accept(token, user));
        let service = HttpService::new(agent.clone()).authenticator(agent.clone());
        let service = service.ignore_card_interfaces();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let options = ServeOptions::default();
        tokio::spawn(serve(listener, service, options, std::future::pending()));
        (agent, url)
    }

    pub(super) fn accept(&self, token: &str, user: &'static str) {
        self.tokens.lock().unwrap().insert(token.to_owned(), user);
    }

    pub(super) fn revoke(&self, token: &str) {
        self.tokens.lock().unwrap().remove(token);
    }

    fn calls(&self) -> Vec<(Operation, String)> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    /// Returns the tokens of all requests so far.
    pub(super) fn sent(&self) -> Vec<String> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

impl Authenticator for UserAgent {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let token = head
            .headers
            .get(AUTHORIZATION)
            .map_or("", |value| value.to_str().unwrap());
        let token = token.trim_start_matches("Bearer ");
        self.sent.lock().unwrap().push(token.to_owned());
        let user = self.tokens.lock().unwrap().get(token).copied();
        let challenge = AuthChallenge::new("Bearer").with("error", "invalid_token");
        let found = user.map(Principal::named);
        found.ok_or(AuthError::InvalidCredentials {
            challenges: vec![challenge],
        })
    }
}

impl Transport for UserAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let user = call.context.principal.name().unwrap().to_owned();
        let operation = call.request.operation();
        self.calls.lock().unwrap().push((operation, user.clone()));
        let task = |state| {
            let mut task = Task::submitted("t".into(), "c".into());
            task.status.state = state;
            task.status.message = Some(Box::new(a2a_types::Message::agent("hi")));
            a2a_types::Event::Task(task)
        };
        let stream = |event, sequence| {
            let update = Update::new(event, Some(sequence));
            CallResponse::stream(tokio_stream::once(Ok(update)))
        };
        let reply = match call.request {
            A2aRequest::SendMessage(_) => CallResponse::once(A2aResponse::SendMessage(
                SendMessageResponse::Message(a2a_types::Message::agent(user)),
            )),
            A2aRequest::SendStreamingMessage(_) => stream(task(TaskState::Working), 1),
            A2aRequest::SubscribeToTask(_) => stream(task(TaskState::Completed), 2),
            A2aRequest::GetExtendedAgentCard(_) => {
                CallResponse::once(A2aResponse::GetExtendedAgentCard(AgentCard::new(user, "d")))
            }
            other => panic!("{other:?}"),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// Returns the user that the agent sees.
async fn user(sending: a2a_client::SendMessageBuilder) -> String {
    match sending.await.unwrap() {
        SendMessageResponse::Message(message) => message.text(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn users_of_one_client_are_each_seen_as_themselves() {
    let tokens = [("own", "server"), ("a", "alice"), ("b", "bob")];
    let (_, url) = UserAgent::serve(&tokens).await;
    let builder = Client::builder(&url).keyring(Keyring::default().bearer("own"));
    let client = builder.connect_at(ProtocolVersion::V1_0).unwrap();
    let calls: Vec<_> = (0..60)
        .map(|number| {
            let (client, sending) = (client.clone(), client.send("who am I?"));
            let call = match number % 5 {
                0 => ("server", sending),
                1 => ("alice", sending.credentials(bearer("a").unwrap())),
                2 => ("bob", sending.credentials(bearer("b").unwrap())),
                3 => (
                    "alice",
                    client.with_credentials(bearer("a").unwrap()).send("I"),
                ),
                _ => (
                    "bob",
                    client.with_credentials(bearer("b").unwrap()).send("I"),
                ),
            };
            tokio::spawn(async move { (call.0, user(call.1).await) })
        })
        .collect();
    for call in calls {
        let (expected, seen) = call.await.unwrap();
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn headers_of_the_client_do_not_name_another_caller() {
    let agent = Server::open().await;
    let header = |value: &'static str| value.parse().unwrap();
    let client = Client::builder(&agent.url)
        .header(AUTHORIZATION, header("Bearer own"))
        .header(http::header::COOKIE, header("session=own"))
        .header(http::HeaderName::from_static("x-route"), header("7"))
        .connect_at(ProtocolVersion::V1_0)
        .unwrap();
    let keyring = Keyring::default().api_key("k3y");
    let card = card(&[("key", key("header", "X-Key"))], &[&["key"]]);
    let _ = client
        .send("hi")
        .credentials(shown(&keyring, &card, &agent))
        .await;
    let _ = client.send("hi").await;
    let [alice, own] = &agent.asked("/")[..] else {
        panic!()
    };
    assert_eq!(alice.header("x-key"), Some("k3y"));
    assert_eq!(alice.header("x-route"), Some("7"));
    assert_eq!(
        (alice.authorization(), alice.header("cookie")),
        (None, None)
    );
    assert_eq!(own.header("x-key"), None);
    assert_eq!(own.authorization(), Some("Bearer own"));
    assert_eq!(own.header("cookie"), Some("session=own"));
}

#[tokio::test]
async fn a_stream_is_resumed_with_its_own_credentials() {
    let tokens = [("own", "server"), ("a", "alice")];
    let (agent, url) = UserAgent::serve(&tokens).await;
    let builder = Client::builder(&url).keyring(Keyring::default().bearer("own"));
    let client = builder.connect_at(ProtocolVersion::V1_0).unwrap();
    use Operation::{SendStreamingMessage as Send, SubscribeToTask as Subscribe};
    for (mut updates, user) in [
        (
            client.send("hi").credentials(bearer("a").unwrap()).follow(),
            "alice",
        ),
        (
            client
                .with_credentials(bearer("a").unwrap())
                .send("hi")
                .follow(),
            "alice",
        ),
        (client.send("hi").follow(), "server"),
    ] {
        while let Some(event) = updates.next().await {
            event.unwrap();
        }
        assert_eq!(updates.task().unwrap().status.state, TaskState::Completed);
        let expected = [(Send, user.to_owned()), (Subscribe, user.to_owned())];
        assert_eq!(agent.calls(), expected);
    }
}

#[tokio::test]
async fn an_extended_card_is_of_its_user_alone() {
    for protocol_version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
        let (_, url) = UserAgent::serve(&[("own", "server"), ("a", "alice")]).await;
        let builder = Client::builder(&url).keyring(Keyring::default().bearer("own"));
        let client = builder.connect_at(protocol_version).unwrap();
        let alice = client.with_credentials(bearer("a").unwrap());
        assert_eq!(alice.extended_card().await.unwrap().name, "alice");
        assert_eq!(alice.card().unwrap().name, "alice");
        assert_eq!(client.card(), None, "it is not the card of every caller");
        assert_eq!(client.extended_card().await.unwrap().name, "server");
        assert_eq!(alice.card().unwrap().name, "alice");
    }
}

#[tokio::test]
async fn the_extended_card_of_0_2_is_read_with_the_credentials_of_the_call() {
    let agent = Server::open().await;
    let builder = Client::builder(&agent.url).keyring(Keyring::default().bearer("own"));
    let client = builder.connect_at(ProtocolVersion::V0_2).unwrap();
    let alice = client.with_credentials(bearer("a").unwrap());
    let _ = alice.extended_card().await;
    let asked = agent.asked("/agent");
    assert_eq!(asked[0].authorization(), Some("Bearer a"), "{asked:?}");
}

/// Returns credentials whose tokens are `t1`, `t2`, and so on, and the number of them.
fn numbered() -> (Arc<dyn Credentials>, Arc<Mutex<usize>>) {
    let given = Arc::<Mutex<usize>>::default();
    let count = Arc::clone(&given);
    let keyring = Keyring::default().bearer_from(move || {
        let mut given = count.lock().unwrap();
        *given += 1;
        let token = AccessToken::new(format!("t{given}"));
        async move { Ok(token) }
    });
    let anywhere = origin("http://127.0.0.1");
    let shown = keyring.for_card(&card(&[], &[]), &anywhere, &HttpClient::default());
    (shown.unwrap().unwrap(), given)
}

#[tokio::test]
async fn a_hundred_refused_calls_share_one_token_request() {
    let (agent, url) = UserAgent::serve(&[("t1", "alice"), ("t2", "alice")]).await;
    let client = Client::at(&url, ProtocolVersion::V1_0).unwrap();
    let (credentials, given) = numbered();
    let send = || client.send("hi").credentials(Arc::clone(&credentials));
    assert_eq!(user(send()).await, "alice");
    agent.revoke("t1");
    let calls: Vec<_> = (0..100).map(|_| tokio::spawn(user(send()))).collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), "alice");
    }
    assert_eq!(*given.lock().unwrap(), 2);
    let sent = agent.sent();
    let count = |token: &str| sent.iter().filter(|sent| *sent == token).count();
    assert_eq!(count("t2"), 100);
    assert!((2..=101).contains(&count("t1")));
}

/// An agent may refuse a token long after another has replaced it.
#[tokio::test(start_paused = true)]
async fn a_late_refusal_does_not_drop_the_next_token() {
    let (credentials, given) = numbered();
    let attach = async || {
        let (mut head, ()) = Request::new(()).into_parts();
        credentials.attach(&mut head).await.unwrap();
        head.headers
    };
    let first = attach().await;
    assert!(credentials.refused(&first, None).await);
    assert_eq!(attach().await[AUTHORIZATION], "Bearer t2");
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert!(credentials.refused(&first, None).await, "there is another");
    assert_eq!(attach().await[AUTHORIZATION], "Bearer t2");
    assert_eq!(*given.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_second_refusal_goes_to_the_caller() {
    let (agent, url) = UserAgent::serve(&[]).await;
    let client = Client::at(&url, ProtocolVersion::V1_0).unwrap();
    let (tokens, _) = numbered();
    for (credentials, sent) in [
        (tokens, vec!["t1", "t2"]),
        (bearer("s").unwrap(), vec!["s"]),
    ] {
        for refused in [
            client
                .send("hi")
                .credentials(Arc::clone(&credentials))
                .await
                .unwrap_err(),
            // The refused token is not replaced so soon.
            client
                .send("hi")
                .credentials(credentials)
                .await
                .unwrap_err(),
        ] {
            assert!(
                matches!(refused, Error::Refused { status: 401, .. }),
                "{refused:?}"
            );
            assert_eq!(Challenge::of(&refused)[0].error(), Some("invalid_token"));
        }
        let again = sent.last().copied();
        assert_eq!(
            agent.sent(),
            sent.into_iter().chain(again).collect::<Vec<_>>()
        );
    }
}

#[tokio::test]
async fn a_stream_begins_with_the_next_token() {
    let (agent, url) = UserAgent::serve(&[("t2", "alice")]).await;
    let client = Client::at(&url, ProtocolVersion::V1_0).unwrap();
    let (credentials, _) = numbered();
    let mut updates = client.send("hi").credentials(credentials).follow();
    while let Some(event) = updates.next().await {
        event.unwrap();
    }
    assert_eq!(updates.task().unwrap().status.state, TaskState::Completed);
    assert_eq!(agent.sent(), ["t1", "t2", "t2"]);
}
