//! Small bodies of requests that are answered before they are read.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::EXPECT;
use http_body_util::BodyExt;

use super::budget::SMALL;

/// Reads a body of up to [`SMALL`] bytes and drops what it reads: a client that is answered before it has sent
/// its body may lose the answer. In HTTP/1.1 the connection is reset below it; in HTTP/2 some clients take the
/// reset of the stream for a failure.
///
/// A larger body is left unread, and a slow one is not waited for.
pub async fn discard_small<B>(mut body: Pin<&mut B>, headers: &HeaderMap)
where
    B: http_body::Body<Data = Bytes>,
{
    // A client that expects `100 Continue` sends none of it before.
    let is_large = body.size_hint().lower() > SMALL as u64;
    if body.is_end_stream() || is_large || headers.contains_key(EXPECT) {
        return;
    }
    let mut bytes = 0;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            bytes += frame.data_ref().map_or(0, Bytes::len);
            if bytes > SMALL {
                break;
            }
        }
    };
    // The answer goes out in either case.
    drop(Box::pin(tokio::time::timeout(MAX_DISCARD, reading)).await);
}

/// Maximum time to discard a small body.
const MAX_DISCARD: Duration = Duration::from_secs(2);
