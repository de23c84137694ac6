//! Rate of messages that a server takes: each is on the disk when it is answered.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use fastrand::Rng;
use rusqlite::Connection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Failure;
use crate::report::Report;
use crate::serve::{self, Process, cpu_of, directory};

/// Options of the measurement.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds to send.
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,
    /// Number of callers at once, each over its own connection.
    #[arg(long, value_name = "N", default_value_t = 64)]
    connections: usize,
    /// Store of the tasks.
    #[arg(long, value_enum, default_value = "sqlite")]
    store: StoreKind,
    /// Directory of the database; by default that of this program, because directories of temporary
    /// files are often in memory.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Messages per second required.
    #[arg(long, value_name = "N", default_value_t = 5000.0)]
    target: f64,
    /// Lower limit of the rate in the last tenth of the time ÷ the rate in the first.
    #[arg(long, default_value_t = 0.9)]
    sustained: f64,
    /// Ask an agent that answers by a message, without a task.
    #[arg(long)]
    reply: bool,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask sends                                     64 connections, SQLite in the directory of this program
  cargo xtask sends --dir /var/tmp                      the disk that counts
  cargo xtask sends --store memory --connections 16     without a disk";

/// Store of the tasks.
#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
pub(crate) enum StoreKind {
    Memory,
    Sqlite,
}

pub(crate) async fn run(options: Options, _rng: Rng) -> Result<Report, Failure> {
    let directory = directory(options.dir.as_deref())?;
    let db = (options.store == StoreKind::Sqlite).then(|| directory.path().join("tasks.db"));
    let serving = serve::Options {
        db,
        ..serve::Options::default()
    };
    let server = Process::begin(&serving).await?;
    let address = server
        .url()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let order = if options.reply { "reply" } else { "echo" };

    let disk = disk(directory.path())?;
    // Costs of the first sends occur once: connections, statements, pages.
    send_for(
        Duration::from_millis(500),
        &address,
        order,
        options.connections,
    )
    .await?;
    let (cpu, own_cpu) = (server.cpu(), cpu_of("self"));
    let period = Duration::from_secs(options.seconds);
    let begun = Instant::now();
    let sent = send_for(period, &address, order, options.connections).await?;
    let took = begun.elapsed().as_secs_f64();
    let (cpu, own_cpu) = (server.cpu() - cpu, cpu_of("self") - own_cpu);
    server.kill().await?;

    let count_between = |from: Duration, to: Duration| {
        let answered = sent.iter().map(|sent| sent.answered - begun);
        answered.filter(|at| (from..to).contains(at)).count() as f64 / (to - from).as_secs_f64()
    };
    let tenths: Vec<_> = (0..10)
        .map(|tenth| count_between(period * tenth / 10, period * (tenth + 1) / 10))
        .collect();
    let mut times: Vec<_> = sent.iter().map(|sent| sent.took).collect();
    times.sort_unstable();
    let millis = |part: f64| {
        let index = (times.len() as f64 * part) as usize;
        times
            .get(index)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let count = times.len() as f64;
    let mut report = Report::new("sends");
    report.at_least(
        "acknowledged sends per second",
        options.target,
        count / took,
    );
    report.note("sends", count);
    for (tenth, rate) in (1..).zip(&tenths) {
        report.note(format!("sends per second, tenth {tenth}"), *rate);
    }
    report.at_least(
        "last tenth ÷ first tenth",
        options.sustained,
        // Both are zero if the disk is slow and the time short.
        tenths[9] / tenths[0].max(1.0),
    );
    report.note("median, ms", millis(0.5));
    report.note("99th percentile, ms", millis(0.99));
    report.note("slowest, ms", millis(1.0 - f64::EPSILON));
    report.note("the disk alone: a write, ms", disk.as_secs_f64() * 1e3);
    report.note("server CPU per send, µs", cpu * 1e6 / count);
    report.note("server CPU, processors", cpu / took);
    report.note("callers' CPU, processors", own_cpu / took);
    if let Some(db) = &serving.db {
        add_file_figures(&mut report, db)?;
    }
    Ok(report)
}

/// Reports the size of a database file, and its number of rows of each kind.
fn add_file_figures(report: &mut Report, db: &Path) -> Result<(), Failure> {
    let connection = Connection::open(db)?;
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let page = number("pragma page_size")?;
    let (pages, free) = (
        number("pragma page_count")?,
        number("pragma freelist_count")?,
    );
    let (pages, free) = ((pages * page) as f64, (free * page) as f64);
    let ended = number("select count(*) from task where ended is not null")? as f64;
    report.note("file, MiB", pages / MIB);
    report.note("file, free MiB", free / MIB);
    report.note("ended tasks in the file", ended);
    report.note(
        "receipts in the file",
        number("select count(*) from send_dedupe")? as f64,
    );
    report.note("bytes in use per ended task", (pages - free) / ended);
    let json = "select coalesce(sum(length(body)), 0) from task_event";
    report.note("bytes of JSON per ended task", number(json)? as f64 / ended);
    Ok(())
}

const MIB: f64 = (1 << 20) as f64;

/// An answered message.
struct Sent {
    answered: Instant,
    took: Duration,
}

/// Returns the median time of a synced write of one page: other load on the disk shows here.
fn disk(directory: &Path) -> Result<Duration, Failure> {
    let mut file = File::create(directory.join("probe"))?;
    let mut write = || {
        let begun = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        Ok::<_, Failure>(begun.elapsed())
    };
    let mut times = (0..64).map(|_| write()).collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Sends for this long, and returns the answered messages.
async fn send_for(
    period: Duration,
    address: &str,
    order: &'static str,
    connections: usize,
) -> Result<Vec<Sent>, Failure> {
    let end = Instant::now() + period;
    let mut callers = JoinSet::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        callers.spawn(call(stream, address.to_owned(), order, end));
    }
    let mut times = Vec::new();
    while let Some(called) = callers.join_next().await {
        times.extend(called??);
    }
    Ok(times)
}

/// One caller: the next message goes when the last was answered.
async fn call(
    mut stream: TcpStream,
    address: String,
    order: &'static str,
    end: Instant,
) -> Result<Vec<Sent>, Failure> {
    let mut times = Vec::new();
    let mut answer = Vec::new();
    loop {
        let begun = Instant::now();
        if begun >= end {
            return Ok(times);
        }
        stream
            .write_all(request(&address, order).as_bytes())
            .await?;
        read_answer(&mut stream, &mut answer).await?;
        let answered = Instant::now();
        times.push(Sent {
            answered,
            took: answered - begun,
        });
    }
}

fn request(address: &str, order: &str) -> String {
    let id = uuid::Uuid::new_v4();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"{order} say this back to me"}}]}}}}}}"#
    );
    format!(
        "POST / HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\na2a-version: 1.0\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads one answer, which must not be an error.
async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> Result<(), Failure> {
    answer.clear();
    let mut whole = None;
    while whole.is_none_or(|whole| answer.len() < whole) {
        if stream.read_buf(answer).await? == 0 {
            return Err("the server closed a connection".into());
        }
        whole = whole.or_else(|| length(answer));
    }
    let text = std::str::from_utf8(answer)?;
    match text.starts_with("HTTP/1.1 200") && text.contains("\"result\"") {
        true => Ok(()),
        false => Err(format!("not the answer to a message: {text}").into()),
    }
}

/// Returns the length of an answer with its head, or `None` until the head with its length has
/// come.
fn length(answer: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, _) = text.split_once("\r\n\r\n")?;
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let (_, value) = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?;
    Some(head.len() + 4 + value.parse::<usize>().ok()?)
}
