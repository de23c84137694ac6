//! The header `grpc-timeout`: how long a caller waits.

use std::time::Duration;

use http::HeaderMap;

/// Name of the header.
const NAME: &str = "grpc-timeout";

/// Returns the time that a caller waits; `None` if it sets no limit, or one that cannot be read.
pub(crate) fn read_timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(NAME)?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let is_number = (1..=8).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
    let number: u64 = is_number.then(|| digits.parse().ok())??;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<Duration>) {
        let headers = [(NAME.parse().unwrap(), text.parse().unwrap())];
        assert_eq!(
            read_timeout(&headers.into_iter().collect()),
            expected,
            "{text}"
        );
    }

    #[test]
    fn a_timeout_has_at_most_eight_digits_and_a_unit() {
        check("2H", Some(Duration::from_secs(7200)));
        check("1M", Some(Duration::from_secs(60)));
        check("99999999S", Some(Duration::from_secs(99_999_999)));
        check("250m", Some(Duration::from_millis(250)));
        check("1u", Some(Duration::from_micros(1)));
        check("0n", Some(Duration::ZERO));
        for text in ["", "S", "1", "+1S", "-1S", "123456789S", "1s", "1.5S", "1é"] {
            let value = http::HeaderValue::from_bytes(text.as_bytes()).unwrap();
            assert_eq!(
                read_timeout(&[(NAME.parse().unwrap(), value)].into_iter().collect()),
                None
            );
        }
    }
}
