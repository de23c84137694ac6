//! PostgreSQL server for tests: a temporary directory, a Unix socket, and the programs of the distribution.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use a2a_postgres::{PostgresOptions, PostgresStore};

/// A database server, which ends with this process.
pub(crate) struct Database {
    directory: PathBuf,
    programs: Programs,
    /// The server. It stops and removes its files when its input is closed, as at the end of this process.
    running: Option<Child>,
    /// Settings in addition to the ones that every server has.
    settings: Vec<String>,
}

#[derive(Clone)]
struct Programs {
    folder: PathBuf,
    /// User and group that run the server, if this process is root, as which it refuses to run.
    user: Option<(String, u32, u32)>,
}

/// Returns the server that the tests share, or `None` if Postgres is not installed, which is printed and fails in CI.
pub(crate) fn shared() -> Option<&'static Database> {
    static SHARED: OnceLock<Option<Database>> = OnceLock::new();
    SHARED.get_or_init(Database::start).as_ref()
}

/// Returns options of a schema of its own on the shared server.
pub(crate) fn options() -> Option<PostgresOptions> {
    Some(shared()?.options())
}

/// Opens a store with these options.
pub(crate) async fn open(options: &PostgresOptions) -> PostgresStore {
    PostgresStore::open(options.clone())
        .await
        .expect("the database is there")
}

impl Database {
    /// Starts a server of its own.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(Vec::new(), &[])
    }

    /// Starts a server of its own with further settings, and with these files in its data directory.
    pub(crate) fn start_with(settings: Vec<String>, files: &[(&str, String)]) -> Option<Self> {
        let Some(folder) = folder() else {
            let text = "POSTGRES IS NOT INSTALLED: the tests of the Postgres store have tested NOTHING. \
                        Install initdb and postgres (Debian: postgresql), 15 or later.";
            eprintln!("{text}");
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci.is_empty()),
                "{text}"
            );
            return None;
        };
        let programs = Programs {
            folder,
            user: user(),
        };
        // The path of a Unix socket must be short.
        let directory = tempfile::Builder::new()
            .prefix("a2a-pg-")
            .tempdir()
            .expect("there is room");
        let directory = directory.keep();
        if let Some((_, uid, gid)) = &programs.user {
            chown(&directory, Some(*uid), Some(*gid)).expect("it is our own");
        }
        let data = directory.join("data");
        let mut initdb = programs.server("initdb");
        initdb.args([
            "--auth=trust",
            "--username=a2a",
            "--encoding=UTF8",
            "--no-sync",
        ]);
        initdb.arg("-D").arg(&data).current_dir(&directory);
        let made = initdb
            .stdout(Stdio::null())
            .status()
            .expect("initdb is there");
        assert!(made.success(), "initdb: {made}");
        let mut database = Self {
            directory,
            programs,
            running: None,
            settings,
        };
        for (name, content) in files {
            database.write(name, content);
        }
        database.run();
        Some(database)
    }

    /// Starts the server on its files, and waits until it answers.
    pub(crate) fn run(&mut self) {
        let script = "directory=$1; shift; \"$@\" & server=$!; read -r keep; kill -INT $server; wait $server; \
                      [ \"$keep\" = keep ] || rm -rf \"$directory\"";
        let postgres = self.programs.folder.join("postgres");
        let mut command = self.programs.shell();
        command
            .args(["-c", script, "sh"])
            .arg(&self.directory)
            .arg(postgres);
        command.arg("-D").arg(self.directory.join("data"));
        command.arg("-k").arg(&self.directory);
        for setting in [
            "listen_addresses=",
            "fsync=off",
            "max_connections=400",
            "log_min_messages=fatal",
            "log_min_error_statement=fatal",
            "autovacuum_naptime=5s",
        ] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command.current_dir(&self.directory).stdin(Stdio::piped());
        let log = fs::File::create(self.directory.join("log")).expect("there is room");
        command.stderr(log);
        self.running = Some(command.spawn().expect("postgres is there"));
        // It is ready once it prints this.
        let mut ready = self.programs.client("pg_isready");
        ready.env("PGPORT", self.port());
        ready
            .args(["--quiet", "--username=a2a", "--dbname=postgres", "-h"])
            .arg(&self.directory);
        let answers = wait_until(|| ready.status().expect("pg_isready is there").success());
        let log = fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        assert!(answers, "postgres does not start:\n{log}");
    }

    /// Writes a file that only the server reads, next to the data.
    fn write(&self, name: &str, content: &str) {
        let file = self.directory.join("data").join(name);
        fs::write(&file, content).expect("there is room");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is our own");
        if let Some((_, uid, gid)) = &self.programs.user {
            chown(&file, Some(*uid), Some(*gid)).expect("it is our own");
        }
    }

    fn port(&self) -> &str {
        let mut settings = self.settings.iter();
        settings
            .find_map(|it| it.strip_prefix("port="))
            .unwrap_or("5432")
    }

    /// Returns the directory of the server's files and sockets.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns a command that runs another program until its input is closed, as the user of the server.
    pub(crate) fn run_with_input(&self, program: &Path) -> Command {
        let script = "\"$@\" & program=$!; read -r _; kill -INT $program; wait $program";
        let mut command = self.programs.shell();
        command.args(["-c", script, "sh"]).arg(program);
        command.stdin(Stdio::piped());
        command
    }

    /// Returns the path of the server's socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join(".s.PGSQL.5432")
    }

    /// Stops the server, and closes its connections.
    pub(crate) fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            if let Some(mut input) = running.stdin.take() {
                input.write_all(b"keep\n").expect("it waits for that");
            }
            running.wait().expect("it is our own");
        }
    }

    /// Returns the URL of the database.
    pub(crate) fn url(&self) -> String {
        let socket = self.directory.to_string_lossy().replace('/', "%2F");
        format!("postgres://a2a@{socket}/postgres")
    }

    /// Returns options of a schema of its own.
    pub(crate) fn options(&self) -> PostgresOptions {
        static SCHEMAS: AtomicUsize = AtomicUsize::new(0);
        let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
        let options = PostgresOptions::new(&self.url()).expect("it is a URL");
        options.schema(format!("s{number}")).connections(8)
    }

    /// Opens a connection of its own, for a transaction that stays open.
    pub(crate) async fn connect(&self) -> tokio_postgres::Client {
        let connected = tokio_postgres::connect(&self.url(), tokio_postgres::NoTls).await;
        let (client, connection) = connected.expect("the database is there");
        tokio::spawn(connection);
        client
    }

    /// Waits until `count` statements with this text wait for a lock.
    pub(crate) async fn wait_for_locks(&self, text: &str, count: i64) {
        let client = self.connect().await;
        let sql = "select count(*) from pg_stat_activity
          where wait_event_type = 'Lock' and position($1 in query) > 0 and pid <> pg_backend_pid()";
        let waiting = async || {
            client
                .query_one(sql, &[&text])
                .await
                .expect("it is there")
                .get::<_, i64>(0)
        };
        let wait = async {
            while waiting().await < count {
                tokio::time::sleep(PAUSE).await;
            }
        };
        let waited = tokio::time::timeout(LONG_WAIT, wait).await;
        waited.unwrap_or_else(|_| panic!("no {count} statements wait for a lock: {text}"));
    }

    /// Waits until a statement returns `true`.
    pub(crate) async fn until(&self, sql: &str) {
        let client = self.connect().await;
        let is_so = async {
            while !client
                .query_one(sql, &[])
                .await
                .expect(sql)
                .get::<_, bool>(0)
            {
                tokio::time::sleep(PAUSE).await;
            }
        };
        let waited = tokio::time::timeout(LONG_WAIT, is_so).await;
        waited.unwrap_or_else(|_| panic!("this does not become true: {sql}"));
    }

    /// Runs statements, and returns what `psql` says.
    pub(crate) fn psql(&self, sql: &str) -> String {
        let mut psql = self.programs.client("psql");
        psql.env("PGPORT", self.port());
        psql.args([
            "--quiet",
            "--no-align",
            "--tuples-only",
            "--set=ON_ERROR_STOP=1",
        ]);
        psql.args(["--username=a2a", "--dbname=postgres", "-h"])
            .arg(&self.directory);
        let output = psql.args(["-c", sql]).output().expect("psql is there");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {errors}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop();
        // The files of another user: root may remove them.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl Programs {
    /// Returns a program of the server.
    fn server(&self, program: &str) -> Command {
        self.run_as(&self.folder.join(program))
    }

    /// Returns a program that connects to the server, as any user.
    fn client(&self, program: &str) -> Command {
        Command::new(self.folder.join(program))
    }

    fn shell(&self) -> Command {
        self.run_as(Path::new("/bin/sh"))
    }

    fn run_as(&self, program: &Path) -> Command {
        match &self.user {
            None => Command::new(program),
            Some((name, ..)) => {
                let mut command = Command::new("runuser");
                command.args(["-u", name, "--"]).arg(program);
                command
            }
        }
    }
}

/// Longer than any wait of a test.
pub(crate) const LONG_WAIT: Duration = Duration::from_secs(60);

/// Time between two questions about what a test waits for.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls until this is true, where there is no notification; returns `false` if it never is.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !is_so() {
        if begin.elapsed() > LONG_WAIT {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Returns the directory of `initdb` and `postgres`: the one of Debian's packages, or one in `PATH`.
fn folder() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = match fs::read_dir("/usr/lib/postgresql") {
        Ok(versions) => versions.flatten().map(|it| it.path().join("bin")).collect(),
        Err(_) => Vec::new(),
    };
    folders.sort();
    folders.extend(std::env::split_paths(&path));
    let complete = |folder: &PathBuf| {
        ["initdb", "postgres", "psql", "pg_isready"]
            .iter()
            .all(|it| folder.join(it).exists())
    };
    folders.into_iter().find(complete)
}

/// Returns a user other than root, if this process runs as root.
fn user() -> Option<(String, u32, u32)> {
    let id = Command::new("id").arg("-u").output().ok()?;
    if id.stdout != b"0\n" {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| -> io::Result<(String, u32, u32)> {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name));
        let fields: Vec<_> = line.unwrap_or_default().split(':').collect();
        let number = |place: usize| fields.get(place).and_then(|it| it.parse().ok());
        let ids = number(2).zip(number(3)).ok_or(io::ErrorKind::NotFound)?;
        Ok((name.to_owned(), ids.0, ids.1))
    };
    find("postgres").or_else(|_| find("nobody")).ok()
}
