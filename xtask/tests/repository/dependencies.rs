//! Dependencies between crates, as `cargo tree` shows them.

use std::collections::BTreeSet;
use std::process::Command;

use crate::sources::root;

/// Crates, the crates that they must not be built from, and the reason.
const FORBIDDEN: &[(&[&str], &[&str], &str)] = &[
    (
        &["agent2agent-types", "agent2agent-jsonrpc"],
        &["tokio", "hyper", "http", "bytes"],
        "data does no I/O",
    ),
    (
        &["agent2agent-types"],
        &["agent2agent-jsonrpc"],
        "the protocol has bindings other than JSON-RPC",
    ),
    (
        &["agent2agent-jsonrpc"],
        &["agent2agent-types"],
        "JSON-RPC carries other protocols, too",
    ),
    (
        &["agent2agent-edge"],
        &["agent2agent-types", "agent2agent-jsonrpc"],
        "connections carry other protocols, too",
    ),
    (
        &["agent2agent-protobuf"],
        &["tokio", "hyper", "http", "agent2agent-jsonrpc"],
        "encodings do no I/O",
    ),
    (
        &["agent2agent-transport"],
        &["agent2agent-client", "agent2agent-server"],
        "both ends stand on the transport",
    ),
    (
        &[
            "agent2agent-transport",
            "agent2agent-server",
            "agent2agent-client",
        ],
        &["agent2agent-gateway"],
        "the gateway stands on the transport",
    ),
    (
        &["agent2agent-client"],
        &["agent2agent-server"],
        "a caller builds no server",
    ),
    (
        &[
            "agent2agent-server",
            "agent2agent-auth",
            "agent2agent-model",
            "agent2agent-postgres",
        ],
        &["agent2agent-client"],
        "an agent builds no client",
    ),
    (
        &[
            "agent2agent-client",
            "agent2agent-server",
            "agent2agent-auth",
            "agent2agent-model",
            "agent2agent-postgres",
            "agent2agent-conformance",
        ],
        &["agent2agent-inspector", "agent2agent-cli"],
        "libraries do not know programs",
    ),
    (
        &[
            "agent2agent-client",
            "agent2agent-server",
            "agent2agent-model",
        ],
        &["rmcp"],
        "MCP is in a crate of its own",
    ),
];

/// Crates that are products: they are built from no proof and no tool of this workspace.
const PRODUCTS: &[&str] = &[
    "agent2agent",
    "agent2agent-types",
    "agent2agent-jsonrpc",
    "agent2agent-edge",
    "agent2agent-transport",
    "agent2agent-gateway",
    "agent2agent-server",
    "agent2agent-auth",
    "agent2agent-model",
    "agent2agent-postgres",
    "agent2agent-client",
    "agent2agent-inspector",
    "agent2agent-mcp",
    "agent2agent-cli",
    "agent2agent-conformance",
];

/// Crates that prove the products or serve their development.
const PROOF_AND_TOOLS: &[&str] = &[
    "a2a-conformance-proof",
    "agent2agent-store-suite",
    "xtask",
    "a2a-bench",
    "a2a-experiments",
    "agent2agent-grpc-peer",
];

#[test]
fn crates_depend_only_downwards() {
    for (crates, forbidden, reason) in FORBIDDEN {
        for name in *crates {
            let built_from = built_from(name, "--all-features");
            for dependency in *forbidden {
                assert!(
                    !built_from.contains(*dependency),
                    "{name} is built from {dependency}, but {reason}"
                );
            }
        }
    }
}

#[test]
fn products_are_built_from_no_proof_and_no_tool() {
    for name in PRODUCTS {
        let built_from = built_from(name, "--all-features");
        let forbidden: Vec<_> = PROOF_AND_TOOLS
            .iter()
            .filter(|it| built_from.contains(**it))
            .collect();
        assert!(forbidden.is_empty(), "{name} is built from {forbidden:?}");
    }
}

#[test]
fn opentelemetry_is_built_only_with_its_feature() {
    let built_from = built_from("agent2agent-cli", "--locked");
    let found: Vec<_> = built_from
        .iter()
        .filter(|it| it.contains("opentelemetry"))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Returns the names of all packages that `package` is built from: its normal dependencies, and theirs.
fn built_from(package: &str, argument: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    cargo.args([
        "tree",
        "--edges=normal",
        "--prefix=none",
        "--package",
        package,
        argument,
    ]);
    let output = cargo.output().expect("cargo runs");
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo tree of {package}: {problems}"
    );
    let lines = String::from_utf8_lossy(&output.stdout);
    let names = lines
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}
