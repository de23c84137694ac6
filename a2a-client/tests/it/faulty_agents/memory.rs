//! Memory use of a client of faulty agents, in a process of its own.

use std::process::Command;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::faulty_agents::faulty_agent::FaultyAgent;

/// Runs the client against agents in another process, which has the memory to itself: it runs this test again.
pub(super) fn measured(test: &str, agents: fn() -> Vec<FaultyAgent>) {
    if std::env::var_os(MEASURED).is_some() {
        let runtime = Runtime::new().unwrap();
        return runtime.block_on(async { measure(agents()).await });
    }
    let mut process = Command::new(std::env::current_exe().unwrap());
    process.args(["--exact", test, "--nocapture"]);
    // glibc keeps freed memory: in an arena for each thread that had to wait, more of them on a busy machine, and
    // in pieces of up to 32 MiB.
    process.env("MALLOC_ARENA_MAX", "2");
    process.env("MALLOC_MMAP_THRESHOLD_", "1048576");
    let measured = process.env(MEASURED, "1").output().unwrap();
    let output = String::from_utf8_lossy(&measured.stdout);
    let problems = String::from_utf8_lossy(&measured.stderr);
    assert!(measured.status.success(), "{output}\n{problems}");
    assert!(
        output.contains("MiB at most"),
        "nothing was measured: {output}"
    );
}

async fn measure(agents: Vec<FaultyAgent>) {
    let before = bytes_in_use();
    let (ended, end) = watch::channel(());
    let most = tokio::spawn(sample_maximum(end));
    super::check(agents).await;
    drop(ended);
    let most = most.await.unwrap().saturating_sub(before) >> 20;
    println!("{most} MiB at most");
    assert!(
        most <= MAX_MIB,
        "the client has taken {most} MiB, expected {MAX_MIB} at most"
    );
}

/// Samples the memory in use until the end and returns the largest value.
async fn sample_maximum(mut end: watch::Receiver<()>) -> usize {
    let mut tick = tokio::time::interval(Duration::from_millis(2));
    let mut most = bytes_in_use();
    loop {
        tokio::select! {
            _ = end.changed() => return most,
            _ = tick.tick() => most = most.max(bytes_in_use()),
        }
    }
}

/// Returns the bytes of memory private to this process; 0 where that is unknown.
pub(super) fn bytes_in_use() -> usize {
    let held = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = held
        .split(' ')
        .map_while(|pages| pages.parse::<usize>().ok());
    let (resident, shared) = (pages.nth(1), pages.next());
    resident.unwrap_or(0).saturating_sub(shared.unwrap_or(0)) * PAGE
}

/// Environment variable that marks the other process.
const MEASURED: &str = "A2A_TEST_MEASURES_MEMORY";

/// The smallest page size: with a larger one the result is too low.
const PAGE: usize = 4096;

/// Limit on the memory in use, in MiB. The memory of the servers is included.
const MAX_MIB: usize = 40;
