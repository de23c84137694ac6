//! A server and one caller on one thread, for a tool that counts their instructions: those of the
//! kernel, of the clock and of other processes are not among them.

use clap::Args;

use crate::Failure;
use crate::load::Connection;
use crate::request_template::{RequestKind, RequestTemplate};
use crate::serve::ours;

/// Request to make, and number of times.
#[derive(Args)]
pub(crate) struct Options {
    #[arg(long, value_enum)]
    ask: RequestKind,
    #[arg(long)]
    requests: usize,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let bound = ours::bind(None, None, false).await?;
        let address = bound.local_addr();
        tokio::spawn(bound.run(std::future::pending()));
        let mut connection = Connection::open(address).await?;
        let mut send = RequestTemplate::new(RequestKind::Send, address, TEXT);
        connection.ask(send.next()).await?;
        let mut order = match (options.ask, connection.task()) {
            (RequestKind::Get, Some(task)) => {
                RequestTemplate::with_id(RequestKind::Get, address, &task, TEXT)
            }
            (ask, _) => RequestTemplate::new(ask, address, TEXT),
        };
        for _ in 0..options.requests {
            connection.ask(order.next()).await?;
        }
        Ok(())
    })
}

const TEXT: &str = "say this back to me";
