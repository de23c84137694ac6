//! Published servers of other projects: programs of a separate workspace, which is built only when
//! they are requested.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::load::Connection;
use crate::machine::Failure;
use crate::process::Process;
use crate::request_template::{RequestKind, RequestTemplate};

/// A server of others, with the agent that ours has.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The package and its version.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
}

/// Builds them all, and checks that each does what is measured.
pub(crate) async fn ready(core: usize) -> Result<Vec<Peer>, Failure> {
    let peers = peers(&build()?)?;
    for peer in &peers {
        let refused = |failure| format!("{} is not a peer: {failure}", peer.name);
        is_echo(peer, core).await.map_err(refused)?;
    }
    Ok(peers)
}

/// Builds the programs, and returns Cargo's messages.
fn build() -> Result<String, Failure> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench-peers");
    eprintln!("building the servers of others");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--locked", "--quiet"]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let built = cargo
        .current_dir(&workspace)
        .stderr(Stdio::inherit())
        .output()?;
    match built.status.success() {
        true => Ok(String::from_utf8(built.stdout)?),
        false => Err(format!(
            "the servers of others cannot be built ({}): see above what Cargo says of {}; \
             it takes a registry, or what was downloaded from one before",
            built.status,
            workspace.display()
        )
        .into()),
    }
}

/// The programs, which have the names of the packages whose servers they are.
fn peers(output: &str) -> Result<Vec<Peer>, Failure> {
    let messages: Vec<Value> = output
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let ids = || messages.iter().filter_map(|one| one["package_id"].as_str());
    let mut peers = Vec::new();
    for message in &messages {
        let program = message["executable"].as_str();
        let name = message["target"]["name"].as_str();
        let (Some(program), Some(name)) = (program, name) else {
            continue;
        };
        let version = ids().find_map(|id| id.split_once(&format!("#{name}@")));
        let (_, version) = version.ok_or_else(|| format!("{name} is not a package"))?;
        peers.push(Peer {
            name: format!("{name} {version}"),
            program: program.into(),
        });
    }
    peers.sort_by(|one, other| one.name.cmp(&other.name));
    match peers.is_empty() {
        true => Err("Cargo has built no server of others".into()),
        false => Ok(peers),
    }
}

/// Checks that its agent echoes a message, as the one artifact of a completed task.
async fn is_echo(peer: &Peer, core: usize) -> Result<(), Failure> {
    let process = Process::peer(&peer.program, &[core], None).await?;
    let address = process.address();
    let mut connection = Connection::open(address).await?;
    let mut send = RequestTemplate::new(RequestKind::Send, address, TEXT);
    let answer: Value = serde_json::from_slice(connection.ask(send.next()).await?)?;
    process.end().await?;
    let task = &answer["result"]["task"];
    let artifacts = task["artifacts"].as_array();
    let parts = artifacts.and_then(|artifacts| match artifacts.as_slice() {
        [artifact] => artifact["parts"].as_array(),
        _ => None,
    });
    let is_said = parts.is_some_and(|parts| match parts.as_slice() {
        [part] => part["text"] == TEXT,
        _ => false,
    });
    match is_said && task["status"]["state"] == "TASK_STATE_COMPLETED" {
        true => Ok(()),
        false => Err(format!("it was to say {TEXT:?} in an artifact, and said {answer}").into()),
    }
}

const TEXT: &str = "say this back to me";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_versions_are_read_from_cargo() {
        let output = concat!(
            r#"{"package_id":"registry+https://x/index#some-server@1.2.3","target":{"name":"some_server"},"executable":null}"#,
            "\n",
            r#"{"package_id":"path+file:///x#a2a-bench-peers@0.1.0","target":{"name":"some-server"},"executable":"/x/some-server"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let peers = peers(output).expect("there is one");
        let [peer] = peers.as_slice() else {
            panic!("there is one: {peers:?}");
        };
        assert_eq!(peer.name, "some-server 1.2.3");
        assert_eq!(peer.program, Path::new("/x/some-server"));
    }

    #[test]
    fn programs_of_no_package_are_refused() {
        for (output, expected) in [
            ("", "no server"),
            (
                r#"{"target":{"name":"mine"},"executable":"/x/mine"}"#,
                "mine is not a package",
            ),
        ] {
            let failure = peers(output).expect_err("there is none");
            assert!(failure.to_string().contains(expected), "{failure}");
        }
    }
}
