//! Capture of a document as its peer sent it, before it is parsed.

use std::sync::{Arc, Mutex, PoisonError};

use a2a_client::{ResponseObserver, WireObserver};
use bytes::Bytes;
use http::{StatusCode, request, response};

/// The body of the last answer with status 200, while it is within the limit.
type Body = Arc<Mutex<Option<Vec<u8>>>>;

tokio::task_local! {
    static BODY: Body;
}

/// Runs a future, and returns the body of the last answer with status 200 to a request that it made by a client
/// with a [`Capture`]. Bodies above [`MAX_CAPTURED_BYTES`] are not captured.
pub(crate) async fn captured<F: Future>(future: F) -> (F::Output, Option<Bytes>) {
    let body = Body::default();
    let output = BODY.scope(Arc::clone(&body), future).await;
    let body = body.lock().unwrap_or_else(PoisonError::into_inner).take();
    (output, body.map(Bytes::from))
}

/// Observer of the wire for [`captured`].
#[derive(Debug)]
pub(crate) struct Capture;

impl WireObserver for Capture {
    fn request(&self, _: &request::Parts, _: &Bytes) -> Box<dyn ResponseObserver> {
        let body = BODY.try_with(Arc::clone).ok();
        Box::new(CapturedAnswer { body })
    }
}

/// Observer of one answer; without a body if it is not to be captured.
struct CapturedAnswer {
    body: Option<Body>,
}

impl ResponseObserver for CapturedAnswer {
    fn head(&mut self, head: &response::Parts) {
        self.body.take_if(|_| head.status != StatusCode::OK);
        self.change(|body| *body = Some(Vec::new()));
    }

    fn data(&mut self, data: &Bytes) {
        self.change(|body| {
            let fits = |body: &Vec<u8>| body.len() + data.len() <= MAX_CAPTURED_BYTES;
            *body = body.take().filter(fits);
            if let Some(body) = body {
                body.extend_from_slice(data);
            }
        });
    }

    fn end(&mut self, _: Option<&(dyn std::error::Error + 'static)>) {}
}

impl CapturedAnswer {
    fn change(&self, change: impl FnOnce(&mut Option<Vec<u8>>)) {
        if let Some(body) = &self.body {
            change(&mut body.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Bytes of a document.
const MAX_CAPTURED_BYTES: usize = 4 << 20;
