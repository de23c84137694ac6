//! Values of options from the environment and from `.env` files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};

use crate::failure::Failure;
use crate::files::expand;
use crate::show::note;

/// Values that options have unless they are given on the command line, by the names of their variables.
///
/// The environment counts before the local `.env` file, and that before the global one.
pub(crate) struct Sources(BTreeMap<String, (String, Source)>);

/// Place of a value.
pub(crate) enum Source {
    Environment,
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => f.write_str("environment"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl Sources {
    /// Reads the environment and the files; `--config` among the arguments names the local one.
    pub(crate) fn read(arguments: &[OsString]) -> Result<Self, Failure> {
        let mut values = BTreeMap::new();
        if let Some(global) = global_file().filter(|path| path.is_file()) {
            read_file(&global, &mut values)?;
        }
        match config_option(arguments) {
            Some(path) => read_file(&path, &mut values)?,
            None => {
                if let Some(local) = local_file() {
                    read_file(&local, &mut values)?;
                }
            }
        }
        for (name, value) in std::env::vars_os() {
            let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else {
                continue;
            };
            if name.starts_with(PREFIX) && !value.is_empty() {
                values.insert(name, (value, Source::Environment));
            }
        }
        Ok(Self(values))
    }

    /// Reads one file alone.
    pub(crate) fn of_file(path: &Path) -> Result<Self, Failure> {
        let mut values = BTreeMap::new();
        read_file(path, &mut values)?;
        Ok(Self(values))
    }

    /// Returns the value of an option, and its source.
    pub(crate) fn get(&self, option: &str) -> Option<&(String, Source)> {
        self.0.get(&variable(option)).filter(|_| is_read(option))
    }

    /// Warns of variables in files that no option of the command or its subcommands has: they may be misspelled.
    pub(crate) fn warn_of_unknown(&self, command: &Command) {
        let mut known = BTreeSet::new();
        add_variables(command, &mut known);
        for (name, (_, source)) in &self.0 {
            if let Source::File(path) = source
                && !known.contains(name)
            {
                let path = path.display();
                note(&format!(
                    "warning: {path}: no option has the variable {name}"
                ));
            }
        }
    }

    /// Makes the values the defaults of a command's options.
    pub(crate) fn apply(&self, command: Command) -> Command {
        let command = command.mut_args(|arg| self.apply_to(arg));
        command.mut_subcommands(|subcommand| self.apply(subcommand))
    }

    fn apply_to(&self, arg: Arg) -> Arg {
        let value = arg.get_long().and_then(|option| self.get(option));
        let Some(value) = value.map(|(value, _)| value.clone()) else {
            return arg;
        };
        let is_secret = arg.get_long().is_some_and(is_secret);
        let arg = arg.hide_default_value(is_secret);
        match arg.get_action() {
            // A list in one variable.
            ArgAction::Append if !is_secret => {
                let values = value.split(',').map(|value| value.trim().to_owned());
                arg.default_values(values.collect::<Vec<_>>())
            }
            ArgAction::SetTrue => arg.default_value(match &*value {
                "1" => "true".to_owned(),
                "0" => "false".to_owned(),
                _ => value,
            }),
            _ => arg.default_value(value),
        }
    }
}

fn add_variables(command: &Command, variables: &mut BTreeSet<String>) {
    let options = command.get_arguments().filter_map(Arg::get_long);
    variables.extend(options.map(variable));
    for command in command.get_subcommands() {
        add_variables(command, variables);
    }
}

/// Returns the variable of an option.
pub(crate) fn variable(option: &str) -> String {
    format!("{PREFIX}{}", option.to_uppercase().replace('-', "_"))
}

/// Returns whether an option's value is a secret.
pub(crate) fn is_secret(option: &str) -> bool {
    const SECRETS: [&str; 9] = [
        "api-key",
        "authorization",
        "basic",
        "bearer",
        "client-secret",
        "credentials",
        "proxy",
        "secret",
        "token",
    ];
    // A service parameter may be one, and the URL of a database has a password.
    SECRETS.contains(&option) || matches!(option, "svc-param" | "webhook-token" | "db")
}

/// Returns whether an option is read from anywhere but the command line.
fn is_read(option: &str) -> bool {
    // A file that happens to lie in the working directory runs no program, lets no one in without credentials, and names
    // no authorization server, no service that gets conversations, and no place of code.
    let is_risky = matches!(
        option,
        "exec" | "exec-json" | "open" | "issuer" | "base-url" | "api-key-env" | "mcp" | "path"
    );
    !is_risky && !matches!(option, "stream" | "help" | "version" | "config")
}

const PREFIX: &str = "A2ACLI_";

fn config_option(arguments: &[OsString]) -> Option<PathBuf> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        match argument.strip_prefix("--config") {
            Some("") => return arguments.next().map(PathBuf::from),
            Some(value) => {
                if let Some(path) = value.strip_prefix('=') {
                    return Some(PathBuf::from(path));
                }
            }
            None if argument == "--" => return None,
            None => {}
        }
    }
    None
}

/// Returns the directory of this program's files that last.
pub(crate) fn config_directory() -> Option<PathBuf> {
    let directory = match std::env::var_os("XDG_CONFIG_HOME") {
        Some(directory) if !directory.is_empty() => PathBuf::from(directory),
        _ if std::env::home_dir().is_none() => return None,
        _ => expand("~/.config"),
    };
    Some(directory.join("a2a-cli"))
}

fn global_file() -> Option<PathBuf> {
    config_directory().map(|directory| directory.join(".env"))
}

/// Returns the nearest `.env` file of the working directory or a directory above it.
fn local_file() -> Option<PathBuf> {
    let directory = std::env::current_dir().ok()?;
    let mut files = directory.ancestors().map(|above| above.join(".env"));
    files.find(|file| file.is_file())
}

fn read_file(path: &Path, values: &mut BTreeMap<String, (String, Source)>) -> Result<(), Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    for (index, line) in text.lines().enumerate() {
        let (key, value) = match read_line(line) {
            Ok(Some(pair)) => pair,
            Ok(None) => continue,
            // The file may be of another program, too, and have lines of another form.
            Err(_) if !line.contains(PREFIX) => continue,
            Err(problem) => {
                let line = index + 1;
                return Err(Failure::usage(format!("{name}, line {line}: {problem}")));
            }
        };
        if key.starts_with(PREFIX) {
            let source = Source::File(path.to_owned());
            values.insert(key.to_owned(), (value.to_owned(), source));
        }
    }
    Ok(())
}

/// Reads a line: `NAME=value`, a comment, or nothing.
fn read_line(line: &str) -> Result<Option<(&str, &str)>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (key, value) = line.split_once('=').ok_or("expected NAME=value")?;
    let value = value.trim();
    let quote = value
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''));
    let value = match quote {
        Some(quote) => {
            let quoted = &value[1..];
            let end = quoted
                .find(quote)
                .ok_or("the quotation mark is not closed")?;
            &quoted[..end]
        }
        None => value
            .split_once(" #")
            .map_or(value, |(value, _)| value)
            .trim(),
    };
    Ok(Some((key.trim(), value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_values_comments_and_quotes() {
        for (line, expected) in [
            ("", Ok(None)),
            ("  # A2ACLI_BEARER=x", Ok(None)),
            ("A2ACLI_BEARER=abc", Ok(Some(("A2ACLI_BEARER", "abc")))),
            (" export A = b # c", Ok(Some(("A", "b")))),
            ("A=\"b # c\" # d", Ok(Some(("A", "b # c")))),
            ("A='b=\"c\"'", Ok(Some(("A", "b=\"c\"")))),
            ("A=", Ok(Some(("A", "")))),
            ("A", Err("expected NAME=value")),
            ("A=\"b", Err("the quotation mark is not closed")),
        ] {
            assert_eq!(read_line(line), expected, "{line}");
        }
    }
}
