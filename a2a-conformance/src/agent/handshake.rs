//! Handshakes of deprecated versions of TLS.

use std::net::IpAddr;
use std::time::Duration;

use http::Uri;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Returns whether the server of a URL begins a connection of a deprecated version of TLS, or of SSL 3.0. A server
/// that does not answer within the limit refuses it.
///
/// Errors: the version is unknown, or the server cannot be reached.
pub(super) async fn is_accepted(url: &str, version: &str, limit: Duration) -> Result<bool, String> {
    let known = VERSIONS.iter().find(|(name, _)| *name == version);
    let Some((_, version)) = known else {
        return Err(format!("`{version}` is not a deprecated version of TLS"));
    };
    let uri: Uri = url.parse().map_err(|error| format!("`{url}`: {error}"))?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let connecting = TcpStream::connect((host, uri.port_u16().unwrap_or(443)));
    let connected = timeout(limit, connecting).await;
    // A server may block peers that sent it odd handshakes before.
    let Ok(Ok(mut stream)) = connected else {
        return Ok(false);
    };
    let mut answer = [0; 11];
    let exchange = async {
        stream.write_all(&client_hello(host, *version)).await?;
        stream.read_exact(&mut answer).await
    };
    let is_read = timeout(limit, exchange)
        .await
        .is_ok_and(|read| read.is_ok());
    // A record header of 5 bytes, a message header of 4, and the version.
    let is_hello = answer[0] == HANDSHAKE && answer[5] == SERVER_HELLO;
    Ok(is_read && is_hello && answer[9..] == *version)
}

/// Returns the first record of a client that offers one version: RFC 4346 §7.4.1.2.
fn client_hello(host: &str, version: [u8; 2]) -> Vec<u8> {
    let mut extensions = [RENEGOTIATION, GROUPS, POINT_FORMATS].concat();
    if host.parse::<IpAddr>().is_err() {
        let name = [&[0][..], &sized(host.as_bytes())].concat();
        extensions.extend([&[0, 0][..], &sized(&sized(&name))].concat());
    }
    let random: [u8; 32] = std::array::from_fn(|_| fastrand::u8(..));
    let body = [
        &version[..],
        &random,
        &[0],
        &sized(CIPHER_SUITES),
        &[1, 0],
        &sized(&extensions),
    ];
    let message = [&[CLIENT_HELLO, 0][..], &sized(&body.concat())].concat();
    // The version of the record is that of the oldest server that may read it.
    let record_version = [3, version[1].min(1)];
    [&[HANDSHAKE][..], &record_version, &sized(&message)].concat()
}

/// Returns bytes after their number, in two bytes.
fn sized(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], bytes].concat()
}

/// The versions that RFC 7568 and RFC 8996 deprecate.
const VERSIONS: [(&str, [u8; 2]); 3] = [
    ("SSL 3.0", [3, 0]),
    ("TLS 1.0", [3, 1]),
    ("TLS 1.1", [3, 2]),
];

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;

/// AES with CBC and SHA-1, by ECDHE or RSA; 3DES.
const CIPHER_SUITES: &[u8] = b"\xc0\x09\xc0\x0a\xc0\x13\xc0\x14\x00\x2f\x00\x35\x00\x0a";
const RENEGOTIATION: &[u8] = b"\xff\x01\x00\x01\x00";
/// X25519, P-256 and P-384.
const GROUPS: &[u8] = b"\x00\x0a\x00\x08\x00\x06\x00\x1d\x00\x17\x00\x18";
/// Uncompressed.
const POINT_FORMATS: &[u8] = b"\x00\x0b\x00\x02\x01\x00";

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Returns whether a version is accepted by a server that answers with these bytes.
    async fn accepts(version: &str, answer: &'static [u8]) -> Result<bool, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut header = [0; 5];
            stream.read_exact(&mut header).await.unwrap();
            let length = u16::from_be_bytes([header[3], header[4]]);
            let mut hello = vec![0; length.into()];
            stream.read_exact(&mut hello).await.unwrap();
            assert_eq!(
                usize::from(u16::from_be_bytes([hello[2], hello[3]])) + 4,
                hello.len()
            );
            stream.write_all(answer).await.unwrap();
        });
        let found = is_accepted(&url, version, Duration::from_secs(30)).await;
        serving.abort();
        found
    }

    #[tokio::test]
    async fn only_a_hello_of_the_version_accepts_it() {
        let hello = b"\x16\x03\x02\x00\x2a\x02\x00\x00\x26\x03\x02";
        let other = b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01";
        let alert = b"\x15\x03\x02\x00\x02\x02\x46";
        assert_eq!(accepts("TLS 1.1", hello).await, Ok(true));
        assert_eq!(accepts("TLS 1.0", other).await, Ok(true));
        for refusal in [&other[..], alert, b"", b"HTTP/1.1 400 Bad Request"] {
            assert_eq!(accepts("TLS 1.1", refusal).await, Ok(false), "{refusal:?}");
        }
        assert!(
            is_accepted("https://h", "TLS 1.3", Duration::ZERO)
                .await
                .is_err()
        );
    }

    #[test]
    fn hello_names_the_host() {
        let hello = client_hello("agent.example", [3, 2]);
        assert!(hello.windows(13).any(|part| part == b"agent.example"));
        assert!(client_hello("127.0.0.1", [3, 2]).len() < hello.len());
    }
}
