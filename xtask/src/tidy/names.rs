//! Rules about names: retired terms, names that several types share, limits, tests.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::Source;
use super::{Violation, Workspace};

/// Terms that name no type and no file, with what to write instead.
#[rustfmt::skip]
const RETIRED: &[(&str, &str)] = &[
    ("Asked", "`Request`, `RecordedRequest`"),
    ("Bare", "the kind of client or text"),
    ("Beast", "`FaultyAgent`"),
    ("Begun", "`Accepted`, `StartedTask`"),
    ("Bomb", "`PanicOnDrop`"),
    ("Came", "`Received…` with its noun"),
    ("Copyist", "the kind of agent"),
    ("Courier", "`Sender`"),
    ("Crowd", "`Concurrent…`, a limit"),
    ("Cuts", "`Disconnects`, `TruncatedStream`"),
    ("Deaf", "`NoObserver`"),
    ("Desk", "`Transaction`"),
    ("Errand", "`Job`, `DriverRequest`"),
    ("Fate", "`Outcome`, `Fault`"),
    ("Footing", "the state of a state machine"),
    ("Found", "`…Totals`, `Finding`"),
    ("Got", "`Response`, `ReceivedRequest`"),
    ("Hasty", "`DroppedUpdate`"),
    ("Heard", "`PendingMessage`, `Observation`"),
    ("How", "`Kind`, `Mode`"),
    ("Kept", "`Stored…` with its noun"),
    ("Lack", "`MissingCapability`"),
    ("Lane", "`BindingRun`"),
    ("Leaving", "`Retention`"),
    ("Leg", "`Period`, `Phase`"),
    ("Letter", "`InFlightSend`, `Delivery`"),
    ("Manner", "`ReplyFormat`, `ErrorFormat`"),
    ("Meddler", "`TamperingProxy`"),
    ("Moody", "`FaultyStore`"),
    ("Notebook", "`Recording…` with its noun"),
    ("Obedient", "`CommandAgent`"),
    ("Older", "`FileVersions`, the version"),
    ("Pen", "`LogWriter`"),
    ("Puppet", "`ScriptedAgent`"),
    ("Said", "`Response`, `Message`"),
    ("Saw", "`Failure`, `Observation`"),
    ("Scene", "`Fixture`"),
    ("Shelf", "`TaskTable`"),
    ("Since", "`DueAfter`, `Sequence`"),
    ("Slip", "`Patch`, `Mutant`"),
    ("Spoken", "`Version`"),
    ("Stage", "`Fixture`, `RunState`"),
    ("Story", "`Scenario`"),
    ("Stroke", "`Append`"),
    ("Strokes", "`Appends`"),
    ("Teller", "the kind of agent"),
    ("Tenure", "`Lease`"),
    ("Ticket", "`QueueReservation`"),
    ("Told", "`Notification`, `Response`, `Progress`"),
    ("Twice", "`Deduplication`"),
    ("Twins", "`Duplicates`"),
    ("Way", "`Binding`, `Path`"),
    ("Weather", "`StepAgent`"),
    ("Who", "`Caller`, `Kind`"),
];

/// No type and no file has a retired term as its name.
pub(super) fn retired(workspace: &Workspace) -> Vec<Violation> {
    rust(&workspace.sources).flat_map(retired_in).collect()
}

fn retired_in(source: &Source) -> Vec<Violation> {
    let stems = source.path.trim_end_matches(".rs").split('/');
    let files = stems.filter_map(|stem| {
        let retired = |(term, _): &&(&str, &str)| term.to_lowercase() == stem;
        let (_, instead) = RETIRED.iter().find(retired)?;
        let problem = format!("a file or folder `{stem}`: write {instead}");
        Some(Violation::new(&source.path, problem))
    });
    let types = types_of(source).filter_map(|(number, name)| {
        let (_, instead) = RETIRED.iter().find(|(term, _)| *term == name)?;
        let problem = format!("a type `{name}`: write {instead}");
        Some(Violation::new(format!("{}:{number}", source.path), problem))
    });
    files.chain(types).collect()
}

/// Participles that say nothing of the value they name.
const RETIRED_VALUES: &[&str] = &["told", "heard"];

/// Package whose sources keep such names.
const VALUES_KEPT_IN: &str = "a2a-server/postgres/";

/// No variable, field or function has a retired participle as its name.
pub(super) fn values(workspace: &Workspace) -> Vec<Violation> {
    let kept = |source: &&Source| source.path.starts_with(VALUES_KEPT_IN);
    let judged = rust(&workspace.sources).filter(|source| !kept(source));
    judged.flat_map(values_in).collect()
}

fn values_in(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (number, line) in source.code() {
        // Every second piece is the text of a literal.
        let code = line.split('"').step_by(2);
        let mut names = code.flat_map(|it| it.split(|it: char| !it.is_alphanumeric() && it != '_'));
        if let Some(name) = names.find(|name| RETIRED_VALUES.contains(name)) {
            let problem = format!("a value `{name}`: name it after what it holds, like `report`");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

/// Number of files of a package that may define a type of the same name.
const MAX_FILES_OF_A_NAME: usize = 2;

/// Names that every subcommand, every visitor or every binding has.
const CONVENTIONAL: &[&str] = &[
    "Args",
    "Arguments",
    "EventReader",
    "EventWriter",
    "Options",
    "Visitor",
];

/// Files that define the types of the specification anew for a protocol version.
const VERSIONS: &[&str] = &["a2a-types/src/v", "a2a-types/src/pre_1_0/"];

/// No type name is defined in more than two files of a package.
pub(super) fn shared(workspace: &Workspace) -> Vec<Violation> {
    shared_by(&workspace.sources)
}

fn shared_by(sources: &[Source]) -> Vec<Violation> {
    let mut packages: Vec<_> = sources
        .iter()
        .filter(|source| source.is_manifest())
        .filter_map(|source| source.path.strip_suffix("Cargo.toml"))
        .collect();
    packages.sort_by_key(|package| package.len());
    let package_of = |path: &str| {
        let holds = |package: &&&str| path.starts_with(**package);
        packages.iter().rev().find(holds).copied().unwrap_or("")
    };
    let mut files = BTreeMap::<_, BTreeSet<&str>>::new();
    let of_version = |source: &&Source| !VERSIONS.iter().any(|it| source.path.starts_with(it));
    // Each program in `src/bin` is a crate of its own.
    let is_program = |source: &&Source| source.path.contains("/src/bin/");
    let counted = rust(sources).filter(|source| of_version(source) && !is_program(source));
    for source in counted {
        for (_, name) in types_of(source).filter(|(_, name)| !CONVENTIONAL.contains(name)) {
            let key = (package_of(&source.path), name);
            files.entry(key).or_default().insert(&source.path);
        }
    }
    let shared = files
        .into_iter()
        .filter(|(_, files)| files.len() > MAX_FILES_OF_A_NAME);
    let violations = shared.map(|((package, name), files)| {
        let files = Vec::from_iter(files).join(", ");
        Violation::new(package, format!("several types `{name}`: {files}"))
    });
    violations.collect()
}

/// The name of every type that a file defines, with its line. An alias that is indented is an associated type.
fn types_of(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source.code().filter_map(|(number, line)| {
        let item = without_visibility(line.trim_start());
        let (keyword, rest) = item.split_once(' ')?;
        let defines = match keyword {
            "struct" | "enum" | "union" | "trait" => true,
            "type" => !line.starts_with(' '),
            _ => false,
        };
        let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_');
        name.into_iter()
            .next()
            .filter(|name| defines && !name.is_empty())
            .map(|name| (number, name))
    })
}

fn without_visibility(item: &str) -> &str {
    match item.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ").map_or(item, |(_, rest)| rest),
        None => item.strip_prefix("pub ").unwrap_or(item),
    }
}

/// Beginnings of the documentation of a constant that is a limit.
const LIMIT_DOCS: &[&str] = &[
    "Maximum ",
    "Minimum ",
    "Limit on ",
    "Upper limit ",
    "Lower limit ",
    "Time limit ",
    "At most ",
    "Longest ",
    "Shortest ",
    "Largest ",
    "Smallest ",
];

/// Types of constants that can be limits.
const NUMBERS: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64", "f64", "Duration",
];

/// A constant that is documented as a limit is named `MAX_…`, `MIN_…` or `DEFAULT_…`.
pub(super) fn limits(workspace: &Workspace) -> Vec<Violation> {
    rust(&workspace.sources).flat_map(limits_in).collect()
}

fn limits_in(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut documentation = None;
    for (number, line) in source.lines() {
        let line = line.trim_start();
        if let Some(text) = line.strip_prefix("///") {
            documentation.get_or_insert(text.trim_start());
            continue;
        }
        let documented = documentation.take();
        let is_limit = documented.is_some_and(|text| {
            LIMIT_DOCS
                .iter()
                .any(|beginning| text.starts_with(beginning))
        });
        let Some((name, kind)) = constant(line).filter(|_| is_limit) else {
            continue;
        };
        let words = ["MAX", "MIN", "DEFAULT"];
        let first = name.split('_').next().unwrap_or(name);
        if NUMBERS.contains(&kind) && !words.contains(&first) {
            let problem = format!("`{name}` is a limit: name it MAX_, MIN_ or DEFAULT_");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

/// Returns the name and the type of a constant.
fn constant(line: &str) -> Option<(&str, &str)> {
    let rest = without_visibility(line).strip_prefix("const ")?;
    let (name, rest) = rest.split_once(": ")?;
    Some((name, rest.split([' ', ';']).next()?))
}

/// A test is named by a plain statement, without an ordinal.
pub(super) fn test_names(workspace: &Workspace) -> Vec<Violation> {
    rust(&workspace.sources).flat_map(tests_in).collect()
}

fn tests_in(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut is_test = false;
    for (number, line) in source.code() {
        let line = line.trim_start();
        if line.starts_with("#[") {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
            continue;
        }
        let is_named = std::mem::take(&mut is_test);
        let rest = line.strip_prefix("async ").unwrap_or(line);
        let name = rest.strip_prefix("fn ").and_then(|it| it.split('(').next());
        if let Some(name) = name.filter(|name| is_named && has_ordinal(name)) {
            let problem = format!("test `{name}`: say what is expected, without an ordinal");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

/// `case_3`, `first_case`, `resumes_2`; neither a protocol version as in `of_1_0`, nor the id of a requirement as in
/// `rule_5_1_08_…`.
fn has_ordinal(name: &str) -> bool {
    let words: Vec<_> = name.split('_').collect();
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|it| it.is_ascii_digit());
    let counted = ["case", "test", "part", "step", "scenario", "variant"];
    let is_counted = words
        .windows(2)
        .any(|pair| counted.contains(&pair[0]) && is_number(pair[1]));
    let opens = ["first", "second", "third"].contains(&words[0]) || words[0] == "test";
    let [.., before, last] = words.as_slice() else {
        return opens || is_counted;
    };
    // A number alone, and small: `http_2` and `rfc_8785` are names.
    let named = ["http", "rfc", "tls", "ipv"].contains(before);
    let closes = is_number(last) && last.len() < 3 && !is_number(before) && !named;
    opens || is_counted || closes
}

fn rust(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.is_rust())
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
    fn retired_terms_are_found_as_types_and_files() {
        let text = "pub(crate) struct Told;\nlet told = 1;\nenum Toldness {}\n// struct Told;\n    type Said = u8;\ntype Said = u8;";
        check(
            retired_in(&Source::new("a/src/moody.rs", text)),
            &[
                "a/src/moody.rs: a file or folder `moody`: write `FaultyStore`",
                "a/src/moody.rs:1: a type `Told`: write `Notification`, `Response`, `Progress`",
                "a/src/moody.rs:6: a type `Said`: write `Response`, `Message`",
            ],
        );
        check(retired_in(&Source::new("a/src/moodyness.rs", "")), &[]);
        check(
            retired_in(&Source::new("a/src/slip/mod.rs", "")),
            &["a/src/slip/mod.rs: a file or folder `slip`: write `Patch`, `Mutant`"],
        );
    }

    #[test]
    fn retired_participles_are_found_as_values() {
        let text = "let told = heard();\n// told\nlet untold = #told#;\nself.heard = 1;";
        let text = text.replace('#', "\"");
        check(
            values_in(&Source::new("a.rs", text)),
            &[
                "a.rs:1: a value `told`: name it after what it holds, like `report`",
                "a.rs:4: a value `heard`: name it after what it holds, like `report`",
            ],
        );
    }

    #[test]
    fn a_name_in_three_files_of_a_package_is_found() {
        let manifests = ["a/Cargo.toml", "a/b/Cargo.toml"];
        let mut sources = Vec::from(manifests.map(|path| Source::new(path, "")));
        let row = "struct Row;\nstruct Options;\nimpl X {\n    type Error = ();\n}";
        for path in ["a/src/c.rs", "a/src/d.rs", "a/b/src/e.rs", "a/src/bin/f.rs"] {
            sources.push(Source::new(path, row));
        }
        check(shared_by(&sources), &[]);
        sources.push(Source::new("a/tests/it/g.rs", row));
        check(
            shared_by(&sources),
            &["a/: several types `Row`: a/src/c.rs, a/src/d.rs, a/tests/it/g.rs"],
        );
    }

    #[test]
    fn a_limit_with_another_name_is_found() {
        let text = "/// Maximum number of rows,\n/// in all.\npub const ROWS: usize = 1;\n/// Maximum size.\nconst MAX_SIZE: u64 = 1;\n/// Number of rounds.\nconst ROUNDS: u8 = 3;\n/// Longest name.\nconst NAME: &str = \"x\";";
        let expected = ["a.rs:3: `ROWS` is a limit: name it MAX_, MIN_ or DEFAULT_"];
        check(limits_in(&Source::new("a.rs", text)), &expected);
    }

    #[test]
    fn a_test_with_an_ordinal_is_found() {
        let names = [
            ("case_3_of_many", true),
            ("first_message", true),
            ("test_1", true),
            ("resumes_2", true),
            ("bodies_of_1_0", false),
            ("rule_5_1_08_history_is_returned", false),
            ("requests_by_http_2", false),
            ("the_first_event_is_the_task", false),
        ];
        for (name, is_found) in names {
            let text = format!("#[test]\n#[should_panic]\nfn {name}() {{}}\nfn test_2() {{}}");
            let found = tests_in(&Source::new("a.rs", text));
            assert_eq!(!found.is_empty(), is_found, "{name}: {found:?}");
            assert!(found.len() < 2, "only tests are judged: {found:?}");
        }
    }
}
