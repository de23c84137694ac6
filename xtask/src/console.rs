//! Output for people: headings and failures, in colour only on a terminal.

use std::io::IsTerminal;

/// Announces a step.
pub(crate) fn heading(text: &str) {
    println!("{}", painted("1", text, std::io::stdout().is_terminal()));
}

/// Prints the reason for which a task failed.
pub(crate) fn failure(text: &str) {
    eprintln!("{}", painted("1;31", text, std::io::stderr().is_terminal()));
}

fn painted(style: &str, text: &str, terminal: bool) -> String {
    let plain = !terminal || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain {
        return text.to_owned();
    }
    format!("\x1b[{style}m{text}\x1b[0m")
}
