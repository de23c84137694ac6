//! Words that only a few files may have: what they stand for is one place's knowledge.

use super::sources::Source;
use super::{Violation, Workspace};

/// A word, and the only files of the libraries that may have it. A folder ends with a slash.
struct Confined {
    words: &'static [&'static str],
    reason: &'static str,
    places: &'static [&'static str],
}

#[rustfmt::skip]
const CONFINED: &[Confined] = &[
    Confined {
        words: &["trpc"],
        reason: "a profile is a layer of its own: stores, engine and bindings do not know it",
        places: &[
            "a2a-client/src/profile.rs",
            "a2a-server/src/profile/",
            "a2a-transport/src/http/exchange.rs",
            "a2a-types/src/extension/",
            "a2a-types/src/steps.rs",
        ],
    },
    Confined {
        words: &["Dialect::V", ".rules()"],
        reason: "versions differ in the bindings; elsewhere few files ask for the rules of one",
        places: &[
            "a2a-client/src/interfaces.rs",
            "a2a-server/src/engine/pending_message.rs",
            "a2a-server/src/profile/reply_format.rs",
            "a2a-server/src/send.rs",
            "a2a-server/src/server.rs",
            "a2a-server/src/store/suite/",
            "a2a-server/src/webhook/outbox.rs",
            "a2a-transport/src/binding/",
            "a2a-transport/src/gateway/owned_call.rs",
            "a2a-transport/src/gateway/mod.rs",
            "a2a-transport/src/gateway/rewrite.rs",
            "a2a-transport/src/gateway/stream.rs",
            "a2a-transport/src/http/card_document.rs",
            "a2a-transport/src/http/routing.rs",
            "a2a-transport/src/http/remote.rs",
            "a2a-transport/src/http/service.rs",
            "a2a-transport/src/http/service_settings.rs",
            "a2a-transport/src/webhook/notice.rs",
            "a2a-types/src/",
        ],
    },
];

/// The libraries of which this holds.
const LIBRARIES: &[&str] = &[
    "a2a-client/src/",
    "a2a-jsonrpc/src/",
    "a2a-server/src/",
    "a2a-transport/src/",
    "a2a-types/src/",
];

/// Words stay in their files; a file that has none any more leaves the list.
pub(super) fn words(workspace: &Workspace) -> Vec<Violation> {
    let judged = CONFINED.iter().flat_map(|it| judge(&workspace.sources, it));
    judged.collect()
}

fn judge(sources: &[Source], confined: &Confined) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut found = Vec::new();
    let of_library = |source: &&Source| LIBRARIES.iter().any(|it| source.path.starts_with(it));
    for source in sources.iter().filter(|it| it.is_rust()).filter(of_library) {
        let tests = source.tests_from();
        let has = |line: &str| confined.words.iter().any(|word| line.contains(word));
        let mut lines = source.code().filter(|(number, _)| *number < tests);
        let Some((number, _)) = lines.find(|(_, line)| has(line)) else {
            continue;
        };
        let is_test = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
        match confined
            .places
            .iter()
            .position(|it| is_at(&source.path, it))
        {
            Some(index) => found.push(index),
            None if is_test => {}
            None => {
                let problem = format!("`{}`: {}", confined.words[0], confined.reason);
                violations.push(Violation::new(format!("{}:{number}", source.path), problem));
            }
        }
    }
    let stale = (0..confined.places.len()).filter(|index| !found.contains(index));
    violations.extend(stale.map(|index| {
        let problem = format!("no `{}` any more, yet it is on the list", confined.words[0]);
        Violation::new(confined.places[index], problem)
    }));
    violations
}

fn is_at(path: &str, place: &str) -> bool {
    path == place || place.ends_with('/') && path.starts_with(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_ONE: Confined = Confined {
        words: &["secret"],
        reason: "it is kept",
        places: &["a2a-types/src/keeper.rs", "a2a-types/src/old/"],
    };

    #[test]
    fn a_word_elsewhere_is_found_and_so_is_a_place_without_it() {
        let files = [
            ("a2a-types/src/keeper.rs", "fn secret() {}"),
            ("a2a-types/src/other.rs", "\nuse crate::keeper::secret;"),
            ("a2a-types/src/tests.rs", "secret();"),
            (
                "a2a-types/src/tested.rs",
                "#[cfg(test)]\nmod tests {\n    secret();\n}",
            ),
            ("a2a-conformance/src/lib.rs", "secret();"),
        ];
        let sources = files.map(|(path, text)| Source::new(path.to_owned(), text));
        let found: Vec<_> = judge(&sources, &OF_ONE)
            .iter()
            .map(Violation::to_string)
            .collect();
        assert_eq!(
            found,
            [
                "a2a-types/src/other.rs:2: `secret`: it is kept",
                "a2a-types/src/old/: no `secret` any more, yet it is on the list",
            ]
        );
    }
}
