//! Conversions between wire types and their canonical counterparts, as tables of members.

/// Converts structs into each other, member by member. `member as way` is converted by the module `way`
/// of this file, other members by `Into`. A member that only one of the two has gets its default; one that is
/// `computed` is computed from the other struct as a whole.
macro_rules! both_ways {
    ($(
        $wire:ty = $canonical:ty { $($member:ident $(as $way:ident)?),* $(,)? }
        $(renamed { $($ours:ident = $theirs:ident $(as $renamed:ident)?),* $(,)? })?
        $(wire only { $($wire_only:ident),* })?
        $(wire computed { $($computed:ident = |$whole:ident| $value:expr),* })?
        $(canonical only { $($canonical_only:ident),* })?;
    )*) => {$(
        impl From<$wire> for $canonical {
            fn from(wire: $wire) -> Self {
                Self {
                    $($member: $crate::pre_1_0::both_ways!(@read wire.$member $(, $way)?),)*
                    $($($theirs: $crate::pre_1_0::both_ways!(@read wire.$ours $(, $renamed)?),)*)?
                    $($($canonical_only: Default::default(),)*)?
                }
            }
        }

        impl From<$canonical> for $wire {
            fn from(canonical: $canonical) -> Self {
                Self {
                    $($($computed: { let $whole = &canonical; $value },)*)?
                    $($member: $crate::pre_1_0::both_ways!(@write canonical.$member $(, $way)?),)*
                    $($($ours: $crate::pre_1_0::both_ways!(@write canonical.$theirs $(, $renamed)?),)*)?
                    $($($wire_only: Default::default(),)*)?
                }
            }
        }
    )*};
    (@read $value:expr) => { $value.into() };
    (@read $value:expr, $way:ident) => { $crate::pre_1_0::convert::$way::read($value) };
    (@write $value:expr) => { $value.into() };
    (@write $value:expr, $way:ident) => { $crate::pre_1_0::convert::$way::write($value) };
}
pub(crate) use both_ways;

/// Makes a struct from another's members of the same names, converted as by [`both_ways`], and from others.
macro_rules! with_members_of {
    ($whole:ident { $($member:ident $(as $way:ident)?),* $(,)? } and { $($others:tt)* }) => {
        Self {
            $($member: $crate::pre_1_0::both_ways!(@read $whole.$member $(, $way)?),)*
            $($others)*
        }
    };
}
pub(crate) use with_members_of;

/// Converts enums of words into each other, variant by variant.
macro_rules! same_words {
    ($wire:ty = $canonical:ty {
        $($variant:ident),* $(,)?
    } renamed { $($ours:ident = $theirs:ident),* }) => {
        impl From<$wire> for $canonical {
            fn from(word: $wire) -> Self {
                match word {
                    $(<$wire>::$variant => Self::$variant,)*
                    $(<$wire>::$ours => Self::$theirs,)*
                }
            }
        }

        impl From<$canonical> for $wire {
            fn from(word: $canonical) -> Self {
                match word {
                    $(<$canonical>::$variant => Self::$variant,)*
                    $(<$canonical>::$theirs => Self::$ours,)*
                }
            }
        }
    };
}
pub(crate) use same_words;

/// Converts enums into each other of which the wire's has its values in boxes.
macro_rules! boxed_variants {
    ($wire:ty = $canonical:ty { $($variant:ident),* }) => {
        impl From<$wire> for $canonical {
            fn from(wire: $wire) -> Self {
                type Wire = $wire;
                match wire { $(Wire::$variant(value) => Self::$variant((*value).into()),)* }
            }
        }

        impl From<$canonical> for $wire {
            fn from(canonical: $canonical) -> Self {
                type Canonical = $canonical;
                match canonical { $(Canonical::$variant(value) => Self::$variant(Box::new(value.into())),)* }
            }
        }
    };
}
pub(crate) use boxed_variants;

/// A list, whose items are converted.
pub(crate) mod list {
    pub(crate) fn read<A: Into<B>, B>(items: Vec<A>) -> Vec<B> {
        items.into_iter().map(Into::into).collect()
    }

    pub(crate) use read as write;
}

/// A list that is left out if it is empty, and whose items are converted.
pub(crate) mod optional_list {
    pub(crate) fn read<A: Into<B>, B>(items: Option<Vec<A>>) -> Vec<B> {
        items.map(super::list::read).unwrap_or_default()
    }

    pub(crate) fn write<A: Into<B>, B>(items: Vec<A>) -> Option<Vec<B>> {
        (!items.is_empty()).then(|| super::list::read(items))
    }
}

/// A value that may be absent in both.
pub(crate) mod option {
    pub(crate) fn read<A: Into<B>, B>(value: Option<A>) -> Option<B> {
        value.map(Into::into)
    }

    pub(crate) use read as write;
}

/// A value that may be absent in both, and is in a box in the canonical model.
pub(crate) mod boxed {
    pub(crate) fn read<A: Into<B>, B>(value: Option<A>) -> Option<Box<B>> {
        value.map(|value| Box::new(value.into()))
    }

    pub(crate) fn write<A: Into<B>, B>(value: Option<Box<A>>) -> Option<B> {
        value.map(|value| (*value).into())
    }
}

/// A value that is left out if it is its type's default.
pub(crate) mod unless_empty {
    pub(crate) fn read<T: Default>(value: Option<T>) -> T {
        value.unwrap_or_default()
    }

    pub(crate) fn write<T: Default + PartialEq>(value: T) -> Option<T> {
        Some(value).filter(|value| *value != T::default())
    }
}

/// A value that a sender may leave out, and that we always write.
pub(crate) mod always {
    pub(crate) use super::unless_empty::read;

    pub(crate) fn write<T>(value: T) -> Option<T> {
        Some(value)
    }
}

/// A value that the wire requires and the canonical model does not.
pub(crate) mod required {
    pub(crate) use super::unless_empty::read as write;

    /// A tolerant reader may have found none.
    pub(crate) fn read<T: Default + PartialEq>(value: T) -> Option<T> {
        (value != T::default()).then_some(value)
    }
}

/// A value that is read and never written.
pub(crate) mod read_only {
    pub(crate) fn read<T>(value: T) -> T {
        value
    }

    pub(crate) fn write<T: Default>(_: T) -> T {
        T::default()
    }
}

/// A number that is left out if it is zero.
pub(crate) mod unless_zero {
    pub(crate) use super::read_only::read;

    pub(crate) fn write(number: Option<u32>) -> Option<u32> {
        number.filter(|number| *number > 0)
    }
}

/// A value that becomes its type's default if it is absent, in both directions.
pub(crate) mod or_default {
    pub(crate) fn read<A: Default + Into<B>, B>(value: Option<A>) -> Option<B> {
        Some(value.unwrap_or_default().into())
    }

    pub(crate) use self::read as write;
}

/// A time, on the wire a number of milliseconds since the Unix epoch.
pub(crate) mod millis {
    use crate::Timestamp;

    pub(crate) fn read(millis: Option<i64>) -> Option<Timestamp> {
        millis.and_then(Timestamp::from_millis)
    }

    pub(crate) fn write(time: Option<Timestamp>) -> Option<i64> {
        time.map(Timestamp::as_millis)
    }
}

/// A flag whose counterpart says the opposite.
pub(crate) mod opposite {
    pub(crate) fn read(flag: bool) -> bool {
        !flag
    }

    pub(crate) use self::read as write;
}

/// A flag that is true if absent, and whose counterpart says the opposite.
pub(crate) mod unless_false {
    pub(crate) fn read(flag: Option<bool>) -> bool {
        flag == Some(false)
    }

    pub(crate) fn write(flag: bool) -> Option<bool> {
        Some(!flag)
    }
}

/// Authentication schemes of a webhook, a list before 1.0, of which one remains.
pub(crate) mod schemes {
    /// Returns the first scheme of a push notification config that our sender supports, else the first.
    pub(crate) fn read(schemes: Vec<String>) -> String {
        let performable = |scheme: &&String| {
            ["bearer", "basic", "jwt"]
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known))
        };
        let chosen = schemes.iter().find(performable).or(schemes.first());
        chosen.cloned().unwrap_or_default()
    }

    /// Returns the schemes of a push notification config: none for an empty name.
    pub(crate) fn write(scheme: String) -> Vec<String> {
        if scheme.is_empty() {
            Vec::new()
        } else {
            vec![scheme]
        }
    }
}
