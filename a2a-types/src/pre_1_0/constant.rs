//! Members whose only legal value is one string, like `"kind": "task"`.

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
        pub enum $name {
            /// The only value.
            #[default]
            #[serde(rename = $text)]
            Value,
        }
    )*};
}
pub(crate) use constants;
