//! Every known quirk: refused strictly, with the path; normalized leniently, by name and path.

use a2a_types::reading::{Hints, Mode, Wire, read};
use a2a_types::{TaskId, v0_1, v0_2};

/// Checks both readers. `strict`: the path of the strict reader's error; `repairs`: the lenient reader's repairs.
#[track_caller]
fn check<W: Wire>(json: &str, strict: &str, repairs: &[(&str, &str)]) {
    let task = TaskId::from("asked");
    let hints = Hints {
        task: Some(&task),
        ..Hints::at("$")
    };
    let refused = read::<W>(json, Mode::Strict, &hints)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(refused.path, strict, "{json}: {refused}");
    let read = read::<W>(json, Mode::Lenient, &hints)
        .unwrap_or_else(|refused| panic!("{json}: {refused}"));
    let found: Vec<_> = read
        .repairs
        .iter()
        .map(|repair| (repair.quirk.code(), repair.path.as_str()))
        .collect();
    assert_eq!(found, repairs, "{json}");
}

/// Checks that both readers refuse the text, at this path.
#[track_caller]
fn check_refused<W: Wire>(json: &str, path: &str) {
    for mode in [Mode::Strict, Mode::Lenient] {
        let refused = read::<W>(json, mode, &Hints::at("$"))
            .map(|_| ())
            .unwrap_err();
        assert_eq!(refused.path, path, "{json} {mode:?}: {refused}");
    }
}

#[test]
fn quirks_of_0_1_are_repaired() {
    type Send = v0_1::TaskSendParams;
    check::<Send>(
        r#"{"id":"t","message":{"role":"user","data":[{"type":"text","text":"x"}]}}"#,
        "$.message",
        &[("DATA4PARTS", "$.message.data")],
    );
    check::<Send>(
        r#"{"id":"t","message":{"role":"user","parts":[{"type":"file","file":{"data":"aGk="}}]}}"#,
        "$.message.parts[0].file",
        &[("FILEDATA", "$.message.parts[0].file.data")],
    );
    check::<Send>(
        r#"{"id":"t","message":{"role":"user","parts":[{"text":"x"}]}}"#,
        "$.message.parts[0]",
        &[("NOKIND", "$.message.parts[0].type")],
    );
    check_refused::<Send>(
        r#"{"id":"t","message":{"parts":[{"type":"text","text":"x"}]}}"#,
        "$.message",
    );
    check::<v0_1::Task>(
        r#"{"id":"t","status":{"state":"working","message":{"parts":[{"type":"text","text":"x"}]}}}"#,
        "$.status.message",
        &[("NOROLE", "$.status.message.role")],
    );
    check::<Send>(
        r#"{"id":7,"message":{"role":"user","parts":[{"kind":"text","text":"x"}]}}"#,
        "$.id",
        &[("NUMID", "$.id"), ("TYPE4KIND", "$.message.parts[0].kind")],
    );
    check::<Send>(
        r#"{"id":"t","message":{"role":"user","parts":[{"type":"data","data":[1]}]}}"#,
        "$.message.parts[0].data",
        &[("DATA", "$.message.parts[0].data")],
    );
    check::<v0_1::Task>(
        r#"{"id":1,"status":{"state":"cancelled","timestamp":"2025-04-02T16:59:25.331844"}}"#,
        "$.id",
        &[
            ("NUMID", "$.id"),
            ("NOTZ", "$.status.timestamp"),
            ("UNKNOWN", "$.status.state"),
        ],
    );
    check::<v0_1::Task>(
        r#"{"id":"t","status":{"state":"working","message":{"role":"assistant","parts":null}}}"#,
        "$.status.message.role",
        &[
            ("UNKNOWN", "$.status.message.role"),
            ("NULLLIST", "$.status.message.parts"),
        ],
    );
    check::<v0_1::AgentCard>(
        r#"{"name":"n","url":"u","version":"1","capabilities":{},"skills":[],"authentication":{"schemes":"OAuth2"}}"#,
        "$.authentication.schemes",
        &[("SCHEMES", "$.authentication.schemes")],
    );
}

#[test]
fn quirks_of_0_2_are_repaired() {
    type Send = v0_2::MessageSendParams;
    check::<Send>(
        r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}"#,
        "$.message",
        &[("NOKIND", "$.message.kind")],
    );
    check::<Send>(
        r#"{"messageId":"m","message":{"kind":"message","role":"user","parts":[{"type":"text","text":"x"}]}}"#,
        "$.message.parts[0]",
        &[
            ("MSGIDOUT", "$.messageId"),
            ("TYPE4KIND", "$.message.parts[0].type"),
        ],
    );
    check::<Send>(
        r#"{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"file","file":{"fileWithUri":"u"}}]}}"#,
        "$.message.parts[0].file",
        &[("PROTOFILE", "$.message.parts[0].file.fileWithUri")],
    );
    for unnamed in [
        r#"{"message":{"kind":"message","role":"user","parts":[{"kind":"text","text":"x"}]}}"#,
        r#"{"message":{"kind":"message","messageId":"","role":"user","parts":[{"kind":"text","text":"x"}]}}"#,
        r#"{"message":{"kind":"message","messageId":"m","parts":[{"kind":"text","text":"x"}]}}"#,
    ] {
        let refused = read::<Send>(unnamed, Mode::Lenient, &Hints::at("$")).unwrap_err();
        assert_eq!(refused.path, "$.message", "{unnamed}");
    }
    check::<v0_2::Message>(
        r#"{"kind":"message","parts":[{"kind":"text","text":"x"}]}"#,
        "$",
        &[("NOROLE", "$.role"), ("NOMSGID", "$.messageId")],
    );
    check::<v0_2::Message>(
        r#"{"kind":"message","messageId":"m","role":"ROLE_AGENT","parts":null,"metadata":{"object_type":"x"}}"#,
        "$.role",
        &[("UNKNOWN", "$.role"), ("NULLLIST", "$.parts")],
    );
    check::<v0_2::Task>(
        r#"{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"history":[
            {"kind":"message","messageId":"m","role":"assistant","parts":[{"kind":"text","text":"x"}]}]}"#,
        "$.history[0].role",
        &[("UNKNOWN", "$.history[0].role")],
    );
    // A sent message must have content and a known role.
    check_refused::<Send>(
        r#"{"message":{"kind":"message","messageId":"m","role":"user","parts":[]}}"#,
        "$.message.parts",
    );
    check_refused::<Send>(
        r#"{"message":{"kind":"message","messageId":"m","role":"robot","parts":[{"kind":"text","text":"x"}]}}"#,
        "$.message.role",
    );
    check::<v0_2::TaskArtifactUpdateEvent>(
        r#"{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"parts":null}}"#,
        "$.artifact.parts",
        &[
            ("NOARTID", "$.artifact.artifactId"),
            ("NULLLIST", "$.artifact.parts"),
            ("EMPTYPARTS", "$.artifact.parts"),
        ],
    );
    check::<v0_2::Task>(
        r#"{"id":1,"contextId":"c","status":{"state":"TASK_STATE_WORKING"}}"#,
        "$.id",
        &[
            ("NOKIND", "$.kind"),
            ("NUMID", "$.id"),
            ("UNKNOWN", "$.status.state"),
        ],
    );
}

/// One card for callers of every version may have schemes that only 1.0 knows. Requirements with such a
/// scheme stay: without the scheme they cannot be met, and the agent is not taken for an open one.
#[test]
fn schemes_unknown_to_0_3_are_dropped_and_requirements_stay() {
    let json = r#"{"protocolVersion":"0.3.0","name":"n","description":"","url":"u","version":"1","capabilities":{},
        "defaultInputModes":[],"defaultOutputModes":[],"skills":[],
        "securitySchemes":{
            "device":{"oauth2SecurityScheme":{"flows":{"deviceCode":{}}}},
            "key":{"type":"apiKey","in":"header","name":"X-Key","apiKeySecurityScheme":{}}},
        "security":[{"device":[]},{"key":[]}]}"#;
    check::<v0_2::AgentCard>(
        json,
        "$.securitySchemes.device",
        &[("SCHEME", "$.securitySchemes.device")],
    );
    let card = read::<v0_2::AgentCard>(json, Mode::Lenient, &Hints::at("$"));
    assert_eq!(card.unwrap().value.security.unwrap().len(), 2);
}

/// `null` means the same as an absent member, in both modes: the samples of 0.1 send it for every member.
#[test]
fn null_is_absent() {
    let json = r#"{"id":"t","sessionId":null,"historyLength":null,"pushNotification":null,"metadata":null,
        "message":{"role":"user","parts":[{"type":"text","text":"x","metadata":null}],"metadata":null}}"#;
    let read = read::<v0_1::TaskSendParams>(json, Mode::Strict, &Hints::at("$")).unwrap();
    assert!(read.value.session_id.is_none() && read.value.metadata.is_none());
}

#[test]
fn unreadable_value_is_refused_at_its_path() {
    check_refused::<v0_2::MessageSendParams>("7", "$");
    check_refused::<v0_2::MessageSendParams>(r#"{"message":[]}"#, "$.message");
    check_refused::<v0_2::TaskQueryParams>(r#"{"id":"t","historyLength":-1}"#, "$.historyLength");
    check_refused::<v0_1::TaskQueryParams>(r#"{"id":"t","historyLength":1.5}"#, "$.historyLength");
    let data_for_parts =
        r#"{"id":"t","message":{"role":"user","data":[{"type":"text","text":7}]}}"#;
    let refused =
        read::<v0_1::TaskSendParams>(data_for_parts, Mode::Lenient, &Hints::at("$")).unwrap_err();
    assert_eq!(refused.path, "$.message.data[0].text");
}

/// A number in place of a task's id becomes the requested task's id, or its digits if no task was requested.
#[test]
fn numeric_task_id_is_repaired() {
    let json = r#"{"id":1,"status":{"state":"completed"}}"#;
    let unasked = read::<v0_1::Task>(json, Mode::Lenient, &Hints::at("$")).unwrap();
    assert_eq!(unasked.value.id.as_str(), "1");
    let task = TaskId::from("asked");
    let hints = Hints {
        task: Some(&task),
        ..Hints::at("$")
    };
    assert_eq!(
        read::<v0_1::Task>(json, Mode::Lenient, &hints)
            .unwrap()
            .value
            .id,
        task
    );
}

/// A file of 0.1 without content is a mere mention (0.1.0 §6.6), which later versions express
/// as data.
#[test]
fn file_without_content_is_kept_as_data() {
    let json = r#"{"role":"agent","parts":[{"type":"file","file":{"name":"a.pdf","mimeType":"application/pdf"}}]}"#;
    check::<v0_1::Message>(json, "$.parts[0].file", &[]);
    let read = read::<v0_1::Message>(json, Mode::Lenient, &Hints::at("$")).unwrap();
    let parts = a2a_types::Message::from(read.value).parts;
    let mention = serde_json::json!({"name": "a.pdf", "mimeType": "application/pdf"});
    assert_eq!(parts, [a2a_types::Part::data(mention)]);
}

/// Text that stands where it does not belong may be a secret, and errors are logged.
#[test]
fn errors_do_not_repeat_text() {
    #[track_caller]
    fn check<W: Wire>(json: &str, problem: &str) {
        for mode in [Mode::Strict, Mode::Lenient] {
            let read = read::<W>(json, mode, &Hints::at("$"));
            assert_eq!(read.map(|_| ()).unwrap_err().problem, problem, "{json}");
        }
    }
    for secret in ["canary", "canary at line 1", r#"canary\", expected canary"#] {
        check::<v0_1::PushNotificationConfig>(
            &format!(r#"{{"url":"u","authentication":"{secret}"}}"#),
            "invalid type: string, expected an object",
        );
        let role = format!(r#"{{"role":"{secret}","parts":[]}}"#);
        let refused = read::<v0_1::Message>(&role, Mode::Strict, &Hints::at("$"));
        let problem = refused.map(|_| ()).unwrap_err().problem;
        assert!(
            problem == "invalid value: string, expected one of `user`, `agent`",
            "{problem}"
        );
        assert!(!problem.contains("canary"), "{problem}");
    }
    check::<v0_1::PushNotificationConfig>(
        r#"{"url":17}"#,
        "invalid type: integer `17`, expected a string",
    );
}

#[test]
fn numbers_stay_as_they_were_sent() {
    // Read quickly rather than exactly, its last digit is another one.
    let number = "0.9073038322028689";
    let parts = [
        r#"{"type":"data","data":{"x":NUMBER}}"#,
        // Without `type`: repaired, and read once more.
        r#"{"data":{"x":NUMBER}}"#,
    ];
    for part in parts {
        let json = r#"{"id":"t","message":{"role":"user","parts":[PART]}}"#;
        let json = json.replace("PART", &part.replace("NUMBER", number));
        let read = read::<v0_1::TaskSendParams>(&json, Mode::Lenient, &Hints::at("$")).unwrap();
        let written = serde_json::to_string(&read.value).unwrap();
        assert!(written.contains(number), "{written}");
    }
}
