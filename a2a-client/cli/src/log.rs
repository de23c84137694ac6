//! The log of `a2a serve`, on standard error.

use std::io::{self, Write, stderr};

use a2a_client::terminal::is_unsafe;
use clap::{Args, ValueEnum};
use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt};

/// Levels of the server's log.
#[derive(Args)]
pub(crate) struct LogOptions {
    /// Level of the log on standard error: error, warn, info, debug, trace or off; or levels by module,
    /// like `info,a2a_server=debug`.
    #[arg(
        long = "log",
        value_name = "LEVEL",
        env = "RUST_LOG",
        default_value = "info",
        value_parser = filter
    )]
    filter: Targets,
    /// Format of the log: a line of text, or of JSON, for each entry.
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    log_format: LogFormat,
}

/// Format of the log.
#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl LogOptions {
    /// Builds the layer that writes the log.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + Send + Sync
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        // Colors would be escaped like the control characters of peers.
        let layer = fmt::layer()
            .with_writer(|| Escaping(stderr()))
            .with_ansi(false);
        let layer = match self.log_format {
            LogFormat::Text => layer.boxed(),
            LogFormat::Json => layer.json().boxed(),
        };
        layer.with_filter(without_content(self.filter.clone()))
    }
}

/// Limits `rmcp`, which logs the content of messages, to warnings, unless a level was given for it.
fn without_content(filter: Targets) -> Targets {
    let level = filter.default_level().unwrap_or(LevelFilter::OFF);
    match filter.iter().any(|(target, _)| target == "rmcp") {
        true => filter,
        false => filter.with_target("rmcp", level.min(LevelFilter::WARN)),
    }
}

/// Writer that escapes a peer's characters which change how a terminal displays others. Controls are escaped before,
/// except the colours of the log itself.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut escaped = String::new();
        for character in String::from_utf8_lossy(line).chars() {
            match !character.is_control() && is_unsafe(character) {
                true => escaped.extend(character.escape_default()),
                false => escaped.push(character),
            }
        }
        self.0.write_all(escaped.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Parses levels, like `info,a2a_server=debug`. Errors: a word that is neither a level nor a pair,
/// which would count as the only module that is logged.
fn filter(text: &str) -> Result<Targets, String> {
    let is_wrong = |part: &&str| !part.contains('=') && part.parse::<LevelFilter>().is_err();
    match text.split(',').find(is_wrong) {
        Some(part) => Err(format!(
            "`{part}` is not a log level: expected error, warn, info, debug, trace, off or MODULE=LEVEL"
        )),
        None => text.parse::<Targets>().map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn rmcp_logs_at_most_warnings_unless_its_level_is_given() {
        let enabled = |text: &str, level: Level| {
            without_content(filter(text).unwrap()).would_enable("rmcp::service", &level)
        };
        assert!(enabled("trace", Level::WARN) && !enabled("trace", Level::INFO));
        assert!(!enabled("error", Level::WARN) && enabled("error", Level::ERROR));
        assert!(!enabled("off", Level::ERROR));
        assert!(enabled("info,rmcp=debug", Level::DEBUG));
        assert!(!enabled("trace,rmcp::transport=off", Level::INFO));
    }
}
