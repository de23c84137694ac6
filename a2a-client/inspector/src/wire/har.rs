//! HTTP Archive 1.2: the export that browsers and proxies read.

use a2a_client::credentials::shown_header;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, LOCATION};
use serde_json::{Value, json};

use super::exchange::{Body, Exchange, Request, Response, shown_headers};
use super::summary::{http_version, millis};

/// The text of an archive before its entries, which are separated by commas.
pub(crate) fn begin() -> String {
    let creator = json!({"name": "a2a inspect", "version": env!("CARGO_PKG_VERSION")});
    format!(r#"{{"log":{{"version":"1.2","creator":{creator},"entries":["#)
}

/// The text of an archive after its entries.
pub(crate) const END: &str = "]}}";

/// Returns the entry of an exchange, without secrets.
pub(crate) fn entry(exchange: &Exchange) -> Value {
    let response = exchange.response.as_ref();
    let head = response.map_or(exchange.duration.unwrap_or_default(), |response| {
        response.head_after
    });
    let total = exchange.duration.unwrap_or(head);
    let mut entry = json!({
        "startedDateTime": exchange.began_at.to_string(),
        "time": millis(total),
        "request": request(&exchange.request, response),
        "response": match response {
            Some(response) => self::response(response),
            None => no_response(),
        },
        "cache": {},
        "timings": {
            "send": 0,
            "wait": millis(head),
            "receive": millis(total.saturating_sub(head)),
        },
    });
    if let Some(failure) = &exchange.failure {
        entry["comment"] = failure.as_str().into();
    }
    entry
}

fn request(request: &Request, response: Option<&Response>) -> Value {
    let version = request
        .http_version
        .or(response.map(|response| response.http_version));
    let query = request
        .shown_url
        .split_once('?')
        .map_or("", |(_, query)| query);
    let query = form_urlencoded::parse(query.as_bytes())
        .map(|(name, value)| json!({"name": name, "value": value}));
    let mut half = json!({
        "method": request.method.as_str(),
        "url": request.shown_url,
        "httpVersion": version.map_or("HTTP/1.1", http_version),
        "cookies": [],
        "headers": headers(request.shown_headers()),
        "queryString": query.collect::<Vec<_>>(),
        "headersSize": -1,
        "bodySize": request.body.total,
    });
    if request.body.total > 0 {
        half["postData"] = json!({
            "mimeType": media_type(&request.headers),
            "text": request.shown_text(),
        });
        let mut notes = omitted(&request.body);
        if let Some(messages) = request.messages() {
            notes.push(AS_JSON.to_owned());
            // Their secrets cannot be masked.
            let problems = messages.undecoded();
            notes.extend(
                problems.map(|(place, problem)| {
                    format!("{} bytes are left out: {problem}", place.len())
                }),
            );
        }
        comment(&mut half["postData"], &notes);
    }
    half
}

fn response(response: &Response) -> Value {
    let mut content = json!({
        "size": response.body.total,
        "mimeType": media_type(&response.headers),
    });
    let mut notes = omitted(&response.body);
    match (
        response.messages(),
        std::str::from_utf8(&response.body.bytes),
    ) {
        (Some(messages), _) => {
            content["text"] = response.shown_text().into();
            notes.push(AS_JSON.to_owned());
            let undecoded = messages.undecoded().map(|(place, problem)| {
                let bytes = STANDARD.encode(&response.body.bytes[place]);
                json!({"problem": problem, "base64": bytes})
            });
            let undecoded: Vec<_> = undecoded.collect();
            if !undecoded.is_empty() {
                content["_undecoded"] = undecoded.into();
            }
        }
        (None, Ok(_)) => content["text"] = response.shown_text().into(),
        (None, Err(_)) => {
            content["text"] = STANDARD.encode(&response.body.bytes).into();
            content["encoding"] = "base64".into();
        }
    }
    comment(&mut content, &notes);
    let location = response.headers.get(LOCATION);
    let location = location.map(|url| shown_header(LOCATION.as_str(), url));
    let mut half = json!({
        "status": response.status.as_u16(),
        "statusText": response.status.canonical_reason().unwrap_or_default(),
        "httpVersion": http_version(response.http_version),
        "cookies": [],
        "headers": headers(shown_headers(&response.headers)),
        "content": content,
        "redirectURL": location.unwrap_or_default(),
        "headersSize": -1,
        "bodySize": response.body.total,
    });
    if !response.trailers.is_empty() {
        half["_trailers"] = headers(shown_headers(&response.trailers)).into();
    }
    half
}

/// Returns what browsers write where no answer came.
fn no_response() -> Value {
    json!({
        "status": 0,
        "statusText": "",
        "httpVersion": "",
        "cookies": [],
        "headers": [],
        "content": {"size": 0, "mimeType": "x-unknown"},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
    })
}

fn headers(shown: Vec<(String, String)>) -> Vec<Value> {
    shown
        .into_iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect()
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE);
    value.map_or_else(
        || "application/octet-stream".to_owned(),
        |value| String::from_utf8_lossy(value.as_bytes()).into_owned(),
    )
}

/// Note on messages by gRPC.
const AS_JSON: &str =
    "the text is the JSON of the messages, each in a line; the sizes are those on the wire";

fn omitted(body: &Body) -> Vec<String> {
    let omitted = Some(body.omitted()).filter(|omitted| *omitted > 0);
    let note = omitted.map(|omitted| format!("{omitted} bytes are left out"));
    note.into_iter().collect()
}

fn comment(content: &mut Value, notes: &[String]) {
    if !notes.is_empty() {
        content["comment"] = notes.join("; ").into();
    }
}
