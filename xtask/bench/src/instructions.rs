//! Instructions that a server executes for a request, counted by valgrind. Unlike times, they depend neither on the
//! processor nor on other load: two runs differ by less than 1 %.

use tokio::process::Command;

use crate::load::Connection;
use crate::machine::Failure;
use crate::process::Process;
use crate::request_template::{RequestKind, RequestTemplate};
use crate::serve::{ServerKind, Settings};

/// A request whose instructions are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counted {
    Send,
    Get,
    /// A chunk of a stream.
    Chunk,
}

/// Rows of the history.
pub(crate) const ROWS: [(&str, Counted); 3] = [
    ("send", Counted::Send),
    ("get", Counted::Get),
    ("chunk", Counted::Chunk),
];

/// Returns the instructions of a server for each request: the difference of many and few, so that its start does not
/// count.
pub(crate) async fn each(kind: ServerKind, row: Counted) -> Result<f64, Failure> {
    let few = all(kind, row, FEW).await?;
    let many = all(kind, row, MANY).await?;
    Ok((many - few) / (MANY - FEW) as f64)
}

/// Returns the instructions of a server that is begun, answers `count` requests and is ended.
async fn all(kind: ServerKind, row: Counted, count: usize) -> Result<f64, Failure> {
    let log = tempfile::NamedTempFile::new()?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(format!("--log-file={}", log.path().display()));
    let settings = Settings::new(kind, &[0]);
    valgrind.arg(std::env::current_exe()?).arg("serve");
    valgrind.args(settings.arguments());
    let process = Process::spawn(valgrind).await.map_err(|failure| {
        format!("valgrind counts the instructions, and did not start ({failure}): is it installed?")
    })?;
    ask(&process, row, count).await?;
    process.terminate().await?;
    let log = std::fs::read_to_string(log.path())?;
    executed(&log).ok_or_else(|| format!("valgrind does not tell the instructions: {log}").into())
}

async fn ask(process: &Process, row: Counted, count: usize) -> Result<(), Failure> {
    let address = process.address();
    let mut connection = Connection::open(address).await?;
    let mut send = RequestTemplate::new(RequestKind::Send, address, TEXT);
    match row {
        Counted::Send => {
            for _ in 0..count {
                connection.ask(send.next()).await?;
            }
        }
        Counted::Get => {
            connection.ask(send.next()).await?;
            let id = connection.task().ok_or("an answer tells of no task")?;
            let mut get = RequestTemplate::with_id(RequestKind::Get, address, &id, TEXT);
            for _ in 0..count {
                connection.ask(get.next()).await?;
            }
        }
        Counted::Chunk => {
            let text = format!("chunks {count}");
            let mut stream = RequestTemplate::new(RequestKind::Stream, address, &text);
            connection.ask(stream.next()).await?;
        }
    }
    Ok(())
}

/// Returns the number after `I refs:`, such as `==7== I refs:        1,234`.
fn executed(log: &str) -> Option<f64> {
    let line = log.lines().find(|line| line.contains("refs:"))?;
    let (_, number) = line.split_once("refs:")?;
    number.trim().replace(',', "").parse().ok()
}

/// Numbers of requests: their difference is enough for what happens once in a hundred requests.
const FEW: usize = 400;
const MANY: usize = 1600;

/// Text of each message.
const TEXT: &str = "say this back to me";

#[cfg(test)]
mod tests {
    use super::executed;

    #[test]
    fn instructions_are_read_from_the_log_of_valgrind() {
        let log = "==7== Cachegrind, a cache profiler\n==7== I refs:        1,234,567\n";
        assert_eq!(executed(log), Some(1_234_567.0));
        assert_eq!(executed("==7== Cachegrind\n"), None);
    }
}
