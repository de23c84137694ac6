//! JSON-RPC responses that do not match the request.

use a2a_client::{ClientBuilder, Error};
use a2a_types::ErrorKind;
use a2a_types::reading::Mode;

use crate::faulty_agents::faulty_agent::ClientCall::{Card, Follow, Send};
use crate::faulty_agents::faulty_agent::{FaultyAgent, Reply, faulty_agent};
use crate::faulty_agents::script::*;

pub(crate) fn agents() -> Vec<FaultyAgent> {
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
        faulty_agent!("another id", Send, sends(id("\"id\":2")), Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!("another id, read strictly", Send, sends(id("\"id\":2")), Err(Error::Malformed(at)) if at.path == "$.id")
            .with(strictly),
        faulty_agent!("an id as text, read strictly", Send, sends(id("\"id\":\"1\"")),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        faulty_agent!("an id of null, read strictly", Send, sends(id("\"id\":null")),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        faulty_agent!("no id, read strictly", Send, sends(id("\"no\":1")),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        faulty_agent!("an id that is a list", Send, sends(id("\"id\":[1]")), Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!("an id that is a list, read strictly", Send, sends(id("\"id\":[1]")),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        faulty_agent!("an id of 2^70", Send, sends(id("\"id\":1180591620717411303424")),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!("another id in a stream, read strictly", Follow,
            sends_and_closes(stream([event(&message("x")).replacen("\"id\":1", "\"id\":7", 1)])),
            Err(Error::Malformed(at)) if at.path == "$.id").with(strictly),
        faulty_agent!("another version", Send, sends(json(right.replace("2.0", "1.0"))),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!("a version that is a number", Send, sends(json(right.replace("\"2.0\"", "2"))),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!("a version that is a number, read strictly", Send, sends(json(right.replace("\"2.0\"", "2"))),
            Err(Error::Malformed(at)) if at.path == "$.jsonrpc").with(strictly),
        faulty_agent!("a result and an error", Send, sends(json(&both)), Err(Error::Malformed(_))),
        faulty_agent!("a result and an error in a stream", Follow,
            sends_and_closes(format!("{STREAM}data: {both}\n\n")), Err(Error::Malformed(_))),
        faulty_agent!("neither a result nor an error", Send, sends(json(neither)), Err(Error::Malformed(_))),
        faulty_agent!("neither, in a stream", Follow, sends_and_closes(format!("{STREAM}data: {neither}\n\ndata: {neither}\n\n")),
            Err(Error::Malformed(_))),
        faulty_agent!("a result of null", Send, sends(json(result("null"))), Err(Error::Malformed(_))),
        faulty_agent!("a result that is empty", Send, sends(json(result("{}"))), Err(Error::Malformed(_))),
        faulty_agent!("a result that is a number", Send, sends(json(result("7"))), Err(Error::Malformed(_))),
        faulty_agent!("a message that is a task as well", Send,
            sends(json(result(r#"{"message":{},"task":{}}"#))), Err(Error::Malformed(_))),
        faulty_agent!("the answer to another question", Send, sends(json(result("{\"tasks\":[]}"))), Err(Error::Malformed(_))),
        faulty_agent!("a batch", Send, sends(json(format!("[{right}]"))), Err(Error::Malformed(_))),
        faulty_agent!("an empty batch", Send, sends(json("[]")), Err(Error::Malformed(_))),
        faulty_agent!("an error with status 200", Send, sends(json(&failed)),
            Err(Error::Agent(error)) if error.kind == ErrorKind::TaskNotFound),
        faulty_agent!("a result with status 500", Send, sends(http("500 Oh", "", &right)),
            Err(Error::NotA2a { status: 500, .. })),
        faulty_agent!("a card with status 500", Card(false), sends(http("500 Oh", "", card("http://h/", ""))),
            Err(Error::NotA2a { status: 500, .. })),
        faulty_agent!("a stream with status 500", Follow,
            sends_and_closes(format!("HTTP/1.1 500 Oh\r\ncontent-type: text/event-stream\r\n\r\n{}", event(&message("x")))),
            Err(Error::NotA2a { status: 500, .. })),
        faulty_agent!("an error of 900 KiB", Send, sends(json(&long)), Err(Error::Agent(_))),
        faulty_agent!("an error that is text", Send, sends(odd_error("\"no\"")), Err(Error::Agent(_))),
        faulty_agent!("an error without a code", Send, sends(odd_error(r#"{"message":"no"}"#)), Err(Error::Agent(_))),
        faulty_agent!("an error of code 2^70", Send, sends(odd_error(r#"{"code":1180591620717411303424,"message":"no"}"#)),
            Err(Error::Agent(_))),
        faulty_agent!("an error of unknown code", Send, sends(odd_error(r#"{"code":7,"message":"no"}"#)),
            Err(Error::Agent(_))),
        faulty_agent!("Retry-After of 10^12", Send, sends(later("1000000000000")),
            Err(Error::Busy { after: Some(after), .. }) if after.as_secs() == 1_000_000_000_000),
        faulty_agent!("Retry-After of 2^64 - 1", Send, sends(later("18446744073709551615")),
            Err(Error::Busy { after: Some(_), .. })),
        faulty_agent!("Retry-After of 2^64", Send, sends(later("18446744073709551616")),
            Err(Error::Busy { after: Some(_), .. })),
        faulty_agent!("Retry-After in the year 9999", Follow, sends(later("Fri, 31 Dec 9999 23:59:59 GMT")),
            Err(Error::Busy { after: Some(_), .. })),
        faulty_agent!("Retry-After below zero", Send, sends(later("-1")), Err(Error::Agent(_))),
    ]
}
