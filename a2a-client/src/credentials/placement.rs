//! Placement of credentials in a request.

use std::fmt;
use std::sync::Arc;

use a2a_transport::{BoxFuture, Credentials, Error};
use a2a_types::ApiKeySecurityScheme;
use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts as Head;
use http::uri::PathAndQuery;

use super::header;
use super::redact::hide;
use super::sanitize::printable;
use super::secret::Secret;
use super::tokens::Tokens;

/// All credentials sent to one agent.
#[derive(Debug)]
pub(super) struct CredentialSet(pub(super) Vec<Placement>);

impl Credentials for CredentialSet {
    fn attach<'a>(&'a self, head: &'a mut Head) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            for placement in &self.0 {
                placement.attach(head).await?;
            }
            Ok(())
        })
    }

    fn refused<'a>(
        &'a self,
        sent: &'a HeaderMap,
        challenge: Option<&'a str>,
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let mut others = false;
            for placement in &self.0 {
                others |= match placement {
                    Placement::Bearer(tokens) => tokens.refused(sent.get(AUTHORIZATION), challenge),
                    Placement::Custom(credentials) => credentials.refused(sent, challenge).await,
                    _ => false,
                };
            }
            others
        })
    }
}

/// Returns the credentials of a caller who has this bearer token, whatever a card asks for.
///
/// Errors: [`Error::Credentials`] if it cannot be sent.
pub fn bearer(token: &str) -> Result<Arc<dyn Credentials>, Error> {
    let placement = Placement::bearer(token).map_err(Error::Credentials)?;
    Ok(Arc::new(CredentialSet(vec![placement])))
}

/// One credential and its place in a request.
#[derive(Clone)]
pub(super) enum Placement {
    Header(HeaderName, HeaderValue),
    /// A name, and `name=value` as it stands in the query.
    Query(String, Secret),
    /// A name, and `name=value`.
    Cookie(String, Secret),
    Bearer(Arc<Tokens>),
    Custom(Arc<dyn Credentials>),
}

impl Placement {
    /// Creates a header with a value that is kept out of logs.
    pub(super) fn header(name: &str, value: &str) -> Result<Self, String> {
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let name = match parsed {
            Ok(name) if !is_reserved(&name) => name,
            Ok(name) => return Err(format!("the header `{name}` is not for credentials")),
            Err(_) => return Err(format!("`{}` is not the name of a header", printable(name))),
        };
        let value = header::value(&name, value)?;
        Ok(Self::Header(name, value))
    }

    /// Creates an `Authorization` header with a bearer token.
    pub(super) fn bearer(token: &str) -> Result<Self, String> {
        Ok(Self::Header(AUTHORIZATION, header::bearer(token)?))
    }

    /// Creates an `Authorization` header with a name and a password (RFC 7617).
    pub(super) fn basic(user: &str, password: &str) -> Result<Self, String> {
        Ok(Self::Header(AUTHORIZATION, header::basic(user, password)?))
    }

    /// Creates a key in the header, query or cookie that a card names.
    pub(super) fn api_key(scheme: &ApiKeySecurityScheme, key: &str) -> Result<Self, String> {
        let name = scheme.name.as_str();
        match scheme.location.to_ascii_lowercase().as_str() {
            "header" => Self::header(name, key),
            "query" if name.is_empty() => Err("the parameter for the key has no name".to_owned()),
            "query" => {
                let mut pair = form_urlencoded::Serializer::new(String::new());
                // `+` is a blank in forms only.
                let pair = pair.append_pair(name, key).finish().replace('+', "%20");
                Ok(Self::Query(name.to_owned(), Secret::new(pair)))
            }
            "cookie" => {
                // The name of a cookie is a token, like the name of a header (RFC 6265 §4.1.1).
                let named = HeaderName::from_bytes(name.as_bytes()).is_ok();
                let is_octet = |byte: u8| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte);
                match named && !key.is_empty() && key.bytes().all(is_octet) {
                    true => {
                        let pair = Secret::new(format!("{name}={key}"));
                        Ok(Self::Cookie(name.to_owned(), pair))
                    }
                    false => Err(format!(
                        "the cookie `{}` cannot be sent: name or value has characters that \
                         cookies have not",
                        printable(name)
                    )),
                }
            }
            other => Err(format!(
                "a key in `{}`: expected header, query or cookie",
                printable(other)
            )),
        }
    }

    /// Returns whether both want the same place, so that one would overwrite the other.
    pub(super) fn collides(&self, other: &Self) -> bool {
        match (self.header_name(), other.header_name()) {
            (Some(one), Some(two)) => one == two,
            _ => match (self, other) {
                (Self::Query(one, _), Self::Query(two, _))
                | (Self::Cookie(one, _), Self::Cookie(two, _)) => one == two,
                _ => false,
            },
        }
    }

    fn header_name(&self) -> Option<&HeaderName> {
        match self {
            Self::Header(name, _) => Some(name),
            Self::Bearer(_) => Some(&AUTHORIZATION),
            _ => None,
        }
    }

    async fn attach(&self, head: &mut Head) -> Result<(), Error> {
        let unfit = |error: &dyn fmt::Display| Error::Credentials(error.to_string());
        match self {
            // The caller has given this header itself.
            Self::Header(name, _) if head.headers.contains_key(name) => {}
            Self::Bearer(_) if head.headers.contains_key(AUTHORIZATION) => {}
            Self::Header(name, value) => {
                head.headers.insert(name, value.clone());
            }
            Self::Bearer(tokens) => {
                head.headers.insert(AUTHORIZATION, tokens.bearer().await?);
            }
            Self::Cookie(_, pair) => {
                let others = head.headers.get_all(COOKIE).iter();
                let others = others.filter_map(|value| value.to_str().ok());
                let all: Vec<_> = others.chain([pair.expose()]).collect();
                let mut all =
                    HeaderValue::from_str(&all.join("; ")).map_err(|error| unfit(&error))?;
                all.set_sensitive(true);
                head.headers.insert(COOKIE, all);
            }
            Self::Query(_, pair) => {
                let target = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
                let mark = if target.contains('?') { '&' } else { '?' };
                let target = format!("{target}{mark}{}", pair.expose());
                let mut parts = head.uri.clone().into_parts();
                parts.path_and_query = Some(target.parse().map_err(|_| too_long())?);
                head.uri = http::Uri::from_parts(parts).map_err(|error| unfit(&error))?;
                hide(head, pair);
            }
            Self::Custom(credentials) => credentials.attach(head).await?,
        }
        Ok(())
    }
}

fn too_long() -> Error {
    Error::Credentials("the key is too long for the query".to_owned())
}

/// Returns whether a header controls how a message is read or routed, or what is requested: a card
/// cannot ask for a key there. `Cookie` is placed separately.
fn is_reserved(name: &HeaderName) -> bool {
    const NAMES: &[&str] = &[
        "accept",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "forwarded",
        "host",
        "keep-alive",
        "last-event-id",
        "origin",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    ];
    let name = name.as_str();
    NAMES.contains(&name)
        || ["a2a-", "proxy-", "sec-", "x-a2a-", "x-forwarded-"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Names the place, never the value.
impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name, _) => write!(f, "header {name}"),
            Self::Query(name, _) => write!(f, "query {name:?}"),
            Self::Cookie(name, _) => write!(f, "cookie {name:?}"),
            Self::Bearer(_) => f.write_str("bearer token"),
            Self::Custom(_) => f.write_str("custom"),
        }
    }
}
