//! Relay of push notifications: from the agent to the webhooks of the gateway's callers.
//!
//! The agent gets one webhook for a task: a URL of the gateway with a secret. What it sends there is translated
//! for each caller, and delivered before the agent gets its answer: an agent that tries again is the retry.

use std::sync::Arc;

use a2a_jsonrpc::Limits;
use a2a_transport::binding::notifies_of_events;
use a2a_transport::webhook::{
    NotificationOutcome, NotificationReceiver, NotificationSender, digest, hex_digest, read_notice,
    write_notification,
};
use a2a_transport::{BoxFuture, CallRequest, Claims, Error, ResponseBody, TraceContext, Transport};
use a2a_types::{
    ConfigId, DeleteTaskPushNotificationConfigRequest, Error as A2aError, ErrorKind, Event,
    GetTaskRequest, ListTaskPushNotificationConfigsResponse, ProtocolVersion, Request, Response,
    Task, TaskId, TaskPushNotificationConfig, TaskState,
};
use http::StatusCode;
use tokio::sync::OnceCell;

use crate::owned_call::OwnedCall;
use crate::owner::Owner;
use crate::rewrite::{OnTask, Rewrite};
use crate::settle::{read, read_task};
use crate::task_map::TaskMap;
use crate::webhook_map::{TaskWebhooks, Webhook, WebhookMap};

/// Relay of a gateway.
pub(crate) struct Relay<T> {
    pub(crate) agent: Arc<T>,
    /// URL of the gateway for the agent, without a slash at its end.
    pub(crate) url: String,
    pub(crate) sender: Arc<dyn NotificationSender>,
    pub(crate) tasks: Arc<TaskMap>,
    pub(crate) webhooks: Arc<WebhookMap>,
}

/// Path of the URLs that agents call, below that of the gateway.
pub(crate) const WEBHOOK_PATH: &str = "/webhooks/";

impl<T: Transport> Relay<T> {
    /// Replaces the webhook of a message by one of the gateway. Returns what is to be
    /// done with the task of the message; without a task the webhook is removed.
    pub(crate) async fn replace(&self, owned: &mut OwnedCall) -> Result<Option<OnTask>, Error> {
        let protocol_version = owned.context().protocol_version;
        let (Request::SendMessage(params) | Request::SendStreamingMessage(params)) =
            &mut owned.call.request
        else {
            return Ok(None);
        };
        let configuration = params.configuration.as_mut();
        let Some(config) = configuration.and_then(|it| it.task_push_notification_config.take())
        else {
            return Ok(None);
        };
        let webhook = self.webhook(*config, protocol_version)?;
        // If the caller has no access to the task, the agent refuses the message.
        if self.check_access(owned).await.is_ok() && self.added(owned, &webhook)? {
            return Ok(None);
        }
        let secret = self.webhooks.add(TaskWebhooks {
            webhooks: vec![webhook],
            ..self.of_call(owned)
        });
        let config = self.agents_config(&secret, owned);
        if let Request::SendMessage(params) | Request::SendStreamingMessage(params) =
            &mut owned.call.request
        {
            let configuration = params.configuration.get_or_insert_default();
            configuration.task_push_notification_config = Some(Box::new(config));
        }
        let registered = PendingWebhook {
            webhooks: Arc::clone(&self.webhooks),
            secret: Some(secret),
        };
        Ok(Some(Box::new(move |task| registered.bind(task))))
    }

    /// Answers an operation on webhooks. The agent is asked for the first and the last of a task.
    pub(crate) async fn answer(&self, owned: &OwnedCall) -> Result<Response, Error> {
        self.check_access(owned).await?;
        let task = owned.agent_task().unwrap_or_default();
        let known = self.webhooks.of_task(&owned.owner, &task);
        let shown = |webhook: &Webhook| shown(&webhook.config, owned);
        let absent = || {
            let text = "the task has no such push notification config";
            Error::from(A2aError::new(ErrorKind::TaskNotFound, text))
        };
        match &owned.call.request {
            Request::CreateTaskPushNotificationConfig(config) => {
                let webhook = self.webhook(config.clone(), owned.context().protocol_version)?;
                if !self.added(owned, &webhook)? {
                    self.register(owned, webhook.clone()).await?;
                }
                Ok(Response::CreateTaskPushNotificationConfig(shown(&webhook)))
            }
            Request::GetTaskPushNotificationConfig(params) => {
                let (_, known) = known.ok_or_else(absent)?;
                let is_meant =
                    |webhook: &&Webhook| params.id.is_empty() || webhook.config.id == params.id;
                let webhook = known.webhooks.iter().find(is_meant).ok_or_else(absent)?;
                Ok(Response::GetTaskPushNotificationConfig(shown(webhook)))
            }
            Request::ListTaskPushNotificationConfigs(_) => {
                let webhooks = known.map(|(_, known)| known.webhooks).unwrap_or_default();
                let list = ListTaskPushNotificationConfigsResponse {
                    configs: webhooks.iter().map(shown).collect(),
                    ..ListTaskPushNotificationConfigsResponse::default()
                };
                Ok(Response::ListTaskPushNotificationConfigs(list))
            }
            Request::DeleteTaskPushNotificationConfig(params) => {
                if let Some((secret, _)) = known {
                    self.delete(&secret, &params.id).await;
                }
                Ok(Response::DeleteTaskPushNotificationConfig(()))
            }
            _ => Err(ErrorKind::MethodNotFound.into()),
        }
    }

    /// Has the agent check that the caller may read the task, if all callers share the gateway's tasks.
    async fn check_access(&self, owned: &OwnedCall) -> Result<(), Error> {
        match owned.agent_task() {
            Some(task) if owned.owner == Owner::everyone() => {
                read_task(&*self.agent, owned, task, Some(0)).await?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks a caller's config, and gives it an id if it has none.
    fn webhook(
        &self,
        mut config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> Result<Webhook, Error> {
        self.sender.check(&config).map_err(|problem| {
            let text = format!("the push notification config is refused: {problem}");
            A2aError::new(ErrorKind::InvalidParams, text)
        })?;
        if config.id.is_empty() {
            config.id = protocol_version.new_config_id();
        }
        Ok(Webhook {
            config,
            protocol_version,
            delivered: None,
        })
    }

    /// Adds a webhook to the webhooks of its task. Returns `false` if the task has none yet.
    fn added(&self, owned: &OwnedCall, webhook: &Webhook) -> Result<bool, Error> {
        let Some(task) = owned.agent_task() else {
            return Ok(false);
        };
        let Some((secret, _)) = self.webhooks.of_task(&owned.owner, &task) else {
            return Ok(false);
        };
        let webhook = webhook.clone();
        let put = self.webhooks.change(&secret, |known| known.put(webhook));
        match put {
            Some(put) => put.map(|()| true).map_err(Error::from),
            None => Ok(false),
        }
    }

    /// Registers the first webhook of a task at the agent.
    async fn register(&self, owned: &OwnedCall, webhook: Webhook) -> Result<(), Error> {
        let secret = self.webhooks.add(TaskWebhooks {
            webhooks: vec![webhook],
            task: owned.agent_task(),
            ..self.of_call(owned)
        });
        let config = self.agents_config(&secret, owned);
        let call = CallRequest {
            request: config.into(),
            context: owned.context().clone(),
        };
        match self.agent.call(call).await.map(|reply| reply.answer) {
            Ok(ResponseBody::Once(Response::CreateTaskPushNotificationConfig(config))) => {
                self.webhooks
                    .change(&secret, |known| known.agents_id = config.id);
                Ok(())
            }
            Ok(_) => {
                self.webhooks.remove(&secret);
                Err(ErrorKind::InvalidAgentResponse.into())
            }
            Err(error) => {
                self.webhooks.remove(&secret);
                Err(error)
            }
        }
    }

    /// Deletes a webhook; with the last one of a task, also deletes the webhook at the agent.
    async fn delete(&self, secret: &str, id: &ConfigId) {
        let left = self.webhooks.change(secret, |known| {
            known.webhooks.retain(|webhook| webhook.config.id != *id);
            known.webhooks.is_empty().then(|| known.clone())
        });
        let Some(Some(empty)) = left else { return };
        self.webhooks.remove(secret);
        let request = DeleteTaskPushNotificationConfigRequest {
            tenant: empty.tenant,
            task_id: empty.task.unwrap_or_default(),
            id: empty.agents_id,
        };
        let call = CallRequest {
            request: request.into(),
            context: empty.context,
        };
        if let Err(error) = self.agent.call(call).await {
            // Its next notification is answered with 410.
            tracing::debug!(%error, "the agent did not delete a webhook of the gateway");
        }
    }

    fn of_call(&self, owned: &OwnedCall) -> TaskWebhooks {
        let mut context = owned.context().clone();
        context.extensions = Vec::new();
        context.last_event_id = None;
        context.repairs = Vec::new();
        context.claims = Claims::default();
        TaskWebhooks {
            owner: owned.owner.clone(),
            scope: owned.scope.clone(),
            named: owned.named.clone(),
            task: owned.known.as_ref().map(|known| known.id.clone()),
            agents_id: ConfigId::default(),
            context,
            tenant: owned.call.request.tenant().map(str::to_owned),
            webhooks: Vec::new(),
        }
    }

    /// Returns the config for the agent.
    fn agents_config(&self, secret: &str, owned: &OwnedCall) -> TaskPushNotificationConfig {
        TaskPushNotificationConfig {
            tenant: owned.call.request.tenant().map(str::to_owned),
            task_id: owned
                .known
                .as_ref()
                .map(|known| known.id.clone())
                .unwrap_or_default(),
            url: format!("{}{WEBHOOK_PATH}{secret}", self.url),
            ..TaskPushNotificationConfig::default()
        }
    }
}

/// Returns a config as its owner may read it again: credentials are for its receiver only.
fn shown(config: &TaskPushNotificationConfig, owned: &OwnedCall) -> TaskPushNotificationConfig {
    let mut config = config.clone();
    config.task_id = owned.named.clone().unwrap_or_default();
    if let Some(authentication) = &mut config.authentication {
        authentication.credentials = None;
    }
    config
}

/// A webhook that was sent with a message. Dropping it without a task removes it.
struct PendingWebhook {
    webhooks: Arc<WebhookMap>,
    secret: Option<String>,
}

impl PendingWebhook {
    fn bind(mut self, task: &TaskId) {
        if let Some(secret) = self.secret.take() {
            self.webhooks.bind(&secret, task);
        }
    }
}

impl Drop for PendingWebhook {
    fn drop(&mut self) {
        if let Some(secret) = &self.secret {
            self.webhooks.remove(secret);
        }
    }
}

impl<T: Transport> NotificationReceiver for Relay<T> {
    fn has(&self, secret: &str) -> bool {
        self.webhooks.get(secret).is_some()
    }

    fn receive<'a>(
        &'a self,
        secret: &'a str,
        body: Option<&'a [u8]>,
        trace: Option<TraceContext>,
    ) -> BoxFuture<'a, StatusCode> {
        Box::pin(async move {
            let Some(mut webhooks) = self.webhooks.get(secret) else {
                return StatusCode::GONE;
            };
            webhooks.context.trace = trace;
            match self.deliver(secret, webhooks, body).await {
                Ok(status) => status,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "cannot pass a notification of the agent on");
                    StatusCode::BAD_GATEWAY
                }
            }
        })
    }
}

impl<T: Transport> Relay<T> {
    async fn deliver(
        &self,
        secret: &str,
        webhooks: TaskWebhooks,
        body: Option<&[u8]>,
    ) -> Result<StatusCode, Error> {
        let limits = Limits::default();
        let notice = body.map(|body| read_notice(body, &limits)).transpose();
        let Ok(notice) = notice else {
            return Ok(StatusCode::BAD_REQUEST);
        };
        let (named, event) = notice.map_or((None, None), |notice| (notice.task, notice.event));
        let task = match (&webhooks.task, named) {
            (Some(known), Some(named)) if *known != named => return Ok(StatusCode::BAD_REQUEST),
            (Some(known), _) => known.clone(),
            (None, Some(named)) => {
                self.webhooks.bind(secret, &named);
                named
            }
            // The agent has not answered with its id yet.
            (None, None) => return Ok(StatusCode::SERVICE_UNAVAILABLE),
        };
        let whole = OnceCell::new();
        let mut status = StatusCode::OK;
        for webhook in &webhooks.webhooks {
            let event = match (&event, notifies_of_events(webhook.protocol_version)) {
                (Some(event), true) | (Some(event @ Event::Task(_)), _) => Some(event.clone()),
                (Some(event), false) if !is_notified(event) => None,
                (event, _) => {
                    let read = || self.whole(&webhooks, task.clone(), event.as_ref());
                    let task = whole.get_or_try_init(read).await?;
                    Some(Event::Task(task.clone()))
                }
            };
            let Some(event) = event else { continue };
            if self.pass_on(secret, &webhooks, webhook, event).await? == NotificationOutcome::Failed
            {
                status = StatusCode::SERVICE_UNAVAILABLE;
            }
        }
        Ok(status)
    }

    /// Reads the task, with the status of the event that it is notified for.
    async fn whole(
        &self,
        webhooks: &TaskWebhooks,
        id: TaskId,
        event: Option<&Event>,
    ) -> Result<Task, Error> {
        let request = GetTaskRequest {
            id,
            history_length: None,
            tenant: webhooks.tenant.clone(),
        };
        let (mut task, _) = read(&*self.agent, request, webhooks.context.clone()).await?;
        match event.map(Event::status) {
            Some(Some(status)) => task.status = status.clone(),
            // It was still working then; the next notification has its end.
            Some(None) if task.status.state.is_settled() => task.status = TaskState::Working.into(),
            _ => {}
        }
        Ok(task)
    }

    /// Delivers an event to one webhook, in its version and with its caller's ids.
    async fn pass_on(
        &self,
        secret: &str,
        webhooks: &TaskWebhooks,
        webhook: &Webhook,
        event: Event,
    ) -> Result<NotificationOutcome, Error> {
        let owner = &webhooks.owner;
        let name = event.task_id().and_then(|id| self.tasks.name_of(owner, id));
        let mut rewrite = Rewrite::of_notification(
            (owner.clone(), webhooks.scope.clone()),
            name.or_else(|| webhooks.named.clone()),
            webhook.protocol_version,
            Arc::clone(&self.tasks),
        );
        let event = rewrite.event(event)?;
        let Some(body) = write_notification(event, webhook.protocol_version) else {
            return Ok(NotificationOutcome::Delivered);
        };
        let hash = digest(&body.body);
        if webhook.delivered == Some(hash) {
            // The agent tries again because another webhook of the task has failed.
            return Ok(NotificationOutcome::Delivered);
        }
        let config = &webhook.config;
        let id = hex_digest(&[secret.as_bytes(), config.id.as_str().as_bytes(), &hash].concat());
        let id = format!("msg_{}", &id[..32]);
        let trace = webhooks.context.trace.as_ref();
        let outcome = self.sender.send(config, &id, body, trace).await;
        match outcome {
            NotificationOutcome::Delivered => {
                self.webhooks.change(secret, |known| {
                    let known = known.webhooks.iter_mut();
                    for known in known.filter(|known| known.config == *config) {
                        known.delivered = Some(hash);
                    }
                });
            }
            NotificationOutcome::Gone => self.delete(secret, &config.id).await,
            NotificationOutcome::Failed => {
                tracing::warn!(task = %config.task_id, "a notification could not be passed on");
            }
        }
        Ok(outcome)
    }
}

/// Returns whether an event is worth a notification of the whole task: of artifacts only whole ones are.
fn is_notified(event: &Event) -> bool {
    match event {
        Event::ArtifactUpdate(update) => update.last_chunk || !update.append,
        Event::StatusUpdate(_) | Event::Task(_) => true,
        Event::Message(_) => false,
    }
}
