//! Counts of tests that passed, failed and were left out.

/// Number of tests that passed, failed and were left out, over all their programs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Tally {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) left_out: usize,
}

impl Tally {
    /// Counts the lines like `test result: ok. 7 passed; 0 failed; …`; other lines are ignored.
    pub(super) fn of(output: &str) -> Self {
        let mut tally = Self::default();
        let results = output
            .lines()
            .filter_map(|line| line.split_once("test result:"));
        for (_, result) in results {
            tally.passed += number_before(result, " passed");
            tally.failed += number_before(result, " failed");
            tally.left_out += number_before(result, " filtered out");
        }
        tally
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.left_out += other.left_out;
    }
}

fn number_before(text: &str, word: &str) -> usize {
    let before = text.split_once(word).map_or("", |(before, _)| before);
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_added_up() {
        let output = "running 3 tests\n\
            test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out\n\
            test result: \x1b[31mFAILED\x1b[0m. 3 passed; 2 failed; 1 ignored";
        let expected = Tally {
            passed: 15,
            failed: 2,
            left_out: 4,
        };
        assert_eq!(Tally::of(output), expected);
    }
}
