//! An agent that is a command of the shell: `a2a serve --exec`.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use a2a_server::{Agent, ArtifactBuilder, Failure as TurnFailure, Turn, TurnLimits};
use a2a_types::{AgentCard, AgentSkill, Message, Part, TaskState};
use clap::{Args, value_parser};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::failure::Failure;

/// Options of an agent that is a command.
#[derive(Args)]
pub(crate) struct ExecOptions {
    /// Serve this command of the shell as an agent. It is run for each message, whose text is its standard input. What it
    /// prints is the answer, as it comes; an exit code other than 0 fails the task, and SIGTERM cancels it. The variables
    /// A2A_TASK_ID and A2A_CONTEXT_ID name the conversation.
    #[arg(long, value_name = "COMMAND", conflicts_with = "agent")]
    pub(crate) exec: Option<String>,
    /// Let the command speak JSON: its standard input is the message, and each line that it prints is a part of the answer
    /// (`{"text": "…"}`, `{"data": …}`, `{"url": "…"}`), a progress report (`{"working": "…"}`) or a question to the caller
    /// (`{"ask": "…"}`).
    #[arg(long, requires = "exec", conflicts_with = "agent")]
    exec_json: bool,
    /// Agent card of the command, as JSON; its interfaces are set by the server. Default: one that names the program.
    #[arg(long, value_name = "FILE", requires = "exec", conflicts_with = "agent")]
    card: Option<PathBuf>,
    /// Number of commands that run at once; further messages wait up to 10 s for one to end.
    #[arg(long, value_name = "NUMBER", default_value_t = 32, requires = "exec", conflicts_with = "agent", value_parser = value_parser!(u16).range(1..))]
    max_commands: u16,
}

impl ExecOptions {
    /// Returns the limits on the commands that run, or `None` for another agent.
    pub(crate) fn limits(&self) -> Option<TurnLimits> {
        self.exec.as_ref()?;
        let mut limits = TurnLimits::default();
        limits.running = self.max_commands.into();
        limits.running_per_caller = limits.running;
        Some(limits)
    }

    /// Returns the card and the agent of a command.
    pub(crate) fn agent(&self, command: &str) -> Result<(AgentCard, ExecAgent), Failure> {
        let card = match &self.card {
            Some(file) => read_card(file)?,
            None => default_card(command),
        };
        let agent = ExecAgent {
            command: command.to_owned(),
            speaks_json: self.exec_json,
        };
        Ok((card, agent))
    }
}

fn read_card(file: &Path) -> Result<AgentCard, Failure> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(Failure::machine(format!("--card {name}")))?;
    let mut card = AgentCard::from_json(&text)
        .map_err(|violation| Failure::usage(format!("--card {name}: {violation}")))?;
    card.supported_interfaces.clear();
    Ok(card)
}

fn default_card(command: &str) -> AgentCard {
    // Variables that are set before the program may be secrets.
    let mut words = command.split_whitespace();
    let program = words.find(|word| !word.contains('='));
    let name = program.and_then(|program| Path::new(program).file_name()?.to_str());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let name = name
        .filter(|name| name.chars().all(is_plain))
        .unwrap_or("command");
    let does = format!("Runs {name}");
    AgentCard::new(name, &*does)
        .streaming(true)
        .skills([AgentSkill::new(name, name, &*does)])
}

/// An agent that runs a command for each message.
pub(crate) struct ExecAgent {
    command: String,
    speaks_json: bool,
}

/// A line that a command prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Working { working: String },
    Ask { ask: String },
    Part(Part),
}

impl Agent for ExecAgent {
    async fn run(&self, turn: Turn) -> Result<(), TurnFailure> {
        let mut child = self.spawn(&turn)?;
        // If the turn is dropped, nothing of the command is left.
        let mut group = Group::of(&child);
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the command has no standard input or output".into());
        };
        let input = match self.speaks_json {
            true => serde_json::to_vec(turn.message())?,
            false => turn.text().into_bytes(),
        };
        let answering = async {
            let feeding = async {
                feed(stdin, input).await;
                Ok(())
            };
            let ((), question) = tokio::try_join!(feeding, self.answer(&turn, stdout))?;
            Ok::<_, TurnFailure>(question)
        };
        let question = tokio::select! {
            // A canceled task has ended: what the command still prints counts no more.
            () = turn.canceled() => return group.terminate(child).await,
            outcome = answering => match outcome {
                Ok(question) => question,
                Err(failure) => {
                    group.terminate(child).await?;
                    return Err(failure);
                }
            },
        };
        let status = tokio::select! {
            () = turn.canceled() => return group.terminate(child).await,
            status = child.wait() => status?,
        };
        group.has_ended();
        match question {
            _ if !status.success() => Ok(fail(&turn, &describe(status)).await?),
            Some(question) => Ok(turn.ask(question).await?),
            None => Ok(turn.complete().await?),
        }
    }
}

impl ExecAgent {
    fn spawn(&self, turn: &Turn) -> std::io::Result<Child> {
        let mut command = match cfg!(windows) {
            true => Command::new("cmd"),
            false => Command::new("sh"),
        };
        command.arg(if cfg!(windows) { "/C" } else { "-c" });
        command.arg(&self.command);
        // The settings of this program are not for the command.
        let own = std::env::vars_os().map(|(name, _)| name);
        for name in own.filter(|name| name.to_string_lossy().starts_with("A2ACLI_")) {
            command.env_remove(name);
        }
        command.env("A2A_TASK_ID", turn.task_id().as_str());
        command.env("A2A_CONTEXT_ID", turn.context_id().as_str());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own: the programs that the command starts are ended with it.
        #[cfg(unix)]
        command.process_group(0);
        command.kill_on_drop(true).spawn()
    }

    /// Sends what the command prints, as it comes, and returns its question to the caller.
    async fn answer(
        &self,
        turn: &Turn,
        stdout: ChildStdout,
    ) -> Result<Option<String>, TurnFailure> {
        let artifact = turn.artifact("output");
        match self.speaks_json {
            true => print_lines(turn, artifact, stdout).await,
            false => {
                print_text(artifact, stdout).await?;
                Ok(None)
            }
        }
    }
}

/// Writes the input. A command that ends before it has read all of it does not need it.
async fn feed(mut stdin: ChildStdin, input: Vec<u8>) {
    if let Err(error) = stdin.write_all(&input).await {
        tracing::debug!(%error, "the command did not read its whole input");
    }
}

/// Sends text piece by piece, cut between characters. Bytes that are not UTF-8 become U+FFFD.
async fn print_text(
    mut artifact: ArtifactBuilder<'_>,
    mut stdout: ChildStdout,
) -> Result<(), TurnFailure> {
    let (mut buffer, mut pending) = (vec![0; MAX_PIECE], Vec::new());
    loop {
        let count = stdout.read(&mut buffer).await?;
        pending.extend_from_slice(&buffer[..count]);
        let is_end = count == 0;
        let whole = match std::str::from_utf8(&pending) {
            // A character may go on in the next piece.
            Err(error) if error.error_len().is_none() && !is_end => error.valid_up_to(),
            _ => pending.len(),
        };
        if whole > 0 {
            let text = String::from_utf8_lossy(&pending[..whole]).into_owned();
            artifact = artifact.text(text).send().await?;
            pending.drain(..whole);
        }
        if is_end {
            return Ok(());
        }
    }
}

/// Does what each line says.
async fn print_lines(
    turn: &Turn,
    mut artifact: ArtifactBuilder<'_>,
    stdout: ChildStdout,
) -> Result<Option<String>, TurnFailure> {
    let mut stdout = BufReader::new(stdout);
    let mut question = None;
    for number in 1.. {
        let mut line = Vec::new();
        let mut limited = (&mut stdout).take(MAX_LINE);
        if limited.read_until(b'\n', &mut line).await? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read = serde_json::from_slice(&line);
        let read = read.map_err(|error| {
            format!(
                "line {number} of the command's output: {error}; expected a part, `working` or `ask` in JSON, of at most {MAX_LINE} bytes"
            )
        })?;
        match read {
            Line::Working { working } => turn.working(working).await?,
            Line::Ask { ask } => question = Some(ask),
            Line::Part(part) => artifact = artifact.part(part).send().await?,
        }
    }
    Ok(question)
}

/// Fails the task, in words for the caller; what the command wrote to standard error is for its operator.
async fn fail(turn: &Turn, why: &str) -> Result<(), TurnFailure> {
    tracing::warn!(task = %turn.task_id(), "the command failed: {why}");
    let message = Message::agent(format!("The command failed: {why}"));
    Ok(turn.status(TaskState::Failed, Some(message)).await?)
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// The processes of a command, which are killed when this is dropped.
struct Group {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg_attr(not(unix), expect(unused_variables))]
    fn of(child: &Child) -> Self {
        Self {
            #[cfg(unix)]
            id: child
                .id()
                .and_then(|id| rustix::process::Pid::from_raw(id as i32)),
        }
    }

    /// Leaves the processes that the command started alone, since the command has ended by itself.
    fn has_ended(&mut self) {
        #[cfg(unix)]
        {
            self.id = None;
        }
    }

    /// Ends the command and the processes that it started: by SIGTERM first, and by SIGKILL once the command
    /// has ended or the grace period is over.
    async fn terminate(self, mut child: Child) -> Result<(), TurnFailure> {
        #[cfg(unix)]
        if let Some(id) = self.id {
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::TERM);
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
            return Ok(());
        }
        Ok(child.kill().await?)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            // Processes that have ended need no signal.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

/// Time within which a command ends after SIGTERM.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(3);
/// Bytes that are read at once.
const MAX_PIECE: usize = 8 << 10;
/// Bytes of a line.
const MAX_LINE: u64 = 4 << 20;
