//! Callers that cost little: bytes over sockets, each next request when the last was answered.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::BufMut;
use memchr::memmem;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::machine::Failure;
use crate::request_template::RequestTemplate;
use crate::statistics::percentile;

/// Measurements of callers.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    /// Times of the answers, sorted, in nanoseconds.
    times: Vec<u32>,
    /// Duration of the whole run, in seconds.
    pub(crate) took: f64,
}

impl Latencies {
    pub(crate) fn new(times: impl IntoIterator<Item = Duration>, took: Duration) -> Self {
        let nanos = |time: Duration| u32::try_from(time.as_nanos()).unwrap_or(u32::MAX);
        let mut times: Vec<_> = times.into_iter().map(nanos).collect();
        times.sort_unstable();
        Self {
            times,
            took: took.as_secs_f64(),
        }
    }

    /// Returns the number of requests that were answered.
    pub(crate) fn count(&self) -> f64 {
        self.times.len() as f64
    }

    /// Returns the percentile `part` of the times, in µs.
    pub(crate) fn late(&self, part: f64) -> f64 {
        percentile(&self.times, part).map_or(f64::NAN, |nanos| f64::from(nanos) / 1e3)
    }
}

/// A caller that sends its next request when an earlier one was answered.
pub(crate) trait Caller: Send + 'static {
    /// Sends as many requests as may be open at once, waits for a whole answer, and adds the time of each answer that
    /// came. Errors: an answer has no result.
    fn ask(
        &mut self,
        times: &mut Vec<Duration>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// Runs all callers for the period.
pub(crate) async fn drive(
    callers: impl IntoIterator<Item = impl Caller>,
    period: Duration,
) -> Result<Latencies, Failure> {
    let begun = Instant::now();
    let mut asking = JoinSet::new();
    for mut caller in callers {
        asking.spawn(async move {
            let mut times = Vec::with_capacity(64 * 1024);
            loop {
                caller.ask(&mut times).await?;
                if begun.elapsed() >= period {
                    return Ok::<_, Failure>(times);
                }
            }
        });
    }
    let mut times = Vec::new();
    while let Some(asked) = asking.join_next().await {
        times.extend(asked??);
    }
    Ok(Latencies::new(times, begun.elapsed()))
}

/// Creates a caller for each request template, each with its own connection.
pub(crate) async fn callers(
    address: SocketAddr,
    orders: Vec<RequestTemplate>,
) -> Result<Vec<impl Caller>, Failure> {
    let mut callers = Vec::with_capacity(orders.len());
    for order in orders {
        let connection = Connection::open(address).await?;
        callers.push(ConnectionCaller { connection, order });
    }
    Ok(callers)
}

pub(crate) struct ConnectionCaller<S> {
    pub(crate) connection: Connection<S>,
    pub(crate) order: RequestTemplate,
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Caller for ConnectionCaller<S> {
    async fn ask(&mut self, times: &mut Vec<Duration>) -> Result<(), Failure> {
        let asked = Instant::now();
        self.connection.ask(self.order.next()).await?;
        times.push(asked.elapsed());
        Ok(())
    }
}

/// A connection that is kept.
pub(crate) struct Connection<S = TcpStream> {
    stream: S,
    /// The answer that was read last.
    answer: Vec<u8>,
    /// Offset of its body; 0 until its head is complete.
    body: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self {
            stream,
            answer: Vec::with_capacity(BUFFER),
            body: 0,
        }
    }

    /// Sends a request, and returns the body of the answer. Errors: it has no result.
    pub(crate) async fn ask(&mut self, order: &[u8]) -> Result<&[u8], Failure> {
        self.begin(order).await?;
        self.finish().await
    }

    /// Sends a request, and waits until the answer has begun: for its head and a first byte of its body.
    pub(crate) async fn begin(&mut self, order: &[u8]) -> Result<(), Failure> {
        self.stream.write_all(order).await?;
        self.answer.clear();
        self.body = 0;
        while self.body == 0 || self.answer.len() == self.body {
            // Reads no more than that, so that a first event does not wait for later bytes.
            let mut room = (&mut self.answer).limit(BUFFER);
            if self.stream.read_buf(&mut room).await? == 0 {
                return Err(CLOSED.into());
            }
            if self.body == 0 {
                self.body = memmem::find(&self.answer, b"\r\n\r\n").map_or(0, |end| end + 4);
            }
        }
        Ok(())
    }

    /// Reads the rest of an answer.
    pub(crate) async fn finish(&mut self) -> Result<&[u8], Failure> {
        let length = self.length()?;
        while !self.is_whole(length) {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err(CLOSED.into());
            }
        }
        let body = &self.answer[self.body..];
        match is_answer(body) {
            true => Ok(body),
            false => Err(self.refused()),
        }
    }

    /// Reads the rest of an answer, and gives whole lines of it to `read` as they come.
    pub(crate) async fn finish_by_lines(
        &mut self,
        mut read: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        let (length, mut done) = (self.length()?, self.body);
        loop {
            let rest = &self.answer[done..];
            if let Some(end) = memchr::memrchr(b'\n', rest) {
                read(&rest[..=end]);
                done += end + 1;
            }
            if self.is_whole(length) {
                return Ok(());
            }
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err(CLOSED.into());
            }
        }
    }

    /// Returns the id of the task in an answer, or in the first event of a stream.
    pub(crate) fn task(&self) -> Option<String> {
        let body = self.answer.get(self.body..)?;
        // An event has a line of its own, after `data: `.
        let start = memchr::memchr(b'{', body)?;
        let line = body.get(start..)?.split(|byte| *byte == b'\n').next()?;
        let answer: serde_json::Value = serde_json::from_slice(line).ok()?;
        Some(answer["result"]["task"]["id"].as_str()?.to_owned())
    }

    fn is_whole(&self, length: Option<usize>) -> bool {
        match length {
            Some(length) => self.answer.len() >= self.body + length,
            None => self.answer.ends_with(LAST_CHUNK),
        }
    }

    /// Returns the length of the body; `None` if it comes in chunks.
    fn length(&self) -> Result<Option<usize>, Failure> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        response.parse(&self.answer)?;
        if response.code != Some(200) {
            return Err(self.refused());
        }
        let mut headers = response.headers.iter();
        let length = headers.find(|header| header.name.eq_ignore_ascii_case("content-length"));
        let Some(length) = length else {
            return Ok(None);
        };
        Ok(Some(std::str::from_utf8(length.value)?.parse()?))
    }

    fn refused(&self) -> Failure {
        let start = &self.answer[..self.answer.len().min(2000)];
        format!(
            "not the answer that was to come: {}",
            String::from_utf8_lossy(start)
        )
        .into()
    }
}

/// Returns whether a body has a result.
pub(crate) fn is_answer(body: &[u8]) -> bool {
    memmem::find(body, b"\"result\"").is_some()
}

/// End of a body in chunks; JSON and events have no carriage return in them.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

const CLOSED: &str = "the server closed a connection";

/// Larger than a short answer, so that one read suffices.
const BUFFER: usize = 64 * 1024;
