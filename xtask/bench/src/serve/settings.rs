//! Settings of a server that is measured.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Server to run, and its answers.
#[derive(Args, Clone, Debug)]
pub(crate) struct Settings {
    #[arg(long = "who", value_enum)]
    pub(crate) kind: ServerKind,
    /// The processors to run on.
    #[arg(long, value_delimiter = ',')]
    pub(crate) cores: Vec<usize>,
    /// Directory of the task file of our server; without one tasks are in memory.
    #[arg(long)]
    pub(crate) directory: Option<PathBuf>,
    /// Bytes in an answer of hyper alone.
    #[arg(long, default_value_t = 0)]
    pub(crate) bytes: usize,
    /// Number of events in a stream of hyper alone; with 0 it answers JSON.
    #[arg(long, default_value_t = 0)]
    pub(crate) events: usize,
    /// Way in which hyper alone produces its events.
    #[arg(long, value_enum, default_value = "ready")]
    pub(crate) pace: Pace,
    /// Number of ended tasks that our server keeps, instead of the default.
    #[arg(long)]
    pub(crate) kept: Option<usize>,
    /// Merge chunks in our server.
    #[arg(long)]
    pub(crate) merges: bool,
    /// Use HTTP/2.
    #[arg(long)]
    pub(crate) http2: bool,
    /// Directory of the certificate and key of our server; without one it speaks in the clear.
    #[arg(long)]
    pub(crate) tls: Option<PathBuf>,
}

/// Server that answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ServerKind {
    /// Hyper alone, with the same answer to every request.
    Ceiling,
    /// Our answers, made by hand with hyper and typed JSON.
    Floor,
    /// Our server, with an agent that echoes the message.
    Ours,
    /// A server of gRPC that tonic has generated, with an agent of the same behaviour.
    Tonic,
}

/// Way in which hyper alone produces its events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Pace {
    /// All of them are there, and are written together.
    Ready,
    /// A task of its own sends them through a channel.
    Sent,
    /// Each is written before the next is there: the ceiling of streams.
    Written,
    /// After the first comes nothing.
    Held,
}

impl Settings {
    pub(crate) fn new(kind: ServerKind, cores: &[usize]) -> Self {
        Self {
            kind,
            cores: cores.to_vec(),
            directory: None,
            bytes: 0,
            events: 0,
            pace: Pace::Ready,
            kept: None,
            merges: false,
            http2: false,
            tls: None,
        }
    }

    /// Returns the settings as command-line arguments.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let kind = match self.kind {
            ServerKind::Ceiling => "ceiling",
            ServerKind::Floor => "floor",
            ServerKind::Ours => "ours",
            ServerKind::Tonic => "tonic",
        };
        let mut arguments = vec![
            format!("--who={kind}"),
            cores_argument(&self.cores),
            format!("--bytes={}", self.bytes),
            format!("--events={}", self.events),
        ];
        if let Some(directory) = &self.directory {
            arguments.push(format!("--directory={}", directory.display()));
        }
        let pace = match self.pace {
            Pace::Ready => "ready",
            Pace::Sent => "sent",
            Pace::Written => "written",
            Pace::Held => "held",
        };
        arguments.push(format!("--pace={pace}"));
        arguments.extend(self.kept.map(|kept| format!("--kept={kept}")));
        arguments.extend(self.merges.then(|| "--merges".to_owned()));
        arguments.extend(self.http2.then(|| "--http2".to_owned()));
        let tls = self.tls.as_ref();
        arguments.extend(tls.map(|directory| format!("--tls={}", directory.display())));
        arguments
    }
}

/// The processors as the command line has them.
pub(crate) fn cores_argument(cores: &[usize]) -> String {
    let cores: Vec<_> = cores.iter().map(usize::to_string).collect();
    format!("--cores={}", cores.join(","))
}
