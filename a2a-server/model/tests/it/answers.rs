//! Good answers: streams, parts, usage, reasoning, cancellation.

use a2a_model::{Api, ModelAgent};
use a2a_types::extension::usage::TokenUsage;
use a2a_types::{Message, Part, Role, TaskState};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::endpoint::{Endpoint, Script, Step, answer, end, reasoning, text};
use crate::{APIS, KEY, StreamExt, assert_completed, bounded, model, send, serve};

#[tokio::test]
async fn answer_is_one_artifact_and_counts_tokens() {
    for api in APIS {
        let endpoint = Endpoint::start([answer(api, &["It is ", "", "mild."])]).await;
        let model = model(&endpoint, api)
            .system("Be brief.")
            .parameter("temperature", 0.5);
        let client = serve(model).await;
        let task = send(&client, "How is it?").await;
        assert_completed(&task, "It is mild.");
        assert_eq!(task.artifacts.len(), 1);
        assert_eq!(task.usage(), Some(TokenUsage::new(12, 3)));
        let request = &endpoint.received()[0];
        assert_eq!(request.authorization, format!("Bearer {KEY}"));
        assert_eq!(request.body["model"], "tiny");
        assert_eq!(request.body["stream"], true);
        assert_eq!(request.body["temperature"], 0.5);
        match api {
            Api::Responses => {
                assert_eq!(request.path, "/v1/responses");
                assert_eq!(request.body["store"], false);
                assert_eq!(request.body["instructions"], "Be brief.");
                assert_eq!(request.messages(), ["user How is it?"]);
            }
            _ => {
                assert_eq!(request.path, "/v1/chat/completions");
                assert_eq!(request.body["stream_options"]["include_usage"], true);
                assert_eq!(request.messages(), ["system Be brief.", "user How is it?"]);
            }
        }
    }
}

/// The service sends its second delta only after the caller has the first.
#[tokio::test]
async fn first_delta_arrives_before_the_second_is_sent() {
    for api in APIS {
        let (release, wait) = oneshot::channel();
        let script = [
            text(api, "one "),
            Step::Wait(wait),
            text(api, "two"),
            end(api),
        ];
        let endpoint = Endpoint::start([Script::stream(script)]).await;
        let client = serve(model(&endpoint, api)).await;
        let mut updates = client.send("count").follow();
        let mut release = Some(release);
        let following = async {
            while let Some(event) = updates.next().await {
                event.unwrap();
                if updates.task().is_some_and(|task| task.text() == "one ") {
                    release.take().map(|it| it.send(()));
                }
            }
        };
        bounded(following).await;
        assert_completed(updates.task().unwrap(), "one two");
        assert!(release.is_none());
    }
}

#[tokio::test]
async fn reasoning_is_a_step_and_no_text() {
    for api in APIS {
        let script = [
            reasoning(api, "Hm, "),
            reasoning(api, "mild."),
            text(api, "Mild."),
            end(api),
        ];
        let endpoint = Endpoint::start([Script::stream(script)]).await;
        let client = serve(model(&endpoint, api)).await;
        assert_completed(&send(&client, "How is it?").await, "Mild.");
        let endpoint = Endpoint::start([Script::stream([
            reasoning(api, "Hm, "),
            reasoning(api, "mild."),
            text(api, "Mild."),
            end(api),
        ])])
        .await;
        let client = serve(model(&endpoint, api)).await;
        let mut updates = client.send("How is it?").steps().follow();
        bounded(async { while updates.next().await.is_some() {} }).await;
        let responses = updates.llm_responses().unwrap();
        let reasoning: String = responses.iter().map(|it| it.reasoning.as_str()).collect();
        assert_eq!(reasoning, "Hm, mild.");
    }
}

fn with_files() -> Message {
    let mut file = Part::bytes("%PDF", "application/pdf");
    file.filename = Some("a.pdf".to_owned());
    let mut link = Part::url("https://files.example/b.pdf");
    link.media_type = Some("application/pdf".to_owned());
    let parts = vec![
        Part::text("look"),
        Part::bytes("png", "image/png"),
        file,
        link,
        Part::data(json!({"a": 1})),
    ];
    Message::new(Role::User, parts)
}

fn content(request: &Value) -> Value {
    let messages = request.get("messages").or(request.get("input")).unwrap();
    messages[0]["content"].clone()
}

#[tokio::test]
async fn files_are_notes_unless_the_model_takes_them() {
    for api in APIS {
        let endpoint = Endpoint::start([answer(api, &["ok"]), answer(api, &["ok"])]).await;
        let client = serve(model(&endpoint, api)).await;
        assert_completed(&send(&client, with_files()).await, "ok");
        let notes = "look\n[file without a name, image/png, 3 bytes: not passed on]\n\
            [file a.pdf, application/pdf, 4 bytes: not passed on]\n\
            [file without a name, application/pdf, at a URL: not passed on]\n{\"a\":1}";
        assert_eq!(content(&endpoint.received()[0].body), notes);

        let client = serve(model(&endpoint, api).images(true).files(true)).await;
        assert_completed(&send(&client, with_files()).await, "ok");
        let (image, file) = (
            "data:image/png;base64,cG5n",
            "data:application/pdf;base64,JVBERg==",
        );
        let expected = match api {
            Api::Responses => json!([
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": image, "detail": "auto"},
                {"type": "input_file", "filename": "a.pdf", "file_data": file},
                {"type": "input_file", "file_url": "https://files.example/b.pdf"},
                {"type": "input_text", "text": "{\"a\":1}"},
            ]),
            _ => json!([
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": image}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": file}},
                {"type": "text", "text": "[file without a name, application/pdf, at a URL: not passed on]"},
                {"type": "text", "text": "{\"a\":1}"},
            ]),
        };
        assert_eq!(content(&endpoint.received()[0].body), expected);
    }
}

#[tokio::test]
async fn cancel_closes_the_request() {
    for api in APIS {
        let script = Script::stream([text(api, "one "), Step::Hang]);
        let mut endpoint = Endpoint::start([script]).await;
        let client = serve(model(&endpoint, api)).await;
        let mut updates = client.send("count").follow();
        let following = async {
            while let Some(event) = updates.next().await {
                event.unwrap();
                if updates.task().is_some_and(|task| task.text() == "one ") {
                    return updates.task().unwrap().id.clone();
                }
            }
            panic!("the first delta arrives");
        };
        let id = bounded(following).await;
        let task = bounded(client.cancel_task(id)).await.unwrap();
        assert_eq!(task.status.state, TaskState::Canceled);
        bounded(endpoint.dropped.recv()).await.unwrap();
    }
}

#[tokio::test]
async fn streams_at_once_get_their_own_answers() {
    let endpoint = Endpoint::with(|request| {
        let question = content(request).as_str().unwrap().to_owned();
        let pieces = question
            .split_inclusive(' ')
            .map(|piece| text(Api::ChatCompletions, piece));
        Script::stream(pieces.chain([end(Api::ChatCompletions)]))
    })
    .await;
    let client = serve(model(&endpoint, Api::ChatCompletions)).await;
    let sending = (0..200).map(|number| {
        let client = client.clone();
        async move {
            let question = format!("{number} and {} and {}", number + 1, number * 7);
            let mut updates = client.send(question.as_str()).follow();
            while let Some(event) = updates.next().await {
                event.unwrap();
            }
            assert_completed(updates.task().unwrap(), &question);
        }
    });
    bounded(join_all(sending)).await;
    assert_eq!(endpoint.received().len(), 200);
}

#[tokio::test]
async fn successive_requests_share_a_connection() {
    for api in APIS {
        let endpoint = Endpoint::with(move |_| answer(api, &["ok"])).await;
        let client = serve(model(&endpoint, api)).await;
        for _ in 0..5 {
            assert_completed(&send(&client, "hello").await, "ok");
        }
        assert!(endpoint.connections() < 5, "{}", endpoint.connections());
    }
}

#[tokio::test]
async fn answer_without_text_completes_the_task() {
    for api in APIS {
        let endpoint = Endpoint::start([answer(api, &[])]).await;
        let client = serve(model(&endpoint, api)).await;
        assert_completed(&send(&client, "Say nothing").await, "");
    }
}

#[test]
fn debug_output_has_no_secret() {
    let model = ModelAgent::new("http://127.0.0.1/v1", "tiny").api_key(KEY);
    let shown = format!("{model:?}");
    assert!(
        shown.contains("tiny") && shown.contains("***") && !shown.contains(KEY),
        "{shown}"
    );
}
