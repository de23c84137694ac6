//! What servers are made to do.

mod exchange;

use std::time::Duration;

use clap::ValueEnum;

use crate::Failure;
use crate::measured::Measured;

/// A kind of load.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// A message, answered when its task is complete.
    Send,
    /// The same as a stream of events.
    Stream,
    /// A task is read.
    Get,
}

/// How to measure.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// How many times; hyper alone and ours in turn.
    pub(crate) rounds: usize,
    /// How long each time.
    pub(crate) period: Duration,
    /// How many callers at once.
    pub(crate) connections: Vec<usize>,
    /// The processor of the server, and that of its callers.
    pub(crate) cores: [usize; 2],
}

impl Scenario {
    pub(crate) async fn run(self, plan: &Plan) -> Result<Vec<Measured>, Failure> {
        match self {
            Self::Send => exchange::send(plan).await,
            Self::Stream => exchange::stream(plan).await,
            Self::Get => exchange::get(plan).await,
        }
    }
}

/// How the two are called in every table.
pub(crate) const CEILING: &str = "hyper alone";
pub(crate) const OURS: &str = "ours";
