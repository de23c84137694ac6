//! Output of `cargo metadata` about the packages, as far as it is needed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::{Failure, workspace};

/// Every package that is built for some member with some feature, or with those that were asked for.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) rust_version: Option<String>,
    features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

/// A package with what is switched on in it and what it depends on.
#[derive(Deserialize)]
struct Node {
    id: String,
    features: Vec<String>,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// None for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
}

impl Metadata {
    /// With every feature.
    pub(super) fn read() -> Result<Self, Failure> {
        Self::of("--all-features")
    }

    /// With every feature but that one.
    pub(super) fn read_without(&self, feature: &str) -> Result<Self, Failure> {
        let others = self.members().flat_map(|member| {
            let names = member.features.keys();
            let others = names.filter(|name| name.as_str() != feature);
            others.map(|name| format!("{}/{name}", member.name))
        });
        let others: Vec<_> = others.collect();
        Self::of(&format!("--features={}", others.join(",")))
    }

    fn of(features: &str) -> Result<Self, Failure> {
        let arguments = ["metadata", "--format-version=1", features, "--locked"];
        let output = workspace::cargo()
            .args(arguments)
            .output()
            .map_err(|error| format!("cargo metadata: {error}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cargo metadata: {text}"));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
    }

    /// The packages of the workspace.
    pub(super) fn members(&self) -> impl Iterator<Item = &Package> {
        let is_member = |package: &&Package| self.workspace_members.contains(&package.id);
        self.packages.iter().filter(is_member)
    }

    /// The names of all that `package` is built from, itself excepted: its normal dependencies,
    /// and theirs.
    pub(super) fn built_from(&self, package: &str) -> BTreeSet<&str> {
        let nodes: BTreeMap<_, _> = self
            .resolve
            .nodes
            .iter()
            .map(|node| (node.id.as_str(), node))
            .collect();
        let names: BTreeMap<_, _> = self.names().collect();
        let start = self.packages.iter().filter(|known| known.name == package);
        let mut open: Vec<_> = start.map(|package| package.id.as_str()).collect();
        let mut seen = BTreeSet::new();
        while let Some(node) = open.pop().and_then(|id| nodes.get(id)) {
            let is_normal = |dependency: &&Dependency| {
                dependency.dep_kinds.iter().any(|kind| kind.kind.is_none())
            };
            for dependency in node.deps.iter().filter(is_normal) {
                if seen.insert(dependency.pkg.as_str()) {
                    open.push(&dependency.pkg);
                }
            }
        }
        seen.into_iter()
            .filter_map(|id| names.get(id).copied())
            .collect()
    }

    /// The names of the packages that name `package` as a dependency of any kind.
    pub(super) fn dependents(&self, package: &str) -> Vec<&str> {
        let names: BTreeMap<_, _> = self.names().collect();
        let named = |dependency: &Dependency| names.get(dependency.pkg.as_str()) == Some(&package);
        let nodes = self.resolve.nodes.iter();
        nodes
            .filter(|node| node.deps.iter().any(named))
            .filter_map(|node| names.get(node.id.as_str()).copied())
            .collect()
    }

    /// The features that are switched on in some build of `package`.
    pub(super) fn features(&self, package: &str) -> BTreeSet<&str> {
        let names: BTreeMap<_, _> = self.names().collect();
        let nodes = self.resolve.nodes.iter();
        nodes
            .filter(|node| names.get(node.id.as_str()) == Some(&package))
            .flat_map(|node| node.features.iter().map(String::as_str))
            .collect()
    }

    fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.packages
            .iter()
            .map(|package| (package.id.as_str(), package.name.as_str()))
    }
}
