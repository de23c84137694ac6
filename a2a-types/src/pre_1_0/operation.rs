//! Reading and writing of params and results by operation, as tables of types.

use serde_json::value::RawValue;

use crate::reading::{Hints, Mode, Violation, Wire, WithRepairs, read};
use crate::{ListTaskPushNotificationConfigsResponse, Response, TaskPushNotificationConfig};

/// Reads a text as the type that a version has for an operation, as a `Request` or a `Response`. Arms of a
/// `match` follow the table for the other operations.
macro_rules! read_by_operation {
    (
        $operation:expr, ($json:expr, $mode:expr, $hints:expr) => $whole:ident {
            $($name:ident: $type:ty),* $(,)?
        } $($others:tt)*
    ) => {
        match $operation {
            $($crate::Operation::$name => {
                let read = $crate::reading::read::<$type>($json, $mode, $hints)?;
                Ok(read.map(|read| $crate::$whole::$name(read.into())))
            })*
            $($others)*
        }
    };
}
pub(crate) use read_by_operation;

/// Defines what a version writes in place of a `Request` or a `Response`: a variant of each type, and the
/// operations that are written as it. The operation of an `empty` variant has no content; the operations under
/// `none` have no counterpart in the version.
macro_rules! write_by_operation {
    (
        $(#[$meta:meta])* pub enum $name:ident = $whole:ident {
            $($(#[$doc:meta])* $variant:ident $type:tt = $($operation:ident)|+;)*
        }
        $(empty = $nothing:ident { $(#[$empty_doc:meta])* $empty:ident $($braces:tt)? })?
        $(none = $($absent:ident)|+;)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum $name {
            $($(#[$doc])* $variant $type,)*
            $($(#[$empty_doc])* $empty $($braces)?,)?
        }

        impl $name {
            fn of(whole: $crate::$whole) -> Option<Self> {
                use $crate::$whole as Whole;
                match whole {
                    $($(Whole::$operation(value) => {
                        let value = $crate::pre_1_0::write_by_operation!(@write value $type);
                        Some(Self::$variant(value))
                    })+)*
                    $(Whole::$nothing(_) => Some(Self::$empty $($braces)?),)?
                    $($(Whole::$absent(_))|+ => None,)?
                }
            }
        }
    };
    (@write $value:ident (Box<$type:ty>)) => { Box::new($value.into()) };
    (@write $value:ident ($type:ty)) => { $value.into() };
}
pub(crate) use write_by_operation;

/// Reads a list that stands alone, item by item.
pub(crate) fn read_list<T: Wire + Into<C>, C>(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Vec<C>>, Violation> {
    let items: Vec<&RawValue> = serde_json::from_str(json).map_err(|_| Violation {
        path: hints.root.to_owned(),
        problem: "expected a list".to_owned(),
    })?;
    let mut list = WithRepairs::unrepaired(Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        let root = format!("{}[{index}]", hints.root);
        let hints = Hints {
            root: &root,
            ..hints.clone()
        };
        let item = read::<T>(item.get(), mode, &hints)?;
        list.value.push(item.value.into());
        list.repairs.extend(item.repairs);
    }
    Ok(list)
}

/// Reads a task's webhooks as a list that stands alone.
pub(crate) fn read_configs<T: Wire + Into<TaskPushNotificationConfig>>(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Response>, Violation> {
    let configs = read_list::<T, _>(json, mode, hints)?;
    let list = configs.map(|configs| ListTaskPushNotificationConfigsResponse {
        configs,
        ..ListTaskPushNotificationConfigsResponse::default()
    });
    Ok(list.map(Response::ListTaskPushNotificationConfigs))
}
