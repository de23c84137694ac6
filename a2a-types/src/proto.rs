//! Reading of ProtoJSON, with the liberties that specification 1.0 §5.5–5.7 gives a sender.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads `null` as an absent member.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a member without presence: its empty value is equal to an absent member.
pub(crate) fn unless_empty<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de> + PartialEq,
{
    let value = Option::deserialize(deserializer)?;
    Ok(value.filter(|value| *value != T::default()))
}

/// Reads a member that is there, even if its value is `null`: for values of any JSON type.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Returns whether a member need not be written: its default is equal to an absent member.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a number that may be absent: see [`Count`].
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let number = Option::<Count>::deserialize(deserializer)?;
    Ok(number.map(|Count(number)| number))
}

/// Reads a number that is zero when absent: see [`Count`].
pub(crate) fn count_or_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    count(deserializer).map(Option::unwrap_or_default)
}

/// An `int32` that counts something: never negative; as a number, which may be written with a
/// fraction of zero or an exponent, or as the text of one.
struct Count(u32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", i32::MAX)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Count, E> {
        let counts = i32::try_from(number)
            .ok()
            .and_then(|number| number.try_into().ok());
        counts
            .map(Count)
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Count, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Count, E> {
        let is_whole = number.fract() == 0.0 && (0.0..=f64::from(i32::MAX)).contains(&number);
        match is_whole {
            // Checked above to be in range and whole, so the cast is exact.
            true => Ok(Count(number as u32)),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Count, E> {
        let number: Option<f64> = text.parse().ok();
        let read = number.and_then(|number| self.visit_f64::<E>(number).ok());
        read.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &CountVisitor))
    }
}

/// Reads a `oneof`: an object of exactly one known member; others are ignored, `null` is absent.
///
/// The enum derives `Serialize`; the macro adds `Deserialize` and, under a given name, the schema.
macro_rules! one_of {
    ($name:ident { $($variant:ident($type:ty) = $member:literal $(| $alias:literal)*;)* }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[allow(non_snake_case, reason = "a member for each variant")]
                struct Members {
                    $(#[serde(rename = $member $(, alias = $alias)*)] $variant: Option<$type>,)*
                }
                let members = Members::deserialize(deserializer)?;
                let mut present = [$(members.$variant.map(Self::$variant),)*].into_iter().flatten();
                match (present.next(), present.next()) {
                    (Some(only), None) => Ok(only),
                    _ => {
                        let members = [$(concat!("`", $member, "`")),*].join(", ");
                        Err(serde::de::Error::custom(format!("expected exactly one of {members}")))
                    }
                }
            }
        }
    };
    ($name:ident as $schema:literal { $($variant:ident($type:ty) = $member:literal $(| $alias:literal)*;)* }) => {
        one_of!($name { $($variant($type) = $member $(| $alias)*;)* });

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "object",
                    "description": "Exactly one of the members.",
                    "properties": {$($member: generator.subschema_for::<$type>()),*},
                    "oneOf": [$({"required": [$member]}),*],
                })
            }
        }
    };
}
pub(crate) use one_of;

/// Defines the members of an object, of which exactly one is its content, for `serde(try_from)`.
macro_rules! exactly_one {
    ($(#[$meta:meta])* $members:ident => $whole:ident, $problem:literal {
        $($(#[$of_content:meta])* $member:ident: $type:ty => $content:expr,)*
    } beside { $($(#[$of_other:meta])* $other:ident: $other_type:ty,)* }) => {
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct $members {
            $($(#[$of_content])* $member: Option<$type>,)*
            $($(#[$of_other])* $other: $other_type,)*
        }

        impl TryFrom<$members> for $whole {
            type Error = &'static str;

            fn try_from(members: $members) -> Result<Self, &'static str> {
                let mut present = [$(members.$member.map($content),)*].into_iter().flatten();
                match (present.next(), present.next()) {
                    (Some(content), None) => Ok(Self { content, $($other: members.$other,)* }),
                    _ => Err($problem),
                }
            }
        }
    };
}
pub(crate) use exactly_one;

/// Defines an enum that is written by name, and read by name or number.
macro_rules! proto_enum {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$each:meta])* $variant:ident = $number:literal, $text:literal $(| $alias:literal)*;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        #[non_exhaustive]
        pub enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            /// Returns the name in ProtoJSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            fn from_text(text: &str) -> Option<Self> {
                match text { $($text $(| $alias)* => Some(Self::$variant),)* _ => None }
            }

            fn from_number(number: i64) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("one of", $(" `", $text, "`"),*))
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::from_text(text)
                            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
                    }

                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$name, E> {
                        $name::from_number(number)
                            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(number), &self))
                    }

                    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$name, E> {
                        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": [$($text),*]})
            }
        }
    };
}
pub(crate) use proto_enum;
