//! Authorization by scopes: of operations and of skills.

use std::collections::{BTreeMap, HashMap};

use a2a_transport::CallRequest;
use a2a_transport::http::{AuthError, Authorizer};
use a2a_types::{Operation, Request};

/// Authorizer that permits an operation to principals with all of its scopes.
///
/// By default, reading needs `tasks:read`, changing needs `tasks:write`, and the extended card needs no
/// scope. A refusal has status 403 and names the scopes, whether or not the task exists.
pub struct OperationScopes {
    scopes: HashMap<Operation, Vec<String>>,
    skills: BTreeMap<String, Vec<String>>,
    skill_of: Option<SkillOf>,
}

/// Function from a message to the skill that it calls for.
type SkillOf = Box<dyn Fn(&CallRequest) -> Option<String> + Send + Sync>;

impl Default for OperationScopes {
    fn default() -> Self {
        Self::new("tasks:read", "tasks:write")
    }
}

impl OperationScopes {
    /// Requires one scope for operations that read, and another for operations that change something.
    pub fn new(read: &str, write: &str) -> Self {
        let scope_of = |operation: Operation| match operation {
            Operation::GetTask
            | Operation::ListTasks
            | Operation::SubscribeToTask
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs => Some(read),
            Operation::SendMessage
            | Operation::SendStreamingMessage
            | Operation::CancelTask
            | Operation::CreateTaskPushNotificationConfig
            | Operation::DeleteTaskPushNotificationConfig => Some(write),
            Operation::GetExtendedAgentCard => None,
        };
        let scopes = Operation::ALL.iter().map(|operation| {
            let scope = scope_of(*operation).map(str::to_owned);
            (*operation, scope.into_iter().collect())
        });
        Self {
            scopes: scopes.collect(),
            skills: BTreeMap::new(),
            skill_of: None,
        }
    }

    /// Sets the scopes of one operation.
    pub fn operation(
        mut self,
        operation: Operation,
        scopes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        self.scopes.insert(operation, scopes);
        self
    }

    /// Sets the scopes of skills, required in addition to the scope for sending messages; the card states them.
    ///
    /// The protocol does not say for which skill a message is: `skill_of` tells, for instance by a member of its
    /// metadata that the agent obeys. A message for no skill, or for one without scopes, is permitted here: an
    /// agent that chooses the skill itself checks `turn.principal().has_scope(…)`.
    pub fn skills<S: Into<String>>(
        mut self,
        skill_of: impl Fn(&CallRequest) -> Option<String> + Send + Sync + 'static,
        skills: impl IntoIterator<Item = (S, Vec<S>)>,
    ) -> Self {
        self.skill_of = Some(Box::new(skill_of));
        for (skill, scopes) in skills {
            let scopes = scopes.into_iter().map(Into::into).collect();
            self.skills.insert(skill.into(), scopes);
        }
        self
    }

    fn decide(&self, call: &CallRequest) -> Result<(), AuthError> {
        let of_operation = self.scopes.get(&call.request.operation());
        let is_message = matches!(
            call.request,
            Request::SendMessage(_) | Request::SendStreamingMessage(_)
        );
        let skill_of = self.skill_of.as_ref().filter(|_| is_message);
        let skill = skill_of.and_then(|skill_of| skill_of(call));
        let of_skill = skill.and_then(|skill| self.skills.get(&skill));
        let required = of_operation.into_iter().chain(of_skill).flatten();
        let required: Vec<_> = required.collect();
        let principal = &call.context.principal;
        match required.iter().all(|scope| principal.has_scope(scope)) {
            true => Ok(()),
            false => Err(AuthError::insufficient_scope(&required)),
        }
    }
}

impl Authorizer for OperationScopes {
    async fn authorize(&self, call: &CallRequest) -> Result<(), AuthError> {
        self.decide(call)
    }

    fn skill_scopes(&self) -> BTreeMap<String, Vec<String>> {
        self.skills.clone()
    }
}

#[cfg(test)]
mod tests {
    use a2a_transport::{Context, Principal};
    use a2a_types::{GetTaskRequest, Message, SendMessageRequest};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(
        scopes: &OperationScopes,
        call: CallRequest,
        granted: &[&str],
        required: Option<&str>,
    ) {
        let principal = Principal::named("ada").with_scopes(granted.iter().copied());
        let context = Context::default().principal(principal);
        let decided = scopes.decide(&CallRequest { context, ..call });
        let expected = match required {
            None => Ok(()),
            Some(required) => {
                let required: Vec<_> = required.split(' ').collect();
                Err(AuthError::insufficient_scope(&required))
            }
        };
        assert_eq!(decided, expected);
    }

    fn send(skill: Option<&str>) -> CallRequest {
        let metadata = skill.map(|skill| json!({ "skill": skill }));
        let metadata = metadata.and_then(|metadata| metadata.as_object().cloned());
        let message = Message::user("hello");
        CallRequest::new(Request::SendMessage(SendMessageRequest {
            message: Message {
                metadata,
                ..message
            },
            ..SendMessageRequest::default()
        }))
    }

    #[test]
    fn operations_and_skills_need_scopes() {
        let get = || CallRequest::new(GetTaskRequest::default());
        let scopes = OperationScopes::default();
        check(&scopes, get(), &["tasks:read"], None);
        check(&scopes, get(), &["tasks:write"], Some("tasks:read"));
        check(&scopes, send(Some("x")), &["other", "tasks:write"], None);
        check(&scopes, send(None), &[], Some("tasks:write"));
        let named = |call: &CallRequest| match &call.request {
            Request::SendMessage(params) => {
                let skill = params.message.metadata.as_ref()?.get("skill")?;
                skill.as_str().map(str::to_owned)
            }
            _ => None,
        };
        let scopes = OperationScopes::new("r", "w")
            .operation(Operation::GetTask, ["a", "b"])
            .skills(named, [("translate", vec!["t"])]);
        check(&scopes, get(), &["a", "r"], Some("a b"));
        check(&scopes, get(), &["b", "a"], None);
        check(&scopes, send(Some("translate")), &["w"], Some("w t"));
        check(&scopes, send(Some("translate")), &["w", "t"], None);
        check(&scopes, send(Some("other")), &["w"], None);
    }
}
