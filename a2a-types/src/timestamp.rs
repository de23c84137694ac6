//! Points in time as the protocol writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time, written as RFC 3339 in UTC with milliseconds. Specification 1.0 §5.6.1.
///
/// Any offset is read; finer fractions than a millisecond are kept in memory and cut when written.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// Returns the present moment of the system's clock.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now())
    }

    /// Returns the time `millis` milliseconds after the Unix epoch, if the calendar reaches that far.
    pub fn from_millis(millis: i64) -> Option<Self> {
        jiff::Timestamp::from_millisecond(millis).ok().map(Self)
    }

    /// Returns the milliseconds since the Unix epoch, rounded toward it.
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Returns RFC 3339 text with every digit of the fraction that was read.
    pub(crate) fn to_exact_string(self) -> String {
        self.0.to_string()
    }

    /// Reads RFC 3339 text, and also text without a zone, which is taken as UTC: protocol versions 0.1
    /// and 0.2 show such times in their own examples.
    pub fn parse_zone_optional(text: &str) -> Result<Self, InvalidTimestamp> {
        text.parse().or_else(|error| {
            text.parse::<jiff::civil::DateTime>()
                .and_then(|local| local.to_zoned(jiff::tz::TimeZone::UTC))
                .map(|zoned| Self(zoned.timestamp()))
                .map_err(|_| error)
        })
    }
}

/// Error of text that is not an RFC 3339 time with a zone.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time with a zone")]
pub struct InvalidTimestamp(String);

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        text.parse()
            .map(Self)
            .map_err(|_| InvalidTimestamp(text.chars().take(64).collect()))
    }
}

impl Timestamp {
    /// Writes the time into a buffer; `None` before the year 0. Every answer has a time, and the general formatter takes
    /// several times as long.
    fn write(self, buffer: &mut [u8; PATTERN.len()]) -> Option<&str> {
        let time = jiff::tz::Offset::UTC.to_datetime(self.0);
        let number = |part: i8| u32::from(part.unsigned_abs());
        *buffer = *PATTERN;
        for (place, mut value) in [
            (0..4, u32::try_from(time.year()).ok()?),
            (5..7, number(time.month())),
            (8..10, number(time.day())),
            (11..13, number(time.hour())),
            (14..16, number(time.minute())),
            (17..19, number(time.second())),
            (20..23, time.subsec_nanosecond().unsigned_abs() / 1_000_000),
        ] {
            for digit in buffer[place].iter_mut().rev() {
                *digit = b'0' + (value % 10) as u8;
                value /= 10;
            }
        }
        std::str::from_utf8(buffer).ok()
    }
}

/// Punctuation of a time as it is written.
const PATTERN: &[u8; 24] = b"0000-00-00T00:00:00.000Z";

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.write(&mut [0; PATTERN.len()]) {
            Some(text) => f.write_str(text),
            None => write!(f, "{:.3}", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.write(&mut [0; PATTERN.len()]) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Deserializes an optional time whose zone may be missing.
pub(crate) fn zone_optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let read = |text: String| Timestamp::parse_zone_optional(&text).map_err(de::Error::custom);
    text.map(read).transpose()
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, strict: Option<&str>, zone_optional: Option<&str>) {
        let read = |parsed: Result<Timestamp, _>| parsed.ok().map(|time| time.to_string());
        assert_eq!(read(text.parse()).as_deref(), strict, "{text} strictly");
        assert_eq!(
            read(Timestamp::parse_zone_optional(text)).as_deref(),
            zone_optional,
            "{text} leniently"
        );
    }

    #[test]
    fn timestamps_are_written_as_by_the_general_formatter() {
        // From the year -1 to the year 10000, and around the epoch and the last of them.
        let (first, last) = (-62_200_000_000_000, 253_402_300_800_000);
        let steps =
            (0..200_000).map(|step| first + step * ((last - first) / 200_000) + step % 1000);
        for millis in steps.chain(-2000..2000).chain(last - 2000..last + 2000) {
            // Beyond the last year of the calendar there is nothing to write.
            let Some(time) = Timestamp::from_millis(millis) else {
                continue;
            };
            assert_eq!(time.to_string(), format!("{:.3}", time.0));
        }
    }

    #[test]
    fn timestamps_are_read_and_written() {
        let z = Some("2025-04-02T16:59:25.331Z");
        check("2025-04-02T16:59:25.331844Z", z, z);
        check("2025-04-02T16:59:25.331844", None, z);
        check("2025-04-02T18:59:25.331+02:00", z, z);
        let whole = Some("2024-03-15T10:10:00.000Z");
        check("2024-03-15T10:10:00Z", whole, whole);
        check("yesterday", None, None);
        check("", None, None);
    }
}
