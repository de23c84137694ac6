//! Replay of the documented examples: as documents, to the agent, to the client.

mod agent;
mod client;
mod ends;
mod profile;
mod reading;
mod result;

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};

use crate::documents::corpus::Corpus;

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

impl Options {
    fn includes(&self, id: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|prefix| id.starts_with(prefix.as_str()))
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
    let exchanges: Vec<_> = corpus
        .exchanges
        .values()
        .filter(|exchange| options.includes(&exchange.id))
        .collect();
    let total = exchanges.len();
    let mut outcomes = Vec::new();
    for example in corpus
        .examples
        .values()
        .filter(|example| options.includes(&example.id))
    {
        outcomes.push(reading::replay(corpus, example));
    }
    let ends = |exchange| async move {
        let mut outcomes = agent::replay(corpus, exchange, &*options.ends).await;
        outcomes.extend(client::replay(corpus, exchange, &*options.ends).await);
        outcomes
    };
    let mut replays = std::pin::pin!(stream::iter(exchanges).map(ends).buffered(AT_ONCE));
    let mut done = 0;
    progress(done, total);
    while let Some(replayed) = replays.next().await {
        done += 1;
        progress(done, total);
        outcomes.extend(replayed);
    }
    outcomes
}
