//! Body of an answer to the client: its bytes, changed by the bug of the subject.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use a2a_transport::http::grpc::MessageDecoder;
use a2a_transport::sse::Decoder;
use bytes::Bytes;
use http::HeaderMap;
use http::header::HeaderValue;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use tokio::sync::{mpsc, watch};

use super::control_request::Replacer;
use super::{Bug, ClientSubject};

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Body of an answer to the client.
pub(super) struct Body {
    take: mpsc::Receiver<Result<Frame<Bytes>, BoxError>>,
    /// Error that broke it off, kept until all before it is written.
    broken: Option<BoxError>,
}

impl Body {
    pub(super) fn of(text: String) -> Self {
        let (give, take) = mpsc::channel(1);
        // There is room for one.
        let _ = give.try_send(Ok(Frame::data(text.into())));
        Self::new(take)
    }

    fn new(take: mpsc::Receiver<Result<Frame<Bytes>, BoxError>>) -> Self {
        let broken = None;
        Self { take, broken }
    }

    /// A body as it comes, changed; the end of it is counted.
    pub(super) fn through(
        mut body: Incoming,
        mut change: BodyRewriter,
        open: watch::Sender<usize>,
    ) -> Self {
        let (give, take) = mpsc::channel(1);
        open.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            let mut has_trailers = false;
            while let Some(frame) = body.frame().await {
                let frame = match frame {
                    Ok(frame) => frame,
                    Err(error) => {
                        // An answer that the client does not receive has no status to leave out.
                        has_trailers = true;
                        let _ = give.send(Err(error.into())).await;
                        break;
                    }
                };
                let changed = match frame.into_data() {
                    Ok(data) => change.change(data).map(Frame::data),
                    Err(frame) => {
                        has_trailers = true;
                        let mut trailers = frame.into_trailers().unwrap_or_default();
                        if let Some(bug) = change.subject.bug() {
                            change_status(bug, &mut trailers);
                        }
                        Ok(Frame::trailers(trailers))
                    }
                };
                let is_over = changed.is_err();
                let is_closed = give.send(changed).await.is_err();
                // A client with this bug reads on although it needs no more.
                if is_over || is_closed && !change.subject.has(Bug::NeverDone) {
                    break;
                }
            }
            if let Some(replace) = change.replace {
                let _ = give.send(Ok(Frame::data(replace.finish()))).await;
            }
            if change.subject.has(Bug::NoStatus) && change.grpc.is_some() && !has_trailers {
                let status = ("grpc-status".parse(), HeaderValue::from_static("0"));
                if let (Ok(name), value) = status {
                    let trailers = HeaderMap::from_iter([(name, value)]);
                    let _ = give.send(Ok(Frame::trailers(trailers))).await;
                }
            }
            open.send_modify(|open| *open -= 1);
        });
        Self::new(take)
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(broken) = self.broken.take() {
            return Poll::Ready(Some(Err(broken)));
        }
        match ready!(self.take.poll_recv(cx)) {
            Some(Err(broken)) => {
                // hyper drops what it has not written yet when a body breaks off, and writes it
                // when it has to wait for more.
                self.broken = Some(broken);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            next => Poll::Ready(next),
        }
    }
}

/// Change of the bytes of an answer.
pub(super) struct BodyRewriter {
    subject: ClientSubject,
    is_stream: bool,
    decoder: Decoder,
    line_begins: bool,
    replace: Option<Replacer>,
    sent_more: Arc<AtomicBool>,
    /// Decoder of an answer by gRPC.
    grpc: Option<MessageDecoder>,
    /// `true` once the task of an answer by gRPC has ended.
    has_ended: bool,
}

/// Changes the status of an answer by gRPC.
pub(super) fn change_status(bug: Bug, trailers: &mut HeaderMap) {
    if bug == Bug::CodesOnly {
        trailers.remove("grpc-status-details-bin");
    }
}

impl BodyRewriter {
    pub(super) fn new(
        subject: ClientSubject,
        is_stream: bool,
        replace: Option<Replacer>,
        sent_more: Arc<AtomicBool>,
    ) -> Self {
        Self {
            subject,
            is_stream,
            decoder: Decoder::default(),
            line_begins: true,
            replace,
            sent_more,
            grpc: None,
            has_ended: false,
        }
    }

    /// Returns the same for an answer by gRPC, if there is a decoder of it.
    pub(super) fn by_grpc(self, grpc: Option<MessageDecoder>) -> Self {
        Self { grpc, ..self }
    }

    fn change(&mut self, data: Bytes) -> Result<Bytes, BoxError> {
        if let Some(replace) = &mut self.replace {
            return Ok(replace.push(&data));
        }
        if let (Some(decoder), Some(bug)) = (&mut self.grpc, self.subject.bug()) {
            return change_frames(bug, decoder, &mut self.has_ended, &self.sent_more, data);
        }
        let bug = match self.subject {
            ClientSubject::Mutant(bug) if self.is_stream => Some(bug),
            _ => None,
        };
        match bug {
            Some(Bug::SplitText) => Ok(String::from_utf8_lossy(&data).into_owned().into()),
            Some(Bug::NumberedOnly) => {
                let mut numbered = Vec::new();
                for event in self.decoder.push(&data)? {
                    if let Some(id) = event.id {
                        numbered.extend_from_slice(format!("id: {id}\n").as_bytes());
                        for line in event.data.split(|byte| *byte == b'\n') {
                            numbered.extend_from_slice(b"data: ");
                            numbered.extend_from_slice(line);
                            numbered.push(b'\n');
                        }
                        numbered.push(b'\n');
                    }
                }
                Ok(numbered.into())
            }
            Some(Bug::EventsOnly) => {
                let mut lines = data.split(|byte| *byte == b'\n');
                match lines.any(|line| line == b"event: keep-alive") {
                    true => Err("expected data".into()),
                    false => Ok(data),
                }
            }
            Some(Bug::FirstOfMany) => {
                let ends = data.windows(2).position(|two| two == b"\n\n");
                Ok(data.slice(..ends.map_or(data.len(), |at| at + 2)))
            }
            Some(Bug::PastEnd) => {
                let text = String::from_utf8_lossy(&data).to_ascii_lowercase();
                let rest = text.split_once("completed\"").map(|(_, rest)| rest);
                let next = rest.and_then(|rest| rest.split_once("\n\n"));
                if next.is_some_and(|(_, next)| next.contains("data:")) {
                    self.sent_more.store(true, Ordering::Relaxed);
                }
                Ok(data)
            }
            Some(Bug::NoComments) => {
                for byte in &data {
                    if self.line_begins && matches!(byte, b':' | 0xef) {
                        return Err("expected a field".into());
                    }
                    self.line_begins = matches!(byte, b'\n' | b'\r');
                }
                Ok(data)
            }
            _ => Ok(data),
        }
    }
}

/// Changes frames of an answer by gRPC.
fn change_frames(
    bug: Bug,
    decoder: &mut MessageDecoder,
    has_ended: &mut bool,
    sent_more: &AtomicBool,
    data: Bytes,
) -> Result<Bytes, BoxError> {
    match bug {
        Bug::SplitText => Ok(String::from_utf8_lossy(&data).into_owned().into()),
        Bug::FirstOfMany => {
            let length = data.get(1..FRAME_HEAD).map_or(0, |length| {
                let bytes = length.iter().map(|byte| usize::from(*byte));
                bytes.fold(0, |length, byte| length << 8 | byte)
            });
            Ok(data.slice(..data.len().min(FRAME_HEAD + length)))
        }
        Bug::PastEnd => {
            for message in decoder.push(&data)? {
                if *has_ended {
                    sent_more.store(true, Ordering::Relaxed);
                }
                *has_ended |= String::from_utf8_lossy(&message).contains("_COMPLETED\"");
            }
            Ok(data)
        }
        _ => Ok(data),
    }
}

/// Bytes before the message in a frame of gRPC.
const FRAME_HEAD: usize = 5;

#[cfg(test)]
mod tests {
    use hyper::Response;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_before_a_break_are_delivered() {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        let service = service_fn(async |_| {
            let (give, take) = mpsc::channel(3);
            for piece in [Ok("one"), Ok("two"), Err("broken off")] {
                let piece = piece
                    .map(Bytes::from)
                    .map(Frame::data)
                    .map_err(BoxError::from);
                give.try_send(piece).unwrap();
            }
            Ok::<_, BoxError>(Response::new(Body::new(take)))
        });
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let served = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(server), service)
            .await;
        assert!(served.unwrap_err().is_user());
        let mut received = String::new();
        client.read_to_string(&mut received).await.unwrap();
        assert!(
            received.ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n"),
            "{received}"
        );
    }
}
