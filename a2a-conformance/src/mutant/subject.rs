//! Who is tested to prove the suite.

use std::str::FromStr;

use super::{Extent, Proof, agent, client};

/// Who is tested to prove the suite.
#[derive(Clone, Debug)]
pub enum Subject {
    /// An agent.
    Agent(agent::Subject),
    /// A client.
    Client(client::Subject),
}

impl Subject {
    /// Everybody: agents, then clients; of each those that are right, and then those that are wrong.
    pub fn all() -> Vec<Self> {
        let agents = agent::Subject::all().into_iter().map(Self::Agent);
        let clients = client::Subject::all().into_iter().map(Self::Client);
        agents.chain(clients).collect()
    }

    /// Its name, like `S07` or `crlf`.
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

/// The name is that of nobody.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nobody_has_the_name_of_another() {
        let all = Subject::all();
        let names: BTreeSet<_> = all.iter().map(Subject::name).collect();
        assert_eq!(names.len(), all.len());
        for name in names {
            assert_eq!(name.parse::<Subject>().unwrap().name(), name);
        }
        assert!("S00".parse::<Subject>().is_err());
    }
}
