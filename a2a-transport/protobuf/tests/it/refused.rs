//! Messages and JSON that cannot be converted.

use a2a_protobuf::Method;

#[track_caller]
fn method(name: &str) -> &'static Method {
    Method::at(&format!("/lf.a2a.v1.A2AService/{name}")).unwrap()
}

#[test]
fn errors_of_messages_name_the_place_and_the_problem() {
    for (message, expected) in [
        (
            &b"\x12\x05ab"[..],
            "$: the message ends in the middle of a field",
        ),
        (
            b"\x12\x02\xff\xfe",
            "$.id: expected text, found bytes that are not UTF-8",
        ),
        (
            b"\x10\x01",
            "$.id: expected a string, found another wire type",
        ),
        (
            // A group.
            b"\x13\x14",
            "$.id: expected a string, found another wire type",
        ),
        (
            b"\x17",
            "$: field 2 has the wire type 7: expected 0, 1, 2 or 5",
        ),
        (b"\x00", "$: a field has an invalid number"),
        (&[0xff; 11], "$: a number is longer than 64 bits"),
    ] {
        let refused = method("GetTask").request().to_json(message).unwrap_err();
        assert_eq!(refused.to_string(), expected, "{message:?}");
    }
    // The first part of the message has another one for its text.
    let message = b"\x12\x06\x2a\x04\x0a\x02\xff\xff";
    let refused = method("SendMessage")
        .request()
        .to_json(message)
        .unwrap_err();
    let expected = "$.message.parts[0].text: expected text, found bytes that are not UTF-8";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn errors_of_json_name_the_member_and_the_problem() {
    for (json, expected) in [
        (
            r#"{"id":7}"#,
            "id: invalid type: integer `7`, expected a string",
        ),
        (r#"{"historyLength":"x"}"#, "historyLength: invalid type"),
        ("[]", "expected an object: lf.a2a.v1.GetTaskRequest"),
        (r#"{"id":"#, "EOF while parsing"),
        ("{} {}", "trailing characters"),
    ] {
        let refused = method("GetTask").request().to_protobuf(json.as_bytes());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(expected), "{json}: {refused}");
    }
    let refused = method("GetTask")
        .response()
        .to_protobuf(br#"{"status":{"state":"DONE"}}"#);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("unknown value `DONE`"), "{refused}");
    assert!(refused.contains("TASK_STATE_COMPLETED"), "{refused}");
}

/// Nested messages end at a limit, in both directions, and not with the stack.
#[test]
fn nesting_is_limited() {
    let mut value = b"\x08\x00".to_vec();
    for _ in 0..10_000 {
        // A list with a value, which is a list.
        let mut list = vec![0x0a];
        push_length(&mut list, value.len());
        list.extend_from_slice(&value);
        value = vec![0x32];
        push_length(&mut value, list.len());
        value.extend_from_slice(&list);
    }
    let mut part = vec![0x22];
    push_length(&mut part, value.len());
    part.extend_from_slice(&value);
    let mut message = vec![0x2a];
    push_length(&mut message, part.len());
    message.extend_from_slice(&part);
    let mut request = vec![0x12];
    push_length(&mut request, message.len());
    request.extend_from_slice(&message);
    let refused = method("SendMessage")
        .request()
        .to_json(&request)
        .unwrap_err();
    assert!(
        refused.problem.contains("more than 100 messages deep"),
        "{refused}"
    );

    let deep = "[".repeat(100_000);
    let json = format!(r#"{{"message":{{"parts":[{{"data":{deep}"#);
    let refused = method("SendMessage").request().to_protobuf(json.as_bytes());
    assert!(refused.unwrap_err().problem.contains("recursion limit"));
}

fn push_length(out: &mut Vec<u8>, mut length: usize) {
    loop {
        let [low, ..] = length.to_le_bytes();
        length >>= 7;
        if length == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// The memory of a conversion is bounded by the length of the message.
#[test]
fn small_fields_do_not_grow() {
    // A million parts without content.
    let parts = [0x2a, 0x00].repeat(1_000_000);
    let mut request = vec![0x12];
    push_length(&mut request, parts.len());
    request.extend_from_slice(&parts);
    let json = method("SendMessage").request().to_json(&request).unwrap();
    assert!(json.len() < 2 * request.len(), "{}", json.len());
}
