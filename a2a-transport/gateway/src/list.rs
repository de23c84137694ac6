//! The owner's part of an agent's list of tasks.

use std::sync::Arc;

use a2a_transport::{CallResponse, Error, ResponseBody, Transport};
use a2a_types::size::size_of_task;
use a2a_types::{
    Base64, Error as A2aError, ErrorKind, ListTasksRequest, ListTasksResponse, Request, Response,
    Task,
};
use futures_util::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::gateway::Gateway;
use crate::owned_call::OwnedCall;
use crate::owner::Owner;
use crate::page_key::PageKey;
use crate::rewrite::Rewrite;
use crate::settle::{Held, read_task};

/// Position in a list, as a page token.
#[derive(Deserialize, Serialize)]
struct PagePosition {
    /// The agent's own page token.
    token: String,
    /// Number of the owner's tasks before it.
    before: u32,
    /// Number of the owner's tasks that match.
    total: u32,
}

/// The owner's tasks, without histories and artifacts.
#[derive(Default)]
struct Page {
    tasks: Vec<Task>,
    /// The agent's page on which the last of them stands: its token, and how many tasks of it were read.
    last: (String, u32),
    /// Number of the owner's tasks that match, on this page and the pages after it.
    total: u32,
}

/// Number of tasks on a page, if the caller names none. Specification 1.0 §3.1.4.
const DEFAULT_PAGE: u32 = 50;
/// Maximum number of tasks on a page, and the number requested of the agent. Specification 1.0 §3.1.4.
const MAX_PAGE: u32 = 100;
/// Pages of the agent that are read for one page of the owner.
const MAX_READ: usize = 1_000;
/// Size in bytes of a task that counts as small.
const SMALL_TASK: usize = 64 << 10;
/// Tasks that are read from the agent at once.
const AT_ONCE: usize = 8;

impl<T: Transport> Gateway<T> {
    /// Reads the agent's list, and returns the tasks of the owner. The agent knows only one caller,
    /// the gateway.
    pub(crate) async fn list(
        &self,
        owned: &OwnedCall,
        params: &ListTasksRequest,
    ) -> Result<CallResponse, Error> {
        let page_size = params.page_size.unwrap_or(DEFAULT_PAGE);
        if !(1..=MAX_PAGE).contains(&page_size) {
            let problem = format!("expected 1 to {MAX_PAGE}, found {page_size}");
            return Err(invalid("pageSize", &problem).into());
        }
        let start = match params.page_token.as_str() {
            "" => None,
            token => Some(
                PagePosition::read(token, &self.page_key, &owned.owner).ok_or_else(|| {
                    invalid(
                        "pageToken",
                        "not a token of this caller, or of before a restart",
                    )
                })?,
            ),
        };
        let page = self.read(owned, start.as_ref(), page_size).await?;
        let (before, total) = match &start {
            Some(start) => (start.before, start.total),
            None => (0, page.total),
        };
        let end = before.saturating_add(u32::try_from(page.tasks.len()).unwrap_or(u32::MAX));
        let next_page_token = match end < total && !page.tasks.is_empty() {
            true => self.next_token(owned, &page, end, total).await?,
            false => String::new(),
        };
        let (tasks, held) = self.complete(owned, params, page.tasks).await?;
        let list = ListTasksResponse {
            tasks,
            next_page_token,
            page_size,
            total_size: total,
        };
        let held: Arc<dyn Send + Sync> = Arc::new(held);
        Ok(CallResponse::once(Response::ListTasks(list)).holding(Some(held)))
    }

    /// Reads pages of the agent until the owner's is full and, on the first, all are counted.
    async fn read(
        &self,
        owned: &OwnedCall,
        start: Option<&PagePosition>,
        page_size: u32,
    ) -> Result<Page, Error> {
        let most = u32::try_from(self.tasks.count(&owned.owner)).unwrap_or(u32::MAX);
        let mut page = Page::default();
        let mut token = start.map(|start| start.token.clone()).unwrap_or_default();
        for _ in 0..MAX_READ {
            let listed = self.agents_page(owned, &token, MAX_PAGE).await?;
            for (task, read) in listed.tasks.into_iter().zip(1..) {
                if self.tasks.name_of(&owned.owner, &task.id).is_none() {
                    continue;
                }
                page.total += 1;
                if page.total <= page_size {
                    page.tasks.push(task);
                    page.last = (token.clone(), read);
                }
            }
            let is_full = page.total >= page_size && start.is_some();
            let is_last = listed.next_page_token.is_empty() || listed.next_page_token == token;
            if is_full || is_last || page.total >= most {
                break;
            }
            token = listed.next_page_token;
        }
        Ok(page)
    }

    /// Asks the agent for its own token after the last task of a page.
    async fn next_token(
        &self,
        owned: &OwnedCall,
        page: &Page,
        before: u32,
        total: u32,
    ) -> Result<String, Error> {
        let (token, read) = &page.last;
        let listed = self.agents_page(owned, token, *read).await?;
        let place = PagePosition {
            token: listed.next_page_token,
            before,
            total,
        };
        Ok(match place.token.is_empty() {
            true => String::new(),
            false => place.write(&self.page_key, &owned.owner),
        })
    }

    async fn agents_page(
        &self,
        owned: &OwnedCall,
        token: &str,
        page_size: u32,
    ) -> Result<ListTasksResponse, Error> {
        let mut call = owned.to_agent(&self.tasks);
        if let Request::ListTasks(params) = &mut call.request {
            params.page_size = Some(page_size);
            token.clone_into(&mut params.page_token);
            params.history_length = Some(0);
            params.include_artifacts = false;
        }
        match self.agent.call(call).await?.answer {
            ResponseBody::Once(Response::ListTasks(list)) => Ok(list),
            _ => Err(ErrorKind::InvalidAgentResponse.into()),
        }
    }

    /// Adds what the caller wants of histories and artifacts; tasks that have gone meanwhile are left out.
    async fn complete(
        &self,
        owned: &OwnedCall,
        params: &ListTasksRequest,
        tasks: Vec<Task>,
    ) -> Result<(Vec<Task>, Vec<Held>), Error> {
        let is_complete = params.history_length == Some(0) && !params.include_artifacts;
        let read = futures_util::stream::iter(tasks).map(|mut task| async move {
            if is_complete {
                task.artifacts.clear();
                return Ok(Some((task, None)));
            }
            match read_task(&*self.agent, owned, task.id, params.history_length).await {
                Ok((mut task, held)) => {
                    if !params.include_artifacts {
                        task.artifacts.clear();
                    }
                    // Small tasks give their memory back, for a page has many.
                    let held = held.filter(|_| size_of_task(&task) > SMALL_TASK);
                    Ok(Some((task, held)))
                }
                Err(Error::Agent(error)) if error.kind == ErrorKind::TaskNotFound => Ok(None),
                Err(error) => Err(error),
            }
        });
        let read: Vec<Option<(Task, Held)>> = read.buffered(AT_ONCE).try_collect().await?;
        let mut complete = Vec::with_capacity(read.len());
        let mut kept = Vec::new();
        let mut rewrite = Rewrite::new(owned, self.tasks.clone());
        for (mut task, held) in read.into_iter().flatten() {
            let Some(name) = self.tasks.name_of(&owned.owner, &task.id) else {
                continue;
            };
            rewrite.listed(&mut task, name)?;
            complete.push(task);
            kept.push(held);
        }
        Ok((complete, kept))
    }
}

impl PagePosition {
    /// Writes a page token, which counts for this owner only.
    fn write(&self, key: &PageKey, owner: &Owner) -> String {
        // Strings and numbers always serialise.
        let json = serde_json::to_vec(self).unwrap_or_default();
        Base64::encode([&key.seal(owner, &json), &json[..]].concat())
            .as_text()
            .to_owned()
    }

    fn read(token: &str, key: &PageKey, owner: &Owner) -> Option<Self> {
        let bytes = Base64::from_text(token).decode().ok()?;
        let (seal, json) = bytes.split_first_chunk::<32>()?;
        let is_ours = *seal == key.seal(owner, json);
        is_ours.then(|| serde_json::from_slice(json).ok())?
    }
}

fn invalid(member: &str, problem: &str) -> A2aError {
    let path = format!("$.params.{member}");
    A2aError::new(ErrorKind::InvalidParams, format!("{path}: {problem}"))
        .with_details(json!({"path": path, "problem": problem}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_transport::{Context, Principal};
    use a2a_types::ProtocolVersion;

    #[test]
    fn page_token_counts_for_its_owner_alone() {
        let owner = |name: &str| {
            let context = Context::new(ProtocolVersion::V1_0).principal(Principal::named(name));
            Owner::of(&Request::ListTasks(ListTasksRequest::default()), &context)
        };
        let (ada, bob) = (owner("ada"), owner("bob"));
        let key = PageKey::random();
        let position = PagePosition {
            token: "t".to_owned(),
            before: 50,
            total: 70,
        };
        let token = position.write(&key, &ada);
        let read = PagePosition::read(&token, &key, &ada).expect("it is ada's");
        assert_eq!((read.before, read.total), (50, 70));
        assert!(PagePosition::read(&token, &key, &bob).is_none());
        assert!(PagePosition::read(&token, &PageKey::random(), &ada).is_none());
        let mut bytes = Base64::from_text(&*token).decode().unwrap();
        *bytes.last_mut().unwrap() = b' ';
        let altered = Base64::encode(bytes).as_text().to_owned();
        for token in [altered.as_str(), "", "x", "eCB5"] {
            assert!(PagePosition::read(token, &key, &ada).is_none(), "{token}");
        }
    }
}
