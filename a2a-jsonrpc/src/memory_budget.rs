//! Memory budget: the cost of a tree of values, estimated while the document is still text.

/// The heap that is left for the document being scanned.
///
/// The model is [`serde_json::Value`] on a 64-bit machine. A few bytes of text can ask for hundreds of
/// bytes of tree: `{"":0}` is six bytes and needs a whole B-tree node.
/// (With `serde_json/preserve_order` a value is twice as big: a test below fails, and `VALUE` must grow.)
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    left: usize,
}

/// Error of a document that needs more memory than the budget.
#[derive(Debug)]
pub(crate) struct BudgetExceeded;

impl MemoryBudget {
    pub(crate) fn new(left: usize) -> Self {
        Self { left }
    }

    /// Pays for the text of a string or a key.
    pub(crate) fn text(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        self.pay(bytes.saturating_add(TEXT))
    }

    /// Pays for the place of an array's element: four places at once, then two for each element,
    /// because a `Vec` that has just grown is half empty.
    pub(crate) fn element(&mut self, index: usize) -> Result<(), BudgetExceeded> {
        self.pay(if index == 0 { 4 * VALUE } else { 2 * VALUE })
    }

    /// Pays for the place of an object's member: a node for every six, because a node that has just
    /// been split is about half empty.
    pub(crate) fn member(&mut self, index: usize) -> Result<(), BudgetExceeded> {
        if index.is_multiple_of(MEMBERS_PER_NODE) {
            self.pay(NODE)
        } else {
            Ok(())
        }
    }

    fn pay(&mut self, cost: usize) -> Result<(), BudgetExceeded> {
        self.left = self.left.checked_sub(cost).ok_or(BudgetExceeded)?;
        Ok(())
    }
}

/// The handle of a string, or the allocator's share of its text.
const TEXT: usize = 24;
/// One value in its place.
const VALUE: usize = 32;
/// A B-tree node: eleven keys, eleven values and the links.
const NODE: usize = 640;
const MEMBERS_PER_NODE: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn estimates_cover_the_real_sizes() {
        assert!(size_of::<Value>() <= VALUE);
        assert!(size_of::<String>() <= TEXT);
        assert!(11 * (size_of::<String>() + size_of::<Value>()) + 16 <= NODE);
    }

    #[test]
    fn payments_add_up() {
        let mut heap = MemoryBudget::new(NODE + 128 + 64 + TEXT + 3);
        assert!(heap.member(0).is_ok());
        assert!(heap.member(1).is_ok());
        assert!(heap.element(0).is_ok());
        assert!(heap.element(1).is_ok());
        assert!(heap.text(3).is_ok());
        assert!(heap.member(5).is_ok());
        assert!(heap.member(6).is_err());
        assert!(heap.text(usize::MAX).is_err());
    }
}
