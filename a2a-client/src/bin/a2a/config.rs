//! Agents that have a name, in a file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::exit::Failure;
use crate::files::expand;

/// What the file holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    agents: BTreeMap<String, Known>,
}

/// An agent that has a name. Options of the command line have precedence.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Known {
    /// Its origin, base or card.
    pub(crate) url: String,
    pub(crate) dialect: Option<String>,
    pub(crate) binding: Option<String>,
    pub(crate) tenant: Option<String>,
    pub(crate) bearer: Option<String>,
    pub(crate) basic: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) oauth_client: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) trust: Vec<String>,
    pub(crate) proxy: Option<String>,
    pub(crate) ca: Option<String>,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
}

impl Config {
    /// The file, if there is one.
    pub(crate) fn read() -> Result<Self, Failure> {
        let Some((path, must_be)) = place() else {
            return Ok(Self::default());
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_be => {
                return Ok(Self::default());
            }
            Err(error) => return Err(Failure::machine(path.display().to_string())(error)),
        };
        toml::from_str(&text)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
    }

    /// The agent of this name or URL.
    pub(crate) fn agent(&self, name: &str) -> Result<Known, Failure> {
        if let Some(known) = self.agents.get(name) {
            return Ok(known.clone());
        }
        if name.contains("://") {
            return Ok(Known {
                url: name.to_owned(),
                ..Known::default()
            });
        }
        let names: Vec<_> = self.agents.keys().map(String::as_str).collect();
        let known = match names.is_empty() {
            true => "no agent has a name yet: see `a2a --help`".to_owned(),
            false => format!("known are {}", names.join(", ")),
        };
        Err(Failure::usage(format!(
            "`{name}` is neither a URL (`https://…`) nor the name of an agent; {known}"
        )))
    }
}

/// Where the file is, and whether it must be there.
fn place() -> Option<(PathBuf, bool)> {
    if let Some(path) = std::env::var_os("A2A_CONFIG") {
        return Some((PathBuf::from(path), true));
    }
    let home = match std::env::var_os("XDG_CONFIG_HOME") {
        Some(home) if !home.is_empty() => PathBuf::from(home),
        _ if std::env::home_dir().is_none() => return None,
        _ => expand("~/.config"),
    };
    Some((home.join("a2a/config.toml"), false))
}
