//! Admission to the API, and the headers of every answer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use a2a_inspector::Inspector;
use http::StatusCode;
use http::header::{HOST, ORIGIN};
use tokio::net::TcpListener;

use crate::harness::Page;

/// Returns the files of a folder of the package, and of the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let below = paths.flat_map(|path| match path.is_dir() {
        true => files(&path),
        false => vec![path],
    });
    below.collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the paths of all routes, as the sources of the modules have them.
fn routes() -> BTreeSet<String> {
    let mut routes = BTreeSet::new();
    for file in files(&folder("src")) {
        let text = fs::read_to_string(file).unwrap();
        for call in text.split(".route(").skip(1) {
            let literal = call.trim_start().strip_prefix('"');
            let path = literal.expect("a literal path").split('"').next();
            routes.insert(path.unwrap().to_owned());
        }
    }
    routes
}

#[test]
fn every_route_is_documented() {
    let text = fs::read_to_string(folder("../../docs/reference/inspector.md")).unwrap();
    let is_documented = |route: &&String| {
        let ends = ["`", "?", " "];
        ends.iter()
            .any(|end| text.contains(&format!(" {route}{end}")))
    };
    let mut routes = routes();
    routes.remove("/api/{*rest}");
    let missing: Vec<_> = routes
        .iter()
        .filter(|route| !is_documented(route))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[tokio::test]
async fn every_route_is_of_the_api_and_needs_the_token() {
    let page = Page::open().await;
    let routes = routes();
    assert!(routes.len() > 10, "{routes:?}");
    for route in &routes {
        assert!(route.starts_with("/api/"), "{route}");
        let path = route.replace(['{', '}', '*'], "");
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let answer = page.send(page.anonymous(method, &path)).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
        }
        for token in ["", "Bearer", "Bearer ", "Bearer x", "Basic x", &page.token] {
            let request = page.anonymous("GET", &path).header("authorization", token);
            let answer = page.send(request).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{token} {path}");
            answer.problem();
        }
    }
}

#[tokio::test]
async fn the_token_is_taken_from_its_header_alone() {
    let page = Page::open().await;
    let token = &page.token;
    let with_token = [
        page.anonymous("GET", &format!("/api/info?token={token}")),
        page.anonymous("GET", &format!("/api/info?access_token={token}")),
        page.anonymous("GET", "/api/info")
            .header("cookie", format!("token={token}")),
        page.request("GET", "/api/info")
            .header("authorization", "Bearer x"),
    ];
    for request in with_token {
        assert_eq!(page.send(request).await.status, StatusCode::UNAUTHORIZED);
    }
    // Spellings of the path that a router might read alike.
    for path in [
        "//api/info",
        "/%61pi/info",
        "/./api/info",
        "/API/info",
        "/api%2finfo",
    ] {
        let answer = page.send(page.anonymous("GET", path)).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
    }
    assert_eq!(
        page.get("/api/info").await["listen"],
        page.address.to_string()
    );
}

#[tokio::test]
async fn every_launch_has_a_token_of_its_own() {
    let (one, other) = (Page::open().await, Page::open().await);
    assert_ne!(one.token, other.token);
    assert_eq!(one.token.len(), 43);
    let request = one.anonymous("GET", "/api/info");
    let request = request.header("authorization", format!("Bearer {}", other.token));
    assert_eq!(one.send(request).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn other_hosts_are_refused() {
    let page = Page::open().await;
    let port = page.address.port();
    for path in ["/", "/api/info"] {
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            let request = page
                .request("GET", path)
                .header(HOST, format!("{host}:{port}"));
            assert_eq!(page.send(request).await.status, StatusCode::OK, "{host}");
        }
        for host in [
            "rebound.example",
            &format!("rebound.example:{port}"),
            &format!("127.0.0.1.rebound.example:{port}"),
            &format!("user@127.0.0.1:{port}"),
            "127.0.0.1",
            "127.0.0.1:1",
            "localhost",
            "",
        ] {
            let request = page.request("GET", path).header(HOST, host);
            let answer = page.send(request).await;
            assert!(
                matches!(
                    answer.status,
                    StatusCode::MISDIRECTED_REQUEST | StatusCode::BAD_REQUEST
                ),
                "{host}: {}",
                answer.status
            );
        }
    }
}

#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    let page = Page::open().await;
    let own = format!("http://{}", page.address);
    let request = page.request("GET", "/api/info").header(ORIGIN, &own);
    let request = request.header("sec-fetch-site", "same-origin");
    assert_eq!(page.send(request).await.status, StatusCode::OK);
    let port = page.address.port();
    for origin in [
        "null",
        "https://evil.example",
        "http://127.0.0.1",
        &format!("http://localhost:{port}"),
        &format!("https://127.0.0.1:{port}"),
        &format!("http://127.0.0.1:{port}.evil.example"),
    ] {
        for method in ["GET", "POST", "OPTIONS"] {
            let request = page.request(method, "/api/agents").header(ORIGIN, origin);
            let answer = page.send(request).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {origin}");
            assert!(!answer.headers.contains_key("access-control-allow-origin"));
        }
    }
    for site in ["cross-site", "same-site"] {
        let request = page
            .request("GET", "/api/info")
            .header("sec-fetch-site", site);
        assert_eq!(
            page.send(request).await.status,
            StatusCode::FORBIDDEN,
            "{site}"
        );
    }
}

#[tokio::test]
async fn every_answer_has_the_headers_that_protect_the_page() {
    let page = Page::open().await;
    let requests = [
        (page.anonymous("GET", "/"), StatusCode::OK),
        (page.anonymous("GET", "/nothing"), StatusCode::NOT_FOUND),
        (page.anonymous("POST", "/"), StatusCode::METHOD_NOT_ALLOWED),
        (page.anonymous("GET", "/api/info"), StatusCode::UNAUTHORIZED),
        (page.request("GET", "/api/info"), StatusCode::OK),
        (page.request("GET", "/api/nothing"), StatusCode::NOT_FOUND),
        (page.request("GET", "/api"), StatusCode::NOT_FOUND),
        (
            page.request("PUT", "/api/info"),
            StatusCode::METHOD_NOT_ALLOWED,
        ),
        (
            page.request("POST", "/api/agents"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            page.request("GET", "/api/info")
                .header(ORIGIN, "http://evil.example"),
            StatusCode::FORBIDDEN,
        ),
    ];
    for (request, status) in requests {
        let uri = request.uri_ref().unwrap().to_string();
        let answer = page.send(request).await;
        assert_eq!(answer.status, status, "{uri}");
        let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        assert_eq!(
            header("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
             font-src 'self'; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        if uri.contains("/api") {
            assert_eq!(header("cache-control"), "no-store");
        }
        if !status.is_success() {
            answer.problem();
        }
    }
}

#[tokio::test]
async fn files_of_the_page_need_no_token() {
    let page = Page::open().await;
    let root = folder("page");
    for file in files(&root) {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
        let path = format!("/{}", name.replace('\\', "/"));
        let answer = page.send(page.anonymous("GET", &path)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(answer.body, fs::read(file).unwrap(), "{path}");
        let media_type = answer.headers["content-type"].to_str().unwrap();
        assert_ne!(media_type, "application/octet-stream", "{path}");
    }
}

#[tokio::test]
async fn files_of_the_page_are_revalidated_by_their_tag() {
    let page = Page::open().await;
    let answer = page.send(page.anonymous("GET", "/")).await;
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
    let tag = answer.headers["etag"].clone();
    let again = page
        .send(
            page.anonymous("GET", "/index.html")
                .header("if-none-match", tag),
        )
        .await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/.", "/index.html/"] {
        let answer = page.send(page.anonymous("GET", path)).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn only_loopback_is_listened_on() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let inspector = Inspector::builder().build().unwrap();
    let refused = inspector.serve(listener, std::future::pending()).await;
    let problem = refused.unwrap_err().to_string();
    assert!(problem.contains("expected a loopback address"), "{problem}");
}
