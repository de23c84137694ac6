//! Deserialization in which objects go by the names of their members.
//!
//! Structs that derive `Deserialize` also take an array of their members in order, and enums an object
//! of one member: shapes that no version of the protocol has. Here they are refused. Errors name
//! the expected shape in the words of JSON, and leave the way to the value in a [`Trail`].

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};

/// A deserializer that takes objects for structs and strings for enums, at every depth.
pub(crate) struct ByName<'t, D>(pub(crate) D, pub(crate) &'t Trail);

/// The way from the value in which an error was found out to the whole, like `[0]` and `.parts`.
#[derive(Default)]
pub(crate) struct Trail(RefCell<Vec<PathStep>>);

/// A step into a value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum PathStep {
    Member(String),
    Item(usize),
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => write!(f, ".{name}"),
            Self::Item(index) => write!(f, "[{index}]"),
        }
    }
}

impl Trail {
    fn push(&self, step: PathStep) {
        self.0.borrow_mut().push(step);
    }

    /// Returns the steps from the whole to the value.
    pub(crate) fn steps(&self) -> Vec<PathStep> {
        self.0.borrow().iter().rev().cloned().collect()
    }

    /// Returns the path of the value, like `$.parts[0]`.
    pub(crate) fn path(&self, root: &str) -> String {
        let steps = self.0.borrow();
        let inwards = steps.iter().rev().map(ToString::to_string);
        std::iter::once(root.to_owned()).chain(inwards).collect()
    }
}

/// A visitor or a seed that leads back to [`ByName`].
struct Nested<'t, T>(T, &'t Trail);

/// The items of an array, which lead back to [`ByName`].
struct Items<'t, A> {
    items: A,
    index: usize,
    trail: &'t Trail,
}

/// The members of an object, which lead back to [`ByName`].
struct Members<'t, 'de, A> {
    members: A,
    name: Cow<'de, str>,
    trail: &'t Trail,
}

/// The seed of a member's name.
struct Name;

/// A visitor, and what it expects in the words of JSON.
struct Expecting<V>(V, &'static str);

/// The visitor of an enum, and the names of its values.
struct OneOf<V>(V, &'static [&'static str]);

macro_rules! forward {
    ($($method:ident($($argument:ident: $type:ty),*) $(expects $expected:literal)?;)*) => {$(
        fn $method<V: Visitor<'de>>(self $(, $argument: $type)*, visitor: V) -> Result<V::Value, D::Error> {
            let visitor = forward!(@visitor visitor $($expected)?);
            self.0.$method($($argument,)* Nested(visitor, self.1))
        }
    )*};
    (@visitor $visitor:ident) => { $visitor };
    (@visitor $visitor:ident $expected:literal) => { Expecting($visitor, $expected) };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ByName<'_, D> {
    type Error = D::Error;

    forward! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8() expects "a whole number";
        deserialize_i16() expects "a whole number";
        deserialize_i32() expects "a whole number";
        deserialize_i64() expects "a whole number";
        deserialize_i128() expects "a whole number";
        deserialize_u8() expects "a whole number, not negative";
        deserialize_u16() expects "a whole number, not negative";
        deserialize_u32() expects "a whole number, not negative";
        deserialize_u64() expects "a whole number, not negative";
        deserialize_u128() expects "a whole number, not negative";
        deserialize_f32() expects "a number";
        deserialize_f64() expects "a number";
        deserialize_char() expects "a string";
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit() expects "null";
        deserialize_unit_struct(name: &'static str) expects "null";
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq() expects "an array";
        deserialize_tuple(length: usize) expects "an array";
        deserialize_tuple_struct(name: &'static str, length: usize) expects "an array";
        deserialize_map() expects "an object";
        deserialize_identifier();
        deserialize_ignored_any();
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0
            .deserialize_map(Nested(Expecting(visitor, "an object"), self.1))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        values: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(OneOf(visitor, values))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! visit {
    ($($method:ident($type:ty);)*) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Nested<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool);
        visit_i64(i64);
        visit_i128(i128);
        visit_u64(u64);
        visit_u128(u128);
        visit_f64(f64);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(ByName(deserializer, self.1))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(ByName(deserializer, self.1))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Items {
            items,
            index: 0,
            trail: self.1,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Members {
            members,
            name: Cow::Borrowed(""),
            trail: self.1,
        })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, value: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(value)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Nested<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(ByName(deserializer, self.1))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let index = self.index;
        self.index += 1;
        self.items
            .next_element_seed(Nested(seed, self.trail))
            .inspect_err(|_| self.trail.push(PathStep::Item(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        self.items.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let Some(name) = self.members.next_key_seed(Name)? else {
            return Ok(None);
        };
        self.name = name;
        let read = match &self.name {
            Cow::Borrowed(name) => seed.deserialize(BorrowedStrDeserializer::new(name)),
            Cow::Owned(name) => seed.deserialize(StrDeserializer::new(name)),
        };
        read.map(Some).inspect_err(|_| {
            self.trail
                .push(PathStep::Member(self.name.clone().into_owned()))
        })
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.members
            .next_value_seed(Nested(seed, self.trail))
            .inspect_err(|_| {
                self.trail
                    .push(PathStep::Member(self.name.clone().into_owned()))
            })
    }

    fn size_hint(&self) -> Option<usize> {
        self.members.size_hint()
    }
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Expecting<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1)
    }

    visit! {
        visit_bool(bool);
        visit_i64(i64);
        visit_i128(i128);
        visit_u64(u64);
        visit_u128(u128);
        visit_f64(f64);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(members)
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for OneOf<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.1.iter().map(|name| format!("`{name}`")).collect();
        match names.len() {
            1 => f.write_str(&names[0]),
            _ => write!(f, "one of {}", names.join(", ")),
        }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        if !self.1.contains(&name) {
            return Err(E::invalid_value(serde::de::Unexpected::Str(name), &self));
        }
        let name: StrDeserializer<'_, E> = name.into_deserializer();
        self.0.visit_enum(name)
    }
}
