//! `a2a webhook`.

use std::net::SocketAddr;
use std::sync::Arc;

use a2a_client::HttpClient;
use a2a_client::webhook::{JwksUrl, JwtVerifier, Notification, Receiver, Secret as Signature};
use a2a_transport::http::{ServeOptions, serve};
use clap::{Args, Subcommand};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::connection::read_address;
use crate::failure::Failure;
use crate::secret::Secret;
use crate::show::{Events, Screen, note};

/// Commands that receive notifications.
#[derive(Subcommand)]
pub(crate) enum WebhookCommand {
    /// Listen for push notifications, verify and print them.
    Listen(Options),
}

/// Address of the receiver, and checks of the notifications.
#[derive(Args)]
#[command(after_help = "\
A notification must pass all checks that the options request. Without such an option, every sender is accepted.

Examples:
  a2a webhook listen 127.0.0.1:9000 --token '$HOOK_TOKEN'
  a2a webhook listen --jwks https://agent.example/.well-known/jwks.json -o json
  a2a webhook listen --count 1 -o json | jq .event.task.status")]
pub(crate) struct Options {
    /// Address to listen on; port 0 takes any free port.
    #[arg(default_value = "127.0.0.1:9000", value_parser = read_address)]
    address: SocketAddr,
    /// Token that notifications must have: the token itself, `@FILE` or `$NAME`.
    #[arg(long)]
    token: Option<Secret>,
    /// Value that the header `Authorization` must have: the value itself, `@FILE` or `$NAME`.
    #[arg(long, value_name = "VALUE")]
    authorization: Option<Secret>,
    /// URL of the JSON Web Key Set whose keys must have signed notifications.
    #[arg(long, value_name = "URL")]
    jwks: Option<String>,
    /// Allow --jwks by `http`. The keys can then be replaced in transit.
    #[arg(long, requires = "jwks")]
    allow_http: bool,
    /// Secret of Standard Webhooks, `whsec_…`: the secret itself, `@FILE` or `$NAME`.
    #[arg(long, value_name = "SECRET")]
    secret: Option<Secret>,
    /// Answer the validation challenges of agents (protocol 0.1).
    #[arg(long)]
    challenge: bool,
    /// Exit after N notifications.
    #[arg(long, value_name = "N")]
    count: Option<usize>,
}

pub(crate) async fn run(command: WebhookCommand, screen: &Screen) -> Result<(), Failure> {
    let WebhookCommand::Listen(options) = command;
    let (sender, mut received) = mpsc::channel::<Notification>(16);
    let sender = Arc::new(sender);
    let mut receiver = Receiver::builder(move |notification| {
        let sender = Arc::clone(&sender);
        async move { sender.send(notification).await }
    });
    if let Some(token) = &options.token {
        receiver = receiver.token(token.reveal());
    }
    if let Some(value) = &options.authorization {
        receiver = receiver.authorization(value.reveal());
    }
    if let Some(url) = options.jwks {
        // Checks the address now, not with the first notification.
        a2a_client::Origin::of(&url)?;
        let mut jwks = JwksUrl::new(url, HttpClient::default());
        if options.allow_http {
            jwks = jwks.allow_http();
        }
        // Agents of 0.1 sign tokens without an expiry.
        receiver = receiver.tokens(JwtVerifier::of(jwks.into()).without_expiry());
    }
    if let Some(secret) = &options.secret {
        let secret: Result<Signature, _> = Signature::parse(secret.reveal());
        receiver =
            receiver.secret(secret.map_err(|error| Failure::usage(format!("--secret: {error}")))?);
    }
    if options.challenge {
        receiver = receiver.challenge();
    }
    let receiver = receiver
        .build()
        .map_err(Failure::machine("the receiver cannot be configured"))?;
    let listener = TcpListener::bind(options.address).await;
    let listener = listener.map_err(Failure::machine(format!("--address {}", options.address)))?;
    note(&format!("listening at http://{}/", listener.local_addr()?));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(serve(listener, receiver, ServeOptions::default(), async {
        let _ = stopped.await;
    }));
    let mut left = options.count.unwrap_or(usize::MAX);
    while left > 0
        && let Some(notification) = received.recv().await
    {
        show(&notification, screen)?;
        left -= 1;
    }
    drop(stop);
    let _ = serving.await;
    Ok(())
}

fn show(notification: &Notification, screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        let Notification {
            task,
            event,
            protocol_version,
            delivery,
            ..
        } = notification;
        let protocol_version = protocol_version.version();
        return screen.value(&serde_json::json!({
            "task": task, "event": event, "protocol_version": protocol_version, "delivery": delivery,
        }));
    }
    let about = notification
        .task
        .as_ref()
        .map_or("a task", |task| task.as_str());
    match &notification.event {
        None => screen.field("Changed", about),
        Some(event) => {
            let mut events = Events::default();
            events.show(event, screen)?;
            events.end(None, screen)
        }
    }
}
