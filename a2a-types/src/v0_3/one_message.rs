//! Objects of exactly one message, like an item of a stream.

/// Defines an enum of messages, each named by a member, with its conversions. Checks and repairs come from
/// the message.
macro_rules! one_message {
    ($(#[$meta:meta])* pub enum $name:ident = $canonical:ident {
        $($(#[$doc:meta])* $variant:ident($type:ident) = $member:literal $(| $alias:literal)*;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub enum $name { $($(#[$doc])* $variant(Box<$type>),)* }

        $crate::proto::one_of!($name { $($variant(Box<$type>) = $member $(| $alias)*;)* });

        impl Wire for $name {
            fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
                match self { $(Self::$variant(message) => message.check(&at.member($member)),)* }
            }

            fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
                match self { $(Self::$variant(message) => message.check_lenient(&at.member($member)),)* }
            }

            fn normalize(object: &mut Object, normalizer: &mut Normalizer<'_>) {
                $(
                    let member = spelled(object, &[$member $(, $alias)*]);
                    normalizer.member(object, member, $type::normalize);
                )*
            }
        }

        $crate::pre_1_0::boxed_variants! { $name = crate::$canonical { $($variant),* } }
    };
}
pub(super) use one_message;
