//! Memory budget: the cost of a tree of values, counted while the document is still text.

/// The heap that is left for the document being scanned.
///
/// The model is [`serde_json::Value`] on a 64-bit machine with the allocator of glibc. A few bytes of text can ask for
/// hundreds of bytes of tree: `{"":0}` is six bytes and needs a whole B-tree node.
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
        self.pay(match bytes {
            0 => 0,
            _ => allocation(bytes),
        })
    }

    /// Pays for the place of an array's element: a `Vec` has room for four, and doubles that when it is full.
    pub(crate) fn element(&mut self, index: usize) -> Result<(), BudgetExceeded> {
        match index {
            0 => self.pay(allocation(4 * VALUE)),
            4.. if index.is_power_of_two() => self.pay(index * VALUE),
            _ => Ok(()),
        }
    }

    /// Pays for the place of an object's member in a B-tree.
    pub(crate) fn member(&mut self, index: usize) -> Result<(), BudgetExceeded> {
        let (mut place, mut node) = (index, LEAF);
        // Every node that becomes full is split: one of its members moves up, and one half of it gets no more.
        loop {
            if place == 0 {
                return self.pay(allocation(node));
            }
            let Some(splits) = place.checked_sub(NODE_CAPACITY) else {
                return Ok(());
            };
            if !splits.is_multiple_of(SPLIT_EVERY) {
                return Ok(());
            }
            self.pay(allocation(node))?;
            (place, node) = (splits / SPLIT_EVERY, INNER_NODE);
        }
    }

    fn pay(&mut self, cost: usize) -> Result<(), BudgetExceeded> {
        self.left = self.left.checked_sub(cost).ok_or(BudgetExceeded)?;
        Ok(())
    }
}

/// Returns the bytes that the allocator takes for `bytes`: with its header, in steps of 16, at least 32.
fn allocation(bytes: usize) -> usize {
    match bytes.checked_add(HEADER + 15) {
        Some(bytes) => (bytes / 16 * 16).max(32),
        None => usize::MAX,
    }
}

/// Bytes of the allocator's header.
const HEADER: usize = 8;
/// One value in its place.
const VALUE: usize = 32;
/// A B-tree node: eleven keys, eleven values and its place.
const LEAF: usize = 632;
/// A node with twelve nodes below it.
const INNER_NODE: usize = 728;
/// Members of a node.
const NODE_CAPACITY: usize = 11;
/// Members after which the last node is full again, if they come in the order of their names.
const SPLIT_EVERY: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn assumed_sizes_match_serde_json_values() {
        assert_eq!(size_of::<Value>(), VALUE);
        assert_eq!(NODE_CAPACITY * (size_of::<String>() + VALUE) + 16, LEAF);
        assert_eq!(LEAF + 12 * size_of::<usize>(), INNER_NODE);
    }

    #[test]
    fn payments_add_up() {
        let mut heap = MemoryBudget::new(640 + 144 + 32 + 640 + 736);
        assert!(heap.member(0).is_ok());
        assert!(heap.member(1).is_ok());
        assert!(heap.element(0).is_ok());
        assert!(heap.element(1).is_ok());
        assert!(heap.text(3).is_ok() && heap.text(0).is_ok());
        assert!(heap.member(10).is_ok());
        assert!(heap.member(11).is_ok());
        assert_eq!(heap.left, 0);
        assert!(heap.member(12).is_ok());
        assert!(heap.member(18).is_err());
        assert!(heap.element(4).is_err());
        assert!(heap.text(usize::MAX).is_err());
    }
}
