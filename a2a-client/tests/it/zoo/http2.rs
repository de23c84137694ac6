//! Servers that speak HTTP/2 to do harm, in frames that are written by hand: RFC 9113.

use std::io;

use a2a_client::{Error, Phase};
use tokio::io::AsyncReadExt;

use crate::zoo::beast::Ask::{Card, Follow, Send};
use crate::zoo::beast::{Answered, Beast, beast};
use crate::zoo::cage::{Act, Ended, Visit, act};
use crate::zoo::script::{event, message, result, says_at_once, status};

pub(crate) fn beasts() -> Vec<Beast> {
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
    let says = |frames: &[&[u8]]| says(frames.concat());
    let all = vec![
        beast!("an answer in HTTP/2", Send, says(&[&part, &right]), Ok(Answered::Message(text)) if text == "right"),
        beast!(
            "RST_STREAM before the head",
            Send,
            says(&[&reset(CANCEL)]),
            Err(Error::Connection(_))
        ),
        beast!(
            "RST_STREAM that refuses, of a card",
            Card(false),
            says(&[&reset(REFUSED)]),
            Err(Error::Connection(_))
        ),
        beast!(
            "RST_STREAM after the head",
            Send,
            says(&[&part, &reset(CANCEL)]),
            Err(Error::Connection(_))
        ),
        beast!(
            "RST_STREAM in the body",
            Send,
            says(&[&part, &data(b"{", 0), &reset(0)]),
            Err(Error::Malformed(_))
        ),
        beast!(
            "RST_STREAM before a stream",
            Follow,
            says(&[&reset(CANCEL)]),
            Err(Error::Connection(_))
        ),
        beast!(
            "RST_STREAM in a stream",
            Follow,
            says(&[&streaming, &reset(CANCEL)]),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "RST_STREAM of a stream that nobody opened",
            Send,
            says(&[&frame(RST_STREAM, 0, 7, &[0; 4])]),
            Err(Error::Connection(_))
        ),
        beast!(
            "GOAWAY before the head",
            Send,
            says(&[&gone(0, 0)]),
            Err(Error::Connection(_))
        )
        .most_visits(20),
        beast!(
            "GOAWAY that calms, of a card",
            Card(false),
            says(&[&gone(0, CALM)]),
            Err(Error::Connection(_))
        )
        .most_visits(20),
        beast!(
            "GOAWAY in the body",
            Send,
            says(&[&part, &gone(0, 2)]),
            Err(Error::Connection(_))
        ),
        beast!(
            "GOAWAY in a stream",
            Follow,
            says(&[&streaming, &gone(0, 0)]),
            Err(Error::Malformed(_))
        ),
        beast!("GOAWAY, and the answer after all", Send, says(&[&gone(1, 0), &part, &right]),
            Ok(Answered::Message(text)) if text == "right"),
        beast!(
            "settings without end",
            Send,
            floods(frame(SETTINGS, 0, 0, &[])),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "pings without end",
            Send,
            floods(frame(PING, 0, 0, &[0; 8])),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "windows without end",
            Send,
            floods(frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "a window of 2^31",
            Send,
            says(&[&window, &window]),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "priorities without end",
            Follow,
            floods(frame(PRIORITY, 0, 1, &[0; 5])),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "frames that nobody knows, without end",
            Follow,
            floods(frame(0xbb, 0, 0, &[0; 100])),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "CONTINUATION without end",
            Send,
            says_then_floods(open.clone(), frame(CONTINUATION, 0, 1, &field)),
            Err(Error::Connection(_))
        ),
        beast!(
            "empty CONTINUATION without end",
            Send,
            says_then_floods(open, frame(CONTINUATION, 0, 1, &[])),
            Err(Error::Connection(_))
        ),
        beast!(
            "a head of 1 MiB",
            Send,
            says(&[&long_head(&field, 1000)]),
            Err(Error::Connection(_))
        ),
        beast!(
            "a head of 75 KiB",
            Send,
            says(&[&long_head(&field, 75), &right]),
            Err(Error::Connection(_))
        ),
        beast!(
            "empty data without end",
            Send,
            says_then_floods(part.clone(), data(b"", 0)),
            Err(Error::Connection(_))
        ),
        beast!(
            "data without end",
            Send,
            says_then_floods(part.clone(), data(&[b' '; 1000], 0)),
            Err(Error::TooLarge { what: "body", .. })
        ),
        beast!(
            "data beyond the window",
            Follow,
            says_then_floods(head(EVENT_STREAM, 0), data(&[b' '; 16_000], 0)),
            Err(Error::TooLarge { what: "line", .. })
        ),
        beast!(
            "data before the head",
            Send,
            says(&[&right]),
            Err(Error::Connection(_))
        ),
        beast!(
            "a window that never opens",
            Send,
            shuts(),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "1xx without end in HTTP/2",
            Send,
            floods(frame(HEADERS, END_HEADERS, 1, &literal(":status", "103"))),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "trailers without a body",
            Send,
            says(&[&head(JSON, END)]),
            Err(Error::NotA2a { status: 200, .. })
        ),
        beast!(
            "a push",
            Send,
            says(&[&frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82])]),
            Err(Error::Connection(_))
        ),
        beast!(
            "compression that is none",
            Send,
            says(&[&frame(HEADERS, END_HEADERS, 1, &[0xff; 20])]),
            Err(Error::Connection(_))
        ),
        beast!(
            "a frame of 16 MiB",
            Send,
            says(&[&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]]),
            Err(Error::Connection(_))
        ),
        beast!(
            "HTTP/1.1 instead",
            Send,
            says_at_once("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
            Err(Error::Connection(_))
        ),
        beast!(
            "silence after the settings",
            Follow,
            says(&[]),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "silence before the settings",
            Follow,
            act(Visit::hush),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "silence in a stream of HTTP/2",
            Follow,
            says(&[&streaming]),
            Err(Error::Connection(_))
        )
        .hastily(Phase::Idle),
        beast!(
            "a break of HTTP/2 in a stream",
            Follow,
            breaks(streaming),
            Err(Error::Connection(_))
        ),
    ];
    all.into_iter().map(Beast::over_http2).collect()
}

/// Sends these frames after the first request.
fn says(frames: Vec<u8>) -> Act {
    act(move |mut visit| {
        let frames = frames.clone();
        async move {
            greet(&mut visit, &[]).await?;
            visit.say(frames).await?;
            visit.hush().await
        }
    })
}

/// Repeats a frame endlessly after the first request.
fn floods(frame: Vec<u8>) -> Act {
    says_then_floods(Vec::new(), frame)
}

fn says_then_floods(first: Vec<u8>, frame: Vec<u8>) -> Act {
    act(move |mut visit| {
        let (first, frame) = (first.clone(), frame.clone());
        async move {
            greet(&mut visit, &[]).await?;
            visit.say(first).await?;
            visit.say_for_ever(frame).await
        }
    })
}

fn breaks(frames: Vec<u8>) -> Act {
    act(move |mut visit| {
        let frames = frames.clone();
        async move {
            greet(&mut visit, &[]).await?;
            visit.say(frames).await?;
            visit.reset()
        }
    })
}

/// Takes no byte of a body.
fn shuts() -> Act {
    act(|mut visit| async move {
        greet(&mut visit, &[0, 4, 0, 0, 0, 0]).await?;
        visit.hush().await
    })
}

/// Exchanges settings, and waits until stream 1 is opened.
async fn greet(visit: &mut Visit, settings: &[u8]) -> Ended {
    visit.say(frame(SETTINGS, 0, 0, settings)).await?;
    let mut preface = [0; 24];
    visit.stream.read_exact(&mut preface).await?;
    loop {
        let (kind, flags) = read_frame(visit).await?;
        match kind {
            SETTINGS if flags == 0 => visit.say(frame(SETTINGS, ACK, 0, &[])).await?,
            HEADERS => return Ok(()),
            _ => {}
        }
    }
}

/// Reads a frame and returns its type and flags.
async fn read_frame(visit: &mut Visit) -> io::Result<(u8, u8)> {
    let mut head = [0; 9];
    visit.stream.read_exact(&mut head).await?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    visit.stream.read_exact(&mut payload).await?;
    Ok((head[3], head[4]))
}

/// §4.1
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

/// The head of an answer on stream 1.
fn head(content_type: &str, flags: u8) -> Vec<u8> {
    let fields = [STATUS_200, &literal("content-type", content_type)].concat();
    frame(HEADERS, END_HEADERS | flags, 1, &fields)
}

/// A head in a frame and many that continue it.
fn long_head(field: &[u8], times: usize) -> Vec<u8> {
    let begins = frame(HEADERS, 0, 1, STATUS_200);
    let goes_on = frame(CONTINUATION, 0, 1, &field.repeat(15)).repeat(times / 15);
    [begins, goes_on, frame(CONTINUATION, END_HEADERS, 1, &[])].concat()
}

fn data(bytes: &[u8], flags: u8) -> Vec<u8> {
    frame(DATA, flags, 1, bytes)
}

/// A header that is not compressed: RFC 7541 §6.2.2.
fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0][..], &text(name), &text(value)].concat()
}

/// A string that is not compressed: RFC 7541 §5.1 and §5.2.
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
