//! Objects of exactly one message, like an item of a stream.

/// Defines an enum of messages, each named by a member, with its conversions. Checks and repairs are those of
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
            fn check(&self, at: &At<'_>) -> Result<(), Violation> {
                match self { $(Self::$variant(message) => message.check(&at.member($member)),)* }
            }

            fn insist(&self, at: &At<'_>) -> Result<(), Violation> {
                match self { $(Self::$variant(message) => message.insist(&at.member($member)),)* }
            }

            fn mend(object: &mut Map<String, Value>, mender: &mut Mender<'_>) {
                $(
                    let member = spelled(object, &[$member $(, $alias)*]);
                    mender.member(object, member, $type::mend);
                )*
            }
        }

        $crate::pre_1_0::boxed_variants! { $name = crate::$canonical { $($variant),* } }
    };
}
pub(super) use one_message;
