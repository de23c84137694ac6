//! Listing of tasks, which the main line of 0.3 had before 1.0.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::pre_1_0::both_ways;
use crate::reading::{JsonPath, Normalizer, Violation, Wire};
use crate::v0_2::{Task, TaskState};
use crate::{ContextId, ListTasksRequest, ListTasksResponse, Object, Timestamp};

/// Filter and size of a list of tasks.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListTasksParams {
    /// Only those of this conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// Only those in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskState>,
    /// Maximum number of items on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    /// Page token from the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// Number of most recent messages to include.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// Only those that changed at this time or later, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated_after: Option<i64>,
    /// `true` to include artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_artifacts: Option<bool>,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// One page of tasks.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListTasksResult {
    /// The tasks, the latest change first.
    pub tasks: Vec<Task>,
    /// Number of matches on all pages.
    pub total_size: u32,
    /// Page size used for this page.
    pub page_size: u32,
    /// Token of the next page; empty on the last page.
    pub next_page_token: String,
}

impl Wire for ListTasksParams {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let reachable = |millis: i64| Timestamp::from_millis(millis).is_some();
        match self.last_updated_after.is_none_or(reachable) {
            true => Ok(()),
            false => Err(at
                .member("lastUpdatedAfter")
                .violation("no time is so many milliseconds away")),
        }
    }
}

impl Wire for ListTasksResult {
    fn normalize(result: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalizer.items(result, "tasks", Task::normalize);
    }
}

impl From<ListTasksParams> for ListTasksRequest {
    fn from(params: ListTasksParams) -> Self {
        Self {
            tenant: None,
            context_id: params.context_id,
            status: params.status.map(Into::into),
            page_size: params.page_size,
            page_token: params.page_token.unwrap_or_default(),
            history_length: params.history_length,
            status_timestamp_after: params.last_updated_after.and_then(Timestamp::from_millis),
            include_artifacts: params.include_artifacts.unwrap_or_default(),
        }
    }
}

impl From<ListTasksRequest> for ListTasksParams {
    fn from(request: ListTasksRequest) -> Self {
        Self {
            context_id: request.context_id,
            status: request.status.map(Into::into),
            page_size: request.page_size,
            page_token: Some(request.page_token).filter(|token| !token.is_empty()),
            history_length: request.history_length,
            last_updated_after: request.status_timestamp_after.map(Timestamp::as_millis),
            include_artifacts: request.include_artifacts.then_some(true),
            metadata: None,
        }
    }
}

both_ways! {
    ListTasksResult = ListTasksResponse { tasks as list, total_size, page_size, next_page_token };
}
