//! Version of the profile.

use a2a_types::extension::trpc::{Compatibility, UnreadableVersion, Version};
use a2a_types::{AgentCard, Message};
use serde_json::{Value, json};

#[track_caller]
fn check(text: &str, expected: Option<(u32, u32)>) {
    let read = text.parse::<Version>().ok();
    assert_eq!(read.map(|it| (it.major, it.minor)), expected, "{text:?}");
}

#[test]
fn versions_are_read() {
    check("0.1", Some((0, 1)));
    check(" v1.2.3 ", Some((1, 2)));
    check("2", Some((2, 0)));
    check("1.0-rc", None);
    for nonsense in [
        "",
        "x",
        ".1",
        "1.",
        "-1.0",
        "0.1x",
        "99999999999.0",
        "latest",
    ] {
        check(nonsense, None);
    }
}

#[test]
fn another_major_version_is_not_understood_and_another_minor_one_is() {
    let of = |text: &str| Version::CURRENT.compatibility(text.parse().unwrap());
    assert_eq!(of("0.1"), Compatibility::Understood);
    assert_eq!(of("0.9"), Compatibility::Understood);
    assert_eq!(of("1.0"), Compatibility::Incompatible);
    let after = Version { major: 1, minor: 1 };
    assert_eq!(
        after.compatibility(Version::CURRENT),
        Compatibility::Incompatible
    );
    assert_eq!(
        after.compatibility(Version { major: 1, minor: 0 }),
        Compatibility::Understood
    );
}

#[track_caller]
fn check_message(
    declared: Value,
    expected: Option<Result<Version, UnreadableVersion>>,
    understood: bool,
) {
    let metadata = json!({"interaction_spec_version": declared, "user_id": "u"});
    let message = Message {
        metadata: metadata.as_object().cloned(),
        ..Message::user("hello")
    };
    assert_eq!(Version::of_message(&message), expected, "{declared}");
    assert_eq!(Version::is_understood(expected), understood, "{declared}");
}

#[test]
fn a_caller_declares_its_version_in_its_message() {
    let ours = Version::CURRENT;
    check_message(json!("0.1"), Some(Ok(ours)), true);
    check_message(json!(0.1), Some(Ok(ours)), true);
    check_message(
        json!("0.7.1"),
        Some(Ok(Version { major: 0, minor: 7 })),
        true,
    );
    check_message(
        json!("1.0"),
        Some(Ok(Version { major: 1, minor: 0 })),
        false,
    );
    check_message(json!("soon"), Some(Err(UnreadableVersion)), false);
    check_message(json!({}), Some(Err(UnreadableVersion)), false);
    check_message(json!(null), None, false);

    let mut message = Message::user("hello");
    assert_eq!(Version::of_message(&message), None);
    ours.put_into(&mut message);
    assert_eq!(
        message.metadata.as_ref().unwrap()["interaction_spec_version"],
        "0.1"
    );
    assert_eq!(Version::of_message(&message), Some(Ok(ours)));
}

#[test]
fn an_agent_declares_its_version_on_its_card() {
    let mut card = AgentCard::new("Weather", "Knows the weather");
    assert_eq!(Version::of_card(&card), None);
    Version { major: 9, minor: 0 }.declare(&mut card);
    Version::CURRENT.declare(&mut card);
    let written = json!(card.capabilities.extensions);
    let documented = json!([{"uri": "trpc-a2a-version", "params": {"version": "0.1"}}]);
    assert_eq!(written, documented);
    assert_eq!(Version::of_card(&card), Some(Ok(Version::CURRENT)));
    card.capabilities.extensions[0].params = None;
    assert_eq!(Version::of_card(&card), Some(Err(UnreadableVersion)));
}
