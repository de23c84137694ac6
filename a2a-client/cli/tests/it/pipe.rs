//! `a2a … | head`: the reader closes the pipe early.

use std::process::Stdio;

use crate::{Agent, a2a, text};

#[test]
fn a_closed_stdout_is_not_an_error() {
    let agent = Agent::named("reference");
    let url = &*agent.url;
    for arguments in [
        &["card", "get", url][..],
        &["card", "get", url, "-o", "json"],
        &["send", url, "fail", "no paper"],
        &["send", "--stream", url, "echo", "hello"],
        &["completion", "bash"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = a2a()
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(
            (output.status.code(), &*stderr),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}
