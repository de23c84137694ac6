//! The command `agent` with each kind of credentials, against agents that check them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use a2a_auth::{AnyOf, ApiKey, ApiKeys, BasicUsers, ClientCertificate, Requirement};
use a2a_conformance::record::{Run, Verdict};
use a2a_conformance_proof::agent::{AgentSubject, Control, RunningAgent};
use a2a_server::demo::Reference;
use a2a_server::{ClientAuth, Server, ServerTls};
use http::header::{AUTHORIZATION, HeaderMap};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// Verdicts of the checks of authentication in 1.0 by JSON-RPC, by id.
type Verdicts = BTreeMap<String, Verdict>;

/// Runs the checks of authentication by the command.
async fn verdicts(url: &str, arguments: &[&str]) -> Verdicts {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a2a-conformance"));
    command
        .args(["agent", url, "--black-box", "--json", "--run", "auth.*"])
        .args(["--protocol-version", "1.0", "--binding", "jsonrpc"])
        .args(arguments)
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    let run = serde_json::from_str::<Run>(&text);
    let run = run.unwrap_or_else(|error| panic!("{error}: {text}{problem}"));
    let checks = run.checks.into_iter();
    checks.map(|check| (check.id, check.verdict)).collect()
}

#[track_caller]
fn assert_verdicts(found: &Verdicts, expected: Verdict, checks: &[&str]) {
    for check in checks {
        assert_eq!(found.get(*check), Some(&expected), "{check}: {found:#?}");
    }
}

/// The hash of `secret`, by bcrypt of the least cost.
const PASSWORD_HASH: &str = "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

/// Checks that need no more than credentials that are right.
const ALWAYS: &[&str] = &[
    "auth.required",
    "auth.stream-required",
    "auth.wrong-refused",
    "auth.every-request",
    "auth.secrets-not-repeated",
];

/// Checks of tokens.
const OF_TOKENS: &[&str] = &[
    "auth.expired-refused",
    "auth.wrong-audience-refused",
    "auth.wrong-scope-refused",
];

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_shown_by_the_options() {
    let subject = AgentSubject::Control(Control::Tokens);
    let agent = RunningAgent::open(&subject).await.unwrap();
    let of = agent.options();
    let token = |headers: &HeaderMap| {
        let value = headers[AUTHORIZATION].to_str().unwrap();
        value.strip_prefix("Bearer ").unwrap().to_owned()
    };
    let (right, expired) = (token(&of.headers), token(&of.expired_headers));
    let (audience, scope) = (
        token(&of.wrong_audience_headers),
        token(&of.wrong_scope_headers),
    );
    let bearer = ["--bearer", &right];
    let found = verdicts(&agent.url, &bearer).await;
    assert_verdicts(&found, Verdict::Pass, ALWAYS);
    let forged = ["auth.unsigned-refused", "auth.hmac-by-public-key-refused"];
    assert_verdicts(&found, Verdict::Pass, &forged);
    assert_verdicts(&found, Verdict::NotApplicable, OF_TOKENS);

    let tokens = ["--expired", &expired, "--wrong-audience", &audience];
    let all = [&bearer[..], &tokens, &["--wrong-scope", &scope]].concat();
    let found = verdicts(&agent.url, &all).await;
    assert_verdicts(&found, Verdict::Pass, OF_TOKENS);

    // The checks fail if a right token is given as a token that must be refused.
    let wrong = [
        "--expired",
        &right,
        "--wrong-audience",
        &right,
        "--wrong-scope",
        &right,
    ];
    let found = verdicts(&agent.url, &[&bearer[..], &wrong].concat()).await;
    assert_verdicts(&found, Verdict::Fail, OF_TOKENS);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_passwords_are_shown_by_the_options() {
    let users = BasicUsers::of([("ada", PASSWORD_HASH)]).unwrap();
    let key = || ApiKey::new("correct-horse-battery-staple", "ada").unwrap();
    let either = AnyOf::new((
        "key",
        ApiKeys::header("x-api-key").unwrap().key(key()).unwrap(),
    ))
    .or(("cookie", ApiKeys::cookie("key").key(key()).unwrap()))
    .or(("query", ApiKeys::query("key").key(key()).unwrap()))
    .or(("password", users));
    let server = Server::builder(Reference::card(), Reference).authenticator(either);
    let bound = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let url = bound.url().to_owned();
    let running = tokio::spawn(bound.run(std::future::pending()));
    for arguments in [
        ["--api-key", "x-api-key=correct-horse-battery-staple"],
        ["--api-key", "cookie:key=correct-horse-battery-staple"],
        ["--api-key", "query:key=correct-horse-battery-staple"],
        ["--basic", "ada:secret"],
    ] {
        let found = verdicts(&url, &arguments).await;
        assert_verdicts(&found, Verdict::Pass, ALWAYS);
        let forged = ["auth.unsigned-refused", "auth.hmac-by-public-key-refused"];
        assert_verdicts(&found, Verdict::NotApplicable, &forged);
    }
    running.abort();
}

/// Files of an authority, and of a certificate that it has issued for this machine.
struct Certificates {
    directory: tempfile::TempDir,
}

impl Certificates {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("authority.pem", authority.pem()),
            ("certificate.pem", certificate.pem()),
            ("key.pem", key.serialize_pem()),
        ] {
            std::fs::write(directory.path().join(name), content).unwrap();
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_certificates_are_shown_by_the_options() {
    let certificates = Certificates::new();
    let [authority, certificate, key] =
        ["authority.pem", "certificate.pem", "key.pem"].map(|name| certificates.path(name));
    for auth in [ClientAuth::Optional, ClientAuth::Required] {
        let tls = ServerTls::builder(&certificate, &key).client_authorities(&authority, auth);
        let authenticator = AnyOf::new(Requirement::of("mtls", ClientCertificate::new()));
        let server = Server::builder(Reference::card(), Reference).authenticator(authenticator);
        let http = server.build().unwrap().http().tls(tls.build().unwrap());
        let bound = http.any_host().bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/", bound.local_addr().port());
        let running = tokio::spawn(bound.run(std::future::pending()));
        let file = |path: &PathBuf| path.to_str().unwrap().to_owned();
        let (authority, certificate, key) = (file(&authority), file(&certificate), file(&key));
        let identity = ["--client-cert", &certificate, "--client-key", &key];
        let found = verdicts(&url, &[&identity[..], &["--ca", &authority]].concat()).await;
        let expected = match auth {
            ClientAuth::Required => Verdict::NotApplicable,
            _ => Verdict::Pass,
        };
        assert_verdicts(&found, expected, ALWAYS);
        assert_verdicts(&found, Verdict::Pass, &["auth.tls"]);
        running.abort();
    }
}
