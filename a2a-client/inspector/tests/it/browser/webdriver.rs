//! Commands to ChromeDriver: WebDriver, <https://www.w3.org/TR/webdriver2/>.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use a2a_client::HttpClient;
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// A session of ChromeDriver, with a window of Chromium. Its processes are killed on drop; [`end`](Self::end) lets
/// Chromium end by itself.
pub(super) struct WebDriver {
    process: Child,
    /// URL of the session.
    url: String,
    http: HttpClient,
}

impl WebDriver {
    /// Opens a window with these arguments of Chromium, whose files are in the folder; returns `None` if ChromeDriver is
    /// not installed, which is printed and fails in CI.
    pub(super) async fn start(folder: &Path, arguments: Value) -> Option<Self> {
        let Some((process, port)) = spawn(folder) else {
            let is_ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty());
            assert!(!is_ci, "{MISSING}");
            eprintln!("NOT TESTED: {MISSING}");
            return None;
        };
        let mut driver = Self {
            process,
            url: format!("http://127.0.0.1:{port}/session"),
            http: HttpClient::default(),
        };
        let mut options = json!({"args": arguments});
        if Path::new(HEADLESS_SHELL).exists() {
            options["binary"] = HEADLESS_SHELL.into();
        }
        let capabilities = json!({
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        });
        let session = json!({"capabilities": {"alwaysMatch": capabilities}});
        let session = driver.post("", session).await.expect("the browser starts");
        driver.url = format!("{}/{}", driver.url, session["sessionId"].as_str().unwrap());
        Some(driver)
    }

    /// Gives a command.
    ///
    /// # Errors
    ///
    /// ChromeDriver's message.
    pub(super) async fn post(&self, command: &str, arguments: Value) -> Result<Value, String> {
        self.send(Method::POST, command, arguments.to_string())
            .await
    }

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// ChromeDriver's message.
    pub(super) async fn get(&self, command: &str) -> Result<Value, String> {
        self.send(Method::GET, command, String::new()).await
    }

    /// Closes the window, and waits until Chromium has ended.
    pub(super) async fn end(self) {
        self.send(Method::DELETE, "", String::new()).await.unwrap();
    }

    async fn send(&self, method: Method, command: &str, body: String) -> Result<Value, String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{command}", self.url))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let answer = self.http.fetch(request).await.unwrap();
        let is_success = answer.status().is_success();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let mut body: Value = serde_json::from_slice(&body).unwrap();
        match is_success {
            true => Ok(body["value"].take()),
            false => Err(format!("{}", body["value"]["message"])),
        }
    }
}

/// Starts ChromeDriver, and returns it with its port; `None` if it is not installed. It ends at once if the port that it
/// found free is taken before it binds it, and is then started again. Its files and Chromium's are in the folder.
fn spawn(folder: &Path) -> Option<(Child, String)> {
    for _ in 0..MAX_STARTS {
        let process = Command::new("chromedriver")
            .arg("--port=0")
            .env("TMPDIR", folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut process = process.ok()?;
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = output.find_map(|line| {
            let line = line.unwrap();
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        if let Some(port) = port {
            // Its later output is read, so that the pipe never fills up.
            std::thread::spawn(move || output.for_each(drop));
            return Some((process, port));
        }
        process.wait().unwrap();
    }
    panic!("ChromeDriver has no port after {MAX_STARTS} starts");
}

impl Drop for WebDriver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const MAX_STARTS: u32 = 5;

/// Chromium without what only a screen needs. Debian's command of that name is a script, whose browser outlives it.
/// If it is not installed, ChromeDriver finds Chromium.
const HEADLESS_SHELL: &str = "/usr/lib/chromium/chromium-headless-shell";

const MISSING: &str = "the page in a browser: `chromedriver` is not installed (Debian: apt install chromium chromium-driver)";
