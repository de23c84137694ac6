//! Strategies for requests and responses.

use a2a_types::{
    AuthenticationInfo, CancelTaskRequest, ConfigId, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, Request,
    Response, SendMessageConfiguration, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, TaskId, TaskPushNotificationConfig,
};
use proptest::prelude::*;

use super::tasks::{message, state, task};
use super::values::{id, maybe_text, metadata, text, texts, time};
use crate::golden::document_kind::TASK;

/// Returns a webhook, of the task that everything here is about.
pub(crate) fn webhook() -> BoxedStrategy<TaskPushNotificationConfig> {
    let authentication =
        (text(), maybe_text()).prop_map(|(scheme, credentials)| AuthenticationInfo {
            scheme,
            credentials,
        });
    let authentication = prop::option::of(authentication);
    let id = prop_oneof![Just(ConfigId::default()), id().prop_map(ConfigId::from)];
    (maybe_text(), id, text(), maybe_text(), authentication)
        .prop_map(
            |(tenant, id, url, token, authentication)| TaskPushNotificationConfig {
                tenant,
                id,
                task_id: TASK.into(),
                url,
                token,
                authentication,
            },
        )
        .boxed()
}

fn count() -> BoxedStrategy<Option<u32>> {
    prop::option::of(0_u32..100).boxed()
}

fn send() -> BoxedStrategy<SendMessageRequest> {
    let configuration = (texts(), prop::option::of(webhook()), count(), any::<bool>()).prop_map(
        |(accepted_output_modes, webhook, history_length, return_immediately)| {
            SendMessageConfiguration {
                accepted_output_modes,
                task_push_notification_config: webhook.map(Box::new),
                history_length,
                return_immediately,
            }
        },
    );
    let configuration = prop::option::of(configuration);
    (maybe_text(), message(), configuration, metadata())
        .prop_map(
            |(tenant, message, configuration, metadata)| SendMessageRequest {
                tenant,
                message,
                configuration,
                metadata,
            },
        )
        .boxed()
}

fn list_tasks() -> BoxedStrategy<ListTasksRequest> {
    let whose = (
        maybe_text(),
        prop::option::of(id()),
        prop::option::of(state()),
    );
    let page = (count(), prop_oneof![Just(String::new()), text()]);
    (whose, page, count(), time(), any::<bool>())
        .prop_map(
            |(
                (tenant, context, status),
                (page_size, page_token),
                history_length,
                after,
                artifacts,
            )| {
                ListTasksRequest {
                    tenant,
                    context_id: context.map(Into::into),
                    status,
                    page_size,
                    page_token,
                    history_length,
                    status_timestamp_after: after,
                    include_artifacts: artifacts,
                }
            },
        )
        .boxed()
}

/// Returns a request of any operation that has params; all are about [`TASK`], which paths have to name.
pub(crate) fn request() -> BoxedStrategy<Request> {
    let id = || Just(TaskId::from(TASK));
    let named = || (maybe_text(), text().prop_map(ConfigId::from));
    prop_oneof![
        4 => send().prop_map(Request::SendMessage),
        1 => send().prop_map(Request::SendStreamingMessage),
        1 => (maybe_text(), id(), count()).prop_map(|(tenant, id, history_length)| {
            GetTaskRequest { tenant, id, history_length }.into()
        }),
        1 => list_tasks().prop_map(Request::ListTasks),
        1 => (maybe_text(), id(), metadata())
            .prop_map(|(tenant, id, metadata)| CancelTaskRequest { tenant, id, metadata }.into()),
        1 => (maybe_text(), id())
            .prop_map(|(tenant, id)| Request::SubscribeToTask(SubscribeToTaskRequest { tenant, id })),
        2 => webhook().prop_map(Request::CreateTaskPushNotificationConfig),
        1 => named().prop_map(|(tenant, id)| {
            GetTaskPushNotificationConfigRequest { tenant, task_id: TASK.into(), id }.into()
        }),
        1 => (maybe_text(), count(), text()).prop_map(|(tenant, page_size, page_token)| {
            let task_id = TASK.into();
            ListTaskPushNotificationConfigsRequest { tenant, task_id, page_size, page_token }.into()
        }),
        1 => named().prop_map(|(tenant, id)| {
            DeleteTaskPushNotificationConfigRequest { tenant, task_id: TASK.into(), id }.into()
        }),
    ].boxed()
}

/// Returns an answer of any operation that is answered by something.
pub(crate) fn response() -> BoxedStrategy<Response> {
    let tasks = prop::collection::vec(task(), 0..3);
    let page = (tasks, ".{0,3}", 0_u32..100, 0_u32..100).prop_map(
        |(tasks, next_page_token, page_size, total_size)| ListTasksResponse {
            tasks,
            next_page_token,
            page_size,
            total_size,
        },
    );
    let webhooks = (prop::collection::vec(webhook(), 0..3), ".{0,3}").prop_map(
        |(configs, next_page_token)| ListTaskPushNotificationConfigsResponse {
            configs,
            next_page_token,
        },
    );
    prop_oneof![
        2 => task().prop_map(|task| Response::SendMessage(SendMessageResponse::Task(task))),
        1 => message().prop_map(|it| Response::SendMessage(SendMessageResponse::Message(it))),
        2 => task().prop_map(Response::GetTask),
        1 => task().prop_map(Response::CancelTask),
        1 => page.prop_map(Response::ListTasks),
        1 => webhook().prop_map(Response::CreateTaskPushNotificationConfig),
        1 => webhook().prop_map(Response::GetTaskPushNotificationConfig),
        1 => webhooks.prop_map(Response::ListTaskPushNotificationConfigs),
    ]
    .boxed()
}
