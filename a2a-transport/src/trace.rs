//! The trace that a request belongs to: `traceparent` and `tracestate` of W3C Trace Context.

use std::fmt;
use std::sync::Arc;

use http::header::{HeaderMap, HeaderName, HeaderValue};

/// The trace that a request belongs to, and the span in it that sent the request. [W3C Trace
/// Context](https://www.w3.org/TR/trace-context/).
///
/// It identifies nothing that anybody may do, and nobody is refused for a bad one: what cannot be
/// read is not there.
///
/// It goes along with all that happens for a request, most of which has none: to clone it is cheap.
#[derive(Clone, Eq, PartialEq)]
pub struct TraceContext(Arc<Said>);

/// What is said of a trace.
#[derive(Clone, Eq, PartialEq)]
struct Said {
    trace_id: [u8; 16],
    parent_id: [u8; 8],
    flags: u8,
    state: Option<Arc<str>>,
}

impl TraceContext {
    /// A span of a trace, of which nothing is said but whether it is recorded; none if one of the ids
    /// is zero, which is none.
    pub fn new(trace_id: [u8; 16], parent_id: [u8; 8], is_sampled: bool) -> Option<Self> {
        let flags = u8::from(is_sampled) * SAMPLED;
        Said::new(trace_id, parent_id, flags).map(Self::from)
    }

    /// What the headers of a request say; nothing if `traceparent` is missing, bad, or there twice. A
    /// bad `tracestate` is as good as none.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let mut parents = headers.get_all(&TRACEPARENT).iter();
        let (parent, None) = (parents.next()?, parents.next()) else {
            return None;
        };
        let mut said = Said::read(parent.to_str().ok()?)?;
        said.state = joined(headers).and_then(|state| read_state(&state));
        Some(said.into())
    }

    /// What the values of the two headers say, as [`read`](Self::read) does.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut said = Said::read(traceparent)?;
        said.state = tracestate.and_then(read_state);
        Some(said.into())
    }

    /// The same with another `tracestate`: the one given, or none if it is bad.
    pub fn with_state(mut self, tracestate: &str) -> Self {
        Arc::make_mut(&mut self.0).state = read_state(tracestate);
        self
    }

    /// Says it in the headers of a request, in place of what they said.
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

    /// The value of the header `traceparent`, in version 00.
    pub fn traceparent(&self) -> String {
        let mut text = String::with_capacity(LENGTH);
        text.push_str("00");
        for part in [&self.0.trace_id[..], &self.0.parent_id, &[self.0.flags]] {
            text.push('-');
            for byte in part {
                text.extend([byte >> 4, byte & 15].map(digit));
            }
        }
        text
    }

    /// The value of the header `tracestate`: what the systems on the way want to be told again.
    pub fn tracestate(&self) -> Option<&str> {
        self.0.state.as_deref()
    }

    /// The trace.
    pub fn trace_id(&self) -> [u8; 16] {
        self.0.trace_id
    }

    /// The span that sent the request.
    pub fn parent_id(&self) -> [u8; 8] {
        self.0.parent_id
    }

    /// Whether the sender may have recorded the span.
    pub fn is_sampled(&self) -> bool {
        self.0.flags & SAMPLED != 0
    }
}

impl Said {
    /// An id that is zero is none.
    fn new(trace_id: [u8; 16], parent_id: [u8; 8], flags: u8) -> Option<Self> {
        let is_one = trace_id != [0; 16] && parent_id != [0; 8];
        is_one.then_some(Self {
            trace_id,
            parent_id,
            flags,
            state: None,
        })
    }

    /// §3.2 and, of later versions, §4.3: they begin like this one, and may go on behind a dash.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim_matches(WHITE).as_bytes();
        let (head, rest) = text.split_at_checked(LENGTH)?;
        let [version @ .., b'-'] = head.get(..3)? else {
            return None;
        };
        let [version] = bytes(version)?;
        let is_whole = match version {
            0 => rest.is_empty(),
            255 => false,
            _ => matches!(rest, [] | [b'-', ..]),
        };
        let (b'-', b'-', true) = (head[35], head[52], is_whole) else {
            return None;
        };
        let [flags] = bytes(&head[53..])?;
        // What the others mean in a later version is not known, and it is not that one we write.
        let known = if version == 0 { 255 } else { SAMPLED };
        Self::new(bytes(&head[3..35])?, bytes(&head[36..52])?, flags & known)
    }
}

impl From<Said> for TraceContext {
    fn from(said: Said) -> Self {
        Self(Arc::new(said))
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.traceparent())
    }
}

/// What a system on the way wrote into the state is nobody's business.
impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceContext({self})")
    }
}

/// The lines of `tracestate` as one, unless that would be too long.
fn joined(headers: &HeaderMap) -> Option<String> {
    let mut whole = String::new();
    for line in headers.get_all(&TRACESTATE) {
        let line = line.to_str().ok()?.trim_matches(WHITE);
        if whole.len() + line.len() > MOST_STATE {
            return None;
        }
        if !whole.is_empty() {
            whole.push(',');
        }
        whole.push_str(line);
    }
    Some(whole)
}

/// §3.3: a list of members, some of which may be empty. As it came, without those and the spaces
/// around members.
fn read_state(text: &str) -> Option<Arc<str>> {
    if text.len() > MOST_STATE {
        return None;
    }
    let mut kept = String::with_capacity(text.len());
    let members = text.split(',').map(|member| member.trim_matches(WHITE));
    for (count, member) in members.filter(|member| !member.is_empty()).enumerate() {
        let (key, value) = member.split_once('=')?;
        if count >= MOST_MEMBERS || !is_key(key) || !is_value(value) {
            return None;
        }
        if count > 0 {
            kept.push(',');
        }
        kept.push_str(member);
    }
    (!kept.is_empty()).then(|| kept.into())
}

/// §3.3.1.3.1, with the tenants of level 1 among the keys.
fn is_key(key: &str) -> bool {
    let first = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let later = |byte: &u8| first(byte) || b"_-*/@".contains(byte);
    match key.as_bytes() {
        [begin, rest @ ..] => first(begin) && rest.len() < LONGEST && rest.iter().all(later),
        [] => false,
    }
}

/// §3.3.1.3.2; it ends with something that can be seen, since the spaces around it are gone.
fn is_value(value: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
    (1..=LONGEST).contains(&value.len()) && value.bytes().all(allowed)
}

/// Pairs of lower-case hexadecimal digits, exactly as many as are wanted.
fn bytes<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let (pairs, []) = text.as_chunks::<2>() else {
        return None;
    };
    let mut read = [0; N];
    if pairs.len() != N {
        return None;
    }
    for (byte, [high, low]) in read.iter_mut().zip(pairs) {
        *byte = value(*high)? << 4 | value(*low)?;
    }
    Some(read)
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn digit(value: u8) -> char {
    char::from(if value < 10 {
        b'0' + value
    } else {
        b'a' + value - 10
    })
}

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
static TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// What may stand around values and members.
const WHITE: [char; 2] = [' ', '\t'];

/// How long a `traceparent` is in version 00.
const LENGTH: usize = 55;
/// The flag that the caller may have recorded the span.
const SAMPLED: u8 = 1;

/// How many members a `tracestate` may have.
const MOST_MEMBERS: usize = 32;
/// How many characters a `tracestate` may have: as many as everybody passes on (§3.3.1.5).
const MOST_STATE: usize = 512;
/// How long a key or a value may be.
const LONGEST: usize = 256;

#[cfg(test)]
mod tests;
