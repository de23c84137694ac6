//! Settings of the measurements.

use std::path::PathBuf;
use std::time::Duration;

use crate::peers::Peer;

/// Settings of the measurements.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Number of rounds; in each, every server is measured once.
    pub(crate) rounds: usize,
    /// Duration of each measurement.
    pub(crate) period: Duration,
    /// Numbers of callers at once.
    pub(crate) connections: Vec<usize>,
    /// Number of messages where memory is measured; no more fill a cache.
    pub(crate) sends: usize,
    /// Directory of databases.
    pub(crate) directory: PathBuf,
    /// The processor of the server, and that of its callers.
    pub(crate) cores: [usize; 2],
    /// Servers of others that are measured, too.
    pub(crate) peers: Vec<Peer>,
}
