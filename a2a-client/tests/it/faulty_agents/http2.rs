//! Servers that speak HTTP/2 to do harm, in frames that are written by hand: RFC 9113.

use std::io;

use a2a_client::{Error, Phase};
use tokio::io::AsyncReadExt;

use crate::faulty_agents::faulty_agent::ClientCall::{Card, Follow, Send};
use crate::faulty_agents::faulty_agent::{FaultyAgent, Reply, faulty_agent};
use crate::faulty_agents::script::{event, message, result, sends_immediately, status};
use crate::faulty_agents::test_server::{Behaviour, Connection, ConnectionResult, behaviour};

pub(crate) fn agents() -> Vec<FaultyAgent> {
    let right = data(result(&message("right")).as_bytes(), END);
    let working = event(&status("t", "WORKING"));
    let streaming = [head(EVENT_STREAM, 0), data(working.as_bytes(), 0)].concat();
    let reset = |code| frame(RST_STREAM, 0, 1, &u32::to_be_bytes(code));
    let gone = |last: u32, code: u32| {
        frame(
            GOAWAY,
            0,
            0,
            &[last.to_be_bytes(), code.to_be_bytes()].concat(),
        )
    };
    let part = head(JSON, 0);
    let field = literal("x-a", &"b".repeat(1000));
    let open = frame(HEADERS, 0, 1, STATUS_200);
    let window = frame(WINDOW_UPDATE, 0, 1, &0x7fff_ffff_u32.to_be_bytes());
    let answers = |frames: &[&[u8]]| sends(frames.concat());
    let all = vec![
        faulty_agent!("an answer in HTTP/2", Send, answers(&[&part, &right]), Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!(
            "RST_STREAM before the head",
            Send,
            answers(&[&reset(CANCEL)]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "RST_STREAM that refuses, of a card",
            Card(false),
            answers(&[&reset(REFUSED)]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "RST_STREAM after the head",
            Send,
            answers(&[&part, &reset(CANCEL)]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "RST_STREAM in the body",
            Send,
            answers(&[&part, &data(b"{", 0), &reset(0)]),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "RST_STREAM before a stream",
            Follow,
            answers(&[&reset(CANCEL)]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "RST_STREAM in a stream",
            Follow,
            answers(&[&streaming, &reset(CANCEL)]),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "RST_STREAM of a stream that was never opened",
            Send,
            answers(&[&frame(RST_STREAM, 0, 7, &[0; 4])]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "GOAWAY before the head",
            Send,
            answers(&[&gone(0, 0)]),
            Err(Error::Connection(_))
        )
        .max_connections(20),
        faulty_agent!(
            "GOAWAY that calms, of a card",
            Card(false),
            answers(&[&gone(0, CALM)]),
            Err(Error::Connection(_))
        )
        .max_connections(20),
        faulty_agent!(
            "GOAWAY in the body",
            Send,
            answers(&[&part, &gone(0, 2)]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "GOAWAY in a stream",
            Follow,
            answers(&[&streaming, &gone(0, 0)]),
            Err(Error::Malformed(_))
        ),
        faulty_agent!("GOAWAY, and the answer after all", Send, answers(&[&gone(1, 0), &part, &right]),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!(
            "settings without end",
            Send,
            floods(frame(SETTINGS, 0, 0, &[])),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "pings without end",
            Send,
            floods(frame(PING, 0, 0, &[0; 8])),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "windows without end",
            Send,
            floods(frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "a window of 2^31",
            Send,
            answers(&[&window, &window]),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "priorities without end",
            Follow,
            floods(frame(PRIORITY, 0, 1, &[0; 5])),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "unknown frames without end",
            Follow,
            floods(frame(0xbb, 0, 0, &[0; 100])),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "CONTINUATION without end",
            Send,
            sends_then_floods(open.clone(), frame(CONTINUATION, 0, 1, &field)),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "empty CONTINUATION without end",
            Send,
            sends_then_floods(open, frame(CONTINUATION, 0, 1, &[])),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a head of 1 MiB",
            Send,
            answers(&[&long_head(&field, 1000)]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a head of 75 KiB",
            Send,
            answers(&[&long_head(&field, 75), &right]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "empty data without end",
            Send,
            sends_then_floods(part.clone(), data(b"", 0)),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "data without end",
            Send,
            sends_then_floods(part.clone(), data(&[b' '; 1000], 0)),
            Err(Error::TooLarge { what: "body", .. })
        ),
        faulty_agent!(
            "data beyond the window",
            Follow,
            sends_then_floods(head(EVENT_STREAM, 0), data(&[b' '; 16_000], 0)),
            Err(Error::TooLarge { what: "line", .. })
        ),
        faulty_agent!(
            "data before the head",
            Send,
            answers(&[&right]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a window that never opens",
            Send,
            shuts(),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "1xx without end in HTTP/2",
            Send,
            floods(frame(HEADERS, END_HEADERS, 1, &literal(":status", "103"))),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "trailers without a body",
            Send,
            answers(&[&head(JSON, END)]),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "a push",
            Send,
            answers(&[&frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82])]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "compression that is none",
            Send,
            answers(&[&frame(HEADERS, END_HEADERS, 1, &[0xff; 20])]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a frame of 16 MiB",
            Send,
            answers(&[&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]]),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "HTTP/1.1 instead",
            Send,
            sends_immediately("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "silence after the settings",
            Follow,
            answers(&[]),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "silence before the settings",
            Follow,
            behaviour(Connection::wait_for_close),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "silence in a stream of HTTP/2",
            Follow,
            answers(&[&streaming]),
            Err(Error::Connection(_))
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "a break of HTTP/2 in a stream",
            Follow,
            breaks(streaming),
            Err(Error::Connection(_))
        ),
    ];
    all.into_iter().map(FaultyAgent::over_http2).collect()
}

/// Sends these frames after the first request.
fn sends(frames: Vec<u8>) -> Behaviour {
    behaviour(move |mut connection| {
        let frames = frames.clone();
        async move {
            greet(&mut connection, &[]).await?;
            connection.send(frames).await?;
            connection.wait_for_close().await
        }
    })
}

/// Repeats a frame endlessly after the first request.
fn floods(frame: Vec<u8>) -> Behaviour {
    sends_then_floods(Vec::new(), frame)
}

fn sends_then_floods(first: Vec<u8>, frame: Vec<u8>) -> Behaviour {
    behaviour(move |mut connection| {
        let (first, frame) = (first.clone(), frame.clone());
        async move {
            greet(&mut connection, &[]).await?;
            connection.send(first).await?;
            connection.send_forever(frame).await
        }
    })
}

fn breaks(frames: Vec<u8>) -> Behaviour {
    behaviour(move |mut connection| {
        let frames = frames.clone();
        async move {
            greet(&mut connection, &[]).await?;
            connection.send(frames).await?;
            connection.reset()
        }
    })
}

/// Takes no byte of a body.
fn shuts() -> Behaviour {
    behaviour(|mut connection| async move {
        greet(&mut connection, &[0, 4, 0, 0, 0, 0]).await?;
        connection.wait_for_close().await
    })
}

/// Exchanges settings, and waits until stream 1 is opened.
async fn greet(connection: &mut Connection, settings: &[u8]) -> ConnectionResult {
    connection.send(frame(SETTINGS, 0, 0, settings)).await?;
    let mut preface = [0; 24];
    connection.stream.read_exact(&mut preface).await?;
    loop {
        let (kind, flags) = read_frame(connection).await?;
        match kind {
            SETTINGS if flags == 0 => connection.send(frame(SETTINGS, ACK, 0, &[])).await?,
            HEADERS => return Ok(()),
            _ => {}
        }
    }
}

/// Reads a frame and returns its type and flags.
async fn read_frame(connection: &mut Connection) -> io::Result<(u8, u8)> {
    let mut head = [0; 9];
    connection.stream.read_exact(&mut head).await?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    connection.stream.read_exact(&mut payload).await?;
    Ok((head[3], head[4]))
}

/// Returns a frame: §4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("it is short");
    let head = [
        &length.to_be_bytes()[1..],
        &[kind, flags],
        &stream.to_be_bytes(),
    ]
    .concat();
    [&head, payload].concat()
}

/// Returns the head of an answer on stream 1.
fn head(content_type: &str, flags: u8) -> Vec<u8> {
    let fields = [STATUS_200, &literal("content-type", content_type)].concat();
    frame(HEADERS, END_HEADERS | flags, 1, &fields)
}

/// Returns a head in a frame and many that continue it.
fn long_head(field: &[u8], times: usize) -> Vec<u8> {
    let begins = frame(HEADERS, 0, 1, STATUS_200);
    let goes_on = frame(CONTINUATION, 0, 1, &field.repeat(15)).repeat(times / 15);
    [begins, goes_on, frame(CONTINUATION, END_HEADERS, 1, &[])].concat()
}

fn data(bytes: &[u8], flags: u8) -> Vec<u8> {
    frame(DATA, flags, 1, bytes)
}

/// Returns a header that is not compressed: RFC 7541 §6.2.2.
fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0][..], &text(name), &text(value)].concat()
}

/// Returns a string that is not compressed: RFC 7541 §5.1 and §5.2.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    match text.len() {
        length @ ..127 => bytes.push(length as u8),
        length => {
            bytes.push(127);
            let mut rest = length - 127;
            while rest > 127 {
                bytes.push((rest % 128) as u8 | 128);
                rest /= 128;
            }
            bytes.push(rest as u8);
        }
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";

/// `:status: 200`, from the table of RFC 7541.
const STATUS_200: &[u8] = &[0x88];

// Types of frames, §6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

// Their flags.
const ACK: u8 = 1;
const END: u8 = 1;
const END_HEADERS: u8 = 4;

// Error codes, §7.
const REFUSED: u32 = 7;
const CANCEL: u32 = 8;
const CALM: u32 = 11;
