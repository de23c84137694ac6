//! The agent of the experiments, controlled by the first word of a message.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_server::{Agent, ArtifactUpdate, Failure, Turn};
use a2a_types::{Artifact, Message, Object, Part};
use tokio::time::timeout;

/// Agent that obeys the first word of a message:
///
/// - `echo …` returns the message in an artifact;
/// - `reply …` returns the message as a message, without a task;
/// - `steps N MS …` takes N steps with MS milliseconds in between. Each step sends a chunk of an
///   artifact and keeps a checkpoint, so that the agent resumes after a crash where it was;
/// - `times N MS` sends N chunks with MS milliseconds in between, each with the time in microseconds;
/// - `wait MS` waits for MS milliseconds;
/// - `ask …` asks for more, and completes the task with the answer.
pub(crate) struct CommandAgent {
    /// Gets the id of the message of each turn, a line each.
    turns: Option<File>,
}

impl CommandAgent {
    pub(crate) fn new(turns: Option<File>) -> Self {
        Self { turns }
    }
}

impl Agent for CommandAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        if let Some(mut turns) = self.turns.as_ref() {
            // One write: several processes append to the file.
            turns.write_all(format!("{}\n", turn.message().message_id).as_bytes())?;
        }
        let text = turn.text();
        let mut words = text.split(' ');
        let order = words.next().unwrap_or_default();
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        match order {
            "reply" => turn.reply(Message::agent(text)).await?,
            "ask" => turn.ask("what else?").await?,
            "steps" => {
                let (steps, pause) = (number().unwrap_or(1), number().unwrap_or(0));
                take_steps(&turn, steps, Duration::from_millis(pause)).await?;
            }
            "times" => {
                let (count, pause) = (number().unwrap_or(1), number().unwrap_or(0));
                for count in 0..count {
                    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
                    turn.publish(whole(&format!("time-{count}"), now.to_string()))
                        .await?;
                    drop(timeout(Duration::from_millis(pause), turn.canceled()).await);
                }
            }
            "wait" => {
                let pause = Duration::from_millis(number().unwrap_or(0));
                drop(timeout(pause, turn.canceled()).await);
            }
            _ => turn.publish(whole("echo", text)).await?,
        }
        Ok(())
    }
}

/// Returns the text of the chunk of a step.
fn step(number: u64) -> String {
    format!("step {number};")
}

/// Beginning of the message of a turn that resumes after a crash.
pub(crate) const RESUMED: &str = "resumed after step";

async fn take_steps(turn: &Turn, steps: u64, pause: Duration) -> Result<(), Failure> {
    let mut done = 0;
    if let Some(resumed) = turn.resumed() {
        let checkpoint = resumed.checkpoint.as_ref();
        let step = checkpoint.and_then(|kept| kept.get("step")?.as_u64());
        done = step.unwrap_or(0);
        turn.working(format!("{RESUMED} {done}")).await?;
    }
    for number in done + 1..=steps {
        turn.publish(whole(&format!("step-{number}"), step(number)))
            .await?;
        turn.checkpoint(Object::from_iter([("step".to_owned(), number.into())]))
            .await?;
        if timeout(pause, turn.canceled()).await.is_ok() {
            break;
        }
    }
    Ok(())
}

/// Returns a whole artifact: sent twice, it is there once.
fn whole(id: &str, text: String) -> ArtifactUpdate {
    let mut update = ArtifactUpdate::new(Artifact {
        artifact_id: id.into(),
        parts: vec![Part::text(text)],
        ..Artifact::default()
    });
    update.last_chunk = true;
    update
}
