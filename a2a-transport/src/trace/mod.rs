//! The trace that a request belongs to: `traceparent` and `tracestate` of W3C Trace Context.

use std::fmt;
use std::sync::Arc;

use http::header::{HeaderMap, HeaderName, HeaderValue};

/// The trace that a request belongs to, and the span in it that sent the request. [W3C Trace
/// Context](https://www.w3.org/TR/trace-context/).
///
/// It grants nothing, and no request is refused for a bad one: a context that cannot be read is ignored.
#[derive(Clone, Eq, PartialEq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    parent_id: [u8; 8],
    flags: u8,
    state: Option<Arc<str>>,
}

impl TraceContext {
    /// Makes the context of a span that is recorded or not; `None` if one of the ids is zero, which is none.
    pub fn new(trace_id: [u8; 16], parent_id: [u8; 8], is_sampled: bool) -> Option<Self> {
        Self::with_flags(trace_id, parent_id, u8::from(is_sampled) * SAMPLED)
    }

    /// Reads the headers of a request; `None` if `traceparent` is missing, bad, or there twice. A bad
    /// `tracestate` is ignored.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let mut parents = headers.get_all(&TRACEPARENT).iter();
        let (parent, None) = (parents.next()?, parents.next()) else {
            return None;
        };
        let mut trace = Self::read_parent(parent.to_str().ok()?)?;
        trace.state = joined(headers).and_then(|state| read_state(&state));
        Some(trace)
    }

    /// Reads the values of the two headers, as [`read`](Self::read) does.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut trace = Self::read_parent(traceparent)?;
        trace.state = tracestate.and_then(read_state);
        Some(trace)
    }

    /// Returns the same with another `tracestate`: the one given, or none if it is bad.
    pub fn with_state(mut self, tracestate: &str) -> Self {
        self.state = read_state(tracestate);
        self
    }

    /// Writes the headers of a request, in place of those it has.
    pub fn write(&self, headers: &mut HeaderMap) {
        headers.remove(&TRACEPARENT);
        headers.remove(&TRACESTATE);
        // It is hexadecimal, so it can be a header; and so can what was read from one.
        if let Ok(parent) = HeaderValue::try_from(self.traceparent()) {
            headers.insert(&TRACEPARENT, parent);
        }
        if let Some(Ok(state)) = self.tracestate().map(HeaderValue::from_str) {
            headers.insert(&TRACESTATE, state);
        }
    }

    /// Returns the value of the header `traceparent`, in version 00.
    pub fn traceparent(&self) -> String {
        let trace_id = u128::from_be_bytes(self.trace_id);
        let parent_id = u64::from_be_bytes(self.parent_id);
        format!("00-{trace_id:032x}-{parent_id:016x}-{:02x}", self.flags)
    }

    /// Returns the value of the header `tracestate`: entries of the systems on the way.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the id of the trace.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// Returns the id of the span that sent the request.
    pub fn parent_id(&self) -> [u8; 8] {
        self.parent_id
    }

    /// Returns whether the sender may have recorded the span.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Creates a context, or returns `None` if an id is zero.
    fn with_flags(trace_id: [u8; 16], parent_id: [u8; 8], flags: u8) -> Option<Self> {
        let is_one = trace_id != [0; 16] && parent_id != [0; 8];
        is_one.then_some(Self {
            trace_id,
            parent_id,
            flags,
            state: None,
        })
    }

    /// Reads `traceparent`: §3.2, and §4.3 for later versions, which begin like this one and may continue after
    /// a dash.
    fn read_parent(text: &str) -> Option<Self> {
        let mut fields = text.trim_matches(WHITE).splitn(5, '-');
        let version = number(fields.next()?, 2)?;
        let trace_id = number(fields.next()?, 32)?.to_be_bytes();
        let parent_id = u64::try_from(number(fields.next()?, 16)?)
            .ok()?
            .to_be_bytes();
        let flags = u8::try_from(number(fields.next()?, 2)?).ok()?;
        let known = match (version, fields.next()) {
            (0, None) => u8::MAX,
            (0, Some(_)) | (255, _) => return None,
            // A later version may give the other flags another meaning, and version 0 is written here.
            _ => SAMPLED,
        };
        Self::with_flags(trace_id, parent_id, flags & known)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.traceparent())
    }
}

/// Leaves out `tracestate`, which belongs to other systems.
impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceContext({self})")
    }
}

/// Returns the lines of `tracestate` as one, unless that would be too long.
fn joined(headers: &HeaderMap) -> Option<String> {
    let mut whole = String::new();
    for line in headers.get_all(&TRACESTATE) {
        let line = line.to_str().ok()?.trim_matches(WHITE);
        if whole.len() + line.len() > MAX_STATE {
            return None;
        }
        if !whole.is_empty() {
            whole.push(',');
        }
        whole.push_str(line);
    }
    Some(whole)
}

/// Reads `tracestate`, a list of members (§3.3). Returns it without empty members and without the spaces
/// around members.
fn read_state(text: &str) -> Option<Arc<str>> {
    if text.len() > MAX_STATE {
        return None;
    }
    let mut read = String::with_capacity(text.len());
    let members = text.split(',').map(|member| member.trim_matches(WHITE));
    for (count, member) in members.filter(|member| !member.is_empty()).enumerate() {
        let (key, value) = member.split_once('=')?;
        if count >= MAX_MEMBERS || !is_key(key) || !is_value(value) {
            return None;
        }
        if count > 0 {
            read.push(',');
        }
        read.push_str(member);
    }
    (!read.is_empty()).then(|| read.into())
}

/// Returns whether this is a key by §3.3.1.3.1, with the tenants of level 1 among the keys.
fn is_key(key: &str) -> bool {
    let first = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let later = |byte: &u8| first(byte) || b"_-*/@".contains(byte);
    match key.as_bytes() {
        [begin, rest @ ..] => first(begin) && rest.len() < MAX_LENGTH && rest.iter().all(later),
        [] => false,
    }
}

/// Returns whether this is a value by §3.3.1.3.2. The spaces around it have been removed, so that it ends
/// with a visible character.
fn is_value(value: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
    (1..=MAX_LENGTH).contains(&value.len()) && value.bytes().all(allowed)
}

/// Returns the number in `count` lower-case hexadecimal digits.
fn number(digits: &str, count: usize) -> Option<u128> {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_number = digits.len() == count && digits.bytes().all(is_digit);
    is_number.then(|| u128::from_str_radix(digits, 16).ok())?
}

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
static TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// White space around values and members.
const WHITE: [char; 2] = [' ', '\t'];

/// The flag that the caller may have recorded the span.
const SAMPLED: u8 = 1;

/// Maximum number of members of a `tracestate`.
const MAX_MEMBERS: usize = 32;
/// Maximum number of characters of a `tracestate`: as many as every implementation passes on (§3.3.1.5).
const MAX_STATE: usize = 512;
/// Maximum length of a key or a value.
const MAX_LENGTH: usize = 256;

#[cfg(test)]
mod tests;
