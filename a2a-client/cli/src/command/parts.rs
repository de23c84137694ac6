//! The parts of a message, in the order of their options.

use std::path::PathBuf;

use a2a_types::Part;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, Error};
use tokio::io::AsyncReadExt;

use crate::failure::Failure;
use crate::files::attach;

/// Parts of a message, as the command line names them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartOptions(Vec<PartOption>);

#[derive(Clone, Debug)]
struct PartOption {
    content: PartContent,
    media_type: Option<String>,
}

#[derive(Clone, Debug)]
enum PartContent {
    Text(String),
    /// A path, or a URL that the agent fetches.
    File(String),
    /// A path, or `-`.
    Data(String),
}

impl clap::Args for PartOptions {
    fn augment_args(command: Command) -> Command {
        let option = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(help)
                .action(ArgAction::Append)
        };
        command
            .arg(option(
                "text",
                "TEXT",
                "Add a text part; may be repeated, and mixed with --file and --data",
            ))
            .arg(option(
                "file",
                "PATH|URL",
                "Add a file part: the content of a file, or a URL that the agent fetches",
            ))
            .arg(option(
                "data",
                "PATH|-",
                "Add a data part from a JSON file; `-` reads standard input",
            ))
            .arg(option(
                "media-type",
                "TYPE",
                "Media type of the part before it. Default: by the file's name",
            ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for PartOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found = Vec::new();
        for name in ["text", "file", "data", "media-type"] {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            let places = matches.indices_of(name).into_iter().flatten();
            found.extend(
                places
                    .zip(values)
                    .map(|(place, value)| (place, name, value)),
            );
        }
        found.sort_by_key(|(place, ..)| *place);
        let mut parts: Vec<PartOption> = Vec::new();
        for (_, name, value) in found {
            let value = value.clone();
            let content = match name {
                "text" => PartContent::Text(value),
                "file" => PartContent::File(value),
                "data" => PartContent::Data(value),
                _ => {
                    let part = parts.last_mut().filter(|part| part.media_type.is_none());
                    let Some(part) = part else {
                        let problem = "--media-type: expected after --text, --file or --data, once for each\n";
                        return Err(Error::raw(ErrorKind::ArgumentConflict, problem));
                    };
                    part.media_type = Some(value);
                    continue;
                }
            };
            parts.push(PartOption {
                content,
                media_type: None,
            });
        }
        Ok(Self(parts))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl PartOptions {
    /// Reads the parts: files, and standard input.
    pub(crate) async fn read(self) -> Result<Vec<Part>, Failure> {
        let mut parts = Vec::new();
        for PartOption {
            content,
            media_type,
        } in self.0
        {
            let mut part = match content {
                PartContent::Text(text) => Part::text(text),
                PartContent::File(url) if url.contains("://") => Part::url(url),
                PartContent::File(path) => attach(&PathBuf::from(path))?,
                PartContent::Data(path) => Part::data(read_data(&path).await?),
            };
            if media_type.is_some() {
                part.media_type = media_type;
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

async fn read_data(path: &str) -> Result<serde_json::Value, Failure> {
    let text = match path {
        "-" => read_stdin().await?,
        path => std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("--data {path}: {error}")))?,
    };
    serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("--data {path}: expected JSON: {error}")))
}

/// Reads standard input.
pub(crate) async fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = tokio::io::stdin().read_to_string(&mut text).await;
    read.map_err(Failure::machine("cannot read standard input"))?;
    Ok(text)
}
