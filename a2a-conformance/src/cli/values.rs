//! Readers of the values of options.

use std::time::Duration;

use a2a_conformance::lint::DocumentKind;
use a2a_conformance::requirement::{Level, Role};
use a2a_transport::Binding;
use a2a_types::ProtocolVersion;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use globset::Glob;
use http::Uri;
use http::header::{HeaderName, HeaderValue};

/// Reads a version.
pub(crate) fn protocol_versions() -> impl TypedValueParser<Value = ProtocolVersion> {
    one_of(ProtocolVersion::ALL, ProtocolVersion::version)
}

/// Reads a level.
pub(crate) fn levels() -> impl TypedValueParser<Value = Level> {
    one_of(Level::ALL, Level::name)
}

/// Reads a party.
pub(crate) fn roles() -> impl TypedValueParser<Value = Role> {
    one_of(Role::ALL, Role::name)
}

/// Reads the name of a kind of documents.
pub(crate) fn kinds() -> impl TypedValueParser<Value = &'static DocumentKind> {
    let all = DocumentKind::ALL.iter();
    let names = all.map(|kind| PossibleValue::new(kind.name).help(kind.about));
    PossibleValuesParser::new(names)
        .try_map(|name| DocumentKind::named(&name).ok_or("it is none of these"))
}

fn one_of<T: Copy + Send + Sync>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().map(move |one| name(*one)));
    names.try_map(move |text| {
        let found = all.iter().copied().find(|one| name(*one) == text);
        found.ok_or("it is none of these")
    })
}

/// Reads a binding.
pub(crate) fn bindings() -> impl TypedValueParser<Value = Binding> {
    PossibleValuesParser::new(["jsonrpc", "http-json", "grpc"]).map(|binding| {
        match binding.as_str() {
            "jsonrpc" => Binding::JsonRpc,
            "grpc" => Binding::Grpc,
            _ => Binding::HttpJson,
        }
    })
}

/// Reads a URL that can be called.
pub(crate) fn read_url(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_callable = |uri: &Uri| {
        let by_http = matches!(uri.scheme_str(), Some("http" | "https"));
        by_http && uri.host().is_some_and(|host| !host.is_empty())
    };
    if text.parse().is_ok_and(|uri| is_callable(&uri)) {
        return Ok(text.to_owned());
    }
    let guess = format!("http://{text}");
    let is_near = !text.contains("://") && guess.parse().is_ok_and(|uri| is_callable(&uri));
    Err(match is_near {
        true => format!("expected http:// or https:// before it: {guess}"),
        false => "expected a URL like http://127.0.0.1:8080".to_owned(),
    })
}

/// Reads `NAME: VALUE`; the value is secret.
pub(crate) fn read_header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`")?;
    let name = HeaderName::try_from(name.trim()).map_err(|error| error.to_string())?;
    let mut value = HeaderValue::from_str(value.trim()).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Reads a pattern of names. Errors: the text is not a pattern, and would match nothing.
pub(crate) fn read_pattern(text: &str) -> Result<String, String> {
    match Glob::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.kind().to_string()),
    }
}

const DAY: Duration = Duration::from_secs(86_400);

/// Reads seconds, like `10` or `0.5`.
pub(crate) fn read_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "expected seconds, like 10 or 0.5")?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() && time <= DAY => Ok(time),
        _ => Err("expected more than 0 seconds, and at most 86400".to_owned()),
    }
}

/// Reads a number of things, at least 1.
pub(crate) fn read_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number from 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

/// Reads a factor of time, like `2` or `0.5`.
pub(crate) fn read_factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text
        .parse()
        .map_err(|_| "expected a number like 2 or 0.5")?;
    match (0.01..=1000.0).contains(&factor) {
        true => Ok(factor),
        false => Err("expected 0.01 to 1000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_or_guessed() {
        #[track_caller]
        fn check(text: &str, expected: Result<&str, &str>) {
            let read = read_url(text);
            match expected {
                Ok(url) => assert_eq!(read.as_deref(), Ok(url)),
                Err(part) => assert!(
                    read.as_ref().is_err_and(|problem| problem.contains(part)),
                    "{read:?}"
                ),
            }
        }
        check(" http://h:1/a ", Ok("http://h:1/a"));
        check("https://h", Ok("https://h"));
        check("localhost:8080", Err("before it: http://localhost:8080"));
        check("agent.example/a", Err("before it: http://agent.example/a"));
        check("", Err("like http://127.0.0.1:8080"));
        check("ftp://h", Err("like http"));
        check("http://", Err("like http"));
        check("a b", Err("like http"));
    }

    #[test]
    fn times_are_more_than_nothing() {
        assert_eq!(read_seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "NaN", "inf", "1e300", "soon"] {
            assert!(read_seconds(wrong).is_err(), "{wrong}");
            assert!(read_factor(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read_factor("2"), Ok(2.0));
    }
}
