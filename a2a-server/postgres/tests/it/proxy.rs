//! Fault-injecting proxy in front of the database: it loses answers, refuses connections, and stalls.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use crate::database::Database;

/// Text in a statement whose answer is lost.
pub(crate) const MARK: &str = "the answer to this is lost";

/// A proxy of connections. On request, the answer to a statement with [`MARK`] is lost, with its connection.
pub(crate) struct Proxy {
    directory: TempDir,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    loses: AtomicBool,
    refuses: AtomicBool,
    /// Closes the connection of the next marked statement before the answer.
    cuts: AtomicBool,
    /// Refuses connections once an answer is lost.
    then_refuses: AtomicBool,
    /// Passes on nothing, and closes nothing.
    stalls: watch::Sender<bool>,
}

impl Proxy {
    pub(crate) fn start(database: &Database) -> Self {
        let directory = tempfile::tempdir().expect("there is room");
        let listener =
            UnixListener::bind(directory.path().join(".s.PGSQL.5432")).expect("it is free");
        let (state, server) = (Arc::<State>::default(), database.socket());
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, server.clone(), Arc::clone(&shared)));
            }
        });
        Self { directory, state }
    }

    pub(crate) fn url(&self) -> String {
        let socket = self.directory.path().to_string_lossy().replace('/', "%2F");
        format!("postgres://a2a@{socket}/postgres")
    }

    /// Loses the next answer to a marked statement.
    pub(crate) fn lose_answer(&self) {
        self.state.loses.store(true, Ordering::SeqCst);
    }

    /// Loses the next answer to a marked statement, and then refuses connections.
    pub(crate) fn lose_answer_and_refuse(&self) {
        self.state.then_refuses.store(true, Ordering::SeqCst);
        self.lose_answer();
    }

    /// Closes the connection of the next marked statement as soon as the database has it.
    pub(crate) fn cut(&self) {
        self.state.cuts.store(true, Ordering::SeqCst);
    }

    /// Closes the connection of the next statement, whatever it is, and refuses connections.
    pub(crate) fn refuse(&self) {
        self.state.refuses.store(true, Ordering::SeqCst);
    }

    /// Passes on nothing until it [goes on](Self::go_on).
    pub(crate) fn stall(&self) {
        self.state.stalls.send_replace(true);
    }

    /// Passes on what has come while it was stalled, and all that comes later.
    pub(crate) fn go_on(&self) {
        self.state.stalls.send_replace(false);
    }

    /// Accepts connections again.
    pub(crate) fn let_through(&self) {
        self.state.refuses.store(false, Ordering::SeqCst);
    }
}

async fn forward(mut client: UnixStream, server: PathBuf, state: Arc<State>) {
    if state.refuses.load(Ordering::SeqCst) {
        return;
    }
    let mut server = UnixStream::connect(server)
        .await
        .expect("the database is there");
    let (mut asked, mut told) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    let mut is_doomed = false;
    let mut stalls = state.stalls.subscribe();
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                if state.refuses.load(Ordering::SeqCst) { return }
                if stalls.wait_for(|stalls| !stalls).await.is_err() { return }
                let asked = &asked[..count];
                let marked = asked.windows(MARK.len()).any(|part| part == MARK.as_bytes());
                is_doomed |= marked && state.loses.swap(false, Ordering::SeqCst);
                if server.write_all(asked).await.is_err() { return }
                if marked && state.cuts.swap(false, Ordering::SeqCst) { return }
            }
            read = server.read(&mut told) => {
                let Ok(count @ 1..) = read else { return };
                if stalls.wait_for(|stalls| !stalls).await.is_err() { return }
                // The statement has ended once the server sends `ReadyForQuery` with status idle, `I`.
                let told = &told[..count];
                if is_doomed && told.ends_with(b"I") {
                    let refuses = state.then_refuses.swap(false, Ordering::SeqCst);
                    return state.refuses.store(refuses, Ordering::SeqCst);
                }
                if client.write_all(told).await.is_err() { return }
            }
        }
    }
}
