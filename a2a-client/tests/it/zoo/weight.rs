//! Memory use of the whole zoo, in a process of its own.

use std::process::Command;
use std::time::Duration;

use tokio::sync::watch;

use crate::zoo::beast::Beast;

/// Meets all beasts in another process, which has the memory to itself.
#[test]
fn the_zoo_weighs_little() {
    let mut zoo = Command::new(std::env::current_exe().unwrap());
    zoo.args(["--exact", "zoo::weight::weighed", "--nocapture"]);
    let weighed = zoo.env(WEIGHED, "1").output().unwrap();
    let told = String::from_utf8_lossy(&weighed.stdout);
    let problems = String::from_utf8_lossy(&weighed.stderr);
    assert!(weighed.status.success(), "{told}\n{problems}");
    assert!(told.contains("MiB at most"), "nothing was weighed: {told}");
}

/// The other process. In this one others make use of the memory, too.
#[tokio::test(flavor = "multi_thread")]
async fn weighed() {
    if std::env::var_os(WEIGHED).is_none() {
        return;
    }
    let beasts: Vec<Beast> = crate::zoo::all();
    let before = held();
    let (ended, end) = watch::channel(());
    let most = tokio::spawn(most_held(end));
    crate::zoo::check(beasts).await;
    drop(ended);
    let most = most.await.unwrap().saturating_sub(before) >> 20;
    println!("{most} MiB at most");
    assert!(
        most <= MAX_MIB,
        "the client has taken {most} MiB, expected {MAX_MIB} at most"
    );
}

/// Samples the memory in use until the end and returns the largest value.
async fn most_held(mut end: watch::Receiver<()>) -> usize {
    let mut tick = tokio::time::interval(Duration::from_millis(2));
    let mut most = held();
    loop {
        tokio::select! {
            _ = end.changed() => return most,
            _ = tick.tick() => most = most.max(held()),
        }
    }
}

/// Returns the bytes of memory private to this process; 0 where that is unknown.
pub(crate) fn held() -> usize {
    let held = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = held
        .split(' ')
        .map_while(|pages| pages.parse::<usize>().ok());
    let (resident, shared) = (pages.nth(1), pages.next());
    resident.unwrap_or(0).saturating_sub(shared.unwrap_or(0)) * PAGE
}

/// Environment variable that marks the other process.
const WEIGHED: &str = "A2A_ZOO_IS_WEIGHED";

/// The smallest page size: with a larger one the result is too low.
const PAGE: usize = 4096;

/// In MiB, those of the servers included.
const MAX_MIB: usize = 40;
