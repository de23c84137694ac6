//! One event of a stream as written, whatever the binding.

use a2a_types::{Event, v0_2, v0_3};
use serde::Serialize;

use crate::SharedEvent;
use crate::shared::JsonForm;

/// One event on its way to Server-Sent Events.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The name of the event, which some clients look at and others ignore.
    pub name: Option<&'static str>,
    /// Envelope before the content and behind it.
    around: (&'a [u8], &'static [u8]),
    content: Content<'a>,
}

#[derive(Clone, Debug)]
enum Content<'a> {
    Event(&'a SharedEvent, JsonForm),
    Json(Vec<u8>),
}

impl<'a> Line<'a> {
    /// Creates a line of this JSON.
    pub(super) fn of(name: Option<&'static str>, json: Vec<u8>) -> Self {
        Self {
            name,
            around: (b"", b""),
            content: Content::Json(json),
        }
    }

    /// Creates a line of an event.
    pub(super) fn of_event(
        name: Option<&'static str>,
        event: &'a SharedEvent,
        form: JsonForm,
    ) -> Self {
        Self {
            name,
            around: (b"", b""),
            content: Content::Event(event, form),
        }
    }

    /// Puts the content into an envelope: `before` precedes it, `behind` follows it.
    pub(super) fn within(self, before: &'a [u8], behind: &'static [u8]) -> Self {
        Self {
            around: (before, behind),
            ..self
        }
    }

    /// Writes the JSON, without line breaks.
    pub fn write(&self, buffer: &mut Vec<u8>) {
        let (before, behind) = self.around;
        buffer.extend_from_slice(before);
        match &self.content {
            Content::Event(event, form) => event.write(*form, buffer, write_event),
            Content::Json(json) => buffer.extend_from_slice(json),
        }
        buffer.extend_from_slice(behind);
    }

    /// Returns the JSON, without line breaks.
    pub fn json(&self) -> Vec<u8> {
        // Enough for most events: to grow piece by piece takes longer than to write them.
        let mut json = Vec::with_capacity(512);
        self.write(&mut json);
        json
    }
}

/// Writes an event in a form, without any envelope.
fn write_event(event: &Event, form: JsonForm, buffer: &mut Vec<u8>) {
    match form {
        JsonForm::V0_2 => write_json(&v0_2::write_event(event.clone()), buffer),
        JsonForm::V0_3 => write_json(&v0_3::write_event(event.clone()), buffer),
        JsonForm::V1_0 => write_json(event, buffer),
    }
}

pub(super) fn write_json(item: &impl Serialize, buffer: &mut Vec<u8>) {
    let written = serde_json::to_writer(buffer, item);
    // Everything in it is our own type with string keys, and there is always room.
    debug_assert!(written.is_ok());
}
