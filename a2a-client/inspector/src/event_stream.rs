//! Events of a task, as Server-Sent Events.
