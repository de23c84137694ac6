//! `a2a card sign` and `a2a card get --verify`.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::KeyPair;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, ask, check, lines, text};

/// A directory with a card, and a key pair in PEM.
struct Files {
    directory: TempDir,
}

impl Files {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let interface = json!({"url": "https://agent.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
        let card = json!({"name": "Joker", "description": "", "version": "1", "capabilities": {},
            "skills": [], "defaultInputModes": [], "defaultOutputModes": [],
            "supportedInterfaces": [interface]});
        let files = Self { directory };
        files.write("card.json", &card.to_string());
        files.add_key("key");
        files
    }

    fn path(&self, name: &str) -> String {
        let path: PathBuf = self.directory.path().join(name);
        path.to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        fs::write(Path::new(&path), content).unwrap();
        path
    }

    fn add_key(&self, name: &str) {
        let pair = KeyPair::generate().unwrap();
        self.write(&format!("{name}.pem"), &pair.serialize_pem());
        self.write(&format!("{name}.pub"), &pair.public_key_pem());
    }

    /// Signs a card by a key, named after its file.
    fn sign(&self, card: &str, key: &str) -> Value {
        let (card, file) = (self.path(card), self.path(&format!("{key}.pem")));
        let output = ask(&["card", "sign", &card, "--key", &file, "--kid", key], "");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[test]
fn a_signed_card_is_verified_by_each_kind_of_keys() {
    let files = Files::new();
    let signed = files.sign("card.json", "key");
    let jwks = [
        "card",
        "sign",
        "--key",
        &files.path("key.pem"),
        "--kid",
        "key",
        "--jwks",
        "-o",
        "json",
    ];
    let jwks = lines(&jwks, "").remove(0);
    let jwks_file = files.write("jwks.json", &jwks.to_string());
    let document = signed.clone();
    let agent = ScriptedAgent::new(move |_, _| document.clone());
    let keys = ScriptedAgent::new(move |_, _| jwks.clone());
    for keys in [&jwks_file, &files.path("key.pub"), &keys.url] {
        let said = "Signature: verified by the key key (ES256): the whole card, by the text of the specification";
        check(
            &["card", "get", &agent.url, "--verify", keys],
            0,
            &["Joker", said],
        );
    }
    let json = ask(
        &[
            "card", "get", &agent.url, "--verify", &jwks_file, "-o", "json",
        ],
        "",
    );
    assert_eq!(
        serde_json::from_slice::<Value>(&json.stdout).unwrap(),
        signed
    );
    assert!(text(&json.stderr).starts_with("signature: verified by the key key"));
}

#[test]
fn a_card_with_control_characters_is_printed_as_it_was_signed() {
    let files = Files::new();
    let card = fs::read_to_string(files.path("card.json")).unwrap();
    let description = "Deletes\u{7f}, \u{9b}31m\u{1b}[1m";
    let mut card: Value = serde_json::from_str(&card).unwrap();
    card["description"] = json!(description);
    files.write("card.json", &card.to_string());
    let signed = files.sign("card.json", "key");
    assert_eq!(signed["description"], description);
    let agent = ScriptedAgent::new(move |_, _| signed.clone());
    check(
        &[
            "card",
            "get",
            &agent.url,
            "--verify",
            &files.path("key.pub"),
        ],
        0,
        &["by the key key"],
    );
}

#[test]
fn a_server_signs_its_card_and_publishes_the_key() {
    let files = Files::new();
    let key = files.path("key.pem");
    let agent = Agent::begin(&["joke", "--address", "127.0.0.1:0", "--sign-key", &key]);
    let keys = format!("{}.well-known/jwks.json", agent.url);
    for keys in [&keys, &files.path("key.pub")] {
        check(
            &["card", "get", &agent.url, "--verify", keys],
            0,
            &["Joker", "Signature: verified"],
        );
    }
    let public = ["--public-url", "https://agent.example/joke/"];
    let agent = Agent::begin(
        &[
            &["joke", "--address", "127.0.0.1:0", "--sign-key", &key],
            &public[..],
        ]
        .concat(),
    );
    let shown = check(
        &[
            "card",
            "get",
            &agent.url,
            "--verify",
            &files.path("key.pub"),
        ],
        0,
        &[],
    );
    assert!(shown.contains("https://agent.example/joke/rest"), "{shown}");
    let anywhere = [
        "serve",
        "joke",
        "--address",
        "0.0.0.0:0",
        "--open",
        "--sign-key",
        &key,
    ];
    check(&anywhere, 2, &["--public-url"]);
}

#[test]
fn a_card_without_a_trusted_signature_is_never_shown_as_verified() {
    let files = Files::new();
    files.add_key("other");
    let signed = files.sign("card.json", "key");
    let mut changed = signed.clone();
    changed["description"] = json!("Tells lies");
    let mut unsigned = signed.clone();
    unsigned["signatures"] = json!([]);
    let mismatch = "Signature: not verified: signatures[0]: it does not match this card and key";
    for (card, key, outcome, code) in [
        (&signed, Some("other.pub"), mismatch, 1),
        (&changed, Some("key.pub"), mismatch, 1),
        // Signing is optional (1.0 §8.4).
        (&unsigned, Some("key.pub"), "Signature: absent", 0),
        (&signed, None, "Signature: unverifiable: no trusted keys", 0),
    ] {
        let card = card.clone();
        let agent = ScriptedAgent::new(move |_, _| card.clone());
        let mut get = vec!["card", "get", &agent.url];
        let key = key.map(|key| files.path(key));
        get.extend(key.iter().flat_map(|key| ["--verify", key]));
        let shown = check(&get, code, &["Joker", outcome]);
        assert!(!shown.contains("Signature: verified"), "{shown}");
        get.extend(["-o", "json"]);
        let json = check(&get, code, &[&outcome.replace("Signature", "signature")]);
        assert_eq!(
            json.lines().filter(|line| line.starts_with('{')).count(),
            1,
            "{json}"
        );
    }
}

#[test]
fn signing_again_keeps_signatures_of_other_keys() {
    let files = Files::new();
    files.add_key("other");
    let kids = |card: &Value| {
        let signatures = card["signatures"].as_array().unwrap().iter();
        let kids = signatures.map(|signature| {
            let header = a2a_transport::card_signature::header(signature);
            header.unwrap().kid.unwrap()
        });
        kids.collect::<Vec<_>>()
    };
    let once = files.sign("card.json", "key");
    // The forms differ in empty members.
    assert_eq!(kids(&once), ["key", "key"]);
    files.write("once.json", &once.to_string());
    assert_eq!(kids(&files.sign("once.json", "key")), ["key", "key"]);
    let twice = files.sign("once.json", "other");
    assert_eq!(kids(&twice), ["other", "other", "key", "key"]);
    let kept = &twice["signatures"].as_array().unwrap()[2..];
    assert_eq!(kept, once["signatures"].as_array().unwrap());
}

#[test]
fn keys_and_cards_that_cannot_be_used_are_reported() {
    let files = Files::new();
    let [card, key, public] = ["card.json", "key.pem", "key.pub"].map(|name| files.path(name));
    let no_card = files.write("task.json", "{\"id\": 1}");
    for (arguments, reason) in [
        (
            ["card", "sign", &card, "--key", &key, "--alg", "EdDSA"].as_slice(),
            "expected a key of EdDSA, found one of ES256",
        ),
        (
            &["card", "sign", &card, "--key", &public],
            "expected a private key in PEM",
        ),
        (
            &["card", "sign", &no_card, "--key", &key],
            "task.json: not an agent card",
        ),
        (&["card", "sign", "--key", &key], "required"),
        (
            &["card", "get", "h:1", "--verify", &card],
            "expected a JSON Web Key Set, or a public key in PEM",
        ),
        (
            &[
                "card",
                "get",
                "h:1",
                "--verify",
                "http://h.example/jwks.json",
            ],
            "expected an `https` URL",
        ),
    ] {
        check(arguments, 2, &[reason]);
    }
    let unreachable = [
        "card",
        "get",
        "h:1",
        "--verify",
        "https://127.0.0.1:9/jwks.json",
    ];
    check(&unreachable, 3, &["cannot connect"]);
}
