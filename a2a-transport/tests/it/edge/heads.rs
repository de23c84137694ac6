//! Heads that are too much.

use a2a_transport::http::ServeOptions;

use crate::edge::{exchange, is_served, talker};

/// Returns the status of an answer.
#[track_caller]
fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[tokio::test]
async fn the_number_of_headers_is_limited() {
    let (address, _) = talker(ServeOptions::default()).await;
    for (count, expected) in [(63, "404"), (64, "404"), (65, "431"), (1000, "431")] {
        let more: String = (2..count)
            .map(|number| format!("x-{number}: x\r\n"))
            .collect();
        let head = "GET /rest/tasks/t HTTP/1.1\r\nhost: h\r\nconnection: close\r\n";
        let answer = exchange(address, &format!("{head}{more}\r\n")).await;
        assert_eq!(status(&answer), expected, "{count}");
    }
    is_served(address).await;
}

#[tokio::test]
async fn the_size_of_a_head_is_limited() {
    for limit in [1000, 32 * 1024] {
        let mut options = ServeOptions::default();
        options.header_bytes = limit;
        let (address, _) = talker(options).await;
        for (size, expected) in [
            (limit - 1, "404"),
            (limit, "404"),
            (limit + 1, "431"),
            (10 * limit, "431"),
        ] {
            let head = "GET /rest/tasks/t HTTP/1.1\r\nhost: h\r\nconnection: close\r\nx: ";
            let fill = "x".repeat(size - head.len() - "\r\n\r\n".len());
            let answer = exchange(address, &format!("{head}{fill}\r\n\r\n")).await;
            // A sender of more than twice the limit may not read the refusal.
            let unheard = size > 2 * limit && answer.is_empty();
            assert!(unheard || status(&answer) == expected, "{size}: {answer}");
        }
        is_served(address).await;
    }
}

#[tokio::test]
async fn a_request_is_for_exactly_one_host() {
    let (address, _) = talker(ServeOptions::default()).await;
    for (host, version, expected) in [
        ("host: h\r\n", "1.1", "404"),
        ("", "1.1", "400"),
        ("host: h\r\nhost: h\r\n", "1.1", "400"),
        ("", "1.0", "404"),
    ] {
        let head = format!("GET /rest/tasks/t HTTP/{version}\r\nconnection: close\r\n{host}\r\n");
        let answer = exchange(address, &head).await;
        assert_eq!(status(&answer), expected, "{head}");
    }
}

/// RFC 9112 §6.1: with another coding, two readers could find different ends of the body.
#[tokio::test]
async fn a_body_is_chunked_once_and_alone() {
    let (address, _) = talker(ServeOptions::default()).await;
    for (codings, expected) in [
        (&["chunked"][..], "200"),
        (&["Chunked "], "200"),
        (&["chunked, chunked"], "400"),
        (&["chunked", "chunked"], "400"),
        (&["identity, chunked"], "400"),
        (&["identity", "chunked"], "400"),
        (&["gzip, chunked"], "400"),
        (&["chunked, "], "400"),
        (&["identity"], "400"),
        (&["xchunked"], "400"),
    ] {
        let codings: String = codings
            .iter()
            .map(|coding| format!("transfer-encoding: {coding}\r\n"))
            .collect();
        let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n";
        let last = "GET /healthz HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
        let request = format!("{head}{codings}\r\n2\r\n{{}}\r\n0\r\n\r\n{last}");
        let answer = exchange(address, &request).await;
        assert_eq!(status(&answer), expected, "{codings}: {answer}");
        // Bytes after a refused body are not read as a request.
        assert_eq!(
            answer.ends_with("alive"),
            expected == "200",
            "{codings}: {answer}"
        );
    }
}
