//! Violations of the specification, and their places.

/// A violation of the specification in a text: the place and the problem.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Violation {
    /// The JSON path, as the sender wrote it, like `$.params.message.parts[0].text`.
    pub path: String,
    /// The problem, and what was expected.
    pub problem: String,
}

/// A place in a document, for checks that walk typed values.
#[derive(Clone, Copy, Debug)]
pub enum At<'a> {
    /// The document itself.
    Root(&'a str),
    /// A member of an object.
    Member(&'a At<'a>, &'a str),
    /// An item of an array.
    Item(&'a At<'a>, usize),
}

impl At<'_> {
    /// Returns the place of the member `name` of the object here.
    pub fn member<'a>(&'a self, name: &'a str) -> At<'a> {
        At::Member(self, name)
    }

    /// Returns the place of the item `index` of the array here.
    pub fn item(&self, index: usize) -> At<'_> {
        At::Item(self, index)
    }

    /// Returns a violation at this place.
    pub fn violation(&self, problem: impl Into<String>) -> Violation {
        Violation {
            path: self.path(),
            problem: problem.into(),
        }
    }

    fn path(&self) -> String {
        match self {
            Self::Root(root) => (*root).to_owned(),
            Self::Member(parent, name) => format!("{}.{name}", parent.path()),
            Self::Item(parent, index) => format!("{}[{index}]", parent.path()),
        }
    }
}
