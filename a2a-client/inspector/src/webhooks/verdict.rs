//! Verdicts on a notification: what a strict receiver would check.

use a2a_transport::webhook::{
    Jwks, MAX_CLOCK_DIFFERENCE, ParsedNotification, Secret, TOKEN_HEADERS, WEBHOOK_ID,
    WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, hex_digest, key_id,
};
use a2a_types::{Event, TaskState, Timestamp};
use http::header::{AUTHORIZATION, HeaderMap, HeaderName};
use serde::Serialize;
use subtle::ConstantTimeEq;

/// Result of one check.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdict {
    check: &'static str,
    pub(crate) ok: bool,
    message: String,
}

impl Verdict {
    pub(crate) fn new(check: &'static str, result: Result<String, String>) -> Self {
        let ok = result.is_ok();
        let (Ok(message) | Err(message)) = result;
        Self { check, ok, message }
    }

    /// Returns whether a receiver refuses the notification because of it. Duplicate and late
    /// notifications are not refused.
    pub(crate) fn refuses(&self) -> Option<&'static str> {
        let is_grave = !self.ok && !matches!(self.check, "order" | "duplicate");
        is_grave.then_some(self.check)
    }
}

/// Checks the token of the configuration.
pub(crate) fn token(expected: &str, headers: &HeaderMap) -> Verdict {
    let names = TOKEN_HEADERS;
    let shown = || {
        let named = names.iter().map(|name| (name, headers.get_all(name)));
        named.flat_map(|(name, values)| values.iter().map(move |value| (name, value)))
    };
    let result = match shown().next() {
        None => Err(format!("missing: expected in `{}`", names[0])),
        Some((name, _)) => {
            let is_right = |value: &[u8]| bool::from(value.ct_eq(expected.as_bytes()));
            match shown().find(|(_, value)| !is_right(value.as_bytes())) {
                None => Ok(format!("right, in `{name}`")),
                Some((name, _)) => Err(format!("wrong, in `{name}`")),
            }
        }
    };
    Verdict::new("token", result)
}

/// Checks a signature by Standard Webhooks; `now` in seconds since the Unix epoch.
pub(crate) fn signature(secret: &Secret, headers: &HeaderMap, body: &[u8], now: u64) -> Verdict {
    let checked = || {
        let id = only(headers, &WEBHOOK_ID)?;
        let timestamp = only(headers, &WEBHOOK_TIMESTAMP)?;
        let signatures = only(headers, &WEBHOOK_SIGNATURE)?;
        let time: u64 = timestamp.parse().map_err(|_| {
            format!("`{WEBHOOK_TIMESTAMP}`: expected seconds since 1970, found {timestamp:?}")
        })?;
        if time.abs_diff(now) > MAX_CLOCK_DIFFERENCE {
            let distance = time.abs_diff(now);
            return Err(format!(
                "`{WEBHOOK_TIMESTAMP}` is {distance} s from now: at most {MAX_CLOCK_DIFFERENCE} s are accepted"
            ));
        }
        match secret.verify(id, time, body, signatures, now) {
            true => Ok("right, by Standard Webhooks".to_owned()),
            false => Err(format!(
                "`{WEBHOOK_SIGNATURE}` is not by the key: {signatures:?}"
            )),
        }
    };
    Verdict::new("signature", checked())
}

/// Returns the token of `Authorization: Bearer`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &AUTHORIZATION).ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// Checks a JSON Web Token by the agent's keys; `now` in seconds since the Unix epoch. Returns the id of the
/// delivery that the token names, too.
pub(crate) fn json_web_token(
    keys: Result<Jwks, String>,
    headers: &HeaderMap,
    body: &[u8],
    now: u64,
) -> (Verdict, Option<String>) {
    let mut id = None;
    let checked = || {
        let token =
            bearer(headers).ok_or("missing: expected a JSON Web Token in `authorization`")?;
        let keys = keys?;
        let kid = key_id(token).map_err(|error| error.to_string())?;
        let key = keys.find(kid.as_deref()).ok_or_else(|| match &kid {
            Some(kid) => format!("the agent publishes no key {kid:?}"),
            None => "the token names no key, and the agent publishes several or none".to_owned(),
        })?;
        let claims = key
            .verify_without_expiry(token, now)
            .map_err(|error| error.to_string())?;
        id = claims.jti;
        match claims.request_body_sha256 {
            Some(digest) if digest.eq_ignore_ascii_case(&hex_digest(body)) => {
                Ok("right, by a JSON Web Token".to_owned())
            }
            Some(_) => Err("the token is for another body".to_owned()),
            None => Err("the token has no `request_body_sha256`: it would fit any body".to_owned()),
        }
    };
    let verdict = Verdict::new("signature", checked());
    (verdict, id)
}

/// Returns a header that is there once.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<&'h str, String> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Err(format!("missing: expected `{name}`")),
        (Some(_), Some(_)) => Err(format!("`{name}` is there twice")),
        (Some(value), None) => value.to_str().map_err(|_| format!("`{name}` is not ASCII")),
    }
}

/// Checks whether a body is a notification of a known form.
pub(crate) fn body(notice: &Result<ParsedNotification, String>) -> Verdict {
    let result = match notice {
        Err(problem) => Err(problem.clone()),
        Ok(ParsedNotification {
            event: Some(event),
            protocol_version,
            ..
        }) => {
            let kind = match event {
                Event::Task(_) => "a task",
                Event::Message(_) => "a message",
                Event::StatusUpdate(_) => "a status",
                Event::ArtifactUpdate(_) => "an artifact",
            };
            Ok(format!("{kind} in version {}", protocol_version.version()))
        }
        Ok(ParsedNotification { task: Some(_), .. }) => {
            Ok("of no known form, but it names a task: its receiver asks the agent".to_owned())
        }
        Ok(_) => Err("of no known form, and without a task".to_owned()),
    };
    Verdict::new("body", result)
}

/// Progress of a task, according to its notifications.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Number of the notification.
    pub(crate) number: u64,
    state: Option<TaskState>,
    time: Option<Timestamp>,
}

impl Progress {
    pub(crate) fn of(number: u64, event: &Event) -> Self {
        let status = event.status();
        Self {
            number,
            state: status.map(|status| status.state),
            time: status.and_then(|status| status.timestamp),
        }
    }

    /// Checks whether this may follow what was notified before.
    pub(crate) fn follows(&self, before: &Self) -> Verdict {
        let number = before.number;
        let result = match (before.time, self.time) {
            (Some(old), Some(new)) if new < old => Err(format!(
                "its status is of {new}, and that of notification {number} of {old}"
            )),
            (Some(old), Some(new)) if new > old => Ok(format!("after notification {number}")),
            _ => {
                let has_ended = before.state.is_some_and(TaskState::is_terminal);
                match has_ended && self.state != before.state {
                    true => Err(format!("the task had ended with notification {number}")),
                    false => Ok(format!("after notification {number}")),
                }
            }
        };
        Verdict::new("order", result)
    }

    /// Adds what comes after: an artifact has no status.
    pub(crate) fn advance(&mut self, next: &Self) {
        self.number = next.number;
        if next.state.is_some() {
            self.state = next.state;
            self.time = next.time;
        }
    }
}
