//! Credentials of a request, to be passed on to the agent.

use std::fmt;
use std::sync::Arc;

use a2a_types::{AgentCard, SecurityScheme};
use http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};

use crate::http::message::address::bad_address;
use crate::{BoxFuture, Credentials, Error};

/// Places of a request that carry credentials: `Authorization`, and where the API keys of a card are.
#[derive(Clone, Debug)]
pub struct CredentialPlaces {
    headers: Vec<HeaderName>,
    cookies: Vec<String>,
    parameters: Vec<String>,
}

impl CredentialPlaces {
    /// Returns the places that the security schemes of an agent's card name.
    pub fn of(card: &AgentCard) -> Self {
        let mut places = Self {
            headers: vec![AUTHORIZATION],
            cookies: Vec::new(),
            parameters: Vec::new(),
        };
        for scheme in card.security_schemes.values() {
            let SecurityScheme::ApiKeySecurityScheme(key) = scheme else {
                continue;
            };
            match key.location.as_str() {
                "header" => places.headers.extend(key.name.parse::<HeaderName>()),
                "cookie" => places.cookies.push(key.name.clone()),
                "query" => places.parameters.push(key.name.clone()),
                _ => {}
            }
        }
        places
    }

    /// Returns the credentials of a request; `None` if it has none.
    pub(super) fn read(&self, head: &Parts) -> Option<Arc<dyn Credentials>> {
        let mut headers = HeaderMap::new();
        for name in &self.headers {
            if let Some(value) = head.headers.get(name) {
                headers.insert(name.clone(), value.clone());
            }
        }
        let is_named = |cookie: &&str| {
            let (name, _) = cookie.split_once('=').unwrap_or_default();
            self.cookies.iter().any(|known| known == name.trim())
        };
        let sent = head.headers.get_all(COOKIE).iter();
        let sent = sent.filter_map(|value| value.to_str().ok());
        let cookies: Vec<_> = sent
            .flat_map(|value| value.split(';').map(str::trim))
            .filter(is_named)
            .collect();
        if !cookies.is_empty()
            && let Ok(value) = HeaderValue::from_str(&cookies.join("; "))
        {
            headers.insert(COOKIE, value);
        }
        headers
            .values_mut()
            .for_each(|value| value.set_sensitive(true));
        let query = head.uri.query().unwrap_or_default();
        let parameters = form_urlencoded::parse(query.as_bytes());
        let parameters: Vec<_> = parameters
            .filter(|(name, _)| self.parameters.iter().any(|known| known == name))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        let is_empty = headers.is_empty() && parameters.is_empty();
        (!is_empty).then(|| {
            Arc::new(PassedCredentials {
                headers,
                parameters,
            }) as Arc<dyn Credentials>
        })
    }
}

/// Credentials that came with a request.
struct PassedCredentials {
    headers: HeaderMap,
    parameters: Vec<(String, String)>,
}

impl Credentials for PassedCredentials {
    fn attach<'a>(&'a self, head: &'a mut Parts) -> BoxFuture<'a, Result<(), Error>> {
        head.headers.extend(self.headers.clone());
        let attached = match self.parameters.is_empty() {
            true => Ok(()),
            false => with_parameters(&head.uri, &self.parameters).map(|uri| head.uri = uri),
        };
        Box::pin(std::future::ready(attached))
    }

    fn size(&self) -> usize {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| 2 * name.as_str().len() + value.len());
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(name, value)| name.capacity() + value.capacity());
        headers.chain(parameters).sum()
    }
}

/// Shows no values.
impl fmt::Debug for PassedCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter().map(|(name, _)| name.as_str());
        let names = self
            .headers
            .keys()
            .map(HeaderName::as_str)
            .chain(parameters);
        f.debug_list().entries(names).finish()
    }
}

fn with_parameters(uri: &Uri, parameters: &[(String, String)]) -> Result<Uri, Error> {
    let own = uri.query().unwrap_or_default();
    let query = form_urlencoded::Serializer::new(own.to_owned())
        .extend_pairs(parameters)
        .finish();
    let target = format!("{}?{query}", uri.path());
    let mut parts = uri.clone().into_parts();
    // The error must not repeat the credentials.
    let parsed = target.parse::<PathAndQuery>();
    parts.path_and_query = Some(parsed.map_err(|error| bad_address(uri.path(), error))?);
    Uri::from_parts(parts).map_err(|error| bad_address(uri.path(), error))
}

#[cfg(test)]
mod tests {
    use a2a_types::ApiKeySecurityScheme;
    use http::Request;

    use super::*;

    #[tokio::test]
    async fn only_credentials_that_the_card_names_are_passed_on() {
        let mut card = AgentCard::new("a", "b");
        for (location, name) in [("header", "X-Key"), ("cookie", "sid"), ("query", "key")] {
            let scheme = ApiKeySecurityScheme {
                location: location.to_owned(),
                name: name.to_owned(),
                ..ApiKeySecurityScheme::default()
            };
            let scheme = SecurityScheme::ApiKeySecurityScheme(scheme);
            card.security_schemes.insert(name.to_owned(), scheme);
        }
        let places = CredentialPlaces::of(&card);
        let head = |request: http::request::Builder| request.body(()).unwrap().into_parts().0;
        let sent = Request::post("http://gateway/?other=1&key=s%26t")
            .header("authorization", "Bearer t0ken")
            .header("x-key", "k")
            .header("x-other", "o")
            .header("cookie", "theme=dark; sid=5");
        let credentials = places.read(&head(sent)).unwrap();
        let shown = format!("{credentials:?}");
        assert!(!shown.contains("t0ken") && !shown.contains('&'), "{shown}");
        let mut agents = head(Request::post("http://agent/rpc?v=1"));
        credentials.attach(&mut agents).await.unwrap();
        assert_eq!(agents.uri, "http://agent/rpc?v=1&key=s%26t");
        assert_eq!(agents.headers["authorization"], "Bearer t0ken");
        assert_eq!(agents.headers["x-key"], "k");
        assert_eq!(agents.headers["cookie"], "sid=5");
        assert_eq!(agents.headers.len(), 3);
        let without = head(Request::post("http://gateway/").header("x-other", "o"));
        assert!(places.read(&without).is_none());
    }
}
