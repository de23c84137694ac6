//! The keys of one object, so that none comes twice.

use std::borrow::Cow;
use std::collections::HashSet;

/// The keys one object has had so far.
#[derive(Debug, Default)]
pub(crate) struct Keys<'de> {
    /// The first few, compared one by one: most objects are small.
    few: Vec<Cow<'de, str>>,
    /// All others, hashed with a secret seed.
    more: HashSet<Cow<'de, str>>,
}

impl<'de> Keys<'de> {
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.more.len()
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.few.iter().any(|known| known == key) || self.more.contains(key)
    }

    pub(crate) fn insert(&mut self, key: Cow<'de, str>) {
        if self.few.len() < FEW {
            self.few.push(key);
        } else {
            self.more.insert(key);
        }
    }
}

const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_or_many_keys_are_all_known() {
        let mut keys = Keys::default();
        for n in 0..3 * FEW {
            let key = format!("k{n}");
            assert!(!keys.contains(&key));
            keys.insert(Cow::Owned(key));
            assert_eq!(keys.len(), n + 1);
        }
        assert!((0..3 * FEW).all(|n| keys.contains(&format!("k{n}"))));
    }
}
