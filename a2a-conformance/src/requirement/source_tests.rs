//! Comparison of the requirements with the published texts.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use a2a_types::ProtocolVersion;

use super::Basis;
use super::source::REPOSITORY;
use super::{Level, Requirement, requirements};

/// A file at a tag, and the lines cited of it.
struct Citation<'a> {
    tag: &'a str,
    path: &'a str,
    lines: RangeInclusive<usize>,
}

impl<'a> Citation<'a> {
    /// The citation that a link is; none if it leads elsewhere.
    fn of(source: &'a str) -> Option<Self> {
        let (tag, rest) = source.strip_prefix(REPOSITORY)?.split_once('/')?;
        let (path, lines) = rest.split_once('#')?;
        let mut lines = lines
            .split('-')
            .map(|line| line.strip_prefix('L')?.parse().ok());
        let first = lines.next()??;
        let last = lines.next().map_or(Some(first), |last| last)?;
        Some(Self {
            tag,
            path: path.trim_end_matches("?plain=1"),
            lines: first..=last,
        })
    }

    /// Returns the path of the local file that holds the text.
    fn file(&self) -> PathBuf {
        let Self { tag, path, .. } = self;
        let local = match (*path, *tag) {
            ("specification/a2a.proto", _) => "proto/a2a_v1.proto".to_owned(),
            ("specification/json/a2a.json", "v0.1.0") => "schemas/v0.1.json".to_owned(),
            ("specification/json/a2a.json", tag) => format!("schemas/{tag}.json"),
            (path, tag) => {
                let path = path.strip_prefix("docs/").unwrap_or(path);
                format!("official/{tag}/{path}")
            }
        };
        texts().join(local)
    }
}

/// Returns the directory of the published texts: the one that `A2A_SPECIFICATION` names, or `../shared/spec` next to
/// the workspace.
fn texts() -> PathBuf {
    let directory = std::env::var_os("A2A_SPECIFICATION").map(PathBuf::from);
    directory.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec"))
}

/// The lines of a text, each with the number of the section that it is in.
fn sections(text: &str) -> Vec<(String, &str)> {
    let (mut section, mut is_code) = (String::new(), false);
    let lines = text.lines().map(|line| {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if !is_code && heading.len() < line.len() {
            let heading = heading.trim_start().trim_start_matches("Appendix ");
            let number = heading.split(' ').next().unwrap_or_default();
            let is_number = |part: &str| part.parse::<u32>().is_ok();
            let is_letter = |part: &str| matches!(part.as_bytes(), [b'A'..=b'Z']);
            let mut parts = number.trim_end_matches('.').split('.');
            let first = parts.next().unwrap_or_default();
            let is_first = is_number(first) || (is_letter(first) && number.contains('.'));
            if is_first && parts.all(is_number) {
                section = number.trim_end_matches('.').to_owned();
            }
        }
        (section.clone(), line)
    });
    lines.collect()
}

/// Returns whether a text has a keyword of that level.
fn has_keyword(level: Level, text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    let keywords: &[_] = match level {
        Level::Must => &["MUST", "SHALL", "REQUIRED"],
        Level::Should => &["SHOULD", "RECOMMENDED"],
        Level::May => &["MAY", "CAN", "OPTIONAL"],
    };
    words.into_iter().any(|word| keywords.contains(&word))
}

/// Returns the page of a section that is not a chapter of the specification.
fn page(section: &str) -> Option<&'static str> {
    Some(match section {
        "T.extensions" => "docs/topics/extensions.md",
        "T.life" => "docs/topics/life-of-a-task.md",
        "T.streaming" => "docs/topics/streaming-and-async.md",
        _ => return None,
    })
}

/// Returns what is wrong with a citation of that text; empty if nothing is.
fn fault(requirement: &Requirement, citation: &Citation<'_>, text: &str) -> String {
    let Requirement {
        level,
        section,
        basis,
        ..
    } = requirement;
    let lines = sections(text);
    let (first, last) = (*citation.lines.start(), *citation.lines.end());
    let Some(cited) = lines.get(first.saturating_sub(1)..last) else {
        return format!("lines {first} to {last} of {}", lines.len());
    };
    let is_blank =
        |line: Option<&(String, &str)>| line.is_none_or(|(_, line)| line.trim().is_empty());
    if is_blank(cited.first()) || is_blank(cited.last()) {
        return "the line is blank".to_owned();
    }
    let is_inside = |found: &str| {
        let rest = found.strip_prefix(section.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if citation.path == "docs/specification.md" {
        if let Some((found, _)) = cited.iter().find(|(found, _)| !is_inside(found)) {
            return format!("it is in section {found}");
        }
    } else if citation.path.starts_with("docs/") {
        if page(section) != Some(citation.path) {
            return format!("section {section} is another page");
        }
    } else if !matches!(basis, Basis::Schema | Basis::Inference) {
        return "the source is a schema, the basis is not".to_owned();
    }
    let has = cited.iter().any(|(_, line)| has_keyword(*level, line));
    match basis {
        Basis::Keyword if !has => format!("no keyword of {}", level.keyword()),
        _ => String::new(),
    }
}

#[test]
fn every_requirement_has_a_source_and_a_verdict() {
    for protocol_version in ProtocolVersion::ALL {
        for Requirement {
            id,
            source,
            reading,
            ..
        } in requirements(*protocol_version)
        {
            assert!(source.starts_with("https://"), "{id}: {source:?}");
            // Text and code from before the first tag are cited by commit, as a whole or by heading.
            let of_tag = source
                .strip_prefix(REPOSITORY)
                .is_some_and(|rest| rest.starts_with('v'));
            assert!(!of_tag || Citation::of(source).is_some(), "{id}: {source}");
            assert!(!reading.is_empty(), "{id}");
        }
    }
}

#[test]
fn requirements_without_a_normative_sentence_are_not_a_must() {
    for requirement in ProtocolVersion::ALL
        .iter()
        .flat_map(|protocol_version| requirements(*protocol_version))
    {
        let weak = matches!(
            requirement.basis,
            Basis::Example | Basis::Inference | Basis::Practice
        );
        assert!(
            !weak || requirement.level > Level::Must,
            "{}",
            requirement.id
        );
    }
}

/// Passes without the texts, which are not part of the workspace, and says so.
#[test]
fn sources_point_at_the_sentence() {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    let (mut faults, mut missing) = (Vec::new(), 0);
    for requirement in ProtocolVersion::ALL
        .iter()
        .flat_map(|protocol_version| requirements(*protocol_version))
    {
        let Some(citation) = Citation::of(&requirement.source) else {
            continue;
        };
        let file = citation.file();
        if let (false, Ok(text)) = (texts.contains_key(&file), std::fs::read_to_string(&file)) {
            texts.insert(file.clone(), text);
        }
        let Some(text) = texts.get(&file) else {
            missing += 1;
            continue;
        };
        let fault = fault(requirement, &citation, text);
        if !fault.is_empty() {
            faults.push(format!(
                "{} at {}: {fault}",
                requirement.id, requirement.source
            ));
        }
    }
    if missing > 0 {
        eprintln!("not held against the text, which is not here: {missing} requirements");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(
        missing == 0 || texts.is_empty(),
        "{missing} texts are missing"
    );
}

#[test]
fn sections_and_keywords_are_recognised() {
    let text = "# T\n## 3. Three\na\n```\n# 9. no\n```\n#### 3.1.1 Four\n##### Note\nb\n## Appendix A. Old\n### A.2 Help\nc";
    let found: Vec<_> = sections(text)
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    let expected = [
        "", "3", "3", "3", "3", "3", "3.1.1", "3.1.1", "3.1.1", "A", "A.2", "A.2",
    ];
    assert_eq!(found, expected);
    assert!(has_keyword(Level::Must, "Agents **MUST** do"));
    assert!(!has_keyword(Level::Must, "Agents must do"));
    assert!(!has_keyword(Level::May, "MAYBE"));
}
