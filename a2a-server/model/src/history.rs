//! The conversation so far, as a model gets it.

use a2a_types::extension::trpc::Step;
use a2a_types::{Content, Message, Part, Role};
use serde_json::Value;

use crate::delta::Call;
use crate::tools::ToolOutput;

/// Kinds of files that are passed to the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Media {
    pub(crate) images: bool,
    pub(crate) files: bool,
    /// `true` if the API takes the URL of a file, in place of its bytes.
    pub(crate) file_urls: bool,
}

/// A piece of a message.
pub(crate) enum Piece {
    Text(String),
    /// URL of an image, which may have the bytes.
    Image(String),
    /// A file, by a URL with its bytes.
    File {
        name: String,
        data: String,
    },
    FileUrl(String),
}

/// A message, or a round of tool calls with their results.
pub(crate) enum Item {
    Message { role: Role, pieces: Vec<Piece> },
    Round(Round),
}

/// A response of the model that calls tools, and the results.
#[derive(Default)]
pub(crate) struct Round {
    pub(crate) text: String,
    /// Reasoning, and the member of the API that has it.
    pub(crate) reasoning: Option<(&'static str, String)>,
    pub(crate) opaque: Vec<Value>,
    pub(crate) calls: Vec<(Call, ToolOutput)>,
}

/// An entry of a request: successive messages of one role are one entry, as templates of many models demand.
pub(crate) enum Entry<'h> {
    Message(Role, Vec<&'h Piece>),
    Round(&'h Round),
}

/// The conversation so far.
pub(crate) struct History {
    items: Vec<Item>,
    /// Place of the message to answer. Rounds of its turn follow.
    newest: usize,
}

impl History {
    /// Reads a conversation, whose last message is the one to answer.
    pub(crate) fn new(mut conversation: Vec<Message>, media: Media) -> Self {
        let newest = conversation.pop();
        let mut items = Vec::new();
        for message in conversation {
            if !is_failure(&message) {
                add_message(&mut items, message, media);
            }
        }
        for item in &mut items {
            if let Item::Round(round) = item {
                // Services demand a result of each call.
                round.calls.retain(|(_, output)| output.text != NO_RESULT);
            }
        }
        items.retain(|item| match item {
            Item::Message { pieces, .. } => !pieces.is_empty(),
            Item::Round(round) => !round.calls.is_empty(),
        });
        let parts = newest.map(|message| message.parts).unwrap_or_default();
        let newest = items.len();
        items.push(Item::Message {
            role: Role::User,
            pieces: pieces(parts, media),
        });
        Self { items, newest }
    }

    /// Adds a round of the turn.
    pub(crate) fn push(&mut self, round: Round) {
        self.items.push(Item::Round(round));
    }

    /// Removes the oldest items until the rest has at most this many bytes, or only the turn is left. Images and files
    /// have a limit of their own; the oldest are replaced by a note.
    pub(crate) fn trim(&mut self, bytes: usize) {
        let mut media = 0;
        for item in self.items[..self.newest].iter_mut().rev() {
            if let Item::Message { pieces, .. } = item {
                for piece in pieces.iter_mut().rev().filter(|piece| piece.is_media()) {
                    media += piece.bytes();
                    if media > MAX_MEDIA {
                        let note = "[an earlier image or file: left out]";
                        *piece = Piece::Text(note.to_owned());
                    }
                }
            }
        }
        let mut total: usize = self.items.iter().map(Item::len).sum();
        let mut removed = 0;
        // A conversation begins with the user, as templates of many models demand.
        while removed < self.newest
            && (total > bytes || removed > 0 && !self.items[removed].is_of_user())
        {
            total -= self.items[removed].len();
            removed += 1;
        }
        self.items.drain(..removed);
        self.newest -= removed;
    }

    /// Returns the entries of a request.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries: Vec<Entry<'_>> = Vec::with_capacity(self.items.len());
        for item in &self.items {
            match (entries.last_mut(), item) {
                (Some(Entry::Message(last, all)), Item::Message { role, pieces })
                    if last == role =>
                {
                    all.extend(pieces);
                }
                (_, Item::Message { role, pieces }) => {
                    entries.push(Entry::Message(*role, pieces.iter().collect()));
                }
                (_, Item::Round(round)) => entries.push(Entry::Round(round)),
            }
        }
        entries
    }
}

impl Item {
    fn is_of_user(&self) -> bool {
        matches!(self, Self::Message { role, .. } if *role == Role::User)
    }

    fn len(&self) -> usize {
        match self {
            Self::Message { pieces, .. } => pieces.iter().map(Piece::len).sum(),
            Self::Round(round) => {
                let calls = round.calls.iter().map(|(call, output)| {
                    call.name.len() + call.arguments.len() + output.text.len()
                });
                round.text.len() + calls.sum::<usize>()
            }
        }
    }
}

impl Piece {
    fn is_media(&self) -> bool {
        matches!(self, Self::Image(_) | Self::File { .. })
    }

    /// Returns its length in the budget of the conversation.
    fn len(&self) -> usize {
        match self.is_media() {
            true => self.bytes().min(MEDIA_LEN),
            false => self.bytes(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Image(text) | Self::FileUrl(text) => text.len(),
            Self::File { name, data } => name.len() + data.len(),
        }
    }
}

/// Joins pieces that are all text, or returns `None`.
pub(crate) fn joined_text(pieces: &[&Piece]) -> Option<String> {
    let texts = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let texts: Option<Vec<_>> = texts.collect();
    Some(texts?.join("\n"))
}

/// Marks a message to the caller that reports a failure: it is not part of the conversation.
pub(crate) fn mark_failure(message: &mut Message, name: &str) {
    let metadata = message.metadata.get_or_insert_default();
    metadata.insert(FAILURE.to_owned(), name.into());
}

fn is_failure(message: &Message) -> bool {
    let metadata = message.metadata.as_ref();
    message.role == Role::Agent && metadata.is_some_and(|it| it.contains_key(FAILURE))
}

fn add_message(items: &mut Vec<Item>, message: Message, media: Media) {
    if message.role != Role::Agent {
        return items.push(Item::Message {
            role: Role::User,
            pieces: pieces(message.parts, media),
        });
    }
    let (mut round, mut rest) = (Round::default(), Vec::new());
    for part in message.parts {
        match Step::of(&part) {
            None => rest.push(part),
            Some(Step::FunctionCall(call)) => {
                let call = Call {
                    id: call.id,
                    name: call.name,
                    arguments: call.args,
                    extra: None,
                };
                round.calls.push((call, ToolOutput::new(NO_RESULT)));
            }
            Some(Step::FunctionResponse(response)) => {
                let rounds = items.iter_mut().rev().filter_map(|item| match item {
                    Item::Round(round) => Some(&mut round.calls),
                    Item::Message { .. } => None,
                });
                let mut calls = rounds.flatten();
                let is_called = |call: &Call, output: &ToolOutput| {
                    call.id == response.id && output.text == NO_RESULT
                };
                if let Some((_, output)) = calls.find(|(call, output)| is_called(call, output)) {
                    *output = ToolOutput::new(response.response);
                }
            }
            // Reasoning is not for later turns; code is not run by this agent.
            Some(_) => {}
        }
    }
    items.push(Item::Round(round));
    let mut text = String::new();
    let mut is_chunk = true;
    for part in rest {
        // Successive texts are chunks of an answer.
        let is_text = part.as_text().is_some();
        let goes_on = is_chunk && is_text;
        if !goes_on && !text.is_empty() {
            text.push('\n');
        }
        // The agent's own files cannot be sent back: assistants have text alone.
        if let Piece::Text(piece) = piece(part, Media::default()) {
            text.push_str(&piece);
        }
        is_chunk = is_text;
    }
    if !text.is_empty() {
        items.push(Item::Message {
            role: Role::Agent,
            pieces: vec![Piece::Text(text)],
        });
    }
}

fn pieces(parts: Vec<Part>, media: Media) -> Vec<Piece> {
    parts.into_iter().map(|part| piece(part, media)).collect()
}

fn piece(part: Part, media: Media) -> Piece {
    let kind = part.media_type.as_deref().unwrap_or("unknown type");
    let is_image = kind
        .get(..6)
        .is_some_and(|it| it.eq_ignore_ascii_case("image/"));
    let name = part.filename.as_deref().unwrap_or("without a name");
    match part.content {
        Content::Text(text) => Piece::Text(text),
        Content::Data(data) => Piece::Text(data.to_string()),
        Content::Raw(bytes) => {
            let data = || {
                let kind = part.media_type.as_deref();
                let kind = kind.unwrap_or("application/octet-stream");
                format!("data:{kind};base64,{}", bytes.as_text())
            };
            if is_image && media.images {
                Piece::Image(data())
            } else if media.files {
                Piece::File {
                    name: part.filename.clone().unwrap_or_else(|| "file".to_owned()),
                    data: data(),
                }
            } else {
                let text = bytes.as_text().trim_end_matches('=');
                let count = text.len() * 3 / 4;
                Piece::Text(format!(
                    "[file {name}, {kind}, {count} bytes: not passed on]"
                ))
            }
        }
        Content::Url(url) if is_image && media.images && is_web(&url) => Piece::Image(url),
        Content::Url(url) if media.files && media.file_urls && is_web(&url) => Piece::FileUrl(url),
        Content::Url(_) => Piece::Text(format!("[file {name}, {kind}, at a URL: not passed on]")),
    }
}

/// Returns whether the service may be asked to fetch a URL: not a file of its machine.
fn is_web(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|it| it.eq_ignore_ascii_case("https") || it.eq_ignore_ascii_case("http"))
}

/// Bytes that an image or a file has in the budget of the conversation: models do not read them as text.
const MEDIA_LEN: usize = 4 << 10;
/// Maximum bytes of the images and files of earlier messages.
const MAX_MEDIA: usize = 16 << 20;
/// Member of the metadata of a message that reports a failure.
const FAILURE: &str = "modelError";
/// Placeholder for the result of a call that has none.
const NO_RESULT: &str = "\u{0}";
