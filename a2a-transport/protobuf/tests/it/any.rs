//! Details of errors: messages of any type.

use a2a_protobuf::STATUS;
use serde_json::{Value, json};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";

/// Checks that details in JSON become these bytes, and that those become the details as they are expected.
#[track_caller]
fn check(details: Value, any: &[u8], expected: Value) {
    let mut message = vec![0x1a, u8::try_from(any.len()).unwrap()];
    message.extend_from_slice(any);
    let status = json!({ "details": [details] });
    let ours = STATUS.to_protobuf(status.to_string().as_bytes());
    assert_eq!(ours.unwrap(), message, "{status}");
    let back = STATUS.to_json(&message).unwrap();
    let back: Value = serde_json::from_slice(&back).unwrap();
    assert_eq!(back, json!({ "details": [expected] }));
}

/// Checks that JSON and bytes are converted to each other.
#[track_caller]
fn check_both(details: Value, any: &[u8]) {
    check(details.clone(), any, details);
}

#[test]
fn error_of_a2a_is_a_status_with_an_error_info() {
    let json = br#"{"code":5,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}"#;
    let message = STATUS.to_protobuf(json).unwrap();
    let expected = [
        b"\x08\x05\x12\x01m\x1a\x4e\x0a\x28",
        ERROR_INFO.as_bytes(),
        b"\x12\x22\x0a\x0eTASK_NOT_FOUND\x12\x10a2a-protocol.org",
    ];
    let expected = expected.concat();
    assert_eq!(message, expected);
    assert_eq!(STATUS.to_json(&message).unwrap(), json);
}

#[test]
fn known_types_are_found_by_the_last_segment_of_the_url() {
    check_both(
        json!({"@type": "/google.rpc.ErrorInfo", "reason": "R"}),
        b"\x0a\x15/google.rpc.ErrorInfo\x12\x03\x0a\x01R",
    );
    check_both(
        json!({"@type": "a/b/google.rpc.ErrorInfo"}),
        b"\x0a\x18a/b/google.rpc.ErrorInfo",
    );
    check_both(
        json!({"@type": "/google.rpc.RetryInfo", "retryDelay": "1.500s"}),
        b"\x0a\x15/google.rpc.RetryInfo\x12\x0a\x0a\x08\x08\x01\x10\x80\xca\xb5\xee\x01",
    );
    check_both(
        json!({"@type": "/google.rpc.BadRequest", "fieldViolations": [{"field": "id"}]}),
        b"\x0a\x16/google.rpc.BadRequest\x12\x06\x0a\x04\x0a\x02id",
    );
}

#[test]
fn type_may_follow_the_members() {
    let any = br#"{"details":[{"reason":"R","@type":"/google.rpc.ErrorInfo"}]}"#;
    let first = br#"{"details":[{"@type":"/google.rpc.ErrorInfo","reason":"R"}]}"#;
    let message = STATUS.to_protobuf(any).unwrap();
    assert_eq!(message, STATUS.to_protobuf(first).unwrap());
    assert_eq!(STATUS.to_json(&message).unwrap(), first);
}

#[test]
fn unknown_types_keep_their_bytes() {
    check_both(
        json!({"@type": "a/b.C", "value": "//8="}),
        b"\x0a\x05a/b.C\x12\x02\xff\xff",
    );
    // Without a slash there is no type.
    check_both(
        json!({"@type": "google.rpc.ErrorInfo", "value": "CgFS"}),
        b"\x0a\x14google.rpc.ErrorInfo\x12\x03\x0a\x01R",
    );
    check_both(json!({"@type": "a/b.C"}), b"\x0a\x05a/b.C");
    check_both(json!({"value": "AA=="}), b"\x12\x01\x00");
    check_both(json!({}), b"");
    check(
        json!({"value": "_-8", "@type": "a/b.C"}),
        b"\x0a\x05a/b.C\x12\x02\xff\xef",
        json!({"@type": "a/b.C", "value": "/+8="}),
    );
}

#[test]
fn malformed_details_are_refused() {
    for (details, expected) in [
        ("null", "expected an object with a member `@type`"),
        ("[]", "expected an object with a member `@type`"),
        (r#"{"@type":7}"#, "invalid type: integer `7`"),
        (
            r#"{"@type":"a/b","@type":"a/b"}"#,
            "duplicate field `@type`",
        ),
        (r#"{"@type":"a/b","value":"?"}"#, "expected Base64"),
        (
            r#"{"@type":"a/b.C","x":1}"#,
            "the type `a/b.C` is unknown: expected `value` with its bytes, found `x`",
        ),
        (r#"{"reason":"R"}"#, "found `reason`"),
        (
            r#"{"@type":"/google.rpc.ErrorInfo","reason":7}"#,
            "details: reason: invalid type: integer `7`",
        ),
    ] {
        let json = format!(r#"{{"details":[{details}]}}"#);
        let refused = STATUS.to_protobuf(json.as_bytes()).unwrap_err();
        assert!(refused.problem.contains(expected), "{json}: {refused}");
    }
    for (any, expected) in [
        (&b"\x0a\x01\xff"[..], "$.details[0]: expected text"),
        (b"\x08\x01", "$.details[0]: expected an Any"),
        (b"\x10\x01", "$.details[0]: expected an Any"),
        (b"\x12\x02a", "$.details[0]: the message ends"),
        (
            b"\x0a\x15/google.rpc.ErrorInfo\x12\x02\x08\x01",
            "$.details[0].reason: expected a string",
        ),
    ] {
        let mut message = vec![0x1a, u8::try_from(any.len()).unwrap()];
        message.extend_from_slice(any);
        let refused = STATUS.to_json(&message).unwrap_err();
        assert!(refused.to_string().starts_with(expected), "{refused}");
    }
}

/// Members that nothing reads end with the limit of the JSON, not with the stack.
#[test]
fn deep_members_are_skipped_or_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let json = format!(r#"{{"details":[{{"@type":"/google.rpc.ErrorInfo","x":{deep}}}]}}"#);
    let message = STATUS.to_protobuf(json.as_bytes());
    let without = STATUS.to_protobuf(br#"{"details":[{"@type":"/google.rpc.ErrorInfo"}]}"#);
    assert_eq!(message, without);
    let json = format!(r#"{{"details":[{{"@type":"/google.rpc.ErrorInfo","metadata":{deep}}}]}}"#);
    assert!(STATUS.to_protobuf(json.as_bytes()).is_err());
}

/// The memory of a conversion is bounded by the length of the message.
#[test]
fn small_details_do_not_grow() {
    let message = [0x1a, 0x00].repeat(1_000_000);
    let json = STATUS.to_json(&message).unwrap();
    assert!(json.len() < 2 * message.len(), "{}", json.len());
    assert_eq!(STATUS.to_protobuf(&json).unwrap(), message);
}
