//! Answer of the page where a user consents: a redirection to this machine. RFC 8252 §7.3.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::failure::Failure;

/// Path to which the user is redirected.
pub(super) const PATH: &str = "/callback";

/// Waits for the redirection that has this state, and returns its code.
pub(super) async fn receive(listener: &TcpListener, state: &str) -> Result<String, Failure> {
    // A browser also opens connections that it does not use.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                connections.spawn(serve(stream, state.to_owned()));
            }
            Some(served) = connections.join_next() => {
                if let Ok(Some(answer)) = served {
                    return answer.map_err(Failure::login);
                }
            }
        }
    }
}

/// Serves a connection of the browser. Returns the answer that it brought, once the user can read that it came.
async fn serve(stream: TcpStream, state: String) -> Option<Result<String, String>> {
    let found = Mutex::new(None);
    let service = service_fn(|request: Request<Incoming>| {
        let answer = answer(request.uri(), &state);
        let (status, page) = match &answer {
            None => (StatusCode::NOT_FOUND, "There is nothing here."),
            Some(Ok(_)) => (
                StatusCode::OK,
                "You can close this page, and go back to the terminal.",
            ),
            Some(Err(_)) => (
                StatusCode::OK,
                "The login has failed: the terminal says why.",
            ),
        };
        if answer.is_some() {
            *found.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        }
        let mut response = Response::new(Full::new(Bytes::from_static(page.as_bytes())));
        *response.status_mut() = status;
        async { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // The answer counts even if the browser does not get the page.
    let _ = connection.await;
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the code or the error in a redirection; `None` for a request that is not of this login.
fn answer(uri: &http::Uri, state: &str) -> Option<Result<String, String>> {
    if uri.path() != PATH {
        return None;
    }
    let query = uri.query().unwrap_or_default();
    let member = |wanted: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let pair = pairs.find(|(name, _)| name == wanted);
        pair.map(|(_, value)| value.into_owned())
    };
    if member("state").as_deref() != Some(state) {
        return None;
    }
    match (member("code"), member("error")) {
        (Some(code), _) => Some(Ok(code)),
        (None, Some(error)) => {
            let description = member("error_description").unwrap_or_default();
            Some(Err(format!(
                "the authorization server refused: {error} {description}"
            )))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_this_login_counts() {
        for (uri, expected) in [
            ("/callback?state=s&code=c%2F1", Some(Ok("c/1"))),
            ("/callback?code=c", None),
            ("/callback?code=c&state=other", None),
            ("/callback?state=s", None),
            ("/favicon.ico?state=s&code=c", None),
            (
                "/callback?state=s&error=access_denied&error_description=no+way",
                Some(Err(
                    "the authorization server refused: access_denied no way",
                )),
            ),
        ] {
            let found = answer(&uri.parse().unwrap(), "s");
            let found = found
                .as_ref()
                .map(|found| found.as_deref().map_err(|error| &**error));
            assert_eq!(found, expected, "{uri}");
        }
    }
}
