//! Clients under test.

use super::{Bug, Control};

/// Test client: our client, a mutant or a control.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClientSubject {
    /// Our client: correct.
    Reference,
    /// A mutant: it has a bug.
    Mutant(Bug),
    /// A control: unusual, but correct.
    Control(Control),
}

impl ClientSubject {
    /// Returns all test clients.
    pub fn all() -> Vec<Self> {
        let controls = Control::ALL.iter().copied().map(Self::Control);
        let mutants = Bug::ALL.iter().copied().map(Self::Mutant);
        std::iter::once(Self::Reference)
            .chain(controls)
            .chain(mutants)
            .collect()
    }

    /// Returns its name, like `C07` or `client-chunked`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "client",
            Self::Mutant(bug) => bug.name(),
            Self::Control(control) => control.name(),
        }
    }

    /// Returns a description of its peculiarity.
    pub fn says(self) -> &'static str {
        match self {
            Self::Reference => "nothing is special",
            Self::Mutant(bug) => &bug.mutant().says,
            Self::Control(control) => control.says(),
        }
    }

    /// Returns its bug, or `None` if it has none.
    pub(crate) fn bug(self) -> Option<Bug> {
        match self {
            Self::Mutant(bug) => Some(bug),
            Self::Reference | Self::Control(_) => None,
        }
    }

    /// Returns whether it has this bug.
    pub(crate) fn has(self, bug: Bug) -> bool {
        self == Self::Mutant(bug)
    }

    /// Returns whether its peculiarity is applied to the bytes on the wire, and not by the client itself.
    pub(crate) fn is_on_the_wire(self) -> bool {
        match self {
            Self::Reference => false,
            Self::Mutant(bug) => bug.is_on_the_wire(),
            Self::Control(_) => true,
        }
    }
}
