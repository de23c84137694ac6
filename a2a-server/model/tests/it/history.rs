//! The conversation that a model gets.

use a2a_types::{Message, Part, Role, TaskState};
use serde_json::json;

use crate::endpoint::{Endpoint, Script, answer, call, end};
use crate::tools::weather;
use crate::{APIS, assert_completed, model, send, send_in, serve};

#[tokio::test]
async fn second_message_has_the_first_and_its_answer() {
    for api in APIS {
        let endpoint = Endpoint::start([answer(api, &["Mi", "ld."]), answer(api, &["Wet."])]).await;
        let client = serve(model(&endpoint, api).system("Be brief.")).await;
        let first = send(&client, "How is it?").await;
        let context = first.context_id.unwrap();
        assert_completed(&send_in(&client, &context, "And now?").await, "Wet.");
        let messages = endpoint.received().pop().unwrap().messages();
        let conversation = ["user How is it?", "assistant Mild.", "user And now?"];
        assert!(
            messages.ends_with(&conversation.map(str::to_owned)),
            "{messages:?}"
        );
    }
}

#[tokio::test]
async fn oldest_messages_are_left_out_first() {
    for api in APIS {
        let endpoint = Endpoint::with(move |_| answer(api, &["0123456789"])).await;
        // Two messages of 10 bytes and their answers, or 41 bytes.
        let client = serve(
            model(&endpoint, api)
                .history_tokens(10)
                .system("x".repeat(100)),
        )
        .await;
        let first = send(&client, "question 1").await;
        let context = first.context_id.unwrap();
        for number in 2..5 {
            let question = format!("question {number}");
            assert_completed(
                &send_in(&client, &context, question.as_str()).await,
                "0123456789",
            );
        }
        let long = "?".repeat(100);
        assert_completed(
            &send_in(&client, &context, long.as_str()).await,
            "0123456789",
        );
        let messages = |received: &crate::endpoint::Received| {
            let mut messages = received.messages();
            messages.retain(|message| !message.starts_with("system"));
            messages
        };
        let received = endpoint.received();
        let expected = ["user question 3", "assistant 0123456789", "user question 4"];
        assert_eq!(messages(&received[3]), expected);
        assert_eq!(messages(&received[4]), [format!("user {long}")]);
    }
}

/// Steps are kept if the card declares them, and are part of later requests.
#[tokio::test]
async fn tool_calls_of_earlier_turns_stay_with_their_results() {
    for api in APIS {
        let mut steps = call(api, 0, "c1", "weather", &["{\"city\":", "\"Oslo\"}"]);
        steps.push(end(api));
        let scripts = [
            Script::stream(steps),
            answer(api, &["Mild."]),
            answer(api, &["Bye."]),
        ];
        let endpoint = Endpoint::start(scripts).await;
        let client = serve(model(&endpoint, api).tools(weather())).await;
        let first = send(&client, "Oslo?").await;
        assert_eq!(first.status.state, TaskState::Completed);
        assert_completed(
            &send_in(&client, &first.context_id.unwrap(), "Thanks").await,
            "Bye.",
        );
        let messages = endpoint.received().pop().unwrap().messages();
        let (calls, result) = match api {
            a2a_model::Api::Responses => {
                ("function_call null", "function_call_output mild in Oslo")
            }
            _ => ("assistant null", "tool mild in Oslo"),
        };
        let expected = [
            "user Oslo?",
            calls,
            result,
            "assistant Mild.",
            "user Thanks",
        ];
        assert_eq!(messages, expected);
    }
}

#[tokio::test]
async fn failure_messages_are_not_part_of_the_conversation() {
    for api in APIS {
        let scripts = [Script::error(400), answer(api, &["Mild."])];
        let endpoint = Endpoint::start(scripts).await;
        let client = serve(model(&endpoint, api)).await;
        let failed = send(&client, "How is it?").await;
        assert_eq!(failed.status.state, TaskState::Failed);
        assert_completed(
            &send_in(&client, &failed.context_id.unwrap(), "Hello?").await,
            "Mild.",
        );
        let request = endpoint.received().pop().unwrap();
        assert_eq!(request.messages(), ["user How is it?\\nHello?"]);
        assert_eq!(request.body.get("tools"), None);
        assert_ne!(request.body["model"], json!(null));
    }
}

#[tokio::test]
async fn an_image_counts_little_and_stays_for_the_next_question() {
    for api in APIS {
        let endpoint = Endpoint::with(move |_| answer(api, &["A cat."])).await;
        let client = serve(model(&endpoint, api).images(true)).await;
        let image = Part::bytes(vec![0; 200_000], "image/png");
        let local = Part {
            media_type: Some("image/png".to_owned()),
            ..Part::url("file:///etc/passwd")
        };
        let message = Message::new(Role::User, vec![Part::text("What is it?"), image, local]);
        let context = send(&client, message).await.context_id.unwrap();
        send_in(&client, &context, "What colour?").await;
        let request = endpoint.received().pop().unwrap().body.to_string();
        assert!(request.contains("data:image/png;base64,AAAA"));
        // Not all that callers name is fetched.
        assert!(!request.contains("file:///"), "a file of the service");
    }
}
