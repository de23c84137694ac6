//! JSON-RPC responses that do not match the request.

use a2a_client::{ClientBuilder, Error};
use a2a_types::ErrorKind;
use a2a_types::reading::Mode;

use crate::zoo::beast::Ask::{Card, Follow, Send};
use crate::zoo::beast::{Answered, Beast, beast};
use crate::zoo::script::*;

pub(crate) fn beasts() -> Vec<Beast> {
    let right = result(&message("right"));
    let id = |id: &str| json(right.replacen("\"id\":1", id, 1));
    let failed = error(-32001, "no such task");
    let both = right.replacen("{", r#"{"error":{"code":-32001,"message":"no"},"#, 1);
    let neither = r#"{"jsonrpc":"2.0","id":1}"#;
    let odd_error = |error: &str| json(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
    let long = error(-32001, &"x".repeat(900 << 10));
    let later = |after: &str| {
        http(
            "200 OK",
            &format!("retry-after: {after}\r\n"),
            error(-32603, "busy"),
        )
    };
    let strictly = |client: ClientBuilder| client.mode(Mode::Strict);
    vec![
        beast!("another id", Send, says(id("\"id\":2")), Ok(Answered::Message(text)) if text == "right"),
        beast!("another id, read strictly", Send, says(id("\"id\":2")), Err(Error::Malformed(at)) if at.path == "$.id")
            .with(strictly),
        beast!("an id as text, read strictly", Send, says(id("\"id\":\"1\"")),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        beast!("an id of null, read strictly", Send, says(id("\"id\":null")),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        beast!("no id, read strictly", Send, says(id("\"no\":1")),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        beast!("an id that is a list", Send, says(id("\"id\":[1]")), Err(Error::Malformed(at)) if at.path == "$.id"),
        beast!("an id of 2^70", Send, says(id("\"id\":1180591620717411303424")),
            Ok(Answered::Message(text)) if text == "right"),
        beast!("another id in a stream, read strictly", Follow,
            says_and_goes(stream([event(&message("x")).replacen("\"id\":1", "\"id\":7", 1)])),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        beast!("another version", Send, says(json(right.replace("2.0", "1.0"))),
            Err(Error::Malformed(at)) if at.path == "$.jsonrpc"),
        beast!("a version that is a number", Send, says(json(right.replace("\"2.0\"", "2"))),
            Err(Error::Malformed(at)) if at.path == "$.jsonrpc"),
        beast!("a result and an error", Send, says(json(&both)), Err(Error::Malformed(_))),
        beast!("a result and an error in a stream", Follow,
            says_and_goes(format!("{STREAM}data: {both}\n\n")), Err(Error::Malformed(_))),
        beast!("neither a result nor an error", Send, says(json(neither)), Err(Error::Malformed(_))),
        beast!("neither, in a stream", Follow, says_and_goes(format!("{STREAM}data: {neither}\n\ndata: {neither}\n\n")),
            Err(Error::Malformed(_))),
        beast!("a result of null", Send, says(json(result("null"))), Err(Error::Malformed(_))),
        beast!("a result that is empty", Send, says(json(result("{}"))), Err(Error::Malformed(_))),
        beast!("a result that is a number", Send, says(json(result("7"))), Err(Error::Malformed(_))),
        beast!("a message that is a task as well", Send,
            says(json(result(r#"{"message":{},"task":{}}"#))), Err(Error::Malformed(_))),
        beast!("the answer to another question", Send, says(json(result("{\"tasks\":[]}"))), Err(Error::Malformed(_))),
        beast!("a batch", Send, says(json(format!("[{right}]"))), Err(Error::Malformed(_))),
        beast!("an empty batch", Send, says(json("[]")), Err(Error::Malformed(_))),
        beast!("an error with status 200", Send, says(json(&failed)),
            Err(Error::Agent(error)) if error.kind == ErrorKind::TaskNotFound),
        beast!("a result with status 500", Send, says(http("500 Oh", "", &right)),
            Err(Error::NotA2a { status: 500, .. })),
        beast!("a card with status 500", Card(false), says(http("500 Oh", "", card("http://h/", ""))),
            Err(Error::NotA2a { status: 500, .. })),
        beast!("a stream with status 500", Follow,
            says_and_goes(format!("HTTP/1.1 500 Oh\r\ncontent-type: text/event-stream\r\n\r\n{}", event(&message("x")))),
            Err(Error::NotA2a { status: 500, .. })),
        beast!("an error of 900 KiB", Send, says(json(&long)), Err(Error::Agent(_))),
        beast!("an error that is text", Send, says(odd_error("\"no\"")), Err(Error::Malformed(_))),
        beast!("an error without a code", Send, says(odd_error(r#"{"message":"no"}"#)), Err(Error::Malformed(_))),
        beast!("an error of code 2^70", Send, says(odd_error(r#"{"code":1180591620717411303424,"message":"no"}"#)),
            Err(Error::Malformed(_))),
        beast!("an error of unknown code", Send, says(odd_error(r#"{"code":7,"message":"no"}"#)),
            Err(Error::Agent(_))),
        beast!("Retry-After of 10^12", Send, says(later("1000000000000")),
            Err(Error::Busy { after: Some(after), .. }) if after.as_secs() == 1_000_000_000_000),
        beast!("Retry-After of 2^64 - 1", Send, says(later("18446744073709551615")),
            Err(Error::Busy { after: Some(_), .. })),
        beast!("Retry-After of 2^64", Send, says(later("18446744073709551616")),
            Err(Error::Busy { after: Some(_), .. })),
        beast!("Retry-After in the year 9999", Follow, says(later("Fri, 31 Dec 9999 23:59:59 GMT")),
            Err(Error::Busy { after: Some(_), .. })),
        beast!("Retry-After below zero", Send, says(later("-1")), Err(Error::Agent(_))),
    ]
}
