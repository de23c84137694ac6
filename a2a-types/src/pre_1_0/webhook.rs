//! Webhooks and the authentication of their sender, which are nearly the same in every version.

/// Defines a version's webhook and the authentication of its sender, with conversions, repairs, and `Debug`
/// output without secrets. `text` is the keyword of [`wire_types`](crate::wire_types) for text that may be
/// absent; `canonical only` is the id, if the version has none.
macro_rules! webhook_types {
    (
        text: $text:ident, canonical only: { $($canonical_only:ident)? };
        $(#[$doc:meta])* $webhook:ident { $($(#[$id_doc:meta])* $id:ident,)? }
        $(#[$authentication_doc:meta])* $authentication:ident $(: $trait:ident)? { schemes $(= $schemes:ident)? }
    ) => {
        $crate::wire_types::wire_types! {
            $(#[$doc])*
            pub struct $webhook {
                $($(#[$id_doc])* pub $id: Option<$crate::ConfigId> = $text,)?
                /// URL to POST to.
                pub url: String,
                /// Secret by which the receiver recognises the sender.
                pub token: Option<String> = $text,
                /// Authentication of the sender.
                pub authentication: Option<$authentication> = optional,
            }

            $(#[$authentication_doc])*
            pub struct $authentication $(: $trait)? {
                /// Authentication schemes that the receiver accepts.
                pub schemes: Vec<String> $(= $schemes)?,
                /// Credentials for the scheme.
                pub credentials: Option<String> = $text,
            }
        }

        $crate::secret::redacted_debug!($webhook { $($id,)? authentication; token; url });
        $crate::secret::redacted_debug!($authentication { schemes; credentials });

        impl $crate::reading::Wire for $webhook {
            fn normalize(
                config: &mut $crate::Object,
                normalizer: &mut $crate::reading::Normalizer<'_>,
            ) {
                normalizer.member(config, "authentication", $crate::pre_1_0::normalize_schemes);
            }
        }

        $crate::pre_1_0::both_ways! {
            $webhook = $crate::TaskPushNotificationConfig {
                $($id as unless_empty,)? url, token, authentication as option,
            } canonical only { tenant, task_id $(, $canonical_only)? };
            $authentication = $crate::AuthenticationInfo { credentials }
                renamed { schemes = scheme as schemes };
        }
    };
}
pub(crate) use webhook_types;
