//! The browser of the user.

use std::process::{Command, Stdio};

use crate::show::note;

/// Opens a URL in a browser. Does not wait for it; a failure is only printed.
pub(crate) fn open(url: String) {
    // `xdg-open` would start a browser in this terminal.
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].map(|name| std::env::var_os(name).is_some());
    let is_desktop = cfg!(any(target_os = "macos", windows)) || has_display.contains(&true);
    if !is_desktop {
        return;
    }
    std::thread::spawn(move || {
        let mut command = Command::new(OPENER[0]);
        command.args(&OPENER[1..]).arg(url);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let problem = match command.status() {
            Ok(status) if status.success() => return,
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        note(&format!("no browser was opened: {}: {problem}", OPENER[0]));
    });
}

/// Program that opens a URL, and its arguments.
const OPENER: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["rundll32", "url.dll,FileProtocolHandler"]
} else {
    &["xdg-open"]
};
