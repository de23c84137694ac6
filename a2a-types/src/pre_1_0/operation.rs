//! Reading of params and results by operation, as tables of types.

use serde_json::value::RawValue;

use super::convert::list;
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

/// Reads a list that stands alone, item by item.
pub(crate) fn read_list<T: Wire>(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Vec<T>>, Violation> {
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
        list.value.push(item.value);
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
    let configs = read_list::<T>(json, mode, hints)?;
    let list = configs.map(|configs| ListTaskPushNotificationConfigsResponse {
        configs: list::read(configs),
        ..ListTaskPushNotificationConfigsResponse::default()
    });
    Ok(list.map(Response::ListTaskPushNotificationConfigs))
}
