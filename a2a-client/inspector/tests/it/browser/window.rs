//! A window of Chromium, as a user sees it.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use a2a_inspector::Inspector;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::webdriver::WebDriver;
use crate::harness::Page;

/// Runs a test in a new window at the page of a new inspector. Then fails if a script of the page failed, or if the
/// page asked for what its Content Security Policy refuses. Without a browser, prints that nothing was tested; in CI,
/// that is a failure.
pub(crate) async fn browse(test: impl AsyncFnOnce(&Window)) {
    browse_page(Page::of(Inspector::builder()).await, test).await;
}

/// Like [`browse`], with the page given.
pub(crate) async fn browse_page(page: Page, test: impl AsyncFnOnce(&Window)) {
    let Some(window) = Window::open(page).await else {
        return;
    };
    let outcome = AssertUnwindSafe(async {
        test(&window).await;
        window.check_console().await;
    })
    .catch_unwind()
    .await;
    if outcome.is_err() {
        window.report().await;
    }
    window.driver.end().await;
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

/// A window that shows the page of an inspector. CSS selectors name the first element that is visible.
pub(crate) struct Window {
    pub(crate) page: Page,
    driver: WebDriver,
    files: TempDir,
}

impl Window {
    async fn open(page: Page) -> Option<Self> {
        let files = tempfile::tempdir().unwrap();
        let driver = WebDriver::start(files.path(), json!(ARGUMENTS)).await?;
        let window = Self {
            page,
            driver,
            files,
        };
        window.resize(1280, 800).await;
        let focused = json!({"enabled": true});
        window
            .chromium("Emulation.setFocusEmulationEnabled", focused)
            .await;
        let downloads = window.files.path().join("downloads");
        let allowed = json!({"behavior": "allow", "downloadPath": downloads});
        window
            .chromium("Browser.setDownloadBehavior", allowed)
            .await;
        // Granted as Chromium with a screen grants it to a page that is clicked.
        let granted = json!({"permissions": ["clipboardSanitizedWrite"]});
        window.chromium("Browser.grantPermissions", granted).await;
        let Page { address, token, .. } = &window.page;
        let url = format!("http://{address}/#token={token}");
        window.visit(&url).await;
        window.see("[data-screen]").await;
        Some(window)
    }

    /// Changes the width and height in CSS pixels.
    pub(crate) async fn resize(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.chromium("Emulation.setDeviceMetricsOverride", size)
            .await;
    }

    /// Opens any page in the window.
    pub(crate) async fn visit(&self, url: &str) {
        self.command("/url", json!({"url": url})).await;
    }

    /// Goes to a route of the page, like `/wire/42`, and waits for its screen.
    pub(crate) async fn go(&self, route: &str) {
        self.script("location.hash = arguments[0]", json!([route]))
            .await;
        let screen = route.split(['/', '?']).nth(1).unwrap();
        self.see(&format!("[data-screen={screen}]")).await;
    }

    /// Loads the page again.
    pub(crate) async fn reload(&self) {
        self.command("/refresh", json!({})).await;
        self.see("[data-screen]").await;
    }

    /// Connects to an agent on the page, sees its card, and returns its id.
    pub(crate) async fn connect(&self, url: &str) -> String {
        self.go("/connect").await;
        self.fill("[data-screen=connect] [data-field=url]", url)
            .await;
        self.click("[data-action=connect]").await;
        self.see("[data-screen=card]").await;
        let agents = self.page.get("/api/agents").await;
        let agents = agents["agents"].as_array().unwrap();
        let is_it = |agent: &&Value| agent["url"].as_str().unwrap().starts_with(url);
        let agent = agents.iter().find(is_it).expect("the agent is connected");
        agent["id"].as_str().unwrap().to_owned()
    }

    /// Waits until an element is visible.
    pub(crate) async fn see(&self, selector: &str) -> Element {
        self.find(selector, "").await
    }

    /// Waits until an element is visible that contains a text.
    pub(crate) async fn see_text(&self, selector: &str, text: &str) -> Element {
        self.find(selector, text).await
    }

    /// Waits until no element is visible.
    pub(crate) async fn see_none(&self, selector: &str) {
        let script = "return ![...document.querySelectorAll(arguments[0])].some((it) => it.checkVisibility())";
        self.until(script, json!([selector])).await;
    }

    async fn find(&self, selector: &str, text: &str) -> Element {
        let script = "return [...document.querySelectorAll(arguments[0])]\
            .find((it) => it.checkVisibility() && it.textContent.includes(arguments[1]))";
        let found = self.until(script, json!([selector, text])).await;
        Element(found[ELEMENT].as_str().expect("an element").to_owned())
    }

    /// Clicks an element as soon as it can be clicked.
    pub(crate) async fn click(&self, selector: &str) {
        self.click_text(selector, "").await;
    }

    /// Clicks the element that contains a text, as soon as it can be clicked.
    pub(crate) async fn click_text(&self, selector: &str, text: &str) {
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            let Element(id) = self.find(selector, text).await;
            let click = format!("/element/{id}/click");
            let clicked = self.driver.post(&click, json!({}));
            match clicked.await {
                Ok(_) => return,
                // It was drawn again, or something covers it for the moment.
                Err(error) if is_passing(&error) && Instant::now() < deadline => {}
                Err(error) => panic!("{selector} cannot be clicked: {error}"),
            }
        }
    }

    /// Chooses files in a field that may be hidden.
    pub(crate) async fn attach(&self, selector: &str, path: &Path) {
        let script = "return document.querySelector(arguments[0])";
        let found = self.until(script, json!([selector])).await;
        let id = found[ELEMENT].as_str().unwrap();
        self.command(&format!("/element/{id}/value"), json!({"text": path}))
            .await;
    }

    /// Pastes a text into a field, in place of what it has: typing it takes Chromium ten times as long.
    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        self.see(selector).await;
        let script = "const field = document.querySelector(arguments[0]); field.focus(); field.select(); \
            document.execCommand('insertText', false, arguments[1])";
        self.script(script, json!([selector, text])).await;
    }

    /// Chooses an option of a list by its value.
    pub(crate) async fn choose(&self, selector: &str, value: &str) {
        let Element(list) = self.see(selector).await;
        let script = "return [...arguments[0].options].find((it) => it.value === arguments[1])";
        let option = self.until(script, json!([{ELEMENT: list}, value])).await;
        let id = option[ELEMENT].as_str().expect("an option");
        self.command(&format!("/element/{id}/click"), json!({}))
            .await;
    }

    /// Presses and releases a key, wherever the focus is. The keys without a letter: [`keys`].
    pub(crate) async fn press(&self, key: char) {
        self.press_together(&[key]).await;
    }

    /// Presses keys together, the modifiers first.
    pub(crate) async fn press_together(&self, keys: &[char]) {
        let downs = keys
            .iter()
            .map(|key| json!({"type": "keyDown", "value": key}));
        let ups = keys
            .iter()
            .map(|key| json!({"type": "keyUp", "value": key}));
        let actions: Vec<Value> = downs.chain(ups.rev()).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.command("/actions", json!({"actions": [keyboard]}))
            .await;
    }

    /// Writes a text with the keyboard, wherever the focus is.
    pub(crate) async fn write(&self, text: &str) {
        for letter in text.chars() {
            self.press(letter).await;
        }
    }

    /// Runs a script, and returns its value.
    pub(crate) async fn script(&self, script: &str, arguments: Value) -> Value {
        let arguments = json!({"script": script, "args": arguments});
        self.command("/execute/sync", arguments).await
    }

    /// Runs a script again and again until its value is neither `null`, `false` nor 0, and returns the value.
    pub(crate) async fn until(&self, script: &str, arguments: Value) -> Value {
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            let value = self.script(script, arguments.clone()).await;
            if !(value.is_null() || value == false || value == 0) {
                return value;
            }
            assert!(
                Instant::now() < deadline,
                "never true: {script} {arguments}"
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns the text of the first visible element.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let script = "return [...document.querySelectorAll(arguments[0])]\
            .find((it) => it.checkVisibility())?.innerText ?? null";
        let text = self.until(script, json!([selector])).await;
        text.as_str().unwrap().to_owned()
    }

    /// Returns how many elements there are, visible or not.
    pub(crate) async fn count(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        self.script(script, json!([selector]))
            .await
            .as_u64()
            .unwrap()
    }

    /// Waits until a file was downloaded, and returns its name and its content.
    pub(crate) async fn downloaded(&self, ending: &str) -> (String, String) {
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            if let Some(path) = self.download(ending) {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                return (name, text);
            }
            assert!(Instant::now() < deadline, "no {ending} was downloaded");
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn download(&self, ending: &str) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.files.path().join("downloads")).ok()?;
        let mut paths = entries.map(|entry| entry.unwrap().path());
        // Until it is whole, a file has another name, and an empty one holds its place.
        paths.find(|path| {
            path.to_string_lossy().ends_with(ending)
                && path.metadata().is_ok_and(|file| file.len() > 0)
        })
    }

    /// Returns the text in the clipboard.
    pub(crate) async fn clipboard(&self) -> String {
        let permission = json!({"descriptor": {"name": "clipboard-read"}, "state": "granted"});
        self.command("/permissions", permission).await;
        let text = self
            .script("return navigator.clipboard.readText()", json!([]))
            .await;
        text.as_str().unwrap().to_owned()
    }

    /// Writes a file of the user, and returns its path.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Writes a picture of the window.
    pub(crate) async fn picture(&self, path: &Path) {
        let png = self.driver.get("/screenshot").await.unwrap();
        let png = STANDARD.decode(png.as_str().unwrap()).unwrap();
        std::fs::write(path, png).unwrap();
    }

    /// Fails if the console has an error of a script or of the Content Security Policy since it was last read.
    pub(crate) async fn check_console(&self) {
        for entry in self.console().await {
            // "network": answers with an error status are shown on the page, and tested there.
            let is_error = entry["level"] == "SEVERE" && entry["source"] != "network";
            assert!(!is_error, "the console has an error: {entry}");
        }
    }

    /// Waits until the console has an error with these words, and takes what it has.
    pub(crate) async fn see_refusal(&self, words: &str) {
        let deadline = Instant::now() + MAX_WAIT;
        let mut entries = Vec::new();
        while !entries.iter().any(|entry: &Value| {
            entry["level"] == "SEVERE" && entry["message"].to_string().contains(words)
        }) {
            assert!(Instant::now() < deadline, "no {words:?} in {entries:?}");
            tokio::time::sleep(PAUSE).await;
            entries.extend(self.console().await);
        }
    }

    /// Takes the entries of the console.
    pub(crate) async fn console(&self) -> Vec<Value> {
        let entries = self.command("/se/log", json!({"type": "browser"})).await;
        entries.as_array().unwrap().clone()
    }

    /// Keeps a picture of a failed test.
    async fn report(&self) {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("browser").replace("::", "-");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        self.picture(&path).await;
        eprintln!("the window as it was: {}", path.display());
    }

    /// Gives a command of Chromium that WebDriver does not have.
    pub(crate) async fn chromium(&self, command: &str, arguments: Value) -> Value {
        let arguments = json!({"cmd": command, "params": arguments});
        self.command("/goog/cdp/execute", arguments).await
    }

    async fn command(&self, command: &str, arguments: Value) -> Value {
        let value = self.driver.post(command, arguments.clone()).await;
        value.unwrap_or_else(|error| panic!("{command} {arguments}: {error}"))
    }
}

/// Id of an element that was found.
pub(crate) struct Element(String);

/// Returns whether an error passes by itself.
fn is_passing(error: &str) -> bool {
    ["stale", "intercepted", "not interactable"]
        .iter()
        .any(|part| error.contains(part))
}

/// Keys that write no letter. WebDriver, "Keyboard actions".
pub(crate) mod keys {
    pub(crate) const TAB: char = '\u{e004}';
    pub(crate) const ENTER: char = '\u{e007}';
    pub(crate) const CONTROL: char = '\u{e009}';
    pub(crate) const ESCAPE: char = '\u{e00c}';
    pub(crate) const DOWN: char = '\u{e015}';
}

/// Key of an element's id in JSON. WebDriver, "Elements".
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Limit on the time for which a test waits for one thing.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Time between two looks at what a test waits for.
const PAUSE: Duration = Duration::from_millis(20);

/// Arguments of Chromium: without a screen, without requests of its own.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];
