//! Secrets are not printed.

use std::fmt;

/// Stands for a secret where something is printed.
pub(crate) struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// `Debug` for a type with secrets: tells what may be shown, and whether there are secrets.
macro_rules! hides {
    ($type:ident { $($shown:ident),* ; $($secret:ident),* }) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($shown), &self.$shown))*
                    $(.field(stringify!($secret), &self.$secret.as_ref().map(|_| $crate::secret::Hidden)))*
                    .finish()
            }
        }
    };
}

pub(crate) use hides;

#[cfg(test)]
mod tests {
    use crate::{AuthenticationInfo, TaskPushNotificationConfig, v0_1, v0_2, v0_3};
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};
    use std::fmt::Debug;

    #[track_caller]
    fn check<T: Debug + DeserializeOwned>(value: Value) {
        let printed = format!("{:?}", serde_json::from_value::<T>(value).unwrap());
        assert!(!printed.contains("canary"), "{printed}");
        assert!(printed.contains("(hidden)"), "{printed}");
    }

    #[test]
    fn no_secret_of_a_webhook_is_printed() {
        let authentication =
            json!({"schemes": ["Bearer"], "scheme": "Bearer", "credentials": "canary"});
        let config = json!({"url": "u", "token": "canary", "authentication": authentication});
        check::<AuthenticationInfo>(authentication.clone());
        check::<TaskPushNotificationConfig>(config.clone());
        check::<v0_1::PushNotificationConfig>(config.clone());
        check::<v0_2::PushNotificationConfig>(config.clone());
        check::<v0_3::PushNotificationConfig>(config);
        check::<v0_1::AgentAuthentication>(authentication);
    }
}
