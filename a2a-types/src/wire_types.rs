//! Definition of wire structs, in which a keyword after a member states what a sender may leave out.

/// Defines wire types with the listed traits and the traits of every wire type. A member without a keyword is
/// required; a keyword states how the member is read and written. Further spellings that are read come last.
///
/// - `optional`: absent or `null` is `None`, which is left out.
/// - `unless_empty`: absent, `null` or empty is `None`, which is left out.
/// - `or_default`: absent or `null` is the default, which is written.
/// - `unless_default`: absent or `null` is the default, which is left out.
/// - `count`: a number as ProtoJSON may write it; absent or `null` is `None`, which is left out.
///
/// `members of` instead defines the members that are read in place of a type, for `serde(try_from)`.
macro_rules! wire_types {
    ($($(#[$meta:meta])* pub struct $name:ident $(: $($trait:ident),+)? { $($members:tt)* })*) => {$(
        $crate::wire_types::wire_types!(@define [
            #[derive(Clone, $($($trait,)+)? PartialEq, serde::Deserialize, serde::Serialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[serde(rename_all = "camelCase")]
            $(#[$meta])*
            pub struct $name
        ] [] $($members)*);
    )*};
    (members of $($(#[$meta:meta])* $name:ident { $($members:tt)* })*) => {$(
        $crate::wire_types::wire_types!(@define [
            #[derive(serde::Deserialize)]
            #[serde(rename_all = "camelCase")]
            $(#[$meta])*
            pub(crate) struct $name
        ] [] $($members)*);
    )*};
    (@define [$($head:tt)*] [$($done:tt)*]) => { $($head)* { $($done)* } };
    (@define $head:tt [$($done:tt)*] $(#[$meta:meta])* $visible:vis $member:ident: $type:ty
        $(= $word:ident)? $(| $alias:literal)*, $($rest:tt)*) => {
        $crate::wire_types::wire_types!(@word $($word)?; $head [
            $($done)* $(#[$meta])* $(#[serde(alias = $alias)])*
        ] [$visible $member: $type,] $($rest)*);
    };
    (@word; $head:tt [$($done:tt)*] [$($member:tt)*] $($rest:tt)*) => {
        $crate::wire_types::wire_types!(@define $head [$($done)* $($member)*] $($rest)*);
    };
    (@word optional; $head:tt [$($done:tt)*] [$($member:tt)*] $($rest:tt)*) => {
        $crate::wire_types::wire_types!(@define $head [$($done)*
            #[serde(skip_serializing_if = "Option::is_none")]
            $($member)*
        ] $($rest)*);
    };
    (@word unless_empty; $head:tt [$($done:tt)*] [$($member:tt)*] $($rest:tt)*) => {
        $crate::wire_types::wire_types!(@define $head [$($done)*
            #[serde(default, deserialize_with = "crate::proto::unless_empty")]
            #[serde(skip_serializing_if = "Option::is_none")]
            $($member)*
        ] $($rest)*);
    };
    (@word or_default; $head:tt [$($done:tt)*] [$($member:tt)*] $($rest:tt)*) => {
        $crate::wire_types::wire_types!(@define $head [$($done)*
            #[serde(default, deserialize_with = "crate::proto::or_default")]
            $($member)*
        ] $($rest)*);
    };
    (@word unless_default; $head:tt [$($done:tt)*] [$($member:tt)*] $($rest:tt)*) => {
        $crate::wire_types::wire_types!(@define $head [$($done)*
            #[serde(default, deserialize_with = "crate::proto::or_default")]
            #[serde(skip_serializing_if = "crate::proto::is_default")]
            $($member)*
        ] $($rest)*);
    };
    (@word count; $head:tt [$($done:tt)*] [$($member:tt)*] $($rest:tt)*) => {
        $crate::wire_types::wire_types!(@define $head [$($done)*
            #[serde(default, deserialize_with = "crate::proto::count")]
            #[serde(skip_serializing_if = "Option::is_none")]
            $($member)*
        ] $($rest)*);
    };
}
pub(crate) use wire_types;
