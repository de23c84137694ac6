//! Webhooks, 0.3 §6.8–6.10 as in the proto: named as resources,
//! `tasks/{task}/pushNotificationConfigs/{config}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::resource_name::{agree, config_of, resource, task_of};
use crate::pre_1_0::{self, both_ways};
use crate::proto::{or_default, unless_empty};
use crate::reading::{Hints, JsonPath, Normalizer, Quirk, Violation, Wire, absent, spelled};
use crate::secret::redacted_debug;
use crate::{ConfigId, ListTaskPushNotificationConfigsResponse, TaskId};

/// A task's webhook, 0.3 §6.10.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// Name of the resource; empty only in a request that leaves it to the server.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The webhook.
    #[serde(alias = "push_notification_config")]
    pub push_notification_config: PushNotificationConfig,
}

/// Webhook for the changes of a task, 0.3 §6.8.
#[derive(Clone, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PushNotificationConfig {
    /// Identifier of the webhook within its task.
    #[serde(default, deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ConfigId>,
    /// URL to POST to.
    pub url: String,
    /// Secret by which the receiver recognises the sender.
    #[serde(default, deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Authentication of the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

redacted_debug!(PushNotificationConfig { id, authentication; token; url });

/// Authentication of the sender, 0.3 §6.9.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthenticationInfo {
    /// Authentication schemes that the receiver accepts.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<String>,
    /// Credentials for the scheme.
    #[serde(default, deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
}

redacted_debug!(AuthenticationInfo { schemes; credentials });

/// A request to create a webhook, 0.3 §7.5.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateTaskPushNotificationConfigRequest {
    /// The task, `tasks/{task}`.
    pub parent: String,
    /// Identifier of the webhook, if the server is not to choose one.
    #[serde(default, alias = "config_id", deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "ConfigId::is_empty")]
    pub config_id: ConfigId,
    /// The webhook.
    pub config: TaskPushNotificationConfig,
}

/// A task's webhooks, 0.3 §7.7.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListTaskPushNotificationConfigResponse {
    /// The webhooks.
    #[serde(default, deserialize_with = "or_default")]
    pub configs: Vec<TaskPushNotificationConfig>,
    /// Token of the next page; empty on the last page.
    #[serde(default, alias = "next_page_token", deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub next_page_token: String,
}

/// Body of a request for a webhook, in every shape that peers send.
///
/// The proto has [`CreateTaskPushNotificationConfigRequest`] and declares that the body is its
/// `config`; clients in Python send the whole, those in JavaScript the `config`, examples
/// `{"config": …}` with or without `name`, and the plain JSON has `taskId`. So at each of two
/// levels there may be the webhook, itself or in a member, beside the names of its task.
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
        self,
        hints: &Hints<'_>,
    ) -> Result<crate::TaskPushNotificationConfig, Violation> {
        let root = JsonPath::Root(hints.root);
        let mut task = hints.task.cloned();
        let mut id = None;
        let mut found = None;
        let mut level = Some((self, root));
        while let Some((mut body, at)) = level.take() {
            body.agree(&at, &mut task)?;
            let named = body.name.as_deref().and_then(config_of);
            id = id.or(body.config_id.take()).or(named);
            let inner = body
                .config
                .take()
                .filter(|_| matches!(at, JsonPath::Root(_)));
            found = found.or(body.webhook());
            level = inner.map(|inner| (*inner, JsonPath::Member(&root, "config")));
        }
        let Some(config) = found else {
            return Err(root.violation("no push notification config with a `url`"));
        };
        let Some(task_id) = task else {
            return Err(root.violation("no task is named"));
        };
        let id = config.id.clone().or(id).unwrap_or_default();
        Ok(crate::TaskPushNotificationConfig {
            task_id,
            id,
            ..config.into()
        })
    }

    /// Checks that every member that names a task names the same one.
    fn agree(&self, at: &JsonPath<'_>, task: &mut Option<TaskId>) -> Result<(), Violation> {
        for (member, name) in [("parent", &self.parent), ("name", &self.name)] {
            let Some(name) = name.as_deref().filter(|name| !name.is_empty()) else {
                continue;
            };
            let at = at.member(member);
            let named = task_of(name)
                .ok_or_else(|| at.violation("expected `tasks/{task}` and what is below"))?;
            agree(task, named, &at)?;
        }
        match self.task_id.clone().filter(|id| !id.is_empty()) {
            Some(id) => agree(task, id, &at.member("taskId")),
            None => Ok(()),
        }
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
    fn normalize(body: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalize_create(body, normalizer);
        normalizer.member(body, "config", normalize_create);
    }
}

fn normalize_create(body: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
    let task = spelled(body, &["taskId", "task_id"]);
    pre_1_0::normalize_task_id(body, normalizer, task);
    PushNotificationConfig::normalize(body, normalizer);
    let config = spelled(body, CONFIG);
    normalizer.member(body, config, PushNotificationConfig::normalize);
}

impl Wire for TaskPushNotificationConfig {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        match task_of(&self.name) {
            None => Err(at
                .member("name")
                .violation("expected `tasks/{task}/pushNotificationConfigs/{config}`")),
            Some(_) => Ok(()),
        }
    }

    fn normalize(config: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
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
            normalizer.supply(
                config,
                "name",
                resource(asked.as_str(), ""),
                Quirk::OtherFlavour,
            );
        }
        let inner = spelled(config, CONFIG);
        normalizer.member(config, inner, PushNotificationConfig::normalize);
    }
}

impl Wire for PushNotificationConfig {
    fn normalize(config: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalizer.member(config, "authentication", pre_1_0::normalize_schemes);
    }
}

impl Wire for ListTaskPushNotificationConfigResponse {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.each(
            "configs",
            &self.configs,
            TaskPushNotificationConfig::check_lenient,
        )
    }

    fn normalize(list: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
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
        Self {
            parent: resource(config.task_id.as_str(), ""),
            config_id: config.id.clone(),
            config: TaskPushNotificationConfig {
                name: match config.id.is_empty() {
                    true => String::new(),
                    false => resource(config.task_id.as_str(), config.id.as_str()),
                },
                push_notification_config: config.into(),
            },
        }
    }
}

both_ways! {
    PushNotificationConfig = crate::TaskPushNotificationConfig {
        id as unless_empty, url, token, authentication as option,
    } canonical only { tenant, task_id };
    AuthenticationInfo = crate::AuthenticationInfo { credentials }
        renamed { schemes = scheme as schemes };
    ListTaskPushNotificationConfigResponse = ListTaskPushNotificationConfigsResponse {
        configs as list, next_page_token,
    };
}
