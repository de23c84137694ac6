//! Rules about words: which may not be written, and which only in some places.

use super::sources::Source;
use super::{Violation, Workspace};

/// Spellings of protocol versions before 1.0 that 1.0 has changed.
const OLD_SPELLINGS: &[&str] = &[
    "\"message/send\"",
    "\"tasks/send\"",
    "\"tasks/sendSubscribe\"",
    "sessionId",
    "\"kind\"",
    "\"blocking\"",
    "\"final\"",
];

/// Places of old spellings; tests may write them anywhere.
const OLD_PLACES: &[&str] = &[
    "a2a-types/src/v0_1/",
    "a2a-types/src/v0_2/",
    "a2a-types/src/v0_3/",
    "a2a-types/src/pre_1_0/",
    "a2a-types/src/method.rs",
    "a2a-types/src/schema",
    "a2a-conformance/",
    // The API of the inspector has a member of that name.
    "a2a-client/inspector/src/proxy/fault.rs",
    THIS,
];

/// This file names what it forbids.
const THIS: &str = "xtask/src/tidy/words.rs";

/// A word that does not belong in the source.
struct Forbidden {
    /// Name in a violation and an exception.
    word: &'static str,
    /// Returns whether a line of a file contains it.
    is_in: fn(&Source, &str) -> bool,
    reason: &'static str,
}

#[rustfmt::skip]
const FORBIDDEN: &[Forbidden] = &[
    Forbidden { word: "/work/", is_in: |_, line| line.contains("/work/"), reason: MACHINE },
    Forbidden { word: "/root/", is_in: |_, line| line.contains("/root/"), reason: MACHINE },
    Forbidden { word: "/home/", is_in: |_, line| line.contains("/home/"), reason: MACHINE },
    Forbidden { word: "todo!", is_in: |source, line| code(source, line, "todo!("), reason: "unfinished" },
    Forbidden { word: "unimplemented!", is_in: |source, line| code(source, line, "unimplemented!("), reason: "unfinished" },
    Forbidden { word: "#[ignore]", is_in: |source, line| code(source, line, "#[ignore"), reason: "a test that does not run tests nothing" },
    Forbidden { word: "const MOST", is_in: names_no_limit, reason: "a limit is MAX_, MIN_ or DEFAULT_ and what it limits" },
    Forbidden { word: "sleep", is_in: sleeps, reason: "wait for what happens, or pause the clock" },
];

const MACHINE: &str = "the path of one machine";

/// A use of a forbidden word that is allowed.
struct Exception {
    path: &'static str,
    word: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "xtask/bench/src/scenario/tokens.rs",
        word: "sleep",
        reason: "models that write for different callers do not write at the same moments",
    },
    Exception {
        path: "a2a-conformance/src/client/connection.rs",
        word: "sleep",
        reason: "one arm of a select: how long an agent is silent, as a case says",
    },
    Exception {
        path: "a2a-conformance/src/client/driver/command.rs",
        word: "sleep",
        reason: "nothing tells when a process of somebody else listens",
    },
    Exception {
        path: "a2a-client/src/follow.rs",
        word: "sleep",
        reason: "pauses between attempts, and how long silence is no sign: steps of a state machine",
    },
    Exception {
        path: "a2a-client/src/retrying.rs",
        word: "sleep",
        reason: "an agent that is in need is left alone for a while",
    },
    Exception {
        path: "a2a-client/cli/src/command/sent.rs",
        word: "sleep",
        reason: "the caller's deadline",
    },
    Exception {
        path: "a2a-client/src/updates.rs",
        word: "sleep",
        reason: "the caller's deadline",
    },
    Exception {
        path: "a2a-client/inspector/src/proxy/body.rs",
        word: "sleep",
        reason: "nothing tells when HTTP/2 has sent what is to come before a reset",
    },
    Exception {
        path: "a2a-client/inspector/src/proxy/forward.rs",
        word: "sleep",
        reason: "a proxy that is slow on purpose",
    },
    Exception {
        path: "a2a-client/inspector/src/wire/log.rs",
        word: "sleep",
        reason: "the changes of an interval are sent as one",
    },
    Exception {
        path: "a2a-client/inspector/tests/it/browser/window.rs",
        word: "sleep",
        reason: "a browser tells nobody what it shows: it is asked again",
    },
    Exception {
        path: "a2a-server/tests/it/waiting.rs",
        word: "sleep",
        reason: "nothing tells of a file that is let go, or of a store that is well again: it is asked again",
    },
    Exception {
        path: "a2a-server/postgres/tests/it/database.rs",
        word: "sleep",
        reason: "a database tells nobody what waits in it or is counted: it is asked again",
    },
    Exception {
        path: "a2a-client/inspector/tests/it/browser/trip_agent.rs",
        word: "sleep",
        reason: "an agent that writes as slowly as a model, for pictures",
    },
    Exception {
        path: "a2a-client/inspector/tests/it/browser/pictures.rs",
        word: "#[ignore]",
        reason: "no test: writes pictures, as a task",
    },
    Exception {
        path: "a2a-client/inspector/tests/it/browser/wire_list.rs",
        word: "#[ignore]",
        reason: "no test: prints figures",
    },
    Exception {
        path: "a2a-conformance/src/agent/errors.rs",
        word: "/home/",
        reason: "what an error of a peer must not tell",
    },
    Exception {
        path: "a2a-conformance/src/agent/webhook.rs",
        word: "sleep",
        reason: "a webhook that is slow on purpose",
    },
    Exception {
        path: "a2a-conformance/src/agent/call_step.rs",
        word: "sleep",
        reason: "a black box tells nobody when something has come to be: it is asked again",
    },
    Exception {
        path: "a2a-conformance/src/mutant/agent/memory.rs",
        word: "sleep",
        reason: "a bug that shows when messages meet: nothing tells that no more will come",
    },
    Exception {
        path: "a2a-conformance/src/mutant/agent/control_wire.rs",
        word: "sleep",
        reason: "an agent that is slow on purpose",
    },
    Exception {
        path: "a2a-server/src/http_server.rs",
        word: "sleep",
        reason: "nothing tells when load balancers have noticed that a server is shutting down",
    },
    Exception {
        path: "a2a-server/src/engine/turn_scheduler.rs",
        word: "sleep",
        reason: "arms of selects: how long a canceled agent may take, how soon a store is tried again",
    },
    Exception {
        path: "a2a-server/src/webhook/outbox.rs",
        word: "sleep",
        reason: "one arm of a select: what was put off is looked for from time to time",
    },
    Exception {
        path: "a2a-server/src/webhook/outbox/tests.rs",
        word: "sleep",
        reason: "the clock is paused: so many hours pass",
    },
    Exception {
        path: "a2a-transport/src/http/body.rs",
        word: "sleep",
        reason: "a deadline that moves: how long a stream may be silent without a comment",
    },
    Exception {
        path: "a2a-transport/src/http/connection_timer.rs",
        word: "sleep",
        reason: "a deadline that moves: how long a peer may take",
    },
    Exception {
        path: "a2a-transport/src/http/connection/tests.rs",
        word: "sleep",
        reason: "the clock is paused: how long a peer does take",
    },
    Exception {
        path: "a2a-transport/src/http/response_body.rs",
        word: "sleep",
        reason: "a deadline that moves: how long an answer may be left lying",
    },
    Exception {
        path: "a2a-transport/src/http/serve.rs",
        word: "sleep",
        reason: "nothing tells when a listener that is out of descriptors may accept again",
    },
];

/// Old spellings stay where they are translated.
pub(super) fn old_spellings(workspace: &Workspace) -> Vec<Violation> {
    let elsewhere = |source: &&Source| {
        source.is_rust()
            && !OLD_PLACES
                .iter()
                .any(|place| source.path.starts_with(place))
    };
    workspace
        .sources
        .iter()
        .filter(elsewhere)
        .flat_map(spelled_old)
        .collect()
}

fn spelled_old(source: &Source) -> Vec<Violation> {
    let tests = source.tests_from();
    let mut violations = Vec::new();
    for (number, line) in source.code().filter(|(number, _)| *number < tests) {
        for word in OLD_SPELLINGS.iter().filter(|word| line.contains(**word)) {
            let problem = format!("{word} is an old spelling");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

/// No path of one machine, nothing unfinished, no test that is skipped or sleeps, but for the
/// exceptions; and no exception that is not needed.
pub(super) fn forbidden(workspace: &Workspace) -> Vec<Violation> {
    judge(&workspace.sources, EXCEPTIONS)
}

fn judge(sources: &[Source], exceptions: &[Exception]) -> Vec<Violation> {
    let mut needed = vec![false; exceptions.len()];
    let mut violations = Vec::new();
    for source in sources.iter().filter(|source| source.path != THIS) {
        for (number, line) in source.lines() {
            for forbidden in FORBIDDEN.iter().filter(|word| (word.is_in)(source, line)) {
                let excepts = |exception: &Exception| {
                    exception.path == source.path && exception.word == forbidden.word
                };
                if let Some(index) = exceptions.iter().position(excepts) {
                    needed[index] = true;
                    continue;
                }
                let problem = format!("`{}`: {}", forbidden.word, forbidden.reason);
                violations.push(Violation::new(format!("{}:{number}", source.path), problem));
            }
        }
    }
    let stale = exceptions.iter().zip(needed).filter(|(_, needed)| !needed);
    violations.extend(stale.map(|(exception, _)| {
        let Exception { path, word, reason } = exception;
        Violation::new(
            *path,
            format!("no `{word}` any more, yet it is excepted: {reason}"),
        )
    }));
    violations
}

fn code(source: &Source, line: &str, word: &str) -> bool {
    source.is_rust() && !line.trim_start().starts_with("//") && line.contains(word)
}

/// A constant that is named by a superlative.
fn names_no_limit(source: &Source, line: &str) -> bool {
    let names = [
        "const MOST",
        "const LEAST",
        "const LONGEST",
        "const LARGEST",
        "const USUAL",
    ];
    names.iter().any(|name| code(source, line, name))
}

/// A call or an import of the sleep of a thread or of tokio.
fn sleeps(source: &Source, line: &str) -> bool {
    let imports = code(source, line, "time::{") || code(source, line, "thread::{");
    code(source, line, "thread::sleep")
        || code(source, line, "time::sleep")
        || (imports && line.contains("sleep"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Vec<Violation>, expected: &[&str]) {
        let found: Vec<_> = found.iter().map(Violation::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn old_spellings_are_found_in_code_that_is_no_test() {
        let text = "// \"kind\"\nlet kind = \"kind\";\n#[cfg(test)]\nmod tests {\n\"final\"";
        let expected = ["a/src/b.rs:2: \"kind\" is an old spelling"];
        check(spelled_old(&Source::new("a/src/b.rs", text)), &expected);
        check(spelled_old(&Source::new("a/tests/b.rs", text)), &[]);
    }

    #[test]
    fn forbidden_words_are_found() {
        let sources = [
            Source::new(
                "a/src/b.rs",
                "todo!();\n// todo!()\n#[ignore]\nuse tokio::time::{Duration, sleep};",
            ),
            Source::new("README.md", "in /home/me, todo!() that"),
        ];
        check(
            judge(&sources, &[]),
            &[
                "a/src/b.rs:1: `todo!`: unfinished",
                "a/src/b.rs:3: `#[ignore]`: a test that does not run tests nothing",
                "a/src/b.rs:4: `sleep`: wait for what happens, or pause the clock",
                "README.md:1: `/home/`: the path of one machine",
            ],
        );
    }

    #[test]
    fn an_exception_must_be_needed() {
        let exception = [Exception {
            path: "a/tests/b.rs",
            word: "sleep",
            reason: "a real clock is the subject",
        }];
        let sleeping = [Source::new("a/tests/b.rs", "std::thread::sleep(TICK);")];
        check(judge(&sleeping, &exception), &[]);
        let stale =
            "a/tests/b.rs: no `sleep` any more, yet it is excepted: a real clock is the subject";
        check(judge(&[], &exception), &[stale]);
    }
}
