//! Options with the credentials of the callers that the suite plays.

use std::error::Error;
use std::path::{Path, PathBuf};

use a2a_conformance::agent::Options;
use a2a_transport::http::{HttpClient, Tls};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};

use super::values::read_header;

/// Credentials of callers.
#[derive(Args)]
pub(crate) struct Credentials {
    /// Send a header with every request.
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE", value_parser = read_header)]
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Authenticate with this bearer token.
    #[arg(long, value_name = "TOKEN", value_parser = read_token, conflicts_with = "basic")]
    bearer: Option<HeaderValue>,
    /// Authenticate with this API key in a header, or by `cookie:NAME=KEY` or `query:NAME=KEY` elsewhere.
    #[arg(long, value_name = "HEADER=KEY", value_parser = read_api_key)]
    api_key: Vec<ApiKey>,
    /// Authenticate with a name and password.
    #[arg(long, value_name = "USER:PASSWORD", value_parser = read_basic)]
    basic: Option<HeaderValue>,
    /// Authenticate with this client certificate: a PEM file, the client's own certificate first.
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_cert: Option<PathBuf>,
    /// Private key of the client certificate: a PEM file.
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    client_key: Option<PathBuf>,
    /// Certificate authority of the agent, or the agent's certificate itself: a PEM file.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Header of a second caller, which must not see the first caller's tasks.
    #[arg(long = "second-header", value_name = "NAME: VALUE", value_parser = read_header)]
    second_headers: Vec<(HeaderName, HeaderValue)>,
    /// Header of a known caller without permissions, whose requests the agent must refuse.
    #[arg(long = "forbidden-header", value_name = "NAME: VALUE", value_parser = read_header)]
    forbidden_headers: Vec<(HeaderName, HeaderValue)>,
    /// Bearer token that has expired: the agent must refuse it.
    #[arg(long, value_name = "TOKEN", value_parser = read_token)]
    expired: Option<HeaderValue>,
    /// Bearer token for another agent: this one must refuse it.
    #[arg(long, value_name = "TOKEN", value_parser = read_token)]
    wrong_audience: Option<HeaderValue>,
    /// Bearer token that grants no permission at this agent, which must refuse it.
    #[arg(long, value_name = "TOKEN", value_parser = read_token)]
    wrong_scope: Option<HeaderValue>,
}

impl Credentials {
    /// Adds the credentials to options. Errors: a file cannot be used.
    pub(crate) fn add_to(self, options: Options) -> Result<Options, String> {
        let mut tls = Tls::default();
        if let Some(file) = &self.ca {
            let trusting = tls.trust(&read("--ca", file)?);
            tls = trusting.map_err(|error| unusable("--ca", file, &error))?;
        }
        let anonymous = HttpClient::builder().tls(tls.clone()).build();
        let identity = self.client_cert.as_ref().zip(self.client_key.as_ref());
        let (http, anonymous_http) = match identity {
            None => (anonymous, None),
            Some((certificate, key)) => {
                let (chain, key) = (
                    read("--client-cert", certificate)?,
                    read("--client-key", key)?,
                );
                let tls = tls.identity(&chain, &key);
                let tls = tls.map_err(|error| unusable("--client-cert", certificate, &error))?;
                (HttpClient::builder().tls(tls).build(), Some(anonymous))
            }
        };
        let mut headers: HeaderMap = self.headers.into_iter().collect();
        let mut query = Vec::new();
        for key in self.api_key {
            match key {
                ApiKey::Header(name, value) => drop(headers.insert(name, value)),
                ApiKey::Query(name, value) => query.push((name, value)),
            }
        }
        if let Some(value) = self.bearer.or(self.basic) {
            headers.insert(AUTHORIZATION, value);
        }
        // The other headers stay: they may be needed to reach the agent at all.
        let with_token = |token: Option<HeaderValue>| match token {
            None => HeaderMap::new(),
            Some(token) => {
                let mut headers = headers.clone();
                headers.insert(AUTHORIZATION, token);
                headers
            }
        };
        Ok(Options {
            expired_headers: with_token(self.expired),
            wrong_audience_headers: with_token(self.wrong_audience),
            wrong_scope_headers: with_token(self.wrong_scope),
            second_headers: self.second_headers.into_iter().collect(),
            forbidden_headers: self.forbidden_headers.into_iter().collect(),
            headers,
            query,
            http,
            anonymous_http,
            ..options
        })
    }
}

fn read(option: &str, file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| unusable(option, file, &error))
}

fn unusable(option: &str, file: &Path, problem: &dyn Error) -> String {
    format!("{option} {}: {problem}", file.display())
}

/// Reads a bearer token as the value of `Authorization`.
fn read_token(text: &str) -> Result<HeaderValue, String> {
    if text.contains(char::is_whitespace) {
        return Err("expected a token without `Bearer` and spaces".to_owned());
    }
    secret(&format!("Bearer {text}"))
}

/// An API key.
#[derive(Clone, Debug)]
enum ApiKey {
    Header(HeaderName, HeaderValue),
    Query(String, HeaderValue),
}

/// Reads `HEADER=KEY`, `cookie:NAME=KEY` or `query:NAME=KEY`.
fn read_api_key(text: &str) -> Result<ApiKey, String> {
    if let Some(cookie) = text.strip_prefix("cookie:") {
        return Ok(ApiKey::Header(COOKIE, secret(cookie)?));
    }
    if let Some((name, key)) = text
        .strip_prefix("query:")
        .and_then(|rest| rest.split_once('='))
    {
        return Ok(ApiKey::Query(name.to_owned(), secret(key)?));
    }
    let (name, key) = text
        .split_once('=')
        .ok_or("expected `HEADER=KEY`, like `x-api-key=…`")?;
    let name = HeaderName::try_from(name.trim()).map_err(|error| error.to_string())?;
    Ok(ApiKey::Header(name, secret(key)?))
}

/// Reads `USER:PASSWORD` as the value of `Authorization`.
fn read_basic(text: &str) -> Result<HeaderValue, String> {
    match text.contains(':') {
        true => secret(&format!("Basic {}", STANDARD.encode(text))),
        false => Err("expected `USER:PASSWORD`".to_owned()),
    }
}

fn secret(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(text).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        credentials: Credentials,
    }

    fn options(arguments: &[&str]) -> Result<Options, String> {
        let all = std::iter::once("test").chain(arguments.iter().copied());
        let parsed = Arguments::try_parse_from(all).map_err(|error| error.to_string())?;
        parsed.credentials.add_to(Options::of("http://h"))
    }

    fn shown(headers: &HeaderMap) -> Vec<(&str, &str)> {
        let pairs = headers.iter();
        pairs
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect()
    }

    #[test]
    fn credentials_become_headers() {
        let of = options(&[
            "--bearer",
            "good",
            "--api-key",
            "x-key=a=b",
            "--expired",
            "old",
        ]);
        let of = of.unwrap();
        let key = ("x-key", "a=b");
        assert_eq!(shown(&of.headers), [key, ("authorization", "Bearer good")]);
        assert!(of.headers.values().all(HeaderValue::is_sensitive));
        let expired = shown(&of.expired_headers);
        assert_eq!(expired, [key, ("authorization", "Bearer old")]);
        assert!(of.wrong_audience_headers.is_empty() && of.anonymous_http.is_none());
        let of = options(&["--api-key", "cookie:k=a", "--api-key", "query:q=b"]).unwrap();
        assert_eq!(shown(&of.headers), [("cookie", "k=a")]);
        assert!(of.query[0].0 == "q" && of.query[0].1 == "b" && of.query[0].1.is_sensitive());
        let of = options(&["--basic", "me:it"]).unwrap();
        assert_eq!(shown(&of.headers), [("authorization", "Basic bWU6aXQ=")]);
    }

    #[test]
    fn wrong_credentials_are_refused_before_the_run() {
        for (arguments, expected) in [
            (&["--bearer", "Bearer x"][..], "without `Bearer`"),
            (&["--bearer", "x", "--basic", "a:b"], "cannot be used with"),
            (&["--api-key", "x"], "HEADER=KEY"),
            (&["--basic", "x"], "USER:PASSWORD"),
            (&["--client-cert", "none.pem"], "--client-key"),
            (&["--ca", "none.pem"], "--ca none.pem: "),
        ] {
            let problem = options(arguments).unwrap_err();
            assert!(problem.contains(expected), "{arguments:?}: {problem}");
        }
    }
}
