//! Durations, in the limits of their JSON.

use a2a_protobuf::STATUS;

fn status(delay: &str) -> String {
    format!(r#"{{"details":[{{"@type":"/google.rpc.RetryInfo","retryDelay":"{delay}"}}]}}"#)
}

/// Checks that a duration is converted, and what it is on the way back.
#[track_caller]
fn check(delay: &str, expected: &str) {
    let message = STATUS.to_protobuf(status(delay).as_bytes()).unwrap();
    let json = STATUS.to_json(&message).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), status(expected));
}

#[test]
fn durations_are_converted() {
    for delay in [
        "0s",
        "1s",
        "1.500s",
        "-1.500s",
        "0.000001s",
        "-0.000000001s",
        "315576000000.999999999s",
        "-315576000000.999999999s",
    ] {
        check(delay, delay);
    }
    check("1.5s", "1.500s");
    check("1.500000s", "1.500s");
    check("0.0001s", "0.000100s");
    check("-0s", "0s");
    check("007s", "7s");
}

#[test]
fn durations_out_of_range_or_malformed_are_refused() {
    for delay in [
        "",
        "s",
        "-s",
        "1",
        "1 s",
        " 1s",
        "+1s",
        "--1s",
        "1.s",
        ".5s",
        "1.-5s",
        "1.5.5s",
        "1e3s",
        "1S",
        "1ms",
        "\u{663}s",
        "0.0000000001s",
        "315576000001s",
        "-315576000001s",
        "99999999999999999999s",
    ] {
        let refused = STATUS.to_protobuf(status(delay).as_bytes()).unwrap_err();
        let expected = "retryDelay: expected a duration of at most 315576000000 seconds";
        assert!(refused.problem.contains(expected), "{delay}: {refused}");
    }
    let number = br#"{"details":[{"@type":"/google.rpc.RetryInfo","retryDelay":1}]}"#;
    assert!(STATUS.to_protobuf(number).is_err());
}

/// Returns a number as its bytes on the wire.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}

#[test]
fn messages_out_of_range_are_refused() {
    const MAX: i64 = 315_576_000_000;
    for (seconds, nanos, expected) in [
        (MAX, 999_999_999, Some("315576000000.999999999s")),
        (-MAX, -1, Some("-315576000000.000000001s")),
        (0, -1000, Some("-0.000001s")),
        (MAX + 1, 0, None),
        (-MAX - 1, 0, None),
        (i64::MIN, 0, None),
        (0, 1_000_000_000, None),
        (0, -1_000_000_000, None),
        (0, i64::from(i32::MIN), None),
        (1, -1, None),
        (-1, 1, None),
    ] {
        let fields = [(0x08, seconds), (0x10, nanos)];
        let delay = fields.map(|(tag, it)| [vec![tag], varint(it.cast_unsigned())].concat());
        let mut content = delay.concat();
        for tag in [0x0a, 0x12] {
            let length = varint(content.len() as u64);
            content = [vec![tag], length, content].concat();
        }
        let any = [b"\x0a\x15/google.rpc.RetryInfo".to_vec(), content].concat();
        let message = [vec![0x1a], varint(any.len() as u64), any].concat();
        let json = STATUS.to_json(&message);
        match expected {
            Some(delay) => assert_eq!(json.unwrap(), status(delay).as_bytes()),
            None => assert_eq!(json.unwrap_err().path, "$.details[0].retryDelay"),
        }
    }
}
