//! An agent that does what the message says, and how it is served.

use std::net::SocketAddr;
use std::sync::Arc;

use a2a_server::{
    Agent, ArtifactUpdate, AuthChallenge, AuthError, Authenticator, BoundServer, Failure,
    Principal, Server, ServerBuilder, Turn,
};
use a2a_types::{AgentCard, Artifact, Message, Part, Role, TaskState};
use tokio::sync::Notify;

/// Does what the first word of a message says, with the rest of it.
#[derive(Clone, Default)]
pub(crate) struct ScriptedAgent {
    go_on: Arc<Notify>,
}

impl Agent for ScriptedAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        let (command, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match command {
            "echo" => turn.artifact("echo").text(rest).finish().await?,
            "ask" => turn.ask(rest).await?,
            "form" => pause(&turn, TaskState::InputRequired, rest).await?,
            "credentials" => pause(&turn, TaskState::AuthRequired, rest).await?,
            // The credentials come by another way than a message.
            "login" => {
                pause(&turn, TaskState::AuthRequired, rest).await?;
                self.go_on.notified().await;
                turn.artifact("secret").text(rest).finish().await?;
                turn.complete().await?;
            }
            "reply" => turn.reply(Message::agent(rest)).await?,
            "reject" => turn.reject(rest).await?,
            "fail" => return Err("a secret reason".into()),
            "hold" => {
                turn.working(rest).await?;
                tokio::select! {
                    () = turn.canceled() => return Ok(()),
                    () = self.go_on.notified() => {}
                }
                turn.artifact("held").text(rest).finish().await?;
            }
            "detach" => {
                turn.working(rest).await?;
                turn.respond_early().await?;
                self.go_on.notified().await;
            }
            "assemble" => {
                for (id, text, append) in CHUNKS {
                    turn.publish(chunk(id, text, append)).await?;
                }
            }
            "refer" => {
                let refers = turn.message().reference_task_ids.iter();
                let ids: Vec<_> = refers.map(|id| id.as_str().to_owned()).collect();
                turn.artifact("references")
                    .text(ids.join(" "))
                    .finish()
                    .await?;
            }
            "extend" => {
                let message = turn.message().clone();
                let artifact = Artifact {
                    metadata: message.metadata,
                    extensions: message.extensions,
                    ..chunk("extended", rest, false).artifact
                };
                turn.publish(ArtifactUpdate::new(artifact)).await?;
            }
            "tenant" => {
                let tenant = turn.tenant().unwrap_or("none").to_owned();
                turn.artifact("tenant").text(tenant).finish().await?;
            }
            other => return Err(format!("unknown command {other}").into()),
        }
        Ok(())
    }
}

/// Chunks that `assemble` publishes: two of one artifact, another artifact, the first one again from
/// the start, and an addition to one that never began.
const CHUNKS: [(&str, &str, bool); 5] = [
    ("a", "1", false),
    ("a", "2", true),
    ("b", "3", false),
    ("a", "4", false),
    ("c", "5", true),
];

fn chunk(id: &str, text: &str, append: bool) -> ArtifactUpdate {
    let mut update = ArtifactUpdate::new(Artifact {
        artifact_id: id.into(),
        parts: vec![Part::text(text)],
        ..Artifact::default()
    });
    update.append = append;
    update.last_chunk = text == "2";
    update
}

/// Says what the caller has to do, and the same for its program.
async fn pause(turn: &Turn, state: TaskState, text: &str) -> Result<(), Failure> {
    let parts = vec![
        Part::text(text),
        Part::data(serde_json::json!({"needs": text})),
    ];
    Ok(turn
        .status(state, Some(Message::new(Role::Agent, parts)))
        .await?)
}

/// Takes the word behind `Bearer` for the caller's name, and does not let `mallory` in.
pub(crate) struct BearerNames;

impl Authenticator for BearerNames {
    async fn authenticate(&self, head: &http::request::Parts) -> Result<Principal, AuthError> {
        let given = head
            .headers
            .get("authorization")
            .and_then(|value| value.to_str().ok());
        let name = given.and_then(|value| value.strip_prefix("Bearer "));
        match name {
            Some("mallory") => Err(AuthError::forbidden()),
            Some(name) => Ok(Principal::named(name)),
            None => Err(AuthError::unauthenticated(
                AuthChallenge::new("Bearer").with("realm", "a2a"),
            )),
        }
    }
}

/// A card that promises all that the server has.
pub(crate) fn card() -> AgentCard {
    let mut card = AgentCard::new("ScriptedAgent", "Does what the message commands");
    card.capabilities.push_notifications = Some(true);
    card
}

/// A card that promises nothing.
pub(crate) fn plain_card() -> AgentCard {
    let mut card = AgentCard::new(
        "ScriptedAgent",
        "Does what the message commands, without streams and webhooks",
    );
    card.capabilities.streaming = None;
    card
}

/// The agent, served at an address.
pub(crate) struct ServedAgent {
    pub(crate) address: SocketAddr,
    go_on: Arc<Notify>,
}

impl ServedAgent {
    /// Lets the agent go on that holds, now or as soon as it does.
    pub(crate) fn go_on(&self) {
        self.go_on.notify_one();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// Serves the agent with a card that promises everything, to anyone.
pub(crate) async fn serve() -> ServedAgent {
    serve_with(card(), |builder| builder, |bound| bound).await
}

/// Serves the agent with another card.
pub(crate) async fn serve_card(card: AgentCard) -> ServedAgent {
    serve_with(card, |builder| builder, |bound| bound).await
}

/// Serves the agent to callers that name themselves.
pub(crate) async fn serve_to_names(card: AgentCard) -> ServedAgent {
    serve_with(
        card,
        |builder| builder.authenticator(BearerNames),
        |bound| bound,
    )
    .await
}

/// Serves the agent with settings of its own.
pub(crate) async fn serve_with(
    card: AgentCard,
    build: impl FnOnce(ServerBuilder) -> ServerBuilder,
    bind: impl FnOnce(BoundServer) -> BoundServer,
) -> ServedAgent {
    let agent = ScriptedAgent::default();
    let go_on = Arc::clone(&agent.go_on);
    let server = build(Server::builder(card, agent)).build().unwrap();
    let bound = bind(server.bind("127.0.0.1:0").await.unwrap());
    let address = bound.local_addr();
    tokio::spawn(bound.run(std::future::pending()));
    ServedAgent { address, go_on }
}
