//! The header `Retry-After`.

use std::time::{Duration, SystemTime};

use http::header::{HeaderMap, RETRY_AFTER};

/// Returns how long a peer wants to be left alone, by its header `Retry-After`: seconds, or a date (RFC 9110
/// §10.2.3). A date that has passed gives a zero duration; a header that is neither counts as absent.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    Some(match is_number {
        // A number too large for us is a long time.
        true => Duration::from_secs(text.parse().unwrap_or(u64::MAX)),
        false => {
            let date = httpdate::parse_http_date(text).ok()?;
            date.duration_since(now).unwrap_or_default()
        }
    })
}

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;

    #[test]
    fn seconds_and_dates_are_read_and_nothing_else() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (text, expected) in [
            ("0", Some(0)),
            ("1", Some(1)),
            (" 120 ", Some(120)),
            ("0120", Some(120)),
            ("86400", Some(86_400)),
            ("86401", Some(86_401)),
            ("99999999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sunday, 06-Nov-94 08:50:07 GMT", Some(30)),
            ("Sun Nov  6 08:50:07 1994", Some(30)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("Thu, 31 Dec 2099 23:59:59 GMT", Some(3_318_333_022)),
            ("Fri, 31 Dec 2099 23:59:59 GMT", None),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1s", None),
            ("soon", None),
            ("1994-11-06T08:50:07Z", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            let found = retry_after(&headers, now).map(|after| after.as_secs());
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
