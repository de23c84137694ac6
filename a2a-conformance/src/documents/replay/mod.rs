//! Replay of the documented examples: as documents, to the agent, to the client.

mod agent;
mod client;
mod ends;
mod reading;
mod result;

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};

use crate::documents::corpus::{Corpus, Exchange};

pub use self::ends::Ends;
pub use self::result::{Direction, ReplayResult};

/// Selection of what is replayed, and the ends that it is replayed to.
#[derive(Clone)]
pub struct Options {
    /// Prefix of the ids of the examples and exchanges to replay; all if absent.
    pub only: Option<String>,
    /// The ends; ours by default.
    pub ends: Arc<dyn Ends>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            only: None,
            ends: Arc::new(ends::OurEnds),
        }
    }
}

/// Number of exchanges replayed concurrently: most of their time is waiting.
const AT_ONCE: usize = 8;

/// Replays everything. `progress` receives the number done and the total.
pub async fn replay(
    corpus: &Corpus,
    options: &Options,
    mut progress: impl FnMut(usize, usize),
) -> Vec<ReplayResult> {
    let is_chosen = |id: &str| {
        options
            .only
            .as_ref()
            .is_none_or(|only| id.starts_with(only))
    };
    let examples = corpus.examples.values();
    let examples = examples.filter(|example| is_chosen(&example.id));
    let mut outcomes: Vec<_> = examples
        .map(|example| ReplayResult {
            document: example.source.document.clone(),
            id: example.id.clone(),
            direction: Direction::Read,
            problems: reading::replay(corpus, example),
        })
        .collect();
    let exchanges = corpus.exchanges.values();
    let exchanges: Vec<_> = exchanges
        .filter(|exchange| is_chosen(&exchange.id))
        .collect();
    let total = exchanges.len();
    let replays =
        stream::iter(exchanges).map(|exchange| exchanged(corpus, exchange, &*options.ends));
    let mut replays = std::pin::pin!(replays.buffered(AT_ONCE).enumerate());
    progress(0, total);
    while let Some((done, replayed)) = replays.next().await {
        progress(done + 1, total);
        outcomes.extend(replayed);
    }
    outcomes
}

/// Replays an exchange to both ends.
async fn exchanged(corpus: &Corpus, exchange: &Exchange, ends: &dyn Ends) -> Vec<ReplayResult> {
    let mut outcomes = Vec::new();
    for direction in Direction::ALL {
        let problems = match direction {
            Direction::Read => continue,
            Direction::AgentCorrected | Direction::AgentPrinted | Direction::AgentStrict => {
                agent::replay(corpus, exchange, direction, ends).await
            }
            Direction::ClientCorrected | Direction::ClientPrinted => {
                client::replay(corpus, exchange, direction, ends).await
            }
        };
        outcomes.push(ReplayResult {
            document: exchange.id.split('-').next().unwrap_or_default().to_owned(),
            id: exchange.id.clone(),
            direction,
            problems,
        });
    }
    outcomes
}
