//! Measurements: figures of servers side by side, and their targets.

use serde::Serialize;

use crate::statistics::{median, ratio};

/// A kind of load, and the figures of each server under it.
#[derive(Debug, Serialize)]
pub(crate) struct Measurement {
    /// Name of the load, like `send, 16 connections`.
    pub(crate) load: String,
    /// Columns of the figures.
    pub(crate) columns: Vec<Column>,
    /// Figures of each server; the figures of hyper alone are first, if it was there.
    pub(crate) servers: Vec<Figures>,
    /// Targets, and whether they were met.
    pub(crate) claims: Vec<TargetResult>,
}

/// Name and unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
}

/// Figures of one server, in each round.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) server: String,
    /// Rounds, each with a figure for every column.
    pub(crate) rounds: Vec<Vec<f64>>,
}

/// A figure with its target.
#[derive(Debug, Serialize)]
pub(crate) struct TargetResult {
    pub(crate) what: String,
    pub(crate) measured: f64,
    pub(crate) bound: Bound,
    pub(crate) met: bool,
}

/// Target of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Within(f64, f64),
}

impl Measurement {
    /// Returns the median of a column over the rounds of a server; `None` if it is not there.
    pub(crate) fn median(&self, server: &str, column: &str) -> Option<f64> {
        median(&self.values(server, column)?)
    }

    /// Returns half of the distance between the smallest and the largest round of a server, as a part of the median.
    pub(crate) fn spread(&self, server: &str, column: &str) -> Option<f64> {
        let values = self.values(server, column)?;
        let largest = values.iter().copied().max_by(f64::total_cmp)?;
        let smallest = values.iter().copied().min_by(f64::total_cmp)?;
        Some((largest - smallest) / 2.0 / median(&values)?)
    }

    /// Returns the median over the rounds of one server's figure, as a multiple of another's.
    pub(crate) fn ratio(&self, of: &str, to: &str, column: &str) -> Option<f64> {
        ratio(&self.values(of, column)?, &self.values(to, column)?)
    }

    /// Adds a figure with its target; one that could not be measured misses it.
    pub(crate) fn claim(&mut self, what: impl Into<String>, measured: Option<f64>, bound: Bound) {
        let measured = measured.unwrap_or(f64::NAN);
        self.claims.push(TargetResult {
            what: what.into(),
            measured,
            bound,
            met: bound.holds(measured),
        });
    }

    fn values(&self, server: &str, column: &str) -> Option<Vec<f64>> {
        let index = self.columns.iter().position(|known| known.name == column)?;
        let server = self.servers.iter().find(|known| known.server == server)?;
        server
            .rounds
            .iter()
            .map(|round| round.get(index).copied())
            .collect()
    }
}

impl Bound {
    pub(crate) fn holds(self, measured: f64) -> bool {
        match self {
            Self::AtLeast(least) => measured >= least,
            Self::AtMost(most) => measured <= most,
            Self::Within(least, most) => (least..=most).contains(&measured),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_is_not_measured_misses_its_target() {
        assert!(Bound::AtLeast(0.5).holds(0.5));
        assert!(!Bound::AtLeast(0.5).holds(0.49));
        assert!(Bound::AtMost(3.0).holds(3.0));
        assert!(!Bound::AtMost(3.0).holds(3.1));
        assert!(Bound::Within(8.5, 11.5).holds(10.0));
        assert!(!Bound::Within(8.5, 11.5).holds(12.0));
        for bound in [
            Bound::AtLeast(0.0),
            Bound::AtMost(0.0),
            Bound::Within(0.0, 1.0),
        ] {
            assert!(!bound.holds(f64::NAN));
        }
    }
}
