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
pub enum JsonPath<'a> {
    /// The document itself.
    Root(&'a str),
    /// A member of an object.
    Member(&'a JsonPath<'a>, &'a str),
    /// An item of an array.
    Item(&'a JsonPath<'a>, usize),
}

impl JsonPath<'_> {
    /// Returns the place of the member `name` of the object here.
    pub fn member<'a>(&'a self, name: &'a str) -> JsonPath<'a> {
        JsonPath::Member(self, name)
    }

    /// Returns the place of the item `index` of the array here.
    pub fn item(&self, index: usize) -> JsonPath<'_> {
        JsonPath::Item(self, index)
    }

    /// Checks the items of the list in the member `name` of the object here.
    pub(crate) fn each<'i, T: 'i>(
        &self,
        name: &str,
        items: impl IntoIterator<Item = &'i T>,
        check: impl Fn(&T, &JsonPath<'_>) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        let list = JsonPath::Member(self, name);
        let mut items = items.into_iter().enumerate();
        items.try_for_each(|(index, item)| check(item, &list.item(index)))
    }

    /// Checks that the id in the member `name` of the object here is not the empty string.
    pub(crate) fn names(&self, name: &str, id: &str) -> Result<(), Violation> {
        match id {
            "" => Err(JsonPath::Member(self, name).violation("an id must not be empty")),
            _ => Ok(()),
        }
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
