//! Operations on the webhooks of tasks.

use a2a_transport::{CallResponse, Context};
use a2a_types::{
    DeleteTaskPushNotificationConfigRequest, Error as A2aError, ErrorKind,
    GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, Response, TaskId, TaskPushNotificationConfig,
};

use crate::engine::new_task::with_id;
use crate::operations::ServerState;
use crate::store::{Owner, Snapshot};

pub(crate) async fn create_config(
    server: &ServerState,
    config: TaskPushNotificationConfig,
    context: Context,
) -> Result<CallResponse, A2aError> {
    let snapshot = pushable(server, &config.task_id, &context).await?;
    check_webhook(server, &config, &context).await?;
    let config = with_id(config, &context);
    server
        .engine
        .store()
        .put_config(
            &Owner::of(&context),
            config.clone(),
            context.protocol_version,
        )
        .await?;
    Ok(
        CallResponse::once(Response::CreateTaskPushNotificationConfig(masked(config)))
            .about_task_of(snapshot.protocol_version),
    )
}

pub(crate) async fn get_config(
    server: &ServerState,
    params: GetTaskPushNotificationConfigRequest,
    context: Context,
) -> Result<CallResponse, A2aError> {
    let snapshot = pushable(server, &params.task_id, &context).await?;
    let configs = server
        .engine
        .store()
        .configs(&Owner::of(&context), &params.task_id)
        .await?;
    let wanted =
        |config: &TaskPushNotificationConfig| params.id.is_empty() || config.id == params.id;
    let config = configs.into_iter().find(wanted).ok_or_else(|| {
        let text = "the task has no such push notification config";
        A2aError::new(ErrorKind::TaskNotFound, text)
    })?;
    let config = masked(config);
    Ok(
        CallResponse::once(Response::GetTaskPushNotificationConfig(config))
            .about_task_of(snapshot.protocol_version),
    )
}

pub(crate) async fn list_configs(
    server: &ServerState,
    params: ListTaskPushNotificationConfigsRequest,
    context: Context,
) -> Result<CallResponse, A2aError> {
    let snapshot = pushable(server, &params.task_id, &context).await?;
    let owner = Owner::of(&context);
    let configs = server
        .engine
        .store()
        .configs(&owner, &params.task_id)
        .await?;
    let list = ListTaskPushNotificationConfigsResponse {
        configs: configs.into_iter().map(masked).collect(),
        next_page_token: String::new(),
    };
    Ok(
        CallResponse::once(Response::ListTaskPushNotificationConfigs(list))
            .about_task_of(snapshot.protocol_version),
    )
}

pub(crate) async fn delete_config(
    server: &ServerState,
    params: DeleteTaskPushNotificationConfigRequest,
    context: Context,
) -> Result<CallResponse, A2aError> {
    let snapshot = pushable(server, &params.task_id, &context).await?;
    server
        .engine
        .store()
        .delete_config(&Owner::of(&context), &params.task_id, &params.id)
        .await?;
    Ok(
        CallResponse::once(Response::DeleteTaskPushNotificationConfig(()))
            .about_task_of(snapshot.protocol_version),
    )
}

/// Returns an error if the policy refuses the webhook.
#[cfg(feature = "webhooks")]
pub(crate) async fn check_webhook(
    server: &ServerState,
    config: &TaskPushNotificationConfig,
    context: &Context,
) -> Result<(), A2aError> {
    let Some(webhooks) = &server.webhooks else {
        return Ok(());
    };
    let checked = webhooks.check(config, context.protocol_version).await;
    checked.map_err(|refusal| {
        let text = format!("the push notification config is refused: {refusal}");
        A2aError::new(ErrorKind::InvalidParams, text)
    })
}

/// Accepts every webhook: none is called.
#[cfg(not(feature = "webhooks"))]
pub(crate) async fn check_webhook(
    _: &ServerState,
    _: &TaskPushNotificationConfig,
    _: &Context,
) -> Result<(), A2aError> {
    Ok(())
}

pub(crate) fn require_push(server: &ServerState) -> Result<(), A2aError> {
    match server.card.capabilities.push_notifications {
        Some(true) => Ok(()),
        _ => Err(ErrorKind::PushNotificationNotSupported.into()),
    }
}

/// Returns a task of the caller, if the agent has webhooks.
async fn pushable(
    server: &ServerState,
    task: &TaskId,
    context: &Context,
) -> Result<Snapshot, A2aError> {
    require_push(server)?;
    server.engine.snapshot(task, &Owner::of(context)).await
}

/// A webhook as its owner may read it again: credentials are for its receiver only. The token is included,
/// as in all implementations: callers look for it.
fn masked(mut config: TaskPushNotificationConfig) -> TaskPushNotificationConfig {
    if let Some(authentication) = &mut config.authentication {
        authentication.credentials = None;
    }
    config
}
