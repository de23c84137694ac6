//! The body of an answer: nothing, some bytes, or a stream of events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use a2a_edge::budget::Exhausted;
use a2a_types::ErrorKind;
use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::task::coop;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_stream::Stream;

use super::grpc::{GrpcFormat, write_status};
use super::response_budget::{AdmittedResponse, LargeResponse, ResponseBudget};
use super::server_span::{Outcome, ServerSpan};
use crate::binding::EventWriter;
use crate::binding::grpc::{Code, Status, with_event_id};
use crate::{Error, Update, UpdateStream, sse};

/// The body of an answer.
pub struct Body {
    kind: BodyKind,
    /// Sent behind the bytes.
    trailers: Option<Box<HeaderMap>>,
}

enum BodyKind {
    Full(Bytes),
    Large(Arc<LargeResponse>),
    Events(Pin<Box<Events>>),
    #[cfg_attr(
        not(feature = "grpc"),
        expect(dead_code, reason = "nothing is of gRPC")
    )]
    Messages(Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>),
}

pin_project! {
    /// A stream of updates on its way out.
    struct Events {
        encoder: EventEncoder,
        // Timer of the next keep-alive comment, or of the deadline.
        #[pin]
        silence: Sleep,
    }
}

/// Encoder of the events of a stream, with its options.
struct EventEncoder {
    updates: Option<UpdateStream>,
    writer: EventWriter,
    format: EventFormat,
    ready: Vec<u8>,
    trailers: Option<Box<HeaderMap>>,
    /// Rest of an event or piece that was too large to send at once.
    large: Option<Arc<LargeResponse>>,
    answers: ResponseBudget,
    server_span: ServerSpan,
}

/// Format of the events of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventFormat {
    /// Server-Sent Events, with a comment after every `keep_alive` of silence. `named` adds the event names that
    /// some clients cannot do without.
    Sse { named: bool, keep_alive: Duration },
    /// Messages of gRPC, until a deadline. `numbered` puts the ids of the events into their metadata.
    Grpc {
        format: GrpcFormat,
        deadline: Option<Instant>,
        numbered: bool,
    },
}

impl Body {
    fn of(kind: BodyKind) -> Self {
        Self {
            kind,
            trailers: None,
        }
    }

    /// Creates a body of these bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::of(BodyKind::Full(bytes.into()))
    }

    /// Returns the body with trailers behind its bytes.
    pub(crate) fn with_trailers(self, trailers: Option<HeaderMap>) -> Self {
        Self {
            trailers: trailers.map(Box::new),
            ..self
        }
    }

    /// Creates an empty body.
    pub fn empty() -> Self {
        Self::full(Bytes::new())
    }

    /// Creates a body that is charged to a budget.
    pub(crate) fn admitted(admitted: AdmittedResponse) -> Self {
        match admitted {
            AdmittedResponse::Small(bytes) => Self::full(bytes),
            AdmittedResponse::Large(answer) => Self::of(BodyKind::Large(answer)),
        }
    }

    /// Creates a body of the events of a stream, charged to the budget of all answers.
    pub(crate) fn events(
        updates: UpdateStream,
        writer: EventWriter,
        format: EventFormat,
        answers: ResponseBudget,
        server_span: ServerSpan,
    ) -> Self {
        Self::of(BodyKind::Events(Box::pin(Events {
            encoder: EventEncoder {
                updates: Some(updates),
                writer,
                format,
                ready: Vec::new(),
                trailers: None,
                large: None,
                answers,
                server_span,
            },
            silence: sleep_until(format.next_timeout()),
        })))
    }
}

impl Body {
    /// Creates a body of messages of gRPC in their frames, with the status behind them.
    #[cfg(feature = "grpc")]
    pub(crate) fn messages(
        messages: impl Stream<Item = Result<Bytes, Status>> + Send + 'static,
    ) -> Self {
        let mut trailers = HeaderMap::new();
        write_status(&Status::new(Code::OK, ""), &mut trailers);
        Self::of(BodyKind::Messages(Box::pin(messages))).with_trailers(Some(trailers))
    }
}

impl EventFormat {
    /// Returns the time at which something is sent, if no event is.
    fn next_timeout(self) -> Instant {
        match self {
            Self::Sse { keep_alive, .. } => Instant::now() + keep_alive,
            Self::Grpc { deadline, .. } => deadline.unwrap_or_else(|| Instant::now() + NEVER),
        }
    }
}

/// Practically never, and near enough to be added to the current time.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

impl Events {
    /// Polls the next piece: events, or a comment after every silence.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        let encoder = match this.encoder.poll(cx) {
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(piece)) => piece,
            Poll::Pending => {
                ready!(this.silence.as_mut().poll(cx));
                match this.encoder.format {
                    EventFormat::Sse { .. } => Bytes::from_static(sse::PING),
                    EventFormat::Grpc { .. } => {
                        this.encoder.expire();
                        match std::mem::take(&mut this.encoder.ready) {
                            rest if rest.is_empty() => return Poll::Ready(None),
                            rest => rest.into(),
                        }
                    }
                }
            }
        };
        if let EventFormat::Sse { .. } = this.encoder.format {
            this.silence.reset(this.encoder.format.next_timeout());
        }
        Poll::Ready(Some(encoder))
    }
}

impl EventEncoder {
    /// Polls one piece with all events that are ready; a single event does not wait for others.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        // A reader that is far behind must not keep the thread from other callers.
        for _ in 0..PIECE_COST {
            ready!(coop::poll_proceed(cx)).made_progress();
        }
        if let Some(piece) = self.next_of_large() {
            return Poll::Ready(Some(piece));
        }
        while self.ready.len() < PIECE
            && let Some(updates) = &mut self.updates
        {
            match updates.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(update))) => self.write(&update),
                Poll::Ready(Some(Err(error))) => {
                    let cause = &error as &dyn std::error::Error;
                    match error {
                        Error::Agent(_) => {
                            tracing::debug!(error = cause, "a stream ended with an error");
                        }
                        _ => tracing::warn!(error = cause, "a stream failed"),
                    }
                    let answer = error.into_answer();
                    self.fail(answer);
                }
                Poll::Ready(None) => {
                    self.server_span.ended(Outcome::Answered);
                    self.end(&Status::new(Code::OK, ""));
                }
                Poll::Pending => break,
            }
        }
        if !self.ready.is_empty() {
            return Poll::Ready(Some(self.send()));
        }
        match self.updates {
            Some(_) => Poll::Pending,
            None => Poll::Ready(None),
        }
    }

    /// Returns what is ready, or the first piece of it.
    fn send(&mut self) -> Bytes {
        match self.answers.admit(std::mem::take(&mut self.ready)) {
            Ok(AdmittedResponse::Small(bytes)) => bytes,
            Ok(AdmittedResponse::Large(large)) => {
                let first = large.take().unwrap_or_default();
                self.large = Some(large);
                first
            }
            Err(Exhausted) => {
                self.fail(crowded());
                std::mem::take(&mut self.ready).into()
            }
        }
    }

    /// Returns the next piece of a large one. If that was cut off, the stream ends.
    fn next_of_large(&mut self) -> Option<Bytes> {
        let large = self.large.as_ref()?;
        let piece = large.take();
        if piece.is_none() {
            if large.is_dropped() {
                self.updates = None;
            }
            self.large = None;
        }
        piece
    }

    /// Ends the stream with an error.
    fn fail(&mut self, error: a2a_types::Error) {
        self.server_span.ended(Outcome::Failed(error.kind));
        let line = self.writer.write_error(error);
        match self.format {
            EventFormat::Sse { named, .. } => {
                let name = line.name.filter(|_| named);
                sse::encode_into(&mut self.ready, None, name, |json| line.write(json));
                self.updates = None;
            }
            EventFormat::Grpc { .. } => self.end(&Status::read(&line.json())),
        }
    }

    /// Ends the stream at the caller's deadline.
    fn expire(&mut self) {
        let error = late();
        self.server_span.ended(Outcome::Failed(error.kind));
        self.end(&Status::new(Code::DEADLINE_EXCEEDED, error.message));
    }

    /// Ends the stream, by gRPC with a status.
    fn end(&mut self, status: &Status) {
        if let EventFormat::Grpc { format, .. } = self.format {
            self.trailers = format.end(status, &mut self.ready).map(Box::new);
        }
        self.updates = None;
    }

    fn write(&mut self, update: &Update) {
        self.server_span.update_sent(update);
        let numbered = self.writer.numbers_events();
        let with_id;
        let event = match (self.format, update.sequence) {
            (EventFormat::Grpc { numbered: true, .. }, Some(id)) => {
                with_id = with_event_id(update.event.clone().into_event(), id).into();
                &with_id
            }
            _ => &update.event,
        };
        let lines = self.writer.write(event);
        let last = lines.len().saturating_sub(1);
        // Reserves once, instead of growing while the event is written.
        self.ready.reserve(INITIAL_CAPACITY);
        let mut failure = None;
        for (index, line) in lines.iter().enumerate() {
            match self.format {
                EventFormat::Sse { named, .. } => {
                    // An event that became several has been seen only once its last line has been.
                    let id = update.sequence.filter(|_| numbered && index == last);
                    let name = line.name.filter(|_| named);
                    sse::encode_into(&mut self.ready, id, name, |json| line.write(json));
                }
                EventFormat::Grpc { format, .. } => {
                    failure = format.message(&line.json(), &mut self.ready).err();
                    if failure.is_some() {
                        break;
                    }
                }
            }
        }
        if let Some(status) = failure {
            self.server_span.ended(Outcome::Failed(ErrorKind::Internal));
            self.end(&status);
        }
    }
}

/// Returns the error of an answer that comes after the caller's deadline.
pub(crate) fn late() -> a2a_types::Error {
    let text = "the caller's deadline passed; the task goes on";
    a2a_types::Error::new(ErrorKind::Unavailable, text)
}

/// Returns the error of an answer that the budget has no room for.
pub(crate) fn crowded() -> a2a_types::Error {
    let text = "too many answers wait for their callers to read them: ask again later";
    a2a_types::Error::new(ErrorKind::Unavailable, text)
}

/// Bytes of events in one piece, the last event not counted: as much as a frame of HTTP/2, and enough that
/// the cost of sending a piece is little for each event.
const PIECE: usize = 16 * 1024;

/// Cost of a piece in units of Tokio's budget, of which a task has 128 for each poll: eight pieces.
const PIECE_COST: usize = 16;

/// Bytes reserved for an event, enough for most: to grow piece by piece takes 3 % of a stream.
const INITIAL_CAPACITY: usize = 512;

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        let piece = match &mut this.kind {
            BodyKind::Full(bytes) if bytes.has_remaining() => Some(std::mem::take(bytes)),
            BodyKind::Full(_) => None,
            BodyKind::Large(answer) => {
                let piece = answer.take();
                if piece.is_none() && answer.is_dropped() {
                    this.trailers = None;
                }
                piece
            }
            BodyKind::Events(events) => {
                let span = events.encoder.server_span.span().clone();
                let _within = span.enter();
                let piece = ready!(events.as_mut().poll(cx));
                if piece.is_none() && this.trailers.is_none() {
                    this.trailers = events.as_mut().project().encoder.trailers.take();
                }
                piece
            }
            BodyKind::Messages(messages) => match ready!(messages.as_mut().poll_next(cx)) {
                Some(Ok(piece)) => Some(piece),
                Some(Err(status)) => {
                    let mut trailers = HeaderMap::new();
                    write_status(&status, &mut trailers);
                    this.trailers = Some(Box::new(trailers));
                    None
                }
                None => None,
            },
        };
        let frame = match piece {
            Some(piece) => Some(Frame::data(piece)),
            None => this.trailers.take().map(|it| Frame::trailers(*it)),
        };
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        let is_empty = match &self.kind {
            BodyKind::Full(bytes) => bytes.is_empty(),
            BodyKind::Large(answer) => answer.len() == 0,
            BodyKind::Events(_) | BodyKind::Messages(_) => false,
        };
        is_empty && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            // Some callers by gRPC do not expect a length.
            _ if self.trailers.is_some() => SizeHint::default(),
            BodyKind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            BodyKind::Large(answer) => SizeHint::with_exact(answer.len() as u64),
            BodyKind::Events(_) | BodyKind::Messages(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Binding, ResponseContext};
    use a2a_types::{Event, Message, Operation, ProtocolVersion};
    use http_body_util::BodyExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Time is paused, so it passes whenever nothing else can happen.
    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_gets_a_comment() {
        let operation = Operation::SendStreamingMessage;
        let envelope = ResponseContext::new(ProtocolVersion::V0_2, Binding::JsonRpc, operation);
        let silent: UpdateStream = Box::pin(tokio_stream::pending());
        let start = Instant::now();
        let mut body = Body::events(
            silent,
            EventWriter::new(&envelope),
            EventFormat::Sse {
                named: false,
                keep_alive: Duration::from_secs(15),
            },
            ResponseBudget::new(1 << 20),
            ServerSpan::begin(Binding::JsonRpc, &http::HeaderMap::new()),
        );
        for seconds in [15, 30] {
            let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(frame, sse::PING);
            assert_eq!(start.elapsed(), Duration::from_secs(seconds));
        }
    }

    fn events(updates: impl tokio_stream::Stream<Item = &'static str> + Send + 'static) -> Body {
        let operation = Operation::SendStreamingMessage;
        let envelope = ResponseContext::new(ProtocolVersion::V1_0, Binding::JsonRpc, operation);
        let updates = tokio_stream::StreamExt::map(updates, |text| {
            Ok(Update::new(Event::Message(Message::agent(text)), None))
        });
        let writer = EventWriter::new(&envelope);
        Body::events(
            Box::pin(updates),
            writer,
            EventFormat::Sse {
                named: false,
                keep_alive: Duration::from_secs(15),
            },
            ResponseBudget::new(1 << 20),
            ServerSpan::begin(Binding::JsonRpc, &http::HeaderMap::new()),
        )
    }

    /// Returns the number of events and of bytes of the next frame.
    async fn next(body: &mut Body) -> Option<(usize, usize)> {
        let frame = body.frame().await?.unwrap().into_data().unwrap();
        let events = sse::Decoder::default().push(&frame).unwrap();
        Some((events.len(), frame.len()))
    }

    #[tokio::test]
    async fn ready_events_are_sent_in_one_piece() {
        let mut body = events(tokio_stream::iter(["a", "b", "c"]));
        assert!(matches!(next(&mut body).await, Some((3, _))));
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn a_piece_has_a_bound() {
        let mut body = events(futures_util::stream::repeat("again"));
        let (_, one) = next(&mut events(tokio_stream::once("again")))
            .await
            .unwrap();
        for _ in 0..3 {
            let (events, bytes) = next(&mut body).await.unwrap();
            assert!(
                events > 1 && (PIECE..PIECE + one).contains(&bytes),
                "{bytes}"
            );
        }
    }

    #[tokio::test]
    async fn a_reader_that_is_far_behind_lets_other_callers_have_their_turn() {
        let mut body = events(futures_util::stream::repeat("again"));
        let is_others_turn = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_others_turn);
        let reading = tokio::spawn(async move {
            for _ in 0..1000 {
                next(&mut body).await;
                if seen.load(Ordering::Relaxed) {
                    return true;
                }
            }
            false
        });
        tokio::spawn(async move { is_others_turn.store(true, Ordering::Relaxed) });
        assert!(reading.await.unwrap());
    }

    #[tokio::test]
    async fn an_event_that_is_alone_does_not_wait() {
        let (say, received) = tokio::sync::mpsc::unbounded_channel();
        let received = futures_util::stream::unfold(received, |mut received| async {
            Some((received.recv().await?, received))
        });
        let mut body = events(received);
        for text in ["a", "b"] {
            say.send(text).unwrap();
            assert!(matches!(next(&mut body).await, Some((1, _))));
        }
    }
}
