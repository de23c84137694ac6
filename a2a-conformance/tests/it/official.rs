//! The JSON examples of the official texts, judged: each is accepted if the official schema allows it, and
//! refused by a rule otherwise. The exceptions are in `official.yaml`, each with a reason.
//!
//! The texts are not part of this project. They are looked for in `../shared/spec` next to the workspace, or in the
//! folder that `A2A_OFFICIAL_TEXTS` names, with `official/v1.0.1/…` and `schemas/…`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use a2a_conformance::documents::StrictVerdict;
use a2a_conformance::lint::{Context, LintResult, lint};
use a2a_types::ProtocolVersion;
use serde::Deserialize;
use serde_json::{Value, json};

/// Exception to the rule, and the reason for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    /// The file and the line at which the block begins, like `v1.0.1/specification.md:2138`.
    at: String,
    /// The version that the example is of, if not that of the text.
    protocol_version: Option<String>,
    /// Section that refuses the example although the official schema allows it.
    refused: Option<String>,
    /// `true` if it is not a document of the protocol.
    #[serde(default)]
    foreign: bool,
    because: String,
}

#[test]
fn every_official_example_is_judged_by_schema_or_rule() {
    let Some(folder) = folder() else {
        // Past the capture of the test's output: a test that has tested nothing says so.
        let text = "official examples: not judged, no texts in ../shared/spec/official\n";
        std::io::stderr()
            .write_all(text.as_bytes())
            .expect("stderr is open");
        return;
    };
    let text = include_str!("official.yaml");
    let exceptions: Vec<Exception> = serde_saphyr::from_str(text).expect("a list of exceptions");
    let mut exceptions: BTreeMap<_, _> = exceptions
        .into_iter()
        .map(|exception| (exception.at.clone(), exception))
        .collect();
    let official = OfficialSchemas::read(&folder.join("schemas"));
    let (mut judged, mut accepted, mut problems) = (0, 0, Vec::new());
    for block in blocks(&folder.join("official")) {
        let exception = exceptions.remove(&block.at);
        for found in block.judge(exception.as_ref()) {
            judged += 1;
            accepted += usize::from(found.linted.verdict == StrictVerdict::Accept);
            if let Err(problem) = found.check(&official, exception.as_ref()) {
                problems.push(format!("{}: {problem}\n{:#?}", block.at, found.linted));
            }
        }
    }
    let stale = exceptions
        .keys()
        .map(|at| format!("{at}: a stale exception"));
    problems.extend(stale);
    println!("{judged} examples judged, {accepted} accepted");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(judged > 150, "only {judged} examples found");
}

fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec");
    let folder = std::env::var_os("A2A_OFFICIAL_TEXTS").map_or(beside, PathBuf::from);
    folder.join("official").is_dir().then_some(folder)
}

/// A fenced block of JSON, of Server-Sent Events, or of HTTP with either.
struct Block {
    at: String,
    protocol_version: ProtocolVersion,
    text: String,
}

fn blocks(folder: &Path) -> Vec<Block> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    files
        .iter()
        .flat_map(|file| blocks_of(folder, file))
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, files),
            false if path.extension().is_some_and(|it| it == "md") => files.push(path),
            false => {}
        }
    }
}

fn blocks_of(folder: &Path, file: &Path) -> Vec<Block> {
    let name = file.strip_prefix(folder).expect("it is in there");
    let name = name.to_str().expect("the name is text");
    let version = name.trim_start_matches('v').split('/').next();
    let Some(protocol_version) = version.and_then(ProtocolVersion::from_version) else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(file).expect("a text");
    let mut lines = text.lines().enumerate();
    let mut blocks = Vec::new();
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let body = lines.by_ref().map(|(_, line)| line);
        let body: Vec<_> = body.take_while(|line| line.trim() != "```").collect();
        let body = match language.trim().to_lowercase().as_str() {
            "json" | "jsonc" | "sse" => dedented(&body),
            "http" => content(&dedented(&body)),
            _ => continue,
        };
        if !body.trim().is_empty() {
            blocks.push(Block {
                at: format!("{name}:{}", number + 1),
                protocol_version,
                text: body,
            });
        }
    }
    blocks
}

fn dedented(lines: &[&str]) -> String {
    let indent = |line: &&&str| line.len() - line.trim_start().len();
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let margin = filled.map(|line| indent(&line)).min().unwrap_or_default();
    let lines = lines
        .iter()
        .map(|line| line.get(margin..).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns an HTTP message from its first line of JSON or `data:`, without its head.
fn content(message: &str) -> String {
    let is_content = |line: &&str| line.starts_with(['{', '[']) || line.starts_with("data:");
    let lines: Vec<_> = message
        .lines()
        .skip_while(|line| !is_content(line))
        .collect();
    lines.join("\n")
}

/// One document of a block, as it was judged.
struct JudgedDocument {
    text: String,
    protocol_version: ProtocolVersion,
    linted: LintResult,
}

impl Block {
    fn judge(&self, exception: Option<&Exception>) -> Vec<JudgedDocument> {
        let other = exception.and_then(|exception| exception.protocol_version.as_deref());
        let protocol_version = other
            .and_then(ProtocolVersion::from_version)
            .unwrap_or(self.protocol_version);
        let context = Context {
            protocol_version: Some(protocol_version),
            ..Context::default()
        };
        let judged = lint(&self.text, &context).into_iter();
        judged
            .map(|linted| JudgedDocument {
                text: self.document(linted.event),
                protocol_version,
                linted,
            })
            .collect()
    }

    /// The block, or the data of one of its events.
    fn document(&self, event: Option<usize>) -> String {
        let Some(event) = event else {
            return self.text.clone();
        };
        let blocks = self
            .text
            .split("\n\n")
            .filter(|block| block.contains("data:"));
        let block = blocks.into_iter().nth(event - 1).unwrap_or_default();
        let data = block.lines().filter_map(|line| line.strip_prefix("data:"));
        data.collect::<Vec<_>>().join("\n")
    }
}

impl JudgedDocument {
    fn check(
        &self,
        official: &OfficialSchemas,
        exception: Option<&Exception>,
    ) -> Result<(), String> {
        let Self {
            text,
            protocol_version,
            linted,
        } = self;
        let is_accepted = linted.verdict == StrictVerdict::Accept;
        if is_accepted != linted.findings.is_empty() {
            return Err("the findings contradict the verdict".to_owned());
        }
        if linted
            .findings
            .iter()
            .any(|one| one.rule.is_empty() || !one.path.starts_with('$'))
        {
            return Err("a finding without rule or path".to_owned());
        }
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            let is_reported = linted.findings.iter().any(|finding| finding.rule == "JSON");
            return is_reported
                .then_some(())
                .ok_or_else(|| "not JSON, and not reported".to_owned());
        };
        let foreign = exception.is_some_and(|exception| exception.foreign);
        if (linted.kind == "unknown") != foreign {
            return Err(format!("foreign: {foreign}, recognised as {}", linted.kind));
        }
        let legal = !foreign && official.allows(&value, *protocol_version, &linted.kind)?;
        let refused = exception.and_then(|exception| exception.refused.as_deref());
        match (legal, is_accepted, refused) {
            (true, true, None) | (false, false, None) => Ok(()),
            (true, false, Some(rule)) => {
                let is_reported = linted.findings.iter().any(|finding| finding.rule == rule);
                is_reported
                    .then_some(())
                    .ok_or_else(|| format!("not refused by {rule}"))
            }
            _ => Err(format!(
                "legal: {legal}, accepted: {is_accepted}, exception: {refused:?}"
            )),
        }?;
        // Without context the verdict must not be worse.
        let alone = lint(text, &Context::default());
        let is_fine = alone.iter().all(|one| one.verdict == StrictVerdict::Accept);
        match is_accepted && !is_fine {
            true => Err(format!("refused without a context: {alone:#?}")),
            false if exception.is_some_and(|exception| exception.because.is_empty()) => {
                Err("an exception without a reason".to_owned())
            }
            false => Ok(()),
        }
    }
}

/// The official schemas, and that derived from the official proto.
struct OfficialSchemas(BTreeMap<ProtocolVersion, Value>);

impl OfficialSchemas {
    fn read(folder: &Path) -> Self {
        let files = [
            (ProtocolVersion::V0_1, "v0.1.json"),
            (ProtocolVersion::V0_2, "v0.2.6.json"),
            (ProtocolVersion::V0_3, "v0.3.0.json"),
            (ProtocolVersion::V1_0, "v1.0.1.derived.json"),
        ];
        let read = |name: &str| {
            let text = std::fs::read_to_string(folder.join(name)).expect("a schema");
            serde_json::from_str(&text).expect("JSON")
        };
        Self(
            files
                .map(|(protocol_version, name)| (protocol_version, read(name)))
                .into(),
        )
    }

    /// Returns whether the schema allows a document of this kind.
    fn allows(
        &self,
        value: &Value,
        protocol_version: ProtocolVersion,
        kind: &str,
    ) -> Result<bool, String> {
        let is = |names: &[&str], value: &Value| {
            let mut valid = names
                .iter()
                .map(|name| self.is_valid(protocol_version, name, value));
            valid.try_fold(false, |any, one| one.map(|one| any || one))
        };
        if kind == "HttpError" {
            let error = &value["error"];
            return Ok(error["code"].is_u64()
                && error["status"].is_string()
                && error["message"].is_string());
        }
        if kind == "SignatureHeader" {
            return Ok(["alg", "kid", "typ"]
                .iter()
                .all(|name| value[name].is_string()));
        }
        if let Some(operation) = kind.strip_prefix("request of ") {
            let is_enveloped = value["jsonrpc"] == "2.0" && !value["id"].is_null();
            let names = self.names(protocol_version);
            let is_valid = match (protocol_version, operation) {
                (ProtocolVersion::V1_0, "GetExtendedAgentCard") => Ok(true),
                (ProtocolVersion::V1_0, "SendStreamingMessage") => {
                    is(&["SendMessageRequest"], &value["params"])
                }
                (ProtocolVersion::V1_0, "CreateTaskPushNotificationConfig") => {
                    is(&["TaskPushNotificationConfig"], &value["params"])
                }
                (ProtocolVersion::V1_0, operation) => {
                    is(&[&format!("{operation}Request")], &value["params"])
                }
                _ => {
                    let of_method = |name: &&&str| {
                        let method =
                            &self.definition(protocol_version, name)["properties"]["method"];
                        method["const"] == value["method"]
                    };
                    let names: Vec<_> = names.iter().filter(of_method).copied().collect();
                    is(&names, value)
                }
            };
            return Ok(is_enveloped && is_valid?);
        }
        let answers: &[&str] = match protocol_version {
            ProtocolVersion::V0_1 => &["SendTaskResponse", "SendTaskStreamingResponse"],
            ProtocolVersion::V1_0 => &[
                "SendMessageResponse",
                "StreamResponse",
                "Task",
                "ListTasksResponse",
                "AgentCard",
            ],
            _ => &["SendStreamingMessageResponse"],
        };
        if kind == "answer" || kind == "event of a stream" {
            let is_enveloped = value["jsonrpc"] == "2.0" && value.get("id").is_some();
            let error = &value["error"];
            let is_valid = match protocol_version {
                ProtocolVersion::V1_0 if error.is_object() => {
                    error["code"].is_i64() && error["message"].is_string()
                }
                ProtocolVersion::V1_0 => is(answers, &value["result"])?,
                _ => is(answers, value)?,
            };
            return Ok(is_enveloped && is_valid);
        }
        match kind {
            "request" => Ok(false),
            "event of a stream over HTTP+JSON" => is(&["StreamResponse"], value),
            kind => is(&[kind], value),
        }
    }

    fn names(&self, protocol_version: ProtocolVersion) -> Vec<&str> {
        let definitions = self.definitions(protocol_version).as_object();
        definitions
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    fn definitions(&self, protocol_version: ProtocolVersion) -> &Value {
        let schema = &self.0[&protocol_version];
        match &schema["$defs"] {
            Value::Null => &schema["definitions"],
            definitions => definitions,
        }
    }

    fn definition(&self, protocol_version: ProtocolVersion, name: &str) -> &Value {
        &self.definitions(protocol_version)[name]
    }

    fn is_valid(
        &self,
        protocol_version: ProtocolVersion,
        name: &str,
        value: &Value,
    ) -> Result<bool, String> {
        if self.definition(protocol_version, name).is_null() {
            return Err(format!("the schema of {protocol_version} has no {name}"));
        }
        let mut whole = self.0[&protocol_version].clone();
        let holder = if whole["$defs"].is_null() {
            "definitions"
        } else {
            "$defs"
        };
        whole["$ref"] = json!(format!("#/{holder}/{name}"));
        whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        let validator = jsonschema::validator_for(&whole).map_err(|error| error.to_string())?;
        Ok(validator.is_valid(value))
    }
}
