//! Clients under test.

use super::{Bug, Control};

/// Our client, and what is special about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Subject {
    /// Nothing.
    Ours,
    /// It is wrong.
    Mutant(Bug),
    /// It is odd, but right.
    Control(Control),
}

impl Subject {
    /// Every one.
    pub fn all() -> Vec<Self> {
        let controls = Control::ALL.iter().copied().map(Self::Control);
        let mutants = Bug::ALL.iter().copied().map(Self::Mutant);
        std::iter::once(Self::Ours)
            .chain(controls)
            .chain(mutants)
            .collect()
    }

    /// Its name, like `C07` or `client-chunked`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "client",
            Self::Mutant(bug) => bug.mutant().id,
            Self::Control(control) => control.name(),
        }
    }

    /// Returns a description of its peculiarity.
    pub fn says(self) -> &'static str {
        match self {
            Self::Ours => "nothing is special",
            Self::Mutant(bug) => bug.mutant().says,
            Self::Control(control) => control.says(),
        }
    }

    /// Returns its bug, or `None` if it has none.
    pub(crate) fn bug(self) -> Option<Bug> {
        match self {
            Self::Mutant(bug) => Some(bug),
            Self::Ours | Self::Control(_) => None,
        }
    }

    /// Returns whether it has this bug.
    pub(crate) fn has(self, bug: Bug) -> bool {
        self == Self::Mutant(bug)
    }

    /// Returns whether its peculiarity is in what is sent and what comes back, not in what is made of it.
    pub(crate) fn is_on_the_wire(self) -> bool {
        match self {
            Self::Ours => false,
            Self::Mutant(bug) => bug.is_on_the_wire(),
            Self::Control(_) => true,
        }
    }
}
