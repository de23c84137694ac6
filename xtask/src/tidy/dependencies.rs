//! Rules about dependencies between crates.

use super::{Violation, Workspace};

/// Dependencies that a crate must not have, direct or indirect, and the reason.
struct Forbidden {
    package: &'static str,
    dependencies: &'static [&'static str],
    reason: &'static str,
}

const IO: &[&str] = &["tokio", "hyper", "http", "bytes"];

const FORBIDDEN: &[Forbidden] = &[
    Forbidden {
        package: "a2a-types",
        dependencies: IO,
        reason: "the protocol is data: it does no I/O",
    },
    Forbidden {
        package: "a2a-jsonrpc",
        dependencies: IO,
        reason: "JSON-RPC is text: it does no I/O",
    },
    Forbidden {
        package: "a2a-types",
        dependencies: &["a2a-jsonrpc"],
        reason: "the protocol has bindings other than JSON-RPC",
    },
    Forbidden {
        package: "a2a-jsonrpc",
        dependencies: &["a2a-types"],
        reason: "JSON-RPC carries protocols other than this",
    },
    Forbidden {
        package: "a2a-client",
        dependencies: &["a2a-server"],
        reason: "who calls agents need not build a server",
    },
    Forbidden {
        package: "a2a-server",
        dependencies: &["a2a-client"],
        reason: "who serves an agent need not build a client",
    },
    Forbidden {
        package: "a2a-transport",
        dependencies: &["a2a-client", "a2a-server"],
        reason: "both sides stand on the transport",
    },
];

/// The crates that nothing may depend on, but for the crates named with them.
const TIPS: &[(&str, &[&str])] = &[
    ("a2a-cli", &[]),
    ("a2a-conformance", &["a2a-inspector"]),
    ("a2a-inspector", &["a2a-cli"]),
    ("xtask", &[]),
];

/// The optional feature that is built only on request, and the common part of its crates' names.
pub(super) const ASKED_FOR: &str = "opentelemetry";

/// Features of serde_json that change what is read for everybody who shares the build.
const CHANGES_READING: &[&str] = &["arbitrary_precision", "preserve_order"];

/// Crates depend only on what lies below them.
pub(super) fn arrows(workspace: &Workspace) -> Vec<Violation> {
    let metadata = &workspace.metadata;
    let mut violations = Vec::new();
    for rule in FORBIDDEN {
        let built_from = metadata.built_from(rule.package);
        for dependency in rule.dependencies {
            if built_from.contains(dependency) {
                let problem = format!("is built from {dependency}, but {}", rule.reason);
                violations.push(Violation::new(rule.package, problem));
            }
        }
    }
    for (tip, dependents) in TIPS {
        let others = metadata.dependents(tip).into_iter();
        for dependent in others.filter(|name| !dependents.contains(name)) {
            let problem = format!("depends on {tip}, which is for programs and no library");
            violations.push(Violation::new(dependent, problem));
        }
    }
    violations
}

/// Without its own feature nothing of OpenTelemetry is built, whatever other features there are.
pub(super) fn unasked(workspace: &Workspace) -> Vec<Violation> {
    let without = &workspace.without;
    let mut violations = Vec::new();
    for member in without.members() {
        let built_from = without.built_from(&member.name);
        let unasked = built_from.iter().filter(|name| name.contains(ASKED_FOR));
        violations.extend(unasked.map(|name| {
            let problem = format!("is built from {name} without the feature `{ASKED_FOR}`");
            Violation::new(&member.name, problem)
        }));
    }
    violations
}

/// No crate switches on, for everybody, a feature that changes how JSON is read.
pub(super) fn features(workspace: &Workspace) -> Vec<Violation> {
    let on = workspace.metadata.features("serde_json");
    CHANGES_READING
        .iter()
        .filter(|feature| on.contains(**feature))
        .map(|feature| Violation::new("serde_json", format!("is built with `{feature}`")))
        .collect()
}

/// No package asks for a newer Rust than the workspace does.
pub(super) fn rust_versions(workspace: &Workspace) -> Vec<Violation> {
    let metadata = &workspace.metadata;
    let own = metadata
        .members()
        .filter_map(|member| member.rust_version.as_deref());
    let Some(oldest) = own.min_by_key(|version| numbers(version)) else {
        return vec![Violation::new(
            "Cargo.toml",
            "no member names a rust-version",
        )];
    };
    let needs_newer = |version: &&str| numbers(version) > numbers(oldest);
    let packages = metadata.packages.iter();
    packages
        .filter_map(|package| {
            let newer = package.rust_version.as_deref().filter(needs_newer)?;
            let place = format!("{} {}", package.name, package.version);
            Some(Violation::new(
                place,
                format!("needs Rust {newer}, we promise {oldest}"),
            ))
        })
        .collect()
}

/// `1.89` as numbers; a patch that is not given is 0.
fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tidy::metadata::Metadata;

    fn workspace(metadata: serde_json::Value) -> Workspace {
        let read = |metadata| serde_json::from_value::<Metadata>(metadata);
        Workspace {
            metadata: read(metadata.clone()).expect("as Cargo writes it"),
            without: read(metadata).expect("as Cargo writes it"),
            sources: Vec::new(),
        }
    }

    fn broken() -> Workspace {
        let package = |name: &str, rust: Option<&str>| json!({"id": name, "name": name, "version": "1.0.0", "rust_version": rust, "features": {}});
        let depends =
            |on: &str, kind: Option<&str>| json!({"pkg": on, "dep_kinds": [{"kind": kind}]});
        workspace(json!({
            "packages": [
                package("a2a-types", Some("1.89")),
                package("a2a-client", Some("1.89")),
                package("a2a-server", Some("1.89")),
                package("a2a-conformance", Some("1.89")),
                package("a2a-inspector", Some("1.89")),
                package("middle", None),
                package("tracing-opentelemetry", None),
                package("tokio", Some("1.89.1")),
                package("serde_json", Some("1.9")),
            ],
            "workspace_members": ["a2a-types", "a2a-client", "a2a-server", "a2a-conformance", "a2a-inspector"],
            "resolve": {"nodes": [
                {"id": "a2a-types", "features": [], "deps": [depends("middle", None)]},
                {"id": "a2a-client", "features": [], "deps": [depends("a2a-server", Some("dev"))]},
                {"id": "a2a-server", "features": [], "deps": [depends("a2a-conformance", Some("dev")), depends("tracing-opentelemetry", None)]},
                {"id": "a2a-conformance", "features": [], "deps": []},
                {"id": "a2a-inspector", "features": [], "deps": [depends("a2a-conformance", None)]},
                {"id": "middle", "features": [], "deps": [depends("tokio", None), depends("serde_json", None)]},
                {"id": "tokio", "features": [], "deps": []},
                {"id": "tracing-opentelemetry", "features": [], "deps": []},
                {"id": "serde_json", "features": ["std", "preserve_order"], "deps": []},
            ]},
        }))
    }

    #[track_caller]
    fn check(run: fn(&Workspace) -> Vec<Violation>, expected: &[&str]) {
        let found: Vec<_> = run(&broken()).iter().map(Violation::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn broken_rules_are_found() {
        check(
            arrows,
            &[
                "a2a-types: is built from tokio, but the protocol is data: it does no I/O",
                "a2a-server: depends on a2a-conformance, which is for programs and no library",
            ],
        );
        let unasked_for =
            "a2a-server: is built from tracing-opentelemetry without the feature `opentelemetry`";
        check(unasked, &[unasked_for]);
        check(features, &["serde_json: is built with `preserve_order`"]);
        check(
            rust_versions,
            &["tokio 1.0.0: needs Rust 1.89.1, we promise 1.89"],
        );
    }
}
