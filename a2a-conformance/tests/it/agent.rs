//! The suite against agents: ours, which has to pass all of it, and a small one in Python.

use std::time::Duration;

use a2a_conformance::agent::{Options, Process, Selection, run};
use a2a_conformance::case::Profile;
use a2a_conformance::record::{Run, Verdict};
use a2a_conformance::requirement::Level;
use a2a_server::demo::Reference;
use a2a_server::{Server, WebhookKeys, WebhookPolicy};
use a2a_transport::card_signature::sign;
use a2a_transport::http::{AuthError, Authenticator, HttpService, ServeOptions, serve};
use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
use a2a_transport::{Binding, Principal};
use a2a_types::{AgentCard, AgentExtension, AgentSkill, ProtocolVersion};
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::request::Parts;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Two accounts, and a guest who may do nothing.
struct Accounts;

impl Authenticator for Accounts {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let credentials = head.headers.get(AUTHORIZATION);
        let credentials = credentials.and_then(|value| value.to_str().ok()?.split_once(' '));
        // The scheme may be written in any case.
        let token = credentials.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match token.map(|(_, token)| token) {
            Some("first") => Ok(Principal::named("first")),
            Some("second") => Ok(Principal::named("second")),
            Some("guest") => Err(AuthError::forbidden()),
            _ => Err(AuthError::unauthenticated("Bearer")),
        }
    }
}

fn bearer(token: &str) -> HeaderMap {
    let value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    HeaderMap::from_iter([(AUTHORIZATION, value)])
}

fn options(url: &str) -> Options {
    Options {
        response_timeout: Duration::from_secs(20),
        delivery_timeout: Duration::from_secs(20),
        ..Options::of(url)
    }
}

/// Returns a card that offers everything.
fn card() -> AgentCard {
    let mut card = Reference::card();
    card.capabilities.push_notifications = Some(true);
    card.capabilities.extended_agent_card = Some(true);
    card.capabilities.extensions = vec![AgentExtension {
        uri: "https://extensions.example/mood/v1".to_owned(),
        ..AgentExtension::default()
    }];
    let scheme = json!({"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}});
    card.security_schemes = serde_json::from_value(scheme).unwrap();
    let requirement = json!([{"schemes": {"token": {"list": []}}}]);
    card.security_requirements = serde_json::from_value(requirement).unwrap();
    card
}

/// Everything that is not met, for people.
fn describe(run: &Run) -> String {
    let unmet = run
        .checks
        .iter()
        .filter(|result| !result.verdict.is_met() && result.verdict != Verdict::NotApplicable);
    let lines = unmet.map(|result| {
        let interface = (
            result.protocol_version.as_deref(),
            result.binding.as_deref(),
        );
        let (verdict, id) = (result.verdict, &result.id);
        format!(
            "{verdict:?} {id} {interface:?}: {:?} {:#?}",
            result.reason, result.mismatches
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Our server, which offers everything, behind a card that is signed.
struct SignedAgent {
    url: String,
    keys: Jwks,
    serving: JoinHandle<()>,
}

impl SignedAgent {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut card = card().at(&url);
        let mut extended = card.clone();
        extended.skills.push(AgentSkill {
            id: "secret".to_owned(),
            name: "More".to_owned(),
            ..AgentSkill::default()
        });
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        card.signatures = sign(&json!(card), &key, None).unwrap();
        let server = Server::builder(card, Reference)
            .extended_card(extended)
            .authenticator(Accounts)
            .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
            .retry_webhooks([Duration::from_millis(200); 3])
            .build()
            .unwrap();
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let service = bound.service();
        let serving = serve(
            listener,
            service,
            ServeOptions::default(),
            std::future::pending(),
        );
        Self {
            url,
            keys: Jwks::of([&key]),
            serving: tokio::spawn(serving),
        }
    }

    fn options(&self) -> Options {
        Options {
            headers: bearer("first"),
            second_headers: bearer("second"),
            forbidden_headers: bearer("guest"),
            card_keys: Some(self.keys.clone()),
            ..options(&self.url)
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_server_passes_everything() {
    let ours = SignedAgent::open().await;
    let run = run(&ours.options(), |_, _| {}).await.unwrap();
    ours.serving.abort();
    let problems = describe(&run);
    assert!(problems.is_empty(), "{problems}");
    let versions = ["0.1", "0.2", "0.3", "1.0"];
    for version in versions {
        let score = run.score(Level::Must, Some(version), Some("JSONRPC"));
        assert_eq!(score.untestable, 0, "{version}");
        assert!(score.met > 60, "{version}: {score:?}");
    }
    for id in ["card.signature-verifies", "auth.forbidden"] {
        assert_eq!(verdict(&run, id), Some(Verdict::Pass), "{id}");
    }
}

/// Returns the verdict of the last result of a check.
fn verdict(run: &Run, id: &str) -> Option<Verdict> {
    let mut results = run.checks.iter().rev();
    results
        .find(|result| result.id == id)
        .map(|result| result.verdict)
}

#[tokio::test(flavor = "multi_thread")]
async fn card_signature_requires_a_trusted_key() {
    const CHECK: &str = "card.signature-verifies";
    let ours = SignedAgent::open().await;
    let stranger = SigningKey::generate(Algorithm::Es256).unwrap();
    for (keys, expected) in [
        (Some(Jwks::of([&stranger])), Verdict::Fail),
        (Some(ours.keys.clone()), Verdict::Pass),
        (None, Verdict::NotApplicable),
    ] {
        let options = Options {
            card_keys: keys,
            selection: Selection {
                run: vec![CHECK.to_owned()],
                ..Selection::default()
            },
            ..ours.options()
        };
        let run = run(&options, |_, _| {}).await.unwrap();
        assert_eq!(verdict(&run, CHECK), Some(expected), "{:#?}", run.checks);
    }
    ours.serving.abort();
}

/// The agent does not publish its key.
#[tokio::test(flavor = "multi_thread")]
async fn push_signature_may_be_of_a_key_that_is_given() {
    const CHECK: &str = "push.signed";
    let [key, stranger] = [(); 2].map(|()| SigningKey::generate(Algorithm::Es256).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut card = Reference::card().at(&url);
    card.capabilities.push_notifications = Some(true);
    let server = Server::builder(card.clone(), Reference)
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .sign_webhooks(WebhookKeys::new(key.clone()))
        .build()
        .unwrap();
    // It has no key set.
    let service = HttpService::new(server).card(&card);
    let forever = std::future::pending();
    let serving = tokio::spawn(serve(listener, service, ServeOptions::default(), forever));
    for (keys, expected) in [
        (None, Verdict::NotApplicable),
        (Some(Jwks::of([&key])), Verdict::Pass),
        (Some(Jwks::of([&stranger, &key])), Verdict::Pass),
        (Some(Jwks::of([&stranger])), Verdict::Warn),
    ] {
        let options = Options {
            card_keys: keys,
            protocol_versions: vec![ProtocolVersion::V1_0],
            bindings: vec![Binding::JsonRpc],
            selection: Selection {
                run: vec![CHECK.to_owned()],
                ..Selection::default()
            },
            ..options(&url)
        };
        let run = run(&options, |_, _| {}).await.unwrap();
        assert_eq!(verdict(&run, CHECK), Some(expected), "{:#?}", run.checks);
    }
    serving.abort();
}

/// The suite also checks the errors that a server must return for features it does not offer.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_offers_little_passes() {
    let mut card = Reference::card();
    card.capabilities.streaming = None;
    let server = Server::builder(card, Reference).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    let serving = tokio::spawn(bound.run(std::future::pending()));
    let selection = Selection {
        run: vec!["*not-offered*".to_owned(), "extension.*".to_owned()],
        ..Selection::default()
    };
    let options = Options {
        selection,
        ..options(&url)
    };
    let run = run(&options, |_, _| {}).await.unwrap();
    serving.abort();
    let problems = describe(&run);
    assert!(problems.is_empty(), "{problems}");
    let passed = |id: &str| {
        let mut results = run.checks.iter();
        results.any(|result| result.id == id && result.verdict == Verdict::Pass)
    };
    for id in ["stream", "push", "card.extended"].map(|area| match area {
        "card.extended" => "card.extended-not-offered".to_owned(),
        area => format!("{area}.not-offered-refused"),
    }) {
        assert!(passed(&id), "{id}");
    }
}

/// Runs the checks on a server with that card, over JSON-RPC in that protocol version.
async fn checked(card: AgentCard, checks: &[&str], protocol_version: ProtocolVersion) -> Run {
    let server = Server::builder(card.clone(), Reference).authenticator(Accounts);
    let bound = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut card = card.at(&url);
    card.supported_interfaces.retain(|interface| {
        interface.protocol_version() == Some(protocol_version)
            && interface.protocol_binding == "JSONRPC"
    });
    let bound = bound.public_url(&url);
    let service = bound.service().card(&card);
    let serving = tokio::spawn(serve(
        listener,
        service,
        ServeOptions::default(),
        std::future::pending(),
    ));
    let selection = Selection {
        run: checks.iter().map(|&check| check.to_owned()).collect(),
        ..Selection::default()
    };
    let options = Options {
        selection,
        headers: bearer("first"),
        ..options(&url)
    };
    let run = run(&options, |_, _| {}).await.unwrap();
    serving.abort();
    run
}

/// Our server says so when it has no extended card, and speaks only what its card offers.
#[tokio::test(flavor = "multi_thread")]
async fn card_and_served_interfaces_agree() {
    const CHECKS: [&str; 2] = ["card.extended-not-configured", "card.bindings-declared"];
    let mut card = Reference::card();
    card.capabilities.extended_agent_card = Some(true);
    for protocol_version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
        let run = checked(card.clone(), &CHECKS, protocol_version).await;
        let found = CHECKS.map(|check| verdict(&run, check));
        let expected = [Some(Verdict::Pass), Some(Verdict::Pass)];
        assert_eq!(found, expected, "{protocol_version}: {:#?}", run.checks);
    }
    let run = checked(card, &CHECKS[..1], ProtocolVersion::V0_2).await;
    assert_eq!(verdict(&run, CHECKS[0]), Some(Verdict::Pass), "{run:#?}");
}

/// The server answers a caller that requests the required extension.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_requires_an_extension_passes() {
    let mut card = Reference::card();
    card.capabilities.extensions = vec![AgentExtension {
        uri: "https://extensions.example/mood/v1".to_owned(),
        required: true,
        ..AgentExtension::default()
    }];
    let server = Server::builder(card, Reference).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    let serving = tokio::spawn(bound.run(std::future::pending()));
    let wanted = ["extension.*", "send.t*", "stream.opens"];
    let selection = Selection {
        run: wanted.map(str::to_owned).to_vec(),
        ..Selection::default()
    };
    let options = Options {
        selection,
        protocol_versions: vec![
            ProtocolVersion::V0_2,
            ProtocolVersion::V0_3,
            ProtocolVersion::V1_0,
        ],
        ..options(&url)
    };
    let run = run(&options, |_, _| {}).await.unwrap();
    serving.abort();
    let problems = describe(&run);
    assert!(problems.is_empty(), "{problems}");
    let mut results = run.checks.iter();
    assert!(results.any(|result| {
        result.id == "extension.required-refused" && result.verdict == Verdict::Pass
    }));
}

#[tokio::test(flavor = "multi_thread")]
async fn small_python_agents_pass_the_black_box_musts() {
    let python = std::process::Command::new("python3")
        .arg("--version")
        .output();
    if python.is_err() {
        eprintln!("NOT RUN: there is no python3 here, so shims/agent*.py were not tested");
        return;
    }
    check_small_agent("agent.py", "0.3").await;
    check_small_agent("agent_1_0.py", "1.0").await;
}

async fn check_small_agent(name: &str, protocol_version: &str) {
    let script = format!("{}/shims/{name}", env!("CARGO_MANIFEST_DIR"));
    let command = format!("exec python3 {script} {{port}}");
    let agent = Process::start(&command, Duration::from_secs(30))
        .await
        .unwrap();
    let options = Options {
        profile: Profile::BlackBox,
        selection: Selection {
            levels: vec![Level::Must],
            ..Selection::default()
        },
        ..options(agent.url())
    };
    let run = run(&options, |_, _| {}).await.unwrap();
    let problems = describe(&run);
    assert!(problems.is_empty(), "{name}: {problems}");
    let score = run.score(Level::Must, Some(protocol_version), Some("JSONRPC"));
    assert!(score.met > 30 && score.untestable == 0, "{name}: {score:?}");
}
