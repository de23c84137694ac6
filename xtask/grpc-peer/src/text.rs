//! Messages that consist of text.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{v0_3, v1_0};

impl v1_0::Part {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: Some(v1_0::part::Content::Text(text.into())),
            ..Self::default()
        }
    }
}

impl v1_0::Message {
    /// Creates a message of the user with one text part. Its id is unique in this process.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            message_id: message_id(),
            role: v1_0::Role::User.into(),
            parts: vec![v1_0::Part::text(text)],
            ..Self::default()
        }
    }

    /// Returns the text parts, joined.
    pub fn text(&self) -> String {
        text_v1_0(&self.parts)
    }
}

impl v1_0::Artifact {
    /// Returns the text parts, joined.
    pub fn text(&self) -> String {
        text_v1_0(&self.parts)
    }
}

impl v1_0::SendMessageRequest {
    /// Creates a request with a message of the user that has one text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            message: Some(v1_0::Message::user(text)),
            ..Self::default()
        }
    }

    /// Addresses the message to an existing task.
    pub fn for_task(mut self, id: &str) -> Self {
        self.message.get_or_insert_default().task_id = id.to_owned();
        self
    }

    /// Asks for a response before the task has ended.
    pub fn return_immediately(mut self) -> Self {
        self.configuration
            .get_or_insert_default()
            .return_immediately = true;
        self
    }
}

impl v0_3::Part {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            part: Some(v0_3::part::Part::Text(text.into())),
            metadata: None,
        }
    }
}

impl v0_3::Message {
    /// Creates a message of the user with one text part. Its id is unique in this process.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            message_id: message_id(),
            role: v0_3::Role::User.into(),
            content: vec![v0_3::Part::text(text)],
            ..Self::default()
        }
    }

    /// Returns the text parts, joined.
    pub fn text(&self) -> String {
        text_v0_3(&self.content)
    }
}

impl v0_3::Artifact {
    /// Returns the text parts, joined.
    pub fn text(&self) -> String {
        text_v0_3(&self.parts)
    }
}

impl v0_3::SendMessageRequest {
    /// Creates a request with a message of the user that has one text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            request: Some(v0_3::Message::user(text)),
            ..Self::default()
        }
    }

    /// Addresses the message to an existing task.
    pub fn for_task(mut self, id: &str) -> Self {
        self.request.get_or_insert_default().task_id = id.to_owned();
        self
    }

    /// Asks for a response only when the task has ended or needs input.
    pub fn blocking(mut self) -> Self {
        self.configuration.get_or_insert_default().blocking = true;
        self
    }
}

fn message_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed).to_string()
}

fn text_v1_0(parts: &[v1_0::Part]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.content {
        Some(v1_0::part::Content::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn text_v0_3(parts: &[v0_3::Part]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.part {
        Some(v0_3::part::Part::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
