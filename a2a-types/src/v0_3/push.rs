//! Webhooks, 0.3 §6.8–6.10 as in the proto: named as resources,
//! `tasks/{task}/pushNotificationConfigs/{config}`.

use std::iter;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::resource_name::{agree, agree_on_name, config_of, resource, task_of};
use crate::pre_1_0::{self, both_ways, webhook_types, wire_types};
use crate::proto::unless_empty;
use crate::reading::{Hints, JsonPath, Normalizer, Quirk, Violation, Wire, absent, spelled};
use crate::{ConfigId, ListTaskPushNotificationConfigsResponse, Object, TaskId};

wire_types! {
    /// A task's webhook, 0.3 §6.10.
    pub struct TaskPushNotificationConfig: Debug {
        /// Name of the resource; empty only in a request that leaves it to the server.
        pub name: String = unless_default,
        /// The webhook.
        pub push_notification_config: PushNotificationConfig | "push_notification_config",
    }

    /// A request to create a webhook, 0.3 §7.5.
    pub struct CreateTaskPushNotificationConfigRequest: Debug {
        /// The task, `tasks/{task}`.
        pub parent: String,
        /// Identifier of the webhook, if the server is not to choose one.
        pub config_id: ConfigId = unless_default | "config_id",
        /// The webhook.
        pub config: TaskPushNotificationConfig,
    }

    /// A task's webhooks, 0.3 §7.7.
    pub struct ListTaskPushNotificationConfigResponse: Debug, Default {
        /// The webhooks.
        pub configs: Vec<TaskPushNotificationConfig> = or_default,
        /// Token of the next page; empty on the last page.
        pub next_page_token: String = unless_default | "next_page_token",
    }
}

webhook_types! {
    text: unless_empty, canonical only: {};
    /// Webhook for the changes of a task, 0.3 §6.8.
    PushNotificationConfig {
        /// Identifier of the webhook within its task.
        id,
    }
    /// Authentication of the sender, 0.3 §6.9.
    AuthenticationInfo: Default { schemes = unless_default }
}

/// Body of a request for a webhook, in every shape that peers send.
///
/// The proto has [`CreateTaskPushNotificationConfigRequest`] and declares that the body is its
/// `config`; clients in Python send the whole, clients in JavaScript the `config`, examples
/// `{"config": …}` with or without `name`, and the plain JSON has `taskId`. So each of two levels
/// may have the webhook, itself or in a member, together with the names of its task.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateBody {
    parent: Option<String>,
    #[serde(default, alias = "config_id", deserialize_with = "unless_empty")]
    config_id: Option<ConfigId>,
    name: Option<String>,
    #[serde(alias = "task_id")]
    task_id: Option<TaskId>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<PushNotificationConfig>,
    #[serde(default, deserialize_with = "unless_empty")]
    id: Option<ConfigId>,
    url: Option<String>,
    token: Option<String>,
    authentication: Option<AuthenticationInfo>,
    config: Option<Box<CreateBody>>,
}

impl CreateBody {
    /// Returns the webhook with its task. Errors: no `url`, no task, or two different tasks are named.
    pub(super) fn resolve(
        mut self,
        hints: &Hints<'_>,
    ) -> Result<crate::TaskPushNotificationConfig, Violation> {
        let root = JsonPath::Root(hints.root);
        let (mut task, mut id, mut found) = (hints.task.cloned(), None, None);
        let inner = self.config.take();
        let inner = inner.map(|inner| (*inner, JsonPath::Member(&root, "config")));
        for (body, at) in iter::once((self, root)).chain(inner) {
            for (member, name) in [("parent", &body.parent), ("name", &body.name)] {
                let expected = "expected `tasks/{task}` and what is below";
                agree_on_name(&mut task, name.as_deref(), expected, &at.member(member))?;
            }
            agree(&mut task, body.task_id.clone(), &at.member("taskId"))?;
            let named = body.name.as_deref().and_then(config_of);
            id = id.or(body.config_id.clone()).or(named);
            found = found.or(body.webhook());
        }
        let none = "no push notification config with a `url`";
        let config = found.ok_or_else(|| root.violation(none))?;
        let task_id = task.ok_or_else(|| root.violation("no task is named"))?;
        let id = config.id.clone().or(id).unwrap_or_default();
        Ok(crate::TaskPushNotificationConfig {
            task_id,
            id,
            ..config.into()
        })
    }

    fn webhook(self) -> Option<PushNotificationConfig> {
        let bare = self.url.map(|url| PushNotificationConfig {
            id: self.id,
            url,
            token: self.token.filter(|token| !token.is_empty()),
            authentication: self.authentication,
        });
        self.push_notification_config.or(bare)
    }
}

impl Wire for CreateBody {
    fn normalize(body: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_create(body, normalizer);
        normalizer.member(body, "config", normalize_create);
    }
}

fn normalize_create(body: &mut Object, normalizer: &mut Normalizer<'_>) {
    let task = spelled(body, &["taskId", "task_id"]);
    pre_1_0::normalize_task_id(body, normalizer, task);
    PushNotificationConfig::normalize(body, normalizer);
    let config = spelled(body, CONFIG);
    normalizer.member(body, config, PushNotificationConfig::normalize);
}

impl Wire for TaskPushNotificationConfig {
    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let expected = "expected `tasks/{task}/pushNotificationConfigs/{config}`";
        let named = task_of(&self.name).map(drop);
        named.ok_or_else(|| at.member("name").violation(expected))
    }

    fn normalize(config: &mut Object, normalizer: &mut Normalizer<'_>) {
        let task = spelled(config, &["taskId", "task_id"]);
        if absent(config, "name")
            && let Some(id) = config.get(task).and_then(Value::as_str)
        {
            let name = resource(id, "");
            config.insert("name".to_owned(), name.into());
            normalizer.note(Quirk::OtherFlavour, task);
        }
        if let Some(asked) = normalizer.task().cloned() {
            normalizer.drop_empty_id(config, "name");
            let name = resource(asked.as_str(), "");
            normalizer.supply(config, "name", name, Quirk::OtherFlavour);
        }
        let inner = spelled(config, CONFIG);
        normalizer.member(config, inner, PushNotificationConfig::normalize);
    }
}

impl Wire for ListTaskPushNotificationConfigResponse {
    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let check = TaskPushNotificationConfig::check_lenient;
        at.each("configs", &self.configs, check)
    }

    fn normalize(list: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalizer.items(list, "configs", TaskPushNotificationConfig::normalize);
    }
}

const CONFIG: &[&str] = &["pushNotificationConfig", "push_notification_config"];

impl From<TaskPushNotificationConfig> for crate::TaskPushNotificationConfig {
    fn from(config: TaskPushNotificationConfig) -> Self {
        let id = config.push_notification_config.id.clone();
        Self {
            task_id: task_of(&config.name).unwrap_or_default(),
            id: id.or(config_of(&config.name)).unwrap_or_default(),
            ..config.push_notification_config.into()
        }
    }
}

impl From<crate::TaskPushNotificationConfig> for TaskPushNotificationConfig {
    fn from(config: crate::TaskPushNotificationConfig) -> Self {
        Self {
            name: resource(config.task_id.as_str(), config.id.as_str()),
            push_notification_config: config.into(),
        }
    }
}

impl From<crate::TaskPushNotificationConfig> for CreateTaskPushNotificationConfigRequest {
    fn from(config: crate::TaskPushNotificationConfig) -> Self {
        let parent = resource(config.task_id.as_str(), "");
        let config_id = config.id.clone();
        let mut config = TaskPushNotificationConfig::from(config);
        if config_id.is_empty() {
            config.name.clear();
        }
        Self {
            parent,
            config_id,
            config,
        }
    }
}

both_ways! {
    ListTaskPushNotificationConfigResponse = ListTaskPushNotificationConfigsResponse {
        configs as list, next_page_token,
    };
}
