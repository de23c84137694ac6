//! Challenges, and the metadata that they name.

use a2a_auth::{AnyOf, ApiKeys, BasicUsers, JwtBearer, Requirement};
use a2a_server::Server;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::json;

use crate::credentials::{AUDIENCE, HASH};
use crate::fixture::{Asker, Credentials, Form, Service, card, send};

fn several() -> AnyOf {
    let tokens = JwtBearer::discover("https://login.example", AUDIENCE).unwrap();
    let keys = ApiKeys::header("x-api-key").unwrap();
    let users = BasicUsers::of([("ada", HASH)]).unwrap();
    AnyOf::new(Requirement::of("login", tokens).scopes(["agent"]))
        .or(("key", keys))
        .or(("password", users))
}

#[tokio::test]
async fn every_scheme_on_offer_is_a_challenge() {
    let service = Service::of(several());
    let response = service.send(&Credentials::none()).await;
    let url = "http://agent.example/.well-known/oauth-protected-resource";
    let bearer = format!("Bearer resource_metadata=\"{url}\"");
    assert_eq!(
        response.challenges(),
        [
            bearer.as_str(),
            "ApiKey in=\"header\", name=\"x-api-key\"",
            "Basic realm=\"agent\", charset=\"UTF-8\"",
        ]
    );
    let response = service.send(&Credentials::bearer("x")).await;
    let bearer = format!("Bearer error=\"invalid_token\", resource_metadata=\"{url}\"");
    assert_eq!(response.challenges()[0], bearer);
}

#[tokio::test]
async fn metadata_is_where_the_challenge_says() {
    let server = Server::builder(card(), Asker)
        .authenticator(several())
        .build()
        .unwrap();
    for (path, public, resource, places) in [
        ("/", None, "http://agent.example/", ["", ""]),
        ("/a", None, "http://agent.example/a", ["/a", ""]),
        (
            "/a",
            Some("https://b.example/c"),
            "https://b.example/c",
            ["/a", ""],
        ),
    ] {
        let http = server.http().path(path);
        let http = match public {
            Some(url) => http.public_url(url),
            None => http,
        };
        let service = http.service();
        let get = async |path: &str| {
            let request = Request::get(path).header("host", "agent.example");
            let response = service.handle(request.body(Full::<bytes::Bytes>::default()).unwrap());
            let (head, body) = response.await.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            (
                head.status.as_u16(),
                serde_json::from_slice(&body).unwrap_or(json!(null)),
            )
        };
        let expected = json!({
            "resource": resource, "authorization_servers": ["https://login.example"],
            "bearer_methods_supported": ["header"], "scopes_supported": ["agent"],
        });
        for place in places {
            let path = format!("/.well-known/oauth-protected-resource{place}");
            if public.is_some() {
                // The list of hosts has the public one alone.
                continue;
            }
            assert_eq!(get(&path).await, (200, expected.clone()), "{path}");
        }
        assert_eq!(get("/.well-known/oauth-protected-resource/b").await.0, 404);
        let request = Form::LATEST.write(send()).unwrap();
        let (head, body) = request.into_parts();
        let mut request = Request::from_parts(head, body);
        *request.uri_mut() = path.parse().unwrap();
        if public.is_some() {
            request
                .headers_mut()
                .insert("host", "b.example".parse().unwrap());
        }
        let response = service.handle(request).await;
        assert_eq!(response.status(), 401, "{path}");
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        let (origin, tail) = match public {
            Some(_) => ("https://b.example", "/c"),
            None => ("http://agent.example", if path == "/" { "" } else { path }),
        };
        let url = format!("{origin}/.well-known/oauth-protected-resource{tail}");
        assert!(challenge.contains(&url), "{challenge}");
    }
}

#[tokio::test]
async fn without_an_authorization_server_there_is_no_metadata() {
    let keys = ApiKeys::header("x-api-key").unwrap();
    let service = Service::of(AnyOf::new(("key", keys)));
    let response = service.get("/.well-known/oauth-protected-resource").await;
    assert_eq!(response.status, 404);
}
