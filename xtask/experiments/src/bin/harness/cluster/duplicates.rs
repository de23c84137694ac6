//! The same message at all replicas at once: one task, one turn of the agent.

use std::collections::{HashMap, HashSet};

use a2a_client::SendMessageResponse;
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};

use super::{Cluster, Failure, Report, begin};

pub(super) async fn run(
    cluster: &Cluster,
    messages: usize,
    label: &str,
    report: &mut Report,
) -> Result<(), Failure> {
    let before = cluster.runs()?.len();
    let clients = (0..cluster.replicas.len()).map(|index| cluster.client(index));
    let clients = clients.collect::<Result<Vec<_>, _>>()?;
    let sends = stream::iter(0..messages).map(|number| {
        let request = begin(format!("echo {number}"));
        let sends = clients.iter().map(move |client| {
            let (client, request) = (client.clone(), request.clone());
            async move { client.send(request).await }
        });
        join_all(sends)
    });
    let answers: Vec<_> = sends.buffer_unordered(AT_ONCE).collect().await;

    let (mut tasks, mut errors, mut contradictions) = (HashSet::new(), 0, 0);
    for answers in answers {
        let mut ids = HashSet::new();
        for answer in answers {
            match answer {
                Ok(SendMessageResponse::Task(task)) => drop(ids.insert(task.id)),
                Ok(SendMessageResponse::Message(_)) => errors += 1,
                Err(error) => {
                    errors += 1;
                    report.remark([error.to_string()]);
                }
            }
        }
        contradictions += usize::from(ids.len() > 1);
        tasks.extend(ids);
    }
    let mut runs: HashMap<String, usize> = HashMap::new();
    for run in cluster.runs()?.into_iter().skip(before) {
        *runs.entry(run).or_default() += 1;
    }
    report.exactly(
        format!("{label}messages at all replicas: tasks"),
        messages,
        tasks.len(),
    );
    report.exactly(
        format!("{label}… messages with two tasks"),
        0,
        contradictions,
    );
    report.exactly(
        format!("{label}… turns of the agent"),
        messages,
        runs.values().sum(),
    );
    report.exactly(
        format!("{label}… messages that had a turn"),
        messages,
        runs.len(),
    );
    report.exactly(format!("{label}… errors"), 0, errors);
    Ok(())
}

/// Number of messages that are under way at once.
const AT_ONCE: usize = 64;
