//! Tools that a model calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_client::StreamExt;
use a2a_model::{Api, FunctionTool, ToolError, ToolOutput};
use a2a_types::extension::trpc::Step as TaskStep;
use serde_json::{Value, json};
use tokio::sync::{Barrier, oneshot};

use crate::endpoint::{Endpoint, Received, Script, answer, call, chunk, end, text};
use crate::{APIS, assert_completed, assert_failed, bounded, model, send, serve};

fn parameters() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

/// A tool that says that it is mild everywhere.
pub(crate) fn weather() -> FunctionTool {
    FunctionTool::new(
        "weather",
        "The weather in a city",
        parameters(),
        async |arguments| match arguments.get("city").and_then(Value::as_str) {
            Some(city) => Ok(format!("mild in {city}")),
            None => Err(ToolError::new("`city` is missing")),
        },
    )
}

fn calls(api: Api, calls: &[(&str, &str, &[&str])]) -> Script {
    let calls = calls.iter().zip(0..);
    let steps =
        calls.flat_map(|((id, name, arguments), index)| call(api, index, id, name, arguments));
    Script::stream(steps.chain([end(api)]))
}

/// Returns the results that a request brings, as `id: text`.
fn results(request: &Received) -> Vec<String> {
    let messages = request.body.get("messages").or(request.body.get("input"));
    let result = |message: &Value| {
        let id = message
            .get("tool_call_id")
            .or(message.get("call_id"))?
            .as_str()?;
        let text = match message.get("output") {
            Some(output) => output.as_str()?,
            None => message.get("content")?.as_str()?,
        };
        Some(format!("{id}: {text}"))
    };
    messages
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .filter_map(result)
        .collect()
}

/// Checks the result that the model gets for one call.
async fn check(name: &str, arguments: &[&str], result: &str) {
    for api in APIS {
        let scripts = [
            calls(api, &[("c1", name, arguments)]),
            answer(api, &["Done."]),
        ];
        let endpoint = Endpoint::start(scripts).await;
        let broken = FunctionTool::new("broken", "", parameters(), async |_| {
            Err::<String, _>(ToolError::new("the sensor is off").with_source("secret"))
        });
        let slow = FunctionTool::new("slow", "", parameters(), async |_| {
            std::future::pending::<()>().await;
            Ok("")
        });
        let sour = FunctionTool::new("sour", "", parameters(), async |_| {
            Ok(ToolOutput::error("no such city"))
        });
        let long = FunctionTool::new("long", "", parameters(), async |_| Ok("ä".repeat(200_000)));
        let model = model(&endpoint, api)
            .tools(weather())
            .tools(broken)
            .tools(slow);
        let model = model
            .tools(sour)
            .tools(long)
            .tool_timeout(Duration::from_millis(200));
        let client = serve(model).await;
        assert_completed(&send(&client, "Oslo?").await, "Done.");
        let received = endpoint.received();
        let results = results(&received[1]);
        assert!(
            results[0].starts_with(&format!("c1: {result}")),
            "{results:?}"
        );
        assert!(results[0].len() < 300_000);
        // Services fail on arguments that are not an object.
        let request = received[1].body.to_string();
        assert!(!request.contains("oops"), "{request}");
    }
}

#[tokio::test]
async fn result_of_a_tool_goes_to_the_model() {
    check("weather", &["{\"ci", "ty\": \"Os", "lo\"}"], "mild in Oslo").await;
    check("weather", &[], "error: `city` is missing").await;
    check("broken", &["{}"], "error: the sensor is off").await;
    check("sour", &["{}"], "error: no such city").await;
    check("slow", &["{}"], "error: the tool has not ended in 200ms").await;
    check("long", &["{}"], "ääää").await;
}

#[tokio::test]
async fn broken_calls_are_answered_with_errors() {
    let not_object = "error: the arguments are not a JSON object: ";
    check("weather", &["{\"city\": oops"], not_object).await;
    check("weather", &["[\"oops\"]"], not_object).await;
    check(
        "nothing",
        &["{}"],
        "error: there is no tool `nothing`: expected one of weather, broken",
    )
    .await;
}

/// Each call of the round waits for the other.
#[tokio::test]
async fn calls_of_a_round_run_at_once() {
    for api in APIS {
        let barrier = Arc::new(Barrier::new(2));
        let meet = FunctionTool::new("meet", "", parameters(), move |arguments| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                Ok(Value::Object(arguments))
            }
        });
        let both = [
            ("c1", "meet", &["{\"n\":1}"][..]),
            ("c2", "meet", &["{\"n\"", ":2}"][..]),
        ];
        let endpoint = Endpoint::start([calls(api, &both), answer(api, &["Met."])]).await;
        let client = serve(model(&endpoint, api).tools(meet)).await;
        assert_completed(&send(&client, "Meet").await, "Met.");
        let expected = ["c1: {\"n\":1}", "c2: {\"n\":2}"];
        assert_eq!(results(&endpoint.received()[1]), expected);
    }
}

#[tokio::test]
async fn calls_and_results_are_steps() {
    for api in APIS {
        let mut first = vec![text(api, "Let me look.")];
        first.extend(call(api, 0, "c1", "weather", &["{\"city\":\"Oslo\"}"]));
        first.push(end(api));
        let scripts = [Script::stream(first), answer(api, &["Mild."])];
        let endpoint = Endpoint::start(scripts).await;
        let client = serve(model(&endpoint, api).tools(weather())).await;
        let mut updates = client.send("Oslo?").steps().follow();
        bounded(async { while updates.next().await.is_some() {} }).await;
        let steps = updates
            .llm_responses()
            .unwrap()
            .iter()
            .flat_map(|it| it.steps.clone());
        let steps: Vec<_> = steps
            .map(|step| match step {
                TaskStep::FunctionCall(call) => format!("{}({})", call.name, call.args),
                TaskStep::FunctionResponse(response) => response.response,
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(steps, ["weather({\"city\":\"Oslo\"})", "mild in Oslo"]);
        let usage = updates.task().unwrap().usage().unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (24, 6));
        let artifacts = &updates.task().unwrap().artifacts;
        let answer = artifacts
            .iter()
            .find(|it| it.name.as_deref() == Some("answer"));
        assert_eq!(answer.unwrap().text(), "Let me look.\n\nMild.");
    }
}

#[tokio::test]
async fn rounds_are_limited() {
    for api in APIS {
        let endpoint =
            Endpoint::with(move |_| calls(api, &[("c1", "weather", &["{\"city\":\"Oslo\"}"])]))
                .await;
        let client = serve(model(&endpoint, api).tools(weather()).max_rounds(3)).await;
        assert_failed(&send(&client, "Oslo?").await, "too_many_rounds", "");
        assert_eq!(endpoint.received().len(), 4);
    }
}

#[tokio::test]
async fn endless_arguments_are_cut_at_the_limit() {
    for api in APIS {
        let piece = "x".repeat(10_000);
        let pieces: Vec<_> = std::iter::repeat_n(piece.as_str(), 30).collect();
        let endpoint = Endpoint::start([calls(api, &[("c1", "weather", &pieces)])]).await;
        let client = serve(model(&endpoint, api).tools(weather())).await;
        assert_failed(&send(&client, "Oslo?").await, "too_long", "");
    }
}

#[tokio::test]
async fn second_tool_with_a_name_gets_a_number() {
    let scripts = [
        calls(Api::ChatCompletions, &[("c1", "weather_2", &["{}"])]),
        answer(Api::ChatCompletions, &["Done."]),
    ];
    let endpoint = Endpoint::start(scripts).await;
    let other = FunctionTool::new("weather", "Another", parameters(), async |_| Ok("wet"));
    let model = model(&endpoint, Api::ChatCompletions);
    let client = serve(model.tools(weather()).tools(other)).await;
    assert_completed(&send(&client, "Oslo?").await, "Done.");
    let received = endpoint.received();
    assert_eq!(received[0].body["tools"].as_array().unwrap().len(), 2);
    assert_eq!(results(&received[1]), ["c1: wet"]);
}

/// The tool never ends; dropping its future ends the sender's half of the channel.
#[tokio::test]
async fn cancel_drops_running_tools() {
    let (sender, dropped) = oneshot::channel::<()>();
    let sender = Arc::new(std::sync::Mutex::new(Some(sender)));
    let (begun, begins) = oneshot::channel::<()>();
    let begun = Arc::new(std::sync::Mutex::new(Some(begun)));
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let hang = FunctionTool::new("hang", "", parameters(), move |_| {
        let (held, begun) = (sender.lock().unwrap().take(), begun.lock().unwrap().take());
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            begun.map(|it| it.send(()));
            std::future::pending::<()>().await;
            drop(held);
            Ok("")
        }
    });
    let scripts = [calls(Api::ChatCompletions, &[("c1", "hang", &["{}"])])];
    let endpoint = Endpoint::start(scripts).await;
    let client = serve(model(&endpoint, Api::ChatCompletions).tools(hang)).await;
    let mut updates = client.send("Hang").follow();
    let task = bounded(async {
        updates.next().await.unwrap().unwrap();
        updates.task().unwrap().id.clone()
    })
    .await;
    bounded(begins).await.unwrap();
    let canceling = client.cancel_task(task);
    bounded(canceling).await.unwrap();
    assert!(bounded(dropped).await.is_err());
    assert_eq!(started.load(Ordering::Relaxed), 1);
}

/// Returns an endpoint of chat completions that calls tools by these deltas, and then answers.
async fn calling(deltas: impl IntoIterator<Item = Value>) -> Endpoint {
    let steps = deltas.into_iter().map(chunk);
    let calls = Script::stream(steps.chain([end(Api::ChatCompletions)]));
    Endpoint::start([calls, answer(Api::ChatCompletions, &["Done."])]).await
}

/// Services refuse other names, and schemas without `properties`.
#[tokio::test]
async fn unusual_names_and_schemas_are_made_acceptable() {
    for api in APIS {
        let scripts = [
            calls(api, &[("c1", "now_v2", &["{}"])]),
            answer(api, &["Done."]),
        ];
        let endpoint = Endpoint::start(scripts).await;
        let schema = json!({"type": "object"});
        let now = FunctionTool::new("now.v2", "The time", schema, async |_| Ok("noon"));
        let other = FunctionTool::new("now_v2", "Another", parameters(), async |_| Ok("night"));
        let client = serve(model(&endpoint, api).tools(now).tools(other)).await;
        assert_completed(&send(&client, "What time?").await, "Done.");
        let received = endpoint.received();
        let tool = |index: usize| {
            let tool = &received[0].body["tools"][index];
            tool.get("function").unwrap_or(tool)
        };
        assert_eq!(tool(0)["name"], "now_v2");
        assert_eq!(tool(0)["parameters"]["properties"], json!({}));
        assert_eq!(tool(1)["name"], "now_v2_2");
        assert_eq!(results(&received[1]), ["c1: noon"]);
    }
}

/// Gemini gives each call the index 0 and no id, and wants its signature back.
#[tokio::test]
async fn whole_calls_without_ids_are_several() {
    let call = |city: &str, signature: &str| {
        json!({"tool_calls": [{
            "index": 0, "type": "function",
            "function": {"name": "weather", "arguments": json!({"city": city}).to_string()},
            "extra_content": {"google": {"thought_signature": signature}},
        }]})
    };
    let empty = json!({"tool_calls": [{"index": 0, "function": {"name": "now", "arguments": ""}}]});
    let endpoint = calling([empty, call("Oslo", "a"), call("Rome", "b")]).await;
    let now = FunctionTool::new("now", "The time", parameters(), async |_| Ok("noon"));
    let model = model(&endpoint, Api::ChatCompletions);
    let client = serve(model.tools(weather()).tools(now)).await;
    assert_completed(&send(&client, "Oslo, Rome?").await, "Done.");
    let received = endpoint.received();
    let expected = [
        "call_0_0: noon",
        "call_0_1: mild in Oslo",
        "call_0_2: mild in Rome",
    ];
    assert_eq!(results(&received[1]), expected);
    let messages = received[1].body["messages"].as_array().unwrap();
    let calls = messages.iter().find_map(|it| it.get("tool_calls")).unwrap();
    let signature = |index: usize| &calls[index]["extra_content"]["google"]["thought_signature"];
    assert_eq!((signature(1), signature(2)), (&json!("a"), &json!("b")));
}

#[tokio::test]
async fn results_of_a_turn_are_limited() {
    let calls = (0..20).map(|index| {
        json!({"tool_calls": [{
            "index": index, "id": format!("c{index}"), "type": "function",
            "function": {"name": "long", "arguments": "{}"},
        }]})
    });
    let endpoint = calling(calls).await;
    let long = FunctionTool::new("long", "", parameters(), async |_| Ok("x".repeat(300_000)));
    let client = serve(model(&endpoint, Api::ChatCompletions).tools(long)).await;
    assert_completed(&send(&client, "Read").await, "Done.");
    let results = results(&endpoint.received()[1]);
    let bytes: usize = results.iter().map(String::len).sum();
    assert!((4_000_000..4_300_000).contains(&bytes), "{bytes}");
    assert_eq!(results[19], "c19: \n[300000 more bytes: left out]");
}
