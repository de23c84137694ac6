//! Losses of each version, in code: each arm cites the reference.

use std::collections::BTreeSet;

use a2a_types::{
    AgentCard, Artifact, ArtifactId, Content, Event, Message, MessageId, Object, Part, Request,
    Response, Role, SecurityRequirement, SecurityScheme, SendMessageRequest, SendMessageResponse,
    Task, TaskPushNotificationConfig, TaskState, TaskStatus,
};
use serde_json::Value;

use crate::golden::document_kind::{CONTEXT, Canonical};
use crate::golden::spelling::Spelling;

/// Returns the value after a round trip through a spelling, or `None` if the result is another kind
/// of object.
pub(crate) fn forget(spelling: Spelling, canonical: Canonical) -> Option<Canonical> {
    if spelling == Spelling::V1_0 {
        return Some(canonical);
    }
    Some(match canonical {
        Canonical::Message(mut it) => {
            message(spelling, &mut it);
            Canonical::Message(it)
        }
        Canonical::TaskStatus(mut it) => {
            status(spelling, &mut it);
            Canonical::TaskStatus(it)
        }
        Canonical::AgentCard(mut it) => {
            card(spelling, &mut it);
            Canonical::AgentCard(it)
        }
        Canonical::Events(mut events) => {
            for event in &mut events {
                self::event(spelling, event)?;
            }
            Canonical::Events(events)
        }
        Canonical::Request(mut it) => {
            request(spelling, &mut it)?;
            Canonical::Request(it)
        }
        Canonical::Response(mut it) => {
            response(spelling, &mut it)?;
            Canonical::Response(it)
        }
    })
}

/// Removes what cannot be foreseen, or what the documents show better.
pub(crate) fn unforeseen(spelling: Spelling, mut canonical: Canonical) -> Canonical {
    if let Canonical::AgentCard(card) = &mut canonical {
        // §3.8: a card before 1.0 is of one version.
        card.supported_interfaces.clear();
        if spelling == Spelling::V0_1 {
            // §6 "0.1 `authentication` → schemes": names alone.
            card.security_schemes.clear();
            card.security_requirements.clear();
        }
    }
    if spelling == Spelling::V0_1 {
        // §6 "messageId, …": made up on reading.
        messages(&mut canonical, |message| {
            message.message_id = MessageId::default();
        });
    }
    canonical
}

fn messages(canonical: &mut Canonical, mut change: impl FnMut(&mut Message)) {
    match canonical {
        Canonical::Message(message) => change(message),
        Canonical::TaskStatus(status) => status.message.as_deref_mut().into_iter().for_each(change),
        Canonical::Events(events) => {
            for event in events {
                if let Event::StatusUpdate(update) = event {
                    update
                        .status
                        .message
                        .as_deref_mut()
                        .into_iter()
                        .for_each(&mut change);
                }
            }
        }
        Canonical::Request(Request::SendMessage(it) | Request::SendStreamingMessage(it)) => {
            change(&mut it.message);
        }
        Canonical::Response(response) => {
            for task in response.tasks_mut() {
                let said = task
                    .history
                    .iter_mut()
                    .chain(task.status.message.as_deref_mut());
                said.for_each(&mut change);
            }
        }
        Canonical::AgentCard(_) | Canonical::Request(_) => {}
    }
}

fn part(part: &mut Part) {
    // §6 "mediaType/filename on text/data parts", "`data` that is not an object": what a conversion
    // puts into the metadata goes again, and metadata that was empty with it.
    let described = part.media_type.is_some() || part.filename.is_some();
    let noted = match &part.content {
        Content::Text(_) | Content::Data(Value::Object(_)) => described,
        Content::Data(_) => true,
        Content::Raw(_) | Content::Url(_) => false,
    };
    if noted {
        empty_is_none(&mut part.metadata);
    }
}

fn empty_is_none(metadata: &mut Option<Object>) {
    if metadata.as_ref().is_some_and(Object::is_empty) {
        *metadata = None;
    }
}

fn message(spelling: Spelling, message: &mut Message) {
    message.parts.iter_mut().for_each(part);
    if message.role == Role::Unspecified && spelling != Spelling::V0_3P {
        // §3.1: the JSON before 1.0 has two roles; a message without a role is taken for an agent's.
        message.role = Role::Agent;
    }
    match spelling {
        Spelling::V0_1 => {
            // §6 "messageId, referenceTaskIds, Message/Artifact extensions".
            message.reference_task_ids.clear();
            message.extensions.clear();
            // §3.3: and it names neither task nor conversation.
            message.task_id = None;
            message.context_id = None;
        }
        // §3.3: the proto of 0.3 had no such member before its main line.
        Spelling::V0_3P => message.reference_task_ids.clear(),
        Spelling::V0_2 | Spelling::V0_3 | Spelling::V1_0 => {}
    }
}

fn status(spelling: Spelling, status: &mut TaskStatus) {
    if spelling == Spelling::V0_1 {
        // §6 "AUTH_REQUIRED", "REJECTED": the marker needs a message.
        let word = match status.state {
            TaskState::AuthRequired => Some("auth-required"),
            TaskState::Rejected => Some("rejected"),
            _ => None,
        };
        if let Some(word) = word {
            let message = status
                .message
                .get_or_insert_with(|| Message::agent(word).into());
            empty_is_none(&mut message.metadata);
        }
    }
    status
        .message
        .iter_mut()
        .for_each(|it| message(spelling, it));
}

fn artifact(spelling: Spelling, seen: &mut Vec<(ArtifactId, u32)>, artifact: &mut Artifact) {
    artifact.parts.iter_mut().for_each(part);
    if spelling == Spelling::V0_1 {
        // §6 "artifactId": numbers in the order of first appearance, each taken once.
        let index = number(seen, &artifact.artifact_id);
        artifact.artifact_id = format!("index-{index}").into();
        // §6 "messageId, referenceTaskIds, Message/Artifact extensions".
        artifact.extensions.clear();
    }
}

fn number(seen: &mut Vec<(ArtifactId, u32)>, id: &ArtifactId) -> u32 {
    if let Some((_, number)) = seen.iter().find(|(known, _)| known == id) {
        return *number;
    }
    let own = id.as_str().strip_prefix("index-");
    let own = own.and_then(|digits| digits.parse().ok());
    let mut candidates = own.into_iter().chain(0..);
    let free = |number: &u32| seen.iter().all(|(_, taken)| taken != number);
    let number = candidates.find(free).expect("few artifacts, many numbers");
    seen.push((id.clone(), number));
    number
}

fn task(spelling: Spelling, task: &mut Task) {
    status(spelling, &mut task.status);
    let mut seen = Vec::new();
    for it in &mut task.artifacts {
        artifact(spelling, &mut seen, it);
    }
    task.history.iter_mut().for_each(|it| message(spelling, it));
}

fn event(spelling: Spelling, event: &mut Event) -> Option<()> {
    match event {
        // §6 "direct Message answer", "Task as first stream event": other events in 0.1.
        Event::Task(_) | Event::Message(_) if spelling == Spelling::V0_1 => return None,
        Event::Task(it) => task(spelling, it),
        Event::Message(it) => message(spelling, it),
        Event::StatusUpdate(it) => {
            status(spelling, &mut it.status);
            event_context(spelling, &mut it.context_id);
        }
        Event::ArtifactUpdate(it) => {
            artifact(spelling, &mut Vec::new(), &mut it.artifact);
            event_context(spelling, &mut it.context_id);
        }
    }
    Some(())
}

/// Sets the conversation of an event: in 0.1 the exchange names it, not the event (§3.5).
fn event_context(spelling: Spelling, context: &mut Option<a2a_types::ContextId>) {
    if spelling == Spelling::V0_1 {
        *context = Some(CONTEXT.into());
    }
}

fn request(spelling: Spelling, request: &mut Request) -> Option<()> {
    // §6 "`tenant`".
    request.set_tenant(None);
    match request {
        Request::SendMessage(it) | Request::SendStreamingMessage(it) => send(spelling, it)?,
        Request::CancelTask(it) if spelling == Spelling::V0_3P => {
            // §2.3: the proto of 0.3 has none here.
            it.metadata = None;
        }
        Request::CreateTaskPushNotificationConfig(it) => webhook(spelling, it),
        Request::GetTaskPushNotificationConfig(it) if spelling == Spelling::V0_1 => {
            // §6 "multiple push configs, config id".
            it.id = Default::default();
        }
        Request::ListTaskPushNotificationConfigs(it) => {
            // §3.6: no pages.
            it.page_size = None;
            it.page_token.clear();
        }
        _ => {}
    }
    Some(())
}

fn send(spelling: Spelling, request: &mut SendMessageRequest) -> Option<()> {
    if spelling == Spelling::V0_1 && request.message.task_id.is_none() {
        // §6 "server-made task id": the caller makes one up.
        return None;
    }
    let (task, context) = (
        request.message.task_id.clone(),
        request.message.context_id.clone(),
    );
    message(spelling, &mut request.message);
    // §3.6: in 0.1 they are next to the message.
    (request.message.task_id, request.message.context_id) = (task, context);
    if spelling == Spelling::V0_3P {
        // Ours: `blocking` is always written, since the proto's default is not to wait.
        request.configuration.get_or_insert_default();
    }
    let Some(configuration) = &mut request.configuration else {
        return Some(());
    };
    if let Some(it) = &mut configuration.task_push_notification_config {
        webhook(spelling, it);
        // §3.6: the task is that of the message.
        it.task_id = Default::default();
        if spelling == Spelling::V0_1 {
            it.id = Default::default();
        }
    }
    match spelling {
        Spelling::V0_1 => {
            // §6 "`returnImmediately:x`".
            configuration.return_immediately = false;
            if *configuration == Default::default() {
                request.configuration = None;
            }
        }
        // §6 "historyLength 0 / absent".
        Spelling::V0_3P if configuration.history_length == Some(0) => {
            configuration.history_length = None;
        }
        _ => {}
    }
    Some(())
}

fn webhook(spelling: Spelling, config: &mut TaskPushNotificationConfig) {
    // §6 "`tenant`".
    config.tenant = None;
    if spelling == Spelling::V0_1 {
        // §6 "multiple push configs, config id".
        config.id = a2a_types::ConfigId::only();
    }
}

fn response(spelling: Spelling, response: &mut Response) -> Option<()> {
    match response {
        Response::SendMessage(SendMessageResponse::Message(it)) => {
            if spelling == Spelling::V0_1 {
                // §6 "direct Message answer": a task.
                return None;
            }
            message(spelling, it);
        }
        Response::SendMessage(SendMessageResponse::Task(it))
        | Response::GetTask(it)
        | Response::CancelTask(it) => task(spelling, it),
        Response::ListTasks(list) => list.tasks.iter_mut().for_each(|it| task(spelling, it)),
        Response::CreateTaskPushNotificationConfig(it)
        | Response::GetTaskPushNotificationConfig(it) => webhook(spelling, it),
        Response::ListTaskPushNotificationConfigs(list) => {
            list.configs.iter_mut().for_each(|it| webhook(spelling, it));
            if spelling != Spelling::V0_3P {
                // §3.6: no pages.
                list.next_page_token.clear();
            }
        }
        Response::DeleteTaskPushNotificationConfig(()) | Response::GetExtendedAgentCard(_) => {}
    }
    Some(())
}

fn card(spelling: Spelling, card: &mut AgentCard) {
    // §6 "deviceCode, pkceRequired", "mTLS scheme, oauth2MetadataUrl, …".
    let before: BTreeSet<String> = card.security_schemes.keys().cloned().collect();
    card.security_schemes.retain(|_, it| scheme(spelling, it));
    let dropped =
        |name: &String| before.contains(name) && !card.security_schemes.contains_key(name);
    let keep = |it: &SecurityRequirement| !it.schemes.keys().any(dropped);
    card.security_requirements.retain(keep);
    for skill in &mut card.skills {
        skill.security_requirements.retain(keep);
    }
    if matches!(spelling, Spelling::V0_1 | Spelling::V0_2) {
        // §6 "mTLS scheme, oauth2MetadataUrl, skill security, signatures".
        for skill in &mut card.skills {
            skill.security_requirements.clear();
        }
    }
    if spelling != Spelling::V0_3 {
        // The same row; and ours: the ProtoJSON of 0.3 has none that would hold.
        card.signatures.clear();
    }
    if spelling == Spelling::V0_1 {
        // §3.8: what 0.1 has no member for.
        card.icon_url = None;
        let capabilities = &mut card.capabilities;
        capabilities.extensions.clear();
        capabilities.extended_agent_card = None;
        // §3.8: a capability that is not declared is absent.
        capabilities.streaming.get_or_insert(false);
        capabilities.push_notifications.get_or_insert(false);
    }
}

/// Removes from a scheme what the spelling cannot keep, and returns whether the scheme remains.
fn scheme(spelling: Spelling, scheme: &mut SecurityScheme) -> bool {
    match scheme {
        SecurityScheme::OAuth2SecurityScheme(oauth2) => {
            if let Some(flow) = &mut oauth2.flows.authorization_code {
                flow.pkce_required = false;
            }
            if spelling == Spelling::V0_2 {
                oauth2.oauth2_metadata_url = None;
            }
            oauth2.flows.device_code.is_none()
        }
        SecurityScheme::MtlsSecurityScheme(_) => spelling != Spelling::V0_2,
        _ => true,
    }
}
