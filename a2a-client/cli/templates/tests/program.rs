//! The program of this package, as a process of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Limit of each wait.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A running program, killed when dropped.
pub struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    /// Starts the program in a directory.
    pub fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_NAME"))
            .args(arguments)
            .current_dir(directory)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = child.stdout.take().expect("the output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    /// Waits for a line that contains `text`.
    pub fn line_with(&self, text: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|error| panic!("no line with `{text}`: {error}"));
            if line.contains(text) {
                return line;
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes an empty directory for the program.
pub fn directory() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("NAME");
    // That of an earlier test may be there.
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}
