//! Programs to begin with, by `a2a new`: the examples of this repository, each with what it needs in a package of its own.

/// A program and its package. To add one: a row of [`TEMPLATES`], and a symbolic link in `templates` to the example.
pub(crate) struct Template {
    pub(crate) name: &'static str,
    source: &'static str,
    /// Features of `agent2agent`.
    features: &'static [&'static str],
    /// Lines of `[dependencies]`, besides `agent2agent` and `tokio`.
    dependencies: &'static [&'static str],
    test: Test,
}

/// Test of a program.
enum Test {
    /// The program is an agent. At this path of its URL, a text gets an answer.
    Answers {
        path: &'static str,
        text: &'static str,
        answer: &'static str,
    },
    /// A whole test.
    Source(&'static str),
}

/// A row of [`TEMPLATES`], with the files in `templates` that have its name.
macro_rules! template {
    ($name:literal, $features:expr, $dependencies:expr, $test:expr) => {
        Template {
            name: $name,
            source: include_str!(concat!("../templates/", $name, ".rs")),
            features: &$features,
            dependencies: &$dependencies,
            test: $test,
        }
    };
    ($name:literal, $features:expr, $dependencies:expr) => {
        template!(
            $name,
            $features,
            $dependencies,
            Test::Source(include_str!(concat!("../templates/tests/", $name, ".rs")))
        )
    };
}

/// The programs. The first is the default. A row without a test has one in `templates/tests`.
#[rustfmt::skip]
pub(crate) const TEMPLATES: &[Template] = &[
    template!("first_agent", [], [], answers("TODO ada: book a room", "- ada: book a room")),
    template!("conversation", [], [], answers("TODO ada: book a room", "- ada: book a room")),
    template!("notes_agent", ["auth", "sqlite", "webhooks"], []),
    template!("approval", ["sqlite"], []),
    template!("authenticator", [], [HTTP]),
    template!("two_agents", ["axum"], [AXUM, TOWER],
        Test::Answers { path: "/count", text: "one two three", answer: "3 words" }),
    template!("orchestrator", ["client"], []),
    template!("model_agent", ["model"], [], Test::Source(concat!(
        include_str!("../templates/tests/model_agent.rs"), include_str!("../templates/tests/chat_service.rs")))),
    template!("model_with_tools", ["mcp"], [SERDE_JSON], Test::Source(concat!(
        include_str!("../templates/tests/model_with_tools.rs"), include_str!("../templates/tests/chat_service.rs")))),
    template!("mcp_bridge", ["mcp"], []),
    template!("client", ["client"], []),
    template!("follow", ["client"], []),
    template!("webhook_receiver", ["client", "webhooks"], [AXUM]),
];

const AXUM: &str =
    r#"axum = { version = "0.8.9", default-features = false, features = ["http1", "tokio"] }"#;
const HTTP: &str = r#"http = "1.5.0""#;
const SERDE_JSON: &str = r#"serde_json = "1.0.154""#;
const TOKIO: &str = r#"tokio = { version = "1.54.1", features = ["macros", "net", "rt-multi-thread", "signal", "time"] }"#;
const TOWER: &str =
    r#"tower = { version = "0.5.3", default-features = false, features = ["limit"] }"#;

/// Place of the crate `agent2agent`, as a line of `[dependencies]` has it. The crates are not on the registry yet; once they
/// are, it is `version`, with that of this program.
const PLACE: &str = r#"git = "https://github.com/a2a-rust/a2a""#;

/// Address of the documents that the examples refer to.
const DOCUMENTS: &str = "https://github.com/a2a-rust/a2a/blob/main/docs/";

const IGNORED: &str = "/target\n/keys.txt\n*.db*\n";

const fn answers(text: &'static str, answer: &'static str) -> Test {
    Test::Answers {
        path: "",
        text,
        answer,
    }
}

impl Template {
    /// Returns the files of a package with this name, by their paths. `agent2agent` is in the directory `path`, or else
    /// where it is published.
    pub(crate) fn files(&self, name: &str, path: Option<&str>) -> [(&'static str, String); 6] {
        let test = match self.test {
            Test::Source(test) => test.to_owned(),
            Test::Answers { path, text, answer } => include_str!("../templates/tests/answers.rs")
                .replace(" + \"PATH\"", &suffix(path))
                .replace("\"TEXT\"", &format!("{text:?}"))
                .replace("\"ANSWER\"", &format!("{answer:?}")),
        };
        let program = include_str!("../templates/tests/program.rs").replace("NAME", name);
        [
            ("Cargo.toml", self.manifest(name, path)),
            ("README.md", self.readme(name)),
            (".gitignore", IGNORED.to_owned()),
            ("src/main.rs", self.main()),
            ("tests/program/mod.rs", program),
            ("tests/calls.rs", test),
        ]
    }

    /// Returns whether a crate of this name is a dependency.
    pub(crate) fn depends_on(&self, name: &str) -> bool {
        let lines = self.dependencies.iter().chain([&TOKIO]);
        let mut names = lines.filter_map(|line| line.split(' ').next());
        name == "agent2agent" || names.any(|it| it == name)
    }

    /// Returns the first sentence of the program's description.
    pub(crate) fn summary(&self) -> String {
        let description = self.description();
        let paragraph = description.split("\n\n").next().unwrap_or_default();
        let text = paragraph.replace('\n', " ");
        let sentence = text.split_inclusive(". ").next().unwrap_or_default();
        sentence.trim_end().to_owned()
    }

    /// Returns the commands of the description, in their order.
    pub(crate) fn commands(&self) -> Vec<String> {
        let description = self.description();
        let lines = description.lines();
        let commands = lines.filter_map(|line| line.strip_prefix("$ "));
        commands.map(str::to_owned).collect()
    }

    fn manifest(&self, name: &str, path: Option<&str>) -> String {
        let version = env!("CARGO_PKG_RUST_VERSION");
        let place = path.map(|path| format!("path = {path:?}"));
        let agent2agent = |features: &[&str]| {
            let place = place.as_deref().unwrap_or(PLACE);
            let features = match features {
                [] => String::new(),
                features => format!(", features = {features:?}"),
            };
            format!("agent2agent = {{ {place}{features} }}\n")
        };
        let mut manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"{version}\"\n\n\
             [dependencies]\n{}",
            agent2agent(self.features)
        );
        for line in self.dependencies.iter().chain([&TOKIO]) {
            manifest += &format!("{line}\n");
        }
        if !self.features.contains(&"client") {
            let line = agent2agent(&["client"]);
            manifest += &format!("\n# The test calls the program.\n[dev-dependencies]\n{line}");
        }
        manifest
    }

    fn readme(&self, name: &str) -> String {
        let description = self.description();
        format!("# {name}\n\n{description}\n\n## Test\n\n```console\n$ cargo test\n```\n")
    }

    /// Returns the example as the main program of a package.
    fn main(&self) -> String {
        let run = format!("cargo run --example {}", self.name);
        let source = self.source.replace(&run, "cargo run");
        source.replace(" docs/", &format!(" {DOCUMENTS}"))
    }

    /// Returns the comment at the top, which is Markdown.
    fn description(&self) -> String {
        let main = self.main();
        let lines = main.lines().map_while(|line| line.strip_prefix("//!"));
        let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn suffix(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!(" + {path:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn root_manifest() -> String {
        std::fs::read_to_string(root().join("Cargo.toml")).unwrap()
    }

    /// Returns the features that an example needs by the manifest of the workspace.
    fn required_features(manifest: &str, name: &str) -> BTreeSet<String> {
        let example = format!("[[example]]\nname = \"{name}\"\nrequired-features = ");
        let list = manifest.split(&example).nth(1).unwrap_or("[]");
        let list = list.lines().next().unwrap();
        serde_json::from_str(list).unwrap()
    }

    #[test]
    fn every_example_is_a_template() {
        let entries = std::fs::read_dir(root().join("examples")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let programs = paths.filter(|path| path.extension().is_some_and(|it| it == "rs"));
        let names = programs.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        let templates = TEMPLATES.iter().map(|template| template.name.to_owned());
        assert_eq!(
            templates.collect::<BTreeSet<_>>(),
            names.collect::<BTreeSet<_>>()
        );
    }

    #[test]
    fn features_are_those_that_the_examples_require() {
        let manifest = root_manifest();
        for template in TEMPLATES {
            let features = template.features.iter().map(|&it| it.to_owned());
            let required = required_features(&manifest, template.name);
            assert_eq!(
                features.collect::<BTreeSet<_>>(),
                required,
                "{}",
                template.name
            );
        }
    }

    #[test]
    fn dependencies_are_those_that_the_examples_name() {
        // The crates of the workspace and of its examples.
        let manifest = root_manifest();
        let dependencies = manifest.split("[dev-dependencies]").nth(1).unwrap();
        let dependencies = dependencies.split("\n[").next().unwrap().lines();
        let names = dependencies.filter_map(|line| line.split(['.', ' ']).next());
        let is_other =
            |name: &&str| !matches!(*name, "" | "#" | "agent2agent" | "tokio" | "tempfile");
        for name in names.filter(is_other) {
            let path = format!("{}::", name.replace('-', "_"));
            for template in TEMPLATES {
                let is_named = template.source.contains(&format!("use {path}"))
                    || template.source.contains(&format!(" {path}"));
                let mut lines = template.dependencies.iter();
                let is_listed = lines.any(|line| line.starts_with(&format!("{name} = ")));
                assert_eq!(is_named, is_listed, "{name} in {}", template.name);
            }
        }
    }

    #[test]
    fn versions_are_those_of_the_workspace() {
        let manifest = root_manifest();
        let version = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
        let others = TEMPLATES.iter().flat_map(|template| template.dependencies);
        for line in others.chain([&TOKIO]) {
            let name = line.split_inclusive(" = ").next().unwrap();
            let mut lines = manifest
                .lines()
                .skip_while(|it| *it != "[workspace.dependencies]");
            let ours = lines.find(|it| it.starts_with(name)).expect(name);
            assert_eq!(version(line), version(ours), "{name}");
        }
    }

    #[test]
    fn files_do_not_refer_to_this_repository() {
        for template in TEMPLATES {
            for (path, text) in template.files("hello", None) {
                let name = template.name;
                assert!(!text.contains("--example"), "{name}, {path}: {text}");
                assert!(!text.contains(" docs/"), "{name}, {path}: {text}");
            }
        }
    }

    #[test]
    fn descriptions_have_a_summary_and_commands() {
        for template in TEMPLATES {
            let (name, summary) = (template.name, template.summary());
            assert!(summary.ends_with('.'), "{name}: {summary}");
            let commands = template.commands();
            let runs = commands.iter().any(|command| command.contains("cargo run"));
            assert!(runs, "{name}: {commands:?}");
        }
    }
}
