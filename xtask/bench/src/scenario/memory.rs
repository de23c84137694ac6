//! Memory of a server after many sends.

use std::time::Duration;

use super::comparison::{MeasuredServer, OURS, compare};
use super::plan::Plan;
use crate::load;
use crate::machine::Failure;
use crate::measurement::{Bound, Column, Measurement};
use crate::process::Process;
use crate::request_template::RequestKind;

/// Sends more tasks than are kept, so that the oldest are evicted.
pub(super) async fn memory(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let kept = plan.sends / 10;
    let mut ours = MeasuredServer::ours(plan, RequestKind::Send, "say this back to me");
    ours.settings.kept = Some(kept);
    let once = Plan {
        rounds: 1,
        ..plan.clone()
    };
    let load = format!("{} sends, of which {kept} tasks are kept", plan.sends);
    let mut memory = compare(&once, load, &COLUMNS, &[ours], async |server, process| {
        let mut sends = Sends {
            server,
            process,
            done: 0,
        };
        // Memory that any number of tasks needs is there after the first ones.
        sends.reach(kept / 10).await?;
        let (few, little) = (sends.done, process.memory()?);
        sends.reach(kept * 9 / 10).await?;
        let task = (process.memory()? - little) / (sends.done - few) as f64;
        sends.reach(plan.sends / 2).await?;
        let half = process.memory()?;
        sends.reach(plan.sends).await?;
        Ok(vec![task / 1024.0, half / MB, process.memory()? / MB])
    })
    .await?;
    let task = memory.median(OURS, "task");
    memory.claim("KB of a stored task", task, Bound::AtMost(2.0));
    let [half, all] = ["half", "all"].map(|column| memory.median(OURS, column));
    let growth = all.zip(half).map(|(all, half)| all / half);
    memory.claim("memory after all ÷ after half", growth, Bound::AtMost(1.03));
    Ok(vec![memory])
}

/// Sends to one server, counted.
struct Sends<'a> {
    server: &'a MeasuredServer,
    process: &'a Process,
    done: usize,
}

impl Sends<'_> {
    /// Sends until there have been `total` sends, or a few more.
    async fn reach(&mut self, total: usize) -> Result<(), Failure> {
        while self.done < total {
            let mut orders = Vec::with_capacity(CALLERS);
            for _ in 0..CALLERS {
                orders.push(self.server.order(self.process).await?);
            }
            let callers = load::callers(self.process.address(), orders).await?;
            let seen = load::drive(callers, BATCH).await?;
            self.done += seen.count() as usize;
        }
        Ok(())
    }
}

const CALLERS: usize = 16;

/// Time of sending between two looks at the number of sends.
const BATCH: Duration = Duration::from_millis(200);

const MB: f64 = 1024.0 * 1024.0;

#[rustfmt::skip]
const COLUMNS: [Column; 3] = [
    Column { name: "task", unit: "KB of the server for each of the first tasks" },
    Column { name: "half", unit: "MB of the server after half of the sends" },
    Column { name: "all", unit: "MB of the server after all of them" },
];
