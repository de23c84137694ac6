//! An agent that plans a day out: it asks, calls tools, and writes a plan.

use std::future::pending;
use std::time::Duration;

use a2a_server::{Agent, Algorithm, CardKeys, Failure, Server, SigningKey, Turn, WebhookPolicy};
use a2a_types::{AgentCard, AgentProvider, AgentSkill, Message, Part, Role, TaskState};
use serde_json::json;
use tokio::net::TcpListener;

struct DayTrips;

impl Agent for DayTrips {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        if text.contains("night") {
            return Ok(turn.reject("I plan days out, and no nights.").await?);
        }
        if text.contains("Atlantis") {
            return Err(Failure::new("no station of that name"));
        }
        if text.contains("fare") {
            turn.working("Watching the fare from Utrecht to Paris")
                .await?;
            turn.canceled().await;
            return Ok(());
        }
        if !text.contains("of us") {
            let question = "For how many people, and when do you want to be back?";
            return Ok(turn.ask(question).await?);
        }
        turn.working("Looking up trains and the weather").await?;
        for (kind, data) in [
            (
                "function_call",
                json!({"id": "1", "name": "forecast", "args": {"city": "Delft", "day": "Saturday"}}),
            ),
            (
                "function_response",
                json!({"id": "1", "name": "forecast", "response": {"rain": "08:00–14:00", "high": 17}}),
            ),
            (
                "function_call",
                json!({"id": "2", "name": "trains", "args": {"from": "Utrecht", "to": "Delft", "after": "09:00"}}),
            ),
            (
                "function_response",
                json!({"id": "2", "name": "trains", "response": {"departure": "09:18", "arrival": "10:21"}}),
            ),
        ] {
            let mut step = Part::data(data);
            step.metadata = Some([("adk_type".to_owned(), json!(kind))].into_iter().collect());
            turn.status(
                TaskState::Working,
                Some(Message::new(Role::Agent, vec![step])),
            )
            .await?;
        }
        let mut plan = turn
            .artifact("Saturday in Delft")
            .description("By train, for two, back at 20:12");
        for line in PLAN.split_inclusive('\n') {
            plan = plan.text(line).send().await?;
            tokio::time::sleep(Duration::from_millis(12)).await;
        }
        plan.finish().await?;
        let summary = Message::agent("A Saturday in Delft for two, € 120.40 in all.");
        Ok(turn.status(TaskState::Completed, Some(summary)).await?)
    }
}

/// Starts the agent, with webhooks and a signed card, and returns its URL.
pub(super) async fn day_trips() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let server = Server::builder(card().at(&*url), DayTrips)
        .sign_card(CardKeys::new(key))
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .build()
        .unwrap();
    tokio::spawn(server.http().listen(listener).unwrap().run(pending()));
    url
}

fn card() -> AgentCard {
    let description = "Plans a day out by train: what to see, how to get there, and what it costs.";
    let mut card = AgentCard::new("Day Trips", description);
    card.version = "2.1.0".to_owned();
    card.provider = Some(AgentProvider {
        url: "https://railway-museum.example".to_owned(),
        organization: "Railway Museum".to_owned(),
    });
    card.documentation_url = Some("https://railway-museum.example/day-trips".to_owned());
    card.capabilities.push_notifications = Some(true);
    card.skills = vec![
        skill(
            "plan",
            "Plan a day",
            "Sights, trains and meals for one day, with times and costs.",
            &["travel", "trains"],
            &[
                "Plan a rainy Saturday in Delft",
                "A day in Ghent with two children",
            ],
        ),
        skill(
            "fares",
            "Watch a fare",
            "Follows the fare of a connection, and tells you when it falls.",
            &["travel", "prices"],
            &["Watch the fare from Utrecht to Paris"],
        ),
    ];
    card.default_output_modes = vec!["text/markdown".to_owned(), "text/plain".to_owned()];
    card
}

fn skill(id: &str, name: &str, description: &str, tags: &[&str], examples: &[&str]) -> AgentSkill {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    AgentSkill {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        tags: owned(tags),
        examples: owned(examples),
        ..AgentSkill::default()
    }
}

const PLAN: &str = "\
| Time | | For two |
|---|---|---:|
| 09:18 | Train from Utrecht, change in Rotterdam | € 38.40 |
| 10:30 | **Vermeer Centrum**, while it rains | € 24.00 |
| 12:45 | Lunch at the Beestenmarkt | € 31.00 |
| 14:15 | **Prinsenhof**, then the market in the sun | € 27.00 |
| 19:08 | Train back, in Utrecht at 20:12 | – |

It rains until two. Both tickets can be changed until an hour before.
";
