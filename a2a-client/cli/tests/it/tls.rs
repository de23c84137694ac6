//! `a2a serve` that speaks TLS, and `a2a` as its client.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Agent, a2a, check, text};

/// Files of an authority: `ca.pem`, `cert.pem` and `key.pem` for `localhost`, `ada.pem` and `ada-key.pem`.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(TempDir::new().unwrap());
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "Authority");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        files.write("ca.pem", issuer.pem());
        for (name, certificate, key) in [
            ("localhost", "cert.pem", "key.pem"),
            ("ada", "ada.pem", "ada-key.pem"),
        ] {
            let own = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([name.to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            files.write(certificate, params.signed_by(&own, &issuer).unwrap().pem());
            files.write(key, own.serialize_pem());
        }
        files
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.path().join(name), content).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Replaces file names among the arguments by paths.
    fn arguments<'a>(&self, arguments: &[&'a str]) -> Vec<String> {
        let path = |argument: &&'a str| match argument.ends_with(".pem") {
            true => self.path(argument),
            false => (*argument).to_owned(),
        };
        arguments.iter().map(path).collect()
    }

    fn serve(&self, more: &[&str]) -> Agent {
        let fixed = [
            "joke",
            "--address",
            "127.0.0.1:0",
            "--tls-cert",
            "cert.pem",
            "--tls-key",
            "key.pem",
        ];
        let arguments = self.arguments(&[&fixed[..], more].concat());
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        Agent::begin(&arguments)
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], code: i32, expected: &[&str]) -> String {
        let arguments = self.arguments(arguments);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        check(&arguments, code, expected)
    }
}

/// Returns the URL by the name that the certificate has.
fn by_name(agent: &Agent) -> String {
    assert!(agent.url.starts_with("https://127.0.0.1:"), "{}", agent.url);
    agent.url.replace("127.0.0.1", "localhost")
}

#[test]
fn an_agent_is_called_by_tls_and_its_card_says_so() {
    let files = Files::new();
    let agent = files.serve(&[]);
    let url = by_name(&agent);
    let card = files.check(
        &["card", "get", &url, "--ca", "ca.pem", "-o", "json"],
        0,
        &[],
    );
    let card: Value = serde_json::from_str(card.lines().next().unwrap()).unwrap();
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    assert!(!interfaces.is_empty());
    for interface in interfaces {
        let place = match interface["protocolBinding"] == "GRPC" {
            true => url.trim_start_matches("https://").trim_end_matches('/'),
            false => &url,
        };
        let named = interface["url"].as_str().unwrap();
        assert!(named.starts_with(place), "{interface}");
    }
    files.check(
        &[
            "send",
            &url,
            "tell me a joke about chickens",
            "--ca",
            "ca.pem",
        ],
        0,
        &["cross the road"],
    );
    files.check(
        &[
            "send",
            "--stream",
            &url,
            "tell me a joke about chickens",
            "--ca",
            "ca.pem",
        ],
        0,
        &["State: COMPLETED"],
    );
    files.check(
        &["card", "get", &url],
        3,
        &["certificate is not trusted: --ca FILE"],
    );
    files.check(
        &["card", "get", &agent.url, "--ca", "ca.pem"],
        3,
        &["not valid for name"],
    );
    files.check(
        &["card", "get", &url.replace("https", "http")],
        3,
        &["try https://"],
    );
    let downgrade = files.serve(&["--public-url", "http://agent.invalid/"]);
    files.check(
        &["send", &by_name(&downgrade), "hi", "--ca", "ca.pem"],
        3,
        &["warning: the card leads to http://agent.invalid/"],
    );
    let risky = ["card", "get", &agent.url, "--insecure"];
    files.check(&risky, 0, &["Joker", "warning: --insecure"]);
}

#[test]
fn clients_show_certificates() {
    let files = Files::new();
    let wanted = ["requests a client certificate", "--cert"];
    for (which, without, why) in [("required", 4, &wanted[..]), ("optional", 0, &[])] {
        let agent = files.serve(&["--client-ca", "ca.pem", "--client-cert", which]);
        let url = by_name(&agent);
        let with = [
            "card",
            "get",
            &url,
            "--ca",
            "ca.pem",
            "--cert",
            "ada.pem",
            "--key",
            "ada-key.pem",
        ];
        files.check(
            &with,
            0,
            &["Joker", "certificate, client certificate (--cert, --key)"],
        );
        files.check(&["card", "get", &url, "--ca", "ca.pem"], without, why);
        // Tasks belong to the holder of the certificate.
        let joke = ["send", &url, "tell me a joke about chickens"];
        let ada = [
            "--ca",
            "ca.pem",
            "--cert",
            "ada.pem",
            "--key",
            "ada-key.pem",
        ];
        let sent = files.check(&[&joke[..], &ada, &["-o", "json"]].concat(), 0, &[]);
        let sent: Value = serde_json::from_str(&sent).unwrap();
        let task = sent["task"]["id"].as_str().unwrap();
        files.check(
            &[&["task", "get", &url, task], &ada[..]].concat(),
            0,
            &["State: COMPLETED"],
        );
        let other = if without == 0 { 1 } else { 4 };
        files.check(&["task", "get", &url, task, "--ca", "ca.pem"], other, why);
    }
    // It is required unless it is optional.
    let agent = files.serve(&["--client-ca", "ca.pem"]);
    // The words are always the same, whichever of the two sides is quicker.
    for _ in 0..20 {
        files.check(
            &["card", "get", &by_name(&agent), "--ca", "ca.pem"],
            4,
            &wanted,
        );
    }
}

#[test]
fn faulty_options_and_files_are_named() {
    let files = Files::new();
    let serve = |code: i32, more: &[&str], expected: &[&str]| {
        let fixed = ["serve", "joke", "--address", "127.0.0.1:0"];
        files.check(&[&fixed[..], more].concat(), code, expected);
    };
    serve(2, &["--tls-cert", "cert.pem"], &["--tls-key"]);
    serve(2, &["--tls-key", "key.pem"], &["--tls-cert"]);
    serve(2, &["--client-ca", "ca.pem"], &["--tls-cert", "--tls-key"]);
    let pair = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    serve(
        2,
        &[&pair[..], &["--client-cert", "optional"]].concat(),
        &["--client-ca"],
    );
    serve(
        2,
        &[&pair[..], &["--tls-cert", "ada.pem"]].concat(),
        &["2 --tls-cert and 1 --tls-key"],
    );
    let key = files.path("ada-key.pem");
    serve(
        1,
        &["--tls-cert", "cert.pem", "--tls-key", "ada-key.pem"],
        &[&key, "is not that of the first certificate"],
    );
    serve(
        1,
        &["--tls-cert", "none.pem", "--tls-key", "key.pem"],
        &[&files.path("none.pem"), "cannot be read"],
    );
    serve(
        1,
        &["--tls-cert", "key.pem", "--tls-key", "key.pem"],
        &["BEGIN CERTIFICATE"],
    );
    serve(
        1,
        &[&pair[..], &["--client-ca", "key.pem"]].concat(),
        &["BEGIN CERTIFICATE"],
    );
}

/// Files that have not changed are read on the signal alone.
#[cfg(unix)]
#[test]
fn files_are_read_again_on_sighup() {
    let files = Files::new();
    let fixed = [
        "serve",
        "joke",
        "--address",
        "127.0.0.1:0",
        "-o",
        "json",
        "--log",
        "a2a_edge=info",
    ];
    let pair = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let mut server = a2a()
        .args(files.arguments(&[&fixed[..], &pair].concat()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    crate::startup(&mut server);
    crate::interrupt::signal("-HUP", &server);
    let log = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut seen = log.map(Result::unwrap).take_while(|line| !line.is_empty());
    let reloaded = seen.find(|line| line.contains("new connections get"));
    assert!(reloaded.is_some_and(|line| line.contains("cert.pem")));
    assert!(server.try_wait().unwrap().is_none());
    server.kill().unwrap();
    server.wait().unwrap();
}

/// The commands of `a2a serve --help`, as they stand there.
#[cfg(unix)]
#[test]
fn the_example_of_the_help_works() {
    if Command::new("openssl").arg("version").output().is_err() {
        let problem = "openssl IS NOT INSTALLED: the example of `a2a serve --help` was not tested.";
        eprintln!("{problem}");
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci.is_empty()),
            "{problem}"
        );
        return;
    }
    let help = text(&crate::ask(&["serve", "--help"], "").stdout);
    let (_, example) = help.split_once("With TLS").expect(&help);
    let script: Vec<_> = example
        .lines()
        .skip(1)
        .take_while(|line| !line.is_empty())
        .collect();
    let (calls, makes): (Vec<_>, Vec<_>) = script
        .iter()
        .map(|line| line.trim())
        .partition(|line| line.starts_with("a2a "));
    let directory = TempDir::new().unwrap();
    let made = Command::new("sh")
        .args(["-e", "-c", &makes.join("\n")])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{makes:?}: {}", text(&made.stderr));
    let [serve, card] = calls[..] else {
        panic!("{calls:?}");
    };
    let files = Files(directory);
    let serve: Vec<_> = serve
        .split(' ')
        .skip(2)
        .chain(["--address", "127.0.0.1:0"])
        .collect();
    let serve = files.arguments(&serve);
    let agent = Agent::begin(&serve.iter().map(String::as_str).collect::<Vec<_>>());
    let url = by_name(&agent);
    let card = card.replace("https://localhost:8080", &url);
    let card: Vec<_> = card.split(' ').skip(1).collect();
    files.check(&card, 0, &["Joker"]);
    assert!(Path::new(&files.path("ca-key.pem")).exists());
}
