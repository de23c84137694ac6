//! Requests that the page edits and sends again.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use a2a_client::{HttpClient, Origin, ResponseObserver};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use http_body_util::{BodyExt, Full};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::exchange::{Body, Exchange, MASK, Request, Source, is_credential};
use super::log::{ExchangeLog, Recording};
use crate::problem::Problem;

/// A request as edited.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Resend {
    /// The exchange whose request was edited.
    pub(crate) from: Option<u64>,
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: String,
}

/// Requests that wait for the end of their answers.
static OPEN: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(MAX_OPEN)));

/// Maximum number of open requests.
const MAX_OPEN: usize = 32;
/// Time after which an answer is given up.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(600);

impl Resend {
    /// Sends the request, and returns the number of its exchange. `***` in a header or in the query stands for the
    /// value in the original, which goes only to the origin that it was sent to. So do the connections of its agent:
    /// `client` gets the original if its origin is that of the request.
    ///
    /// Errors: it is no HTTP request; it has a masked value for which there is no original; it goes to another
    /// origin; too many are open.
    pub(crate) fn send(
        self,
        original: Option<&Exchange>,
        client: impl FnOnce(Option<&Exchange>) -> Result<HttpClient, Problem>,
        log: &ExchangeLog,
    ) -> Result<u64, Problem> {
        let invalid = |what: &str, problem: &dyn std::fmt::Display| {
            Problem::bad_request(format!("the {what} cannot be sent: {problem}"))
        };
        let method: Method = self
            .method
            .parse()
            .map_err(|error| invalid("method", &error))?;
        let origin = Origin::of(&self.url).map_err(|error| invalid("URL", &error))?;
        let from =
            original.filter(|original| Origin::of(&original.request.url).ok() == Some(origin));
        let masked = |place: &str| match original {
            Some(_) => Problem::bad_request(format!(
                "{place} is masked, and its value is sent only to the origin that it was sent to"
            ))
            .hint("Enter the value, or remove it."),
            None => Problem::bad_request(format!("{place} is masked, and there is no original"))
                .hint("Enter the value, or remove it."),
        };
        let url = unmasked_url(&self.url, from).ok_or_else(|| masked("the query"))?;
        let uri: Uri = url.parse().map_err(|error| invalid("URL", &error))?;
        let mut headers = HeaderMap::new();
        let mut places = Vec::new();
        for (name, text) in self.headers {
            let name: HeaderName = name.parse().map_err(|error| invalid("header", &error))?;
            let place = places.iter().filter(|other| **other == name).count();
            places.push(name.clone());
            if COMPUTED.contains(&name) {
                continue;
            }
            let value = match text == MASK {
                true => from
                    .and_then(|from| from.request.headers.get_all(&name).iter().nth(place))
                    .cloned()
                    .ok_or_else(|| masked(&format!("the header `{name}`")))?,
                false => {
                    let value: HeaderValue =
                        text.parse().map_err(|error| invalid("header", &error))?;
                    value
                }
            };
            headers.append(name, sensitive(value, &text, &places));
        }
        let permit = Arc::clone(&OPEN).try_acquire_owned().map_err(|_| {
            Problem::conflict(format!("{MAX_OPEN} requests wait for their answers"))
        })?;
        let http = client(from)?;
        let agent = from.and_then(|original| original.source.agent());
        let source = Source::Resend(agent.map(str::to_owned));
        let recording = log.begin(
            source,
            Request {
                method: method.clone(),
                shown_url: self.url,
                url,
                http_version: None,
                headers: headers.clone(),
                body: Body::of(self.body.as_bytes()),
            },
        );
        let number = recording.number();
        let mut request = http::Request::new(Full::from(self.body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        tokio::spawn(answer(http, request, recording, permit));
        Ok(number)
    }
}

/// Headers that the connection decides.
const COMPUTED: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];

/// Marks a value that was masked, or is known to be a secret.
fn sensitive(mut value: HeaderValue, text: &str, places: &[HeaderName]) -> HeaderValue {
    let is_known = places.last().is_some_and(is_credential);
    value.set_sensitive(text == MASK || is_known);
    value
}

/// Returns the HTTP client for a request to an agent that is not connected: cleartext HTTP/2 where the original had it.
pub(crate) fn plain_client(original: Option<&Exchange>) -> HttpClient {
    let version = original.and_then(|original| Some(original.response.as_ref()?.http_version));
    let is_clear = original.is_some_and(|original| original.request.url.starts_with("http:"));
    match version == Some(Version::HTTP_2) && is_clear {
        true => HttpClient::builder().http2_only().build(),
        false => HttpClient::default(),
    }
}

/// Returns a URL with the original values of its masked parameters; `None` if there is none for one of them.
fn unmasked_url(url: &str, from: Option<&Exchange>) -> Option<String> {
    let Some((place, query)) = url.split_once('?') else {
        return Some(url.to_owned());
    };
    let original = from.map_or("", |from| &from.request.url);
    let original = original.split_once('?').map_or("", |(_, query)| query);
    let filled = query.split('&').map(|pair| {
        let Some(name) = pair.strip_suffix(MASK) else {
            return Some(pair);
        };
        original
            .split('&')
            .find(|pair| name.ends_with('=') && pair.starts_with(name))
    });
    let filled: Option<Vec<_>> = filled.collect();
    Some(format!("{place}?{}", filled?.join("&")))
}

async fn answer(
    http: HttpClient,
    request: http::Request<Full<Bytes>>,
    mut recording: Recording,
    _permit: OwnedSemaphorePermit,
) {
    let answered = timeout(MAX_ANSWER_TIME, receive(http, request, &mut recording)).await;
    if answered.is_err() {
        let seconds = MAX_ANSWER_TIME.as_secs();
        recording.finish(Some(format!("the answer did not end within {seconds} s")));
    }
}

async fn receive(http: HttpClient, request: http::Request<Full<Bytes>>, recording: &mut Recording) {
    let response = match http.fetch(request).await {
        Ok(response) => response,
        Err(error) => return recording.end(Some(&error)),
    };
    let (head, mut body) = response.into_parts();
    recording.head(&head);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => {
                if let Some(data) = frame.data_ref() {
                    recording.data(data);
                }
            }
            Err(error) => return recording.end(Some(&error)),
        }
    }
    recording.end(None);
}
