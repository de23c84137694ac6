//! Logging in by OAuth 2.0: an agent and its authorization server in one process.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{a2a, text};

/// A request that was received.
#[derive(Clone)]
struct Received {
    path: String,
    authorization: Option<String>,
    form: HashMap<String, String>,
}

/// An HTTP server of an agent and an authorization server.
struct Server {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Answers by path: with a status and a document. `{url}` in a document is the server's own URL.
    fn new(answer: impl Fn(&Received, usize) -> (u16, Value) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let (own, seen) = (url.clone(), Arc::clone(&received));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (request, body) = read(&stream);
                let before = {
                    let mut seen = seen.lock().unwrap();
                    let before = seen.iter().filter(|one| one.path == request.path).count();
                    seen.push(request.clone());
                    before
                };
                let (status, document) = match request.path.as_str() {
                    "/" => call(&request, &body),
                    _ => answer(&request, before),
                };
                let body = document.to_string().replace("{url}", &own);
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n");
                let tail = format!("content-length: {length}\r\nconnection: close\r\n\r\n{body}");
                let _ = stream.write_all((head + &tail).as_bytes());
            }
        });
        Self { url, received }
    }

    fn received(&self, path: &str) -> Vec<Received> {
        let received = self.received.lock().unwrap();
        let of_path = received.iter().filter(|request| request.path == path);
        of_path.cloned().collect()
    }
}

/// Answers a message, if the caller has a token.
fn call(request: &Received, body: &[u8]) -> (u16, Value) {
    let call: Value = serde_json::from_slice(body).unwrap();
    match request.authorization.as_deref() {
        Some("Bearer t0ken-1" | "Bearer t0ken-2") => {
            let message =
                json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]});
            let result = json!({ "message": message });
            (
                200,
                json!({"jsonrpc": "2.0", "id": call["id"], "result": result}),
            )
        }
        _ => (401, json!({})),
    }
}

fn read(stream: &TcpStream) -> (Received, Vec<u8>) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        match &*name.to_ascii_lowercase() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = [&body[..], query.as_bytes()].map(form_urlencoded::parse);
    let received = Received {
        path: path.to_owned(),
        authorization,
        form: pairs
            .into_iter()
            .flat_map(|pairs| pairs.into_owned())
            .collect(),
    };
    (received, body)
}

/// Returns a card with these flows of OAuth 2.0.
fn card(flows: Value) -> (u16, Value) {
    of_scheme(json!({"oauth2SecurityScheme": {"flows": flows}}))
}

fn of_scheme(scheme: Value) -> (u16, Value) {
    let interface =
        json!({"url": "{url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    let card = json!({"name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
        "defaultInputModes": [], "defaultOutputModes": [], "supportedInterfaces": [interface],
        "securitySchemes": {"corp": scheme}, "securityRequirements": [{"schemes": {"corp": {"list": ["ask"]}}}]});
    (200, card)
}

fn token(number: u32, life: u64) -> (u16, Value) {
    (
        200,
        json!({"access_token": format!("t0ken-{number}"), "token_type": "Bearer", "expires_in": life,
        "refresh_token": format!("refresh-{number}")}),
    )
}

fn run(arguments: &[&str], config: &Path) -> Output {
    let mut command = a2a();
    command.args(arguments).env("XDG_CONFIG_HOME", config);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.output().unwrap()
}

#[track_caller]
fn check(arguments: &[&str], config: &Path, code: i32, expected: &[&str]) {
    let output = run(arguments, config);
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
    for text in expected {
        assert!(all.contains(text), "{arguments:?}: no `{text}` in: {all}");
    }
    assert!(!all.contains("t0ken") && !all.contains("s3cret"), "{all}");
}

#[test]
fn a_program_logs_in_by_its_secret_and_its_calls_have_the_token() {
    let server = Server::new(|request, _| match request.path.as_str() {
        // Secrets are taken in the body only.
        "/token" if request.authorization.is_some() => (401, json!({"error": "invalid_client"})),
        "/token" => token(1, 3600),
        _ => card(json!({"clientCredentials": {"tokenUrl": "{url}/token", "scopes": {}}})),
    });
    let url = &*server.url;
    let config = TempDir::new().unwrap();
    let config = config.path();
    check(
        &["send", url, "hi"],
        config,
        4,
        &["A2ACLI_ERR_CREDENTIALS_MISSING", "a2a auth login"],
    );
    let login = [
        "auth",
        "login",
        "-a",
        url,
        "--client-id",
        "ci",
        "--client-secret",
        "s3cret",
    ];
    check(
        &login,
        config,
        0,
        &["Scheme: corp", "Expires: 20", "tokens.json"],
    );
    let requests = server.received("/token");
    assert_eq!(requests.len(), 2);
    let form = &requests[1].form;
    assert_eq!(form["grant_type"], "client_credentials");
    assert_eq!(
        (&*form["client_id"], &*form["client_secret"]),
        ("ci", "s3cret")
    );
    assert_eq!(form["scope"], "ask");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name| {
            std::fs::metadata(config.join(name))
                .unwrap()
                .permissions()
                .mode()
        };
        assert_eq!(mode("a2a-cli/tokens.json") & 0o777, 0o600);
        assert_eq!(mode("a2a-cli") & 0o777, 0o700);
    }
    check(&["send", url, "hi"], config, 0, &["hello"]);
    check(
        &["send", url, "hi", "--debug"],
        config,
        0,
        &["authorization: ***"],
    );
    // Its refresh token could be used with the secret only, which is not stored.
    check(&["auth", "status"], config, 0, &[url, "valid until"]);
    // The same agent by another origin is another one.
    let other = url.replace("127.0.0.1", "localhost");
    check(
        &["send", &other, "hi"],
        config,
        4,
        &["A2ACLI_ERR_CREDENTIALS_MISSING"],
    );
    check(&["auth", "logout", url], config, 0, &["Token: forgotten"]);
    check(
        &["send", url, "hi"],
        config,
        4,
        &["A2ACLI_ERR_CREDENTIALS_MISSING"],
    );
    check(&["auth", "logout", url], config, 0, &["none was stored"]);
}

#[test]
fn a_user_enters_a_code_and_the_token_is_renewed() {
    let server = Server::new(|request, before| match request.path.as_str() {
        "/device" => (
            200,
            json!({"device_code": "d3vice", "user_code": "WDJB-\u{1b}[2J", "interval": 1,
            "expires_in": 60, "verification_uri": "https://login.example/device"}),
        ),
        "/token" if before == 0 => (400, json!({"error": "authorization_pending"})),
        // It has expired when the next command begins.
        "/token" if before == 1 => token(1, 5),
        "/token" => token(2, 3600),
        _ => card(
            json!({"deviceCode": {"deviceAuthorizationUrl": "{url}/device", "tokenUrl": "{url}/token",
            "scopes": {}}}),
        ),
    });
    let url = &*server.url;
    let config = TempDir::new().unwrap();
    let config = config.path();
    let expected = ["open https://login.example/device and enter the code WDJB-\\u{1b}[2J"];
    check(
        &["auth", "login", url, "--client-id", "cli", "--scope", "all"],
        config,
        0,
        &expected,
    );
    assert_eq!(server.received("/device")[0].form["scope"], "all");
    let polls = server.received("/token");
    assert_eq!(polls[1].form["device_code"], "d3vice");
    // Two commands at the same time.
    std::thread::scope(|both| {
        for _ in 0..2 {
            both.spawn(|| check(&["send", url, "hi"], config, 0, &["hello"]));
        }
    });
    let renewals = server.received("/token");
    assert_eq!(renewals.len(), 3, "one renewal for both");
    assert_eq!(renewals[2].form["refresh_token"], "refresh-1");
    let sent = server.received("/");
    let sent: Vec<_> = sent.iter().map(|call| call.authorization.clone()).collect();
    assert_eq!(
        sent,
        [
            Some("Bearer t0ken-2".to_owned()),
            Some("Bearer t0ken-2".to_owned())
        ]
    );
}

#[test]
fn a_token_is_renewed_without_the_lock_if_that_cannot_be_had() {
    let server = Server::new(|request, before| match request.path.as_str() {
        // It has expired when the next command begins.
        "/token" if before == 0 => token(1, 5),
        "/token" => token(2, 3600),
        "/device" => (
            200,
            json!({"device_code": "d3vice", "user_code": "W", "interval": 1, "expires_in": 60,
            "verification_uri": "https://login.example/device"}),
        ),
        _ => card(
            json!({"deviceCode": {"deviceAuthorizationUrl": "{url}/device", "tokenUrl": "{url}/token",
            "scopes": {}}}),
        ),
    });
    let url = &*server.url;
    let config = TempDir::new().unwrap();
    let config = config.path();
    check(
        &["auth", "login", url, "--client-id", "cli"],
        config,
        0,
        &[],
    );
    let lock = config.join("a2a-cli/tokens.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let expected = ["hello", "tokens.lock", "going on without it"];
    check(&["send", url, "hi"], config, 0, &expected);
}

#[test]
fn a_login_that_is_refused_says_so() {
    let server = Server::new(|request, _| match request.path.as_str() {
        "/token" => (
            400,
            json!({"error": "invalid_scope", "error_description": "no \u{1b}[1mscope, s3cret"}),
        ),
        _ => card(json!({"clientCredentials": {"tokenUrl": "{url}/token", "scopes": {}}})),
    });
    let url = &*server.url;
    let config = TempDir::new().unwrap();
    let config = config.path();
    let login = ["auth", "login", url, "--client-id", "ci"];
    let with_secret = [&login[..], &["--client-secret", "s3cret"]].concat();
    let expected = [
        "/token refused with `invalid_scope`: no \\u{1b}[1mscope, ***",
        "A2ACLI_ERR_AUTH_FAILED",
    ];
    check(&with_secret, config, 4, &expected);
    let expected = [
        "offers client-credentials",
        "--client-secret",
        "A2ACLI_ERR_USAGE",
    ];
    check(&login, config, 2, &expected);
    let nowhere = [&with_secret[..], &["--issuer", "http://127.0.0.1:9"]].concat();
    check(
        &nowhere,
        config,
        3,
        &[
            "the authorization server cannot be reached",
            "A2ACLI_ERR_UNREACHABLE",
        ],
    );
    let unprotected = [&with_secret[..], &["--issuer", "http://login.example"]].concat();
    check(&unprotected, config, 4, &["expected https"]);
    assert!(!config.join("a2a-cli").exists());
}

/// A process that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_user_consents_in_the_browser() {
    let server = Server::new(|request, _| match request.path.as_str() {
        "/.well-known/openid-configuration" => (
            200,
            json!({"issuer": "{url}", "token_endpoint": "{url}/token",
            "authorization_endpoint": "{url}/authorize"}),
        ),
        "/token" => token(1, 3600),
        _ => of_scheme(json!({"openIdConnectSecurityScheme":
            {"openIdConnectUrl": "{url}/.well-known/openid-configuration"}})),
    });
    let url = &*server.url;
    let config = TempDir::new().unwrap();
    let mut login = a2a();
    login.args(["auth", "login", url, "--client-id", "cli"]);
    login.env("XDG_CONFIG_HOME", config.path());
    login.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let login = login.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut login = Killed(login.unwrap());
    let lines = BufReader::new(login.0.stderr.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let page = lines
        .find(|line| line.starts_with("to log in, open "))
        .unwrap();
    let page = page.trim_start_matches("to log in, open ");
    let (place, query) = page.split_once('?').unwrap();
    assert_eq!(place, format!("{url}/authorize"));
    let query: HashMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    assert_eq!(query["response_type"], "code");
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(query["scope"], "openid ask");
    let redirect = &*query["redirect_uri"];
    let host = redirect
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap();
    // A browser may open connections without a use for them, and other pages may guess the address.
    let _unused = TcpStream::connect(host).unwrap();
    let get = |target: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(get("/callback?code=evil&state=guess").starts_with("HTTP/1.1 404"));
    let answer = get(&format!("/callback?code=c0de&state={}", query["state"]));
    assert!(answer.contains("go back to the terminal"), "{answer}");
    assert!(login.0.wait().unwrap().success());
    let form = &server.received("/token")[0].form;
    assert_eq!(
        (&*form["grant_type"], &*form["code"]),
        ("authorization_code", "c0de")
    );
    assert_eq!(form["redirect_uri"], redirect);
    assert!(form["code_verifier"].len() >= 43);
    check(&["send", url, "hi"], config.path(), 0, &["hello"]);
}
