//! Listing of tasks (0.3), which the main line of 0.3 had before 1.0.

use super::{Task, TaskState};
use crate::pre_1_0::{both_ways, wire_types};
use crate::reading::{JsonPath, Normalizer, Violation, Wire};
use crate::{ContextId, ListTasksRequest, ListTasksResponse, Object, Timestamp};

wire_types! {
    /// Filter and size of a list of tasks (0.3).
    pub struct ListTasksParams: Debug, Default {
        /// Only tasks of this conversation.
        pub context_id: Option<ContextId> = optional,
        /// Only tasks in this state.
        pub status: Option<TaskState> = optional,
        /// Maximum number of items on a page.
        pub page_size: Option<u32> = optional,
        /// Page token from the previous page.
        pub page_token: Option<String> = optional,
        /// Number of most recent messages to include.
        pub history_length: Option<u32> = optional,
        /// Only tasks that changed at this time or later, in milliseconds since the Unix epoch.
        pub last_updated_after: Option<i64> = optional,
        /// `true` to include artifacts.
        pub include_artifacts: Option<bool> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// One page of tasks (0.3).
    pub struct ListTasksResult: Debug, Default {
        /// The tasks, the latest change first.
        pub tasks: Vec<Task>,
        /// Number of matches on all pages.
        pub total_size: u32,
        /// Page size used for this page.
        pub page_size: u32,
        /// Token of the next page; empty on the last page.
        pub next_page_token: String,
    }
}

impl Wire for ListTasksParams {
    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let reachable = |millis: i64| Timestamp::from_millis(millis).is_some();
        match self.last_updated_after.is_none_or(reachable) {
            true => Ok(()),
            false => Err(at
                .member("lastUpdatedAfter")
                .violation("no timestamp has this number of milliseconds")),
        }
    }
}

impl Wire for ListTasksResult {
    fn normalize(result: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalizer.items(result, "tasks", Task::normalize);
    }
}

both_ways! {
    ListTasksParams = ListTasksRequest {
        context_id, status as option, page_size, page_token as unless_empty, history_length,
        include_artifacts as unless_empty,
    } renamed { last_updated_after = status_timestamp_after as millis }
        wire only { metadata } canonical only { tenant };
    ListTasksResult = ListTasksResponse { tasks as list, total_size, page_size, next_page_token };
}
