//! Common parts of the servers of others: a processor, an address, a runtime.
//!
//! Each is a program that a2a-bench begins as it begins ours: on the processors it is given, with a
//! worker for each, and with its address in its first line of output. They run as their documents
//! show them, with tasks in memory.

use std::error::Error;
use std::process::ExitCode;

use rustix::net::sockopt::set_tcp_nodelay;
use rustix::thread::{CpuSet, sched_setaffinity};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

/// Error that kept a server from serving.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Serves until the process is killed.
pub fn run(serve: impl AsyncFnOnce(TcpListener) -> Result<(), Failure>) -> ExitCode {
    match started(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cannot serve: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn started(serve: impl AsyncFnOnce(TcpListener) -> Result<(), Failure>) -> Result<(), Failure> {
    let cores = cores()?;
    let mut set = CpuSet::new();
    for core in &cores {
        set.set(*core);
    }
    sched_setaffinity(None, &set)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(cores.len())
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        // Connections inherit it; the servers would leave events to wait for one another.
        set_tcp_nodelay(&listener, true)?;
        println!("{}", listener.local_addr()?);
        serve(listener).await
    })
}

/// The processors of `--cores=0,1`.
fn cores() -> Result<Vec<usize>, Failure> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let cores = argument
        .strip_prefix("--cores=")
        .ok_or("not the processors to run on: expected --cores=0 or --cores=0,1")?;
    let cores: Result<Vec<usize>, _> = cores.split(',').map(str::parse).collect();
    Ok(cores?)
}
