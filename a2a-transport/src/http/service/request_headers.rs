//! Headers and parameters of a request, read in one pass.

use std::borrow::Cow;

use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use http::request::Parts;

use crate::Claims;
use crate::http::message::extensions;
use crate::http::message::media;

/// Headers and query of a request, read in one pass, which is faster than one lookup for each. If a header
/// occurs twice, the first one counts.
#[derive(Default)]
pub(super) struct RequestHeaders<'h> {
    version: Option<&'h HeaderValue>,
    user_id: Option<&'h HeaderValue>,
    user_agent: Option<&'h HeaderValue>,
    last_event_id: Option<&'h HeaderValue>,
    content_type: Option<&'h HeaderValue>,
    query: Option<&'h str>,
    /// The extensions that the caller wants active, by URI.
    pub(super) extensions: Vec<String>,
}

impl<'h> RequestHeaders<'h> {
    pub(super) fn read(head: &'h Parts) -> Self {
        let mut headers = Self {
            query: head.uri.query(),
            ..Self::default()
        };
        for (name, value) in &head.headers {
            let place = match name {
                name if *name == VERSION => &mut headers.version,
                name if *name == USER_ID => &mut headers.user_id,
                name if *name == USER_AGENT => &mut headers.user_agent,
                name if *name == LAST_EVENT_ID => &mut headers.last_event_id,
                name if *name == CONTENT_TYPE => &mut headers.content_type,
                name => {
                    if extensions::is_named(name) {
                        headers.extensions.extend(extensions::listed(value));
                    }
                    continue;
                }
            };
            place.get_or_insert(value);
        }
        headers
    }

    /// Returns `A2A-Version`, from the header or the query. Specification 1.0 §3.6.1.
    pub(super) fn version(&self) -> Option<Cow<'h, str>> {
        if let Some(version) = text(self.version) {
            return Some(version.into());
        }
        let mut parameters = form_urlencoded::parse(self.query?.as_bytes());
        let is_version = |name: &str| name.eq_ignore_ascii_case(VERSION.as_str());
        let (_, version) = parameters.find(|(name, _)| is_version(name))?;
        Some(version)
    }

    /// Returns the caller's unproven statements about itself.
    pub(super) fn claims(&self) -> Claims {
        Claims {
            user_id: text(self.user_id).map(Into::into),
            user_agent: self.user_agent().map(Into::into),
        }
    }

    pub(super) fn user_agent(&self) -> Option<&'h str> {
        text(self.user_agent)
    }

    /// Returns the last event that the caller has seen, if it resumes a stream.
    pub(super) fn last_event_id(&self) -> Option<u64> {
        text(self.last_event_id)?.trim().parse().ok()
    }

    /// Returns whether `Content-Type` is JSON of some kind, or is missing.
    pub(super) fn brings_json(&self) -> bool {
        self.content_type.is_none_or(media::is_json)
    }
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value?.to_str().ok()
}

static VERSION: HeaderName = HeaderName::from_static("a2a-version");
static USER_ID: HeaderName = HeaderName::from_static("x-user-id");
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
