//! Params of operations, 0.2 §7.

use super::message::normalize_message;
use super::{Message, PushNotificationConfig};
use crate::pre_1_0::{self, both_ways, wire_types};
use crate::reading::{JsonPath, Normalizer, Violation, Wire};
use crate::{
    CancelTaskRequest, ConfigId, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    Object, SendMessageConfiguration, SendMessageRequest, SubscribeToTaskRequest, TaskId,
};

wire_types! {
    /// A message, 0.2 §7.1.1.
    pub struct MessageSendParams: Debug {
        /// The message.
        pub message: Message,
        /// Settings of the reply.
        pub configuration: Option<MessageSendConfiguration> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// Reply settings of a sent message, 0.2 §7.1.2.
    pub struct MessageSendConfiguration: Debug, Default {
        /// Media types that the caller accepts; required until 0.2.5.
        pub accepted_output_modes: Option<Vec<String>> = optional,
        /// Number of most recent messages to include.
        pub history_length: Option<u32> = optional,
        /// A webhook for the task.
        pub push_notification_config: Option<PushNotificationConfig> = optional,
        /// `true`, the default, to answer only when the task ends or is interrupted.
        pub blocking: Option<bool> = optional,
    }
}

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident { $($members:tt)* })*) => {$(
        wire_types! {
            $(#[$doc])*
            pub struct $name: Debug {
                /// The task.
                pub id: TaskId,
                $($members)*
                /// Custom key-value metadata.
                pub metadata: Option<Object> = optional,
            }
        }

        impl Wire for $name {
            fn normalize(params: &mut Object, normalizer: &mut Normalizer<'_>) {
                pre_1_0::normalize_task_id(params, normalizer, "id");
            }
        }
    )*};
}

params! {
    /// A task, 0.2 §7.4.1.
    TaskIdParams {}
    /// A task and the length of its history, 0.2 §7.3.1.
    TaskQueryParams {
        /// Number of most recent messages to include.
        pub history_length: Option<u32> = optional,
    }
    /// A webhook of a task (0.2.5); without an id the server chooses one.
    GetTaskPushNotificationConfigParams {
        /// Identifier of the webhook.
        pub push_notification_config_id: Option<ConfigId> = optional,
    }
    /// A task's webhooks (0.2.5).
    ListTaskPushNotificationConfigParams {}
    /// A webhook to be deleted (0.2.5).
    DeleteTaskPushNotificationConfigParams {
        /// Identifier of the webhook.
        pub push_notification_config_id: ConfigId,
    }
}

impl Wire for MessageSendParams {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.message.check(&at.member("message"))
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let at = at.member("message");
        pre_1_0::check_has_parts(&self.message.parts, &at.member("parts"))
    }

    fn normalize(params: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_message_id(params, normalizer, "message", &["messageId"]);
        normalizer.member(params, "message", |message, normalizer| {
            normalize_message(message, normalizer, "user")
        });
        normalizer.member(params, "configuration", |configuration, normalizer| {
            normalizer.member(
                configuration,
                "pushNotificationConfig",
                PushNotificationConfig::normalize,
            );
        });
    }
}

both_ways! {
    // The media types are always written, since 0.2.0 to 0.2.5 require them, and `blocking`, since servers
    // differ in their default.
    MessageSendConfiguration = SendMessageConfiguration {
        accepted_output_modes as always, history_length,
    } renamed {
        push_notification_config = task_push_notification_config as boxed,
        blocking = return_immediately as unless_false,
    };
    MessageSendParams = SendMessageRequest { message, configuration as option, metadata }
        canonical only { tenant };
    TaskQueryParams = GetTaskRequest { id, history_length }
        wire only { metadata } canonical only { tenant };
    TaskIdParams = CancelTaskRequest { id, metadata } canonical only { tenant };
    TaskIdParams = SubscribeToTaskRequest { id } wire only { metadata } canonical only { tenant };
    GetTaskPushNotificationConfigParams = GetTaskPushNotificationConfigRequest {}
        renamed { id = task_id, push_notification_config_id = id as unless_empty }
        wire only { metadata } canonical only { tenant };
    ListTaskPushNotificationConfigParams = ListTaskPushNotificationConfigsRequest {}
        renamed { id = task_id }
        wire only { metadata } canonical only { tenant, page_size, page_token };
    DeleteTaskPushNotificationConfigParams = DeleteTaskPushNotificationConfigRequest {}
        renamed { id = task_id, push_notification_config_id = id }
        wire only { metadata } canonical only { tenant };
}
