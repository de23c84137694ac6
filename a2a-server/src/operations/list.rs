//! Listing of a caller's tasks, page by page.

use std::cmp::Reverse;

use a2a_transport::{CallResponse, Context};
use a2a_types::{
    Base64, Error as A2aError, ErrorKind, ListTasksRequest, ListTasksResponse, Response, TaskId,
};
use serde_json::json;

use crate::engine::Engine;
use crate::operations::ServerState;
use crate::store::limits::size_of_task;
use crate::store::{ListCursor, ListQuery, Owner, Page, StoreError, TaskBudget};

/// Tasks of a page, unless the caller sets another number. Specification 1.0 §3.1.4.
const DEFAULT_PAGE: u32 = 50;
/// Maximum number of tasks of a page. Specification 1.0 §3.1.4.
const MAX_PAGE: u32 = 100;

pub(crate) async fn list(
    server: &ServerState,
    params: ListTasksRequest,
    context: Context,
) -> Result<CallResponse, A2aError> {
    let page_size = params.page_size.unwrap_or(DEFAULT_PAGE);
    if !(1..=MAX_PAGE).contains(&page_size) {
        return Err(invalid(
            "pageSize",
            format!("expected 1 to {MAX_PAGE}, found {page_size}"),
        ));
    }
    let after = match params.page_token.as_str() {
        "" => None,
        token => Some(
            read_token(token)
                .ok_or_else(|| invalid("pageToken", "not a token of ours".to_owned()))?,
        ),
    };
    let listing = ListQuery {
        context_id: params.context_id,
        status: params.status,
        since: params.status_timestamp_after,
        after,
        limit: usize::try_from(page_size).unwrap_or(usize::MAX),
    };
    let page = page_to_copy(&server.engine, &Owner::of(&context), listing).await?;
    let last = page.tasks.last().filter(|_| page.more).map(ListCursor::of);
    let mut tasks = page.tasks;
    for task in &mut tasks {
        server.present(task, params.history_length, &context);
        if !params.include_artifacts {
            task.artifacts.clear();
        }
    }
    let response = Response::ListTasks(ListTasksResponse {
        tasks,
        next_page_token: last.as_ref().map(write_token).unwrap_or_default(),
        page_size,
        total_size: u32::try_from(page.total).unwrap_or(u32::MAX),
    });
    Ok(CallResponse::once(response).holding(page.share.held()))
}

/// Returns a page for an answer. A page of large tasks waits until the large tasks of
/// other answers have been written.
async fn page_to_copy(
    engine: &Engine,
    owner: &Owner,
    listing: ListQuery,
) -> Result<Page, StoreError> {
    let store = engine.store();
    let page = store.list(owner, listing.clone()).await?;
    let bytes = page.tasks.iter().map(size_of_task).sum();
    if bytes <= TaskBudget::SMALL || !page.share.is_empty() {
        return Ok(page);
    }
    drop(page);
    let share = engine.copies.take(bytes).await?;
    let page = store.list(owner, listing).await?;
    Ok(Page { share, ..page })
}

/// Encodes a place in the caller's own listing, so a made-up token only skips tasks of that caller. It
/// stays valid when tasks are added before or after that place.
fn write_token(place: &ListCursor) -> String {
    let text = format!("{} {}", place.time.0, place.task);
    Base64::encode(text).as_text().to_owned()
}

fn read_token(token: &str) -> Option<ListCursor> {
    let text = String::from_utf8(Base64::from_text(token).decode().ok()?).ok()?;
    let (time, task) = text.split_once(' ')?;
    Some(ListCursor {
        time: Reverse(time.parse().ok()?),
        task: TaskId::from(task),
    })
}

fn invalid(member: &str, problem: String) -> A2aError {
    let path = format!("$.params.{member}");
    let text = format!("{path}: {problem}");
    A2aError::new(ErrorKind::InvalidParams, text)
        .with_details(json!({"path": path, "problem": problem}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_nonsense_is_not() {
        let place = ListCursor {
            time: Reverse(-7),
            task: TaskId::from("a b"),
        };
        assert_eq!(read_token(&write_token(&place)), Some(place));
        for nonsense in ["", "x", "!", "eCB5", "NyA=extra"] {
            assert_eq!(read_token(nonsense), None, "{nonsense}");
        }
    }
}
