//! Medians, percentiles and ratios of many figures.

/// Returns the middle one; of an even number, the mean of the two in the middle. `None` of none.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => Some(f64::midpoint(*sorted.get(sorted.len() / 2 - 1)?, upper)),
        _ => Some(upper),
    }
}

/// The smallest of the sorted values that `part` of them do not exceed: the nearest rank.
pub(crate) fn percentile(sorted: &[u32], part: f64) -> Option<u32> {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The median of the ratios within each round: other load on the machine affects both alike.
pub(crate) fn ratio(of: &[f64], to: &[f64]) -> Option<f64> {
    let ratios: Vec<_> = of.iter().zip(to).map(|(of, to)| of / to).collect();
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_found_in_any_order() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), Some(3.0));
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let hundred: Vec<u32> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 0.5), Some(50));
        assert_eq!(percentile(&hundred, 0.99), Some(99));
        assert_eq!(percentile(&hundred, 1.0), Some(100));
        assert_eq!(percentile(&hundred, 0.0), Some(1));
        assert_eq!(percentile(&[7], 0.99), Some(7));
        assert_eq!(percentile(&[], 0.99), None);
    }

    #[test]
    fn ratios_are_of_one_round() {
        // The second round had half the machine: the ratio stays.
        assert_eq!(ratio(&[50.0, 25.0, 60.0], &[100.0, 50.0, 100.0]), Some(0.5));
        assert_eq!(ratio(&[], &[]), None);
    }
}
