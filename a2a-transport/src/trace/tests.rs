use http::header::{HeaderMap, HeaderValue};
use proptest::prelude::*;

use super::TraceContext;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_bytes(value).unwrap());
    }
    headers
}

/// Checks the headers that are passed on: the lines of both.
#[track_caller]
fn check(lines: &[(&'static str, &str)], expected: Option<(&str, Option<&str>)>) {
    let lines: Vec<_> = lines.iter().map(|(n, v)| (*n, v.as_bytes())).collect();
    let read = TraceContext::read(&headers(&lines));
    let mut written = headers(&[("traceparent", b"old"), ("tracestate", b"old")]);
    if let Some(read) = &read {
        read.write(&mut written);
        assert_eq!(TraceContext::read(&written).as_ref(), Some(read));
    }
    let lines = |name| -> Vec<_> { written.get_all(name).iter().cloned().collect() };
    let parent = expected.map(|(parent, _)| parent);
    let state = expected.and_then(|(_, state)| state);
    assert_eq!(read.map(|read| read.to_string()).as_deref(), parent);
    if let Some(parent) = parent {
        assert_eq!(lines("traceparent"), [parent]);
        assert_eq!(lines("tracestate"), Vec::from_iter(state));
    }
}

#[test]
fn traceparent_is_parsed_or_refused() {
    let ids = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
    let good = |text: &str, expected: &str| check(&[("traceparent", text)], Some((expected, None)));
    for flags in ["00", "01", "03", "ff"] {
        let text = format!("00-{ids}-{flags}");
        good(&text, &text);
    }
    good(&format!(" \t{PARENT} "), PARENT);
    // A later version is passed on in ours, with the flag that we know.
    for later in [
        "cc-{}-01",
        "01-{}-01-",
        "fe-{}-ff-what the future will be like-",
    ] {
        good(&later.replace("{}", ids), PARENT);
    }
    good(&format!("01-{ids}-02"), &format!("00-{ids}-00"));

    for bad in [
        "",
        "00",
        &PARENT[..54],
        &format!("{PARENT}-"),
        &format!("{PARENT}-00"),
        &format!("{PARENT}0"),
        &format!("ff-{ids}-01"),
        &format!("01-{ids}-01.x"),
        &format!("0-{ids}-001"),
        &format!(".0-{ids}-01"),
        &format!("0A-{ids}-01"),
        &format!("00-{ids}-0x"),
        &format!("00-{ids}-+1"),
        &format!("00-{}-01", ids.to_uppercase()),
        &format!("00_{ids}_01"),
        &format!("00-{ids}-01, {PARENT}"),
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319cb-7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01",
        "00-\u{e4}af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
    ] {
        check(&[("traceparent", bad), ("tracestate", "a=1")], None);
    }
    check(&[("traceparent", PARENT), ("traceparent", PARENT)], None);
    check(&[("tracestate", "a=1")], None);
    check(&[], None);
}

#[test]
fn tracestate_is_parsed_or_dropped() {
    let check = |lines: &[&str], expected: Option<&str>| {
        let mut all = vec![("traceparent", PARENT)];
        all.extend(lines.iter().map(|line| ("tracestate", *line)));
        check(&all, Some((PARENT, expected)));
    };
    let good = |text: &str| check(&[text], Some(text));
    good("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7");
    good("fw529a3039@dt=FfAAAAAbw;1");
    good("0a_-*/@z= !\"#$%&'()*+-./:;<>?@AZ[\\]^_`az{|}~");
    check(&["", "a=1 ,\t b=2", ",", "c=3"], Some("a=1,b=2,c=3"));
    check(&[",,a=1,,"], Some("a=1"));
    check(&["", " , "], None);

    let members = |count: usize| Vec::from_iter((0..count).map(|at| format!("m{at}=1"))).join(",");
    good(&members(32));
    check(&[&members(33)], None);
    let (long, rest) = ("k".repeat(256), "v".repeat(512 - 257));
    good(&format!("{long}={rest}"));
    check(&[&format!("{long}={rest}v")], None);
    check(&["a=1", &format!("{long}={}", &rest[3..])], None);
    check(&[&format!("{long}k=1")], None);
    good(&format!("k={}", "v".repeat(256)));
    check(&[&format!("k={}", "v".repeat(257))], None);

    for bad in [
        "a", "=1", "a=", "a==1", "a=1=2", "A=1", "_a=1", "a b=1", "\u{e4}=1", "a=\u{e4}",
    ] {
        check(&[bad], None);
        check(&["good=1", bad], None);
    }
    check(&["a=1\t2"], None);
}

#[test]
fn created_context_equals_parsed_context() {
    let made = TraceContext::new([1; 16], [2; 8], true).unwrap();
    let parent = format!("00-{}-{}-01", "01".repeat(16), "02".repeat(8));
    assert_eq!(made.traceparent(), parent);
    let with_state = made.clone().with_state("a=secret");
    assert_eq!(
        TraceContext::parse(&parent, Some("a=secret")),
        Some(with_state.clone())
    );
    assert_eq!(TraceContext::parse(&parent, Some("a")), Some(made.clone()));
    assert_eq!(with_state.clone().with_state("a"), made);
    assert!(made.is_sampled());
    assert_eq!((made.trace_id(), made.parent_id()), ([1; 16], [2; 8]));
    assert_eq!(TraceContext::new([0; 16], [2; 8], true), None);
    assert_eq!(TraceContext::new([1; 16], [0; 8], true), None);
    assert!(!format!("{with_state:?} {with_state}").contains("secret"));
}

proptest! {
    /// No input panics, and what is read is written so that it is read again.
    #[test]
    fn no_input_panics_and_read_context_is_read_back(
        parent in prop_oneof![
            "[\\PC\t]{0,80}",
            "[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.{0,9})?",
            proptest::string::string_regex("[-0-9a-fA-F]{53,57}").unwrap(),
        ],
        states in prop::collection::vec(
            prop_oneof![
                "[\\PC\t]{0,80}",
                "([a-z0-9@*/_-]{1,9}=[ -~]{0,20},?){0,40}",
            ],
            0..4,
        ),
    ) {
        let mut lines = HeaderMap::new();
        for (name, text) in
            [("traceparent", &parent)].into_iter().chain(states.iter().map(|state| ("tracestate", state)))
        {
            if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
                lines.append(name, value);
            }
        }
        if let Some(read) = TraceContext::read(&lines) {
            let mut written = HeaderMap::new();
            read.write(&mut written);
            prop_assert_eq!(TraceContext::read(&written), Some(read.clone()));
            prop_assert!(read.tracestate().is_none_or(|state| state.len() <= 512));
            let parsed = TraceContext::parse(&read.traceparent(), read.tracestate());
            prop_assert_eq!(parsed, Some(read));
        }
        let _ = TraceContext::parse(&parent, states.first().map(String::as_str));
    }
}
