//! An agent that takes steps.

use a2a_server::{Agent, Failure, Turn};
use a2a_types::extension::trpc::{
    CodeExecutionResult, ExecutableCode, FunctionCall, FunctionResponse, Version,
};
use a2a_types::{AgentCard, Message};
use serde_json::json;

pub(crate) struct StepAgent;

impl Agent for StepAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        let mut first = turn.llm_response("chatcmpl-1");
        match text.as_str() {
            "tool" => {
                look(&turn).await?;
                say(&turn).await?;
            }
            "parallel" => {
                first
                    .tool_calls([call("1", "Beijing"), call("2", "Shanghai")])
                    .await?;
                first
                    .tool_responses([response("1", 20), response("2", 22)])
                    .await?;
                say(&turn).await?;
            }
            "reasoning" => {
                first.reasoning("The secret ").await?;
                first.reasoning("of it.").await?;
                first.delta("It is ").await?;
                first.delta("mild.").await?;
            }
            "two calls" => {
                first.reasoning("Which secret city?").await?;
                first.delta("Let me look.").await?;
                look(&turn).await?;
                say(&turn).await?;
            }
            "code" => {
                first
                    .code(ExecutableCode::new("python", "print('secret')"))
                    .await?;
                first
                    .code_result(CodeExecutionResult::new("OUTCOME_OK", "secret"))
                    .await?;
                say(&turn).await?;
            }
            "whole" => {
                first.delta("It is ").await?;
                first.text("It is mild.").await?;
            }
            "ask" => {
                look(&turn).await?;
                turn.ask("Which city?").await?;
            }
            "reply" => turn.reply(Message::agent("It is mild.")).await?,
            "note" => {
                turn.working("looking").await?;
                turn.artifact("weather")
                    .text("It is mild.")
                    .finish()
                    .await?;
            }
            "fail" => {
                look(&turn).await?;
                first.delta("Half an answer").await?;
                turn.reject("Not today.").await?;
            }
            "wait" => {
                look(&turn).await?;
                first.reasoning("secret").await?;
                first.delta("Half an answer").await?;
                turn.canceled().await;
            }
            other => return Err(format!("unknown command {other}").into()),
        }
        Ok(())
    }
}

async fn look(turn: &Turn) -> Result<(), Failure> {
    let response_1 = turn.llm_response("chatcmpl-1");
    response_1.tool_call(call("1", "Beijing")).await?;
    response_1.tool_response(response("1", 20)).await?;
    Ok(())
}

async fn say(turn: &Turn) -> Result<(), Failure> {
    let mut last = turn.llm_response("chatcmpl-2");
    last.delta("It is ").await?;
    last.delta("mild.").await?;
    Ok(())
}

fn call(id: &str, city: &str) -> FunctionCall {
    FunctionCall::new(id, "get_secret_weather", json!({"city": city}))
}

fn response(id: &str, celsius: i32) -> FunctionResponse {
    FunctionResponse::new(id, "get_secret_weather", json!({"celsius": celsius}))
}

pub(crate) fn card() -> AgentCard {
    let mut card = plain_card();
    Version::CURRENT.declare(&mut card);
    card
}

pub(crate) fn plain_card() -> AgentCard {
    let mut card = AgentCard::new("StepAgent", "Knows the weather");
    card.capabilities.push_notifications = Some(true);
    card
}
