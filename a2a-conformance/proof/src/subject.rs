//! Subjects by which the suite is proven.

use std::str::FromStr;

use futures_util::stream::{self, StreamExt};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::{Extent, Proof, agent, client};

/// Agent or client by which the suite is proven.
#[derive(Clone, Debug)]
pub enum Subject {
    /// An agent.
    Agent(agent::AgentSubject),
    /// A client.
    Client(client::ClientSubject),
}

impl Subject {
    /// Returns all subjects: agents, then clients; the correct ones before the mutants.
    pub fn all() -> Vec<Self> {
        let agents = agent::AgentSubject::all().into_iter().map(Self::Agent);
        let clients = client::ClientSubject::all().into_iter().map(Self::Client);
        agents.chain(clients).collect()
    }

    /// Returns its name, like `S07` or `crlf`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Agent(subject) => subject.name(),
            Self::Client(subject) => subject.name(),
        }
    }

    /// Runs the suite against it.
    ///
    /// Errors: why there was no run.
    pub async fn prove(&self, extent: Extent) -> Result<Proof, String> {
        match self {
            Self::Agent(subject) => agent::prove(subject, extent).await,
            Self::Client(subject) => client::prove(*subject, extent).await,
        }
    }
}

/// The name is that of no subject.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no mutant or control `{0}`")]
pub struct NoSuchSubject(String);

impl FromStr for Subject {
    type Err = NoSuchSubject;

    fn from_str(name: &str) -> Result<Self, NoSuchSubject> {
        let mut all = Self::all().into_iter();
        let found = all.find(|subject| subject.name() == name);
        found.ok_or_else(|| NoSuchSubject(name.to_owned()))
    }
}

/// Runs the suite against all subjects, `jobs` at a time; `progress` receives the number of finished subjects, and
/// of failed proofs. Failed proofs are run once more at the end, one after another. The proofs are in the order of the
/// subjects.
///
/// Errors: why there was no run. It must be called within a runtime of several threads.
pub async fn prove_all(
    subjects: &[Subject],
    extent: Extent,
    jobs: usize,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Proof>, String> {
    let proving = subjects.iter().enumerate();
    let proving = proving.map(async |(index, subject)| (index, prove(subject, extent).await));
    let mut proving = std::pin::pin!(stream::iter(proving).buffer_unordered(jobs.max(1)));
    let (mut proofs, mut wrong) = (Vec::new(), 0);
    while let Some((index, proof)) = proving.next().await {
        let proof = proof?;
        wrong += usize::from(!proof.holds());
        proofs.push((index, proof));
        progress(proofs.len(), wrong);
    }
    // Some checks compare times. On a busy machine a client that never pauses looks like one that does.
    for (index, proof) in &mut proofs {
        if let (false, Some(subject)) = (proof.holds(), subjects.get(*index)) {
            *proof = prove(subject, extent).await?;
        }
    }
    proofs.sort_by_key(|(index, _)| *index);
    Ok(proofs.into_iter().map(|(_, proof)| proof).collect())
}

/// Tests one mutant or control, on its own thread, so that it does not wait for the others.
async fn prove(subject: &Subject, extent: Extent) -> Result<Proof, String> {
    let (subject, name) = (subject.clone(), subject.name());
    let runtime = Handle::current();
    let proving = spawn_blocking(move || runtime.block_on(subject.prove(extent)));
    let proof = proving.await.map_err(|error| error.to_string());
    let proof = proof.and_then(|proof| proof);
    proof.map_err(|problem| format!("{name}: {problem}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn subject_names_are_unique() {
        let all = Subject::all();
        let names: BTreeSet<_> = all.iter().map(Subject::name).collect();
        assert_eq!(names.len(), all.len());
        for name in names {
            assert_eq!(name.parse::<Subject>().unwrap().name(), name);
        }
        assert!("S00".parse::<Subject>().is_err());
    }
}
