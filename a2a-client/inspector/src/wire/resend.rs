//! Requests that the page edits and sends again.

use std::fmt::Display;
use std::time::Duration;

use a2a_client::credentials::{shown_header, shown_text};
use a2a_client::{HttpClient, Origin, ResponseObserver};
use a2a_transport::http::grpc::frame_request;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use http_body_util::{BodyExt, Full};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::exchange::{Body, Exchange, MASK, Request, Source, is_secret};
use super::grpc::is_grpc;
use super::log::{ExchangeLog, MAX_RESENDS};
use super::recording::Recording;
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
    /// By gRPC, the JSON of the message.
    #[serde(default)]
    body: String,
}

/// Time after which an answer is given up.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(600);

impl Resend {
    /// Sends the request, and returns the number of its exchange. `***` in a header or in the query stands for the
    /// value in the original, which goes only to the origin that it was sent to. So do the connections of its agent:
    /// `client` gets the original if its origin is that of the request.
    ///
    /// Errors: it is not an HTTP request, or by gRPC not a message of the method; it has a masked value for which there is no original; it goes to another
    /// origin; too many are open.
    pub(crate) fn send(
        self,
        original: Option<&Exchange>,
        client: impl FnOnce(Option<&Exchange>) -> Result<HttpClient, Problem>,
        log: &ExchangeLog,
    ) -> Result<u64, Problem> {
        let method: Method = self
            .method
            .parse()
            .map_err(|error| invalid("method", error))?;
        let origin = Origin::of(&self.url).map_err(|error| invalid("URL", error))?;
        let original =
            original.filter(|original| Origin::of(&original.request.url).ok() == Some(origin));
        let url = unmasked_url(&self.url, original).ok_or_else(|| masked("the URL"))?;
        let uri: Uri = url.parse().map_err(|error| invalid("URL", error))?;
        let headers = headers(self.headers, original)?;
        let is_grpc = is_grpc(&headers);
        let body = match is_grpc {
            true => frame_request(uri.path(), self.body.as_bytes())
                .map_err(|error| invalid("body", error))?,
            false => self.body.into(),
        };
        let permit = log.resend_permit().ok_or_else(|| {
            Problem::conflict(format!("{MAX_RESENDS} requests wait for their answers"))
        })?;
        let http = client(original)?;
        let agent = original.and_then(|original| original.source.agent());
        let sent = Request {
            method: method.clone(),
            shown_url: shown_text(&self.url).into_owned(),
            url,
            http_version: None,
            headers: headers.clone(),
            body: Body::of(&body),
        };
        let recording = Recording::begin(log, Source::Resend(agent.map(str::to_owned)), sent);
        let number = recording.number();
        let mut request = http::Request::new(Full::from(body));
        if is_grpc {
            *request.version_mut() = Version::HTTP_2;
        }
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        tokio::spawn(answer(http, request, recording, permit));
        Ok(number)
    }
}

fn invalid(what: &str, problem: impl Display) -> Problem {
    Problem::bad_request(format!("the {what} cannot be sent: {problem}"))
}

fn masked(place: &str) -> Problem {
    let problem = "is masked, and its value is sent only to the origin that it was sent to before";
    Problem::bad_request(format!("{place} {problem}")).hint("enter the value, or remove it")
}

/// Reads headers as edited. Of several values of a name, one with a mask stands for that in the same place.
fn headers(
    edited: Vec<(String, String)>,
    original: Option<&Exchange>,
) -> Result<HeaderMap, Problem> {
    let mut headers = HeaderMap::new();
    for (name, text) in edited {
        let name: HeaderName = name.parse().map_err(|error| invalid("header", error))?;
        if COMPUTED.contains(&name) {
            continue;
        }
        let place = headers.get_all(&name).iter().count();
        let values = original.map(|original| original.request.headers.get_all(&name));
        let before = values.and_then(|values| values.iter().nth(place));
        let as_shown = before.filter(|before| shown_header(name.as_str(), before) == text);
        let (mut value, was_secret): (HeaderValue, bool) = match as_shown {
            Some(before) => (before.clone(), before.is_sensitive()),
            None if text == MASK => return Err(masked(&format!("the header `{name}`"))),
            None => (
                text.parse().map_err(|error| invalid("header", error))?,
                before.is_some_and(HeaderValue::is_sensitive),
            ),
        };
        value.set_sensitive(was_secret || is_secret(&name, &value));
        headers.append(name, value);
    }
    Ok(headers)
}

/// Headers that the connection decides.
const COMPUTED: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];

/// Returns the HTTP client for a request to an agent that is not connected: cleartext HTTP/2 where the original had it.
pub(crate) fn plain_client(original: Option<&Exchange>) -> HttpClient {
    let version = original.and_then(|original| Some(original.response.as_ref()?.http_version));
    let is_clear = original.is_some_and(|original| original.request.url.starts_with("http:"));
    match version == Some(Version::HTTP_2) && is_clear {
        true => HttpClient::builder().http2_only().build(),
        false => HttpClient::default(),
    }
}

/// Returns a URL with the original values in place of the masked ones; `None` if one is not known.
fn unmasked_url(url: &str, from: Option<&Exchange>) -> Option<String> {
    let split = |url: &str| -> (String, Option<String>) {
        let halves = url.split_once('?');
        let (place, query) = halves.map_or((url, None), |(place, query)| (place, Some(query)));
        (place.to_owned(), query.map(str::to_owned))
    };
    let (place, query) = split(url);
    let shown = from.map(|from| split(&from.request.shown_url).0);
    let original = from.map(|from| split(&from.request.url));
    let (original, parameters) = original.unwrap_or_default();
    let place = match place.contains(MASK) {
        true if shown.as_deref() == Some(&place) => original,
        true => return None,
        false => place,
    };
    let Some(query) = query else {
        return Some(place);
    };
    let parameters = parameters.unwrap_or_default();
    let filled = query.split('&').map(|pair| {
        let Some(name) = pair.strip_suffix(MASK) else {
            return Some(pair);
        };
        parameters
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
                } else if let Some(trailers) = frame.trailers_ref() {
                    recording.trailers(trailers);
                }
            }
            Err(error) => return recording.end(Some(&error)),
        }
    }
    recording.end(None);
}
