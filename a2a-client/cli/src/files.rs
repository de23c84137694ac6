//! Files to attach and artifacts to save.

use std::path::{Path, PathBuf};

use a2a_types::{Artifact, Content, Part};

use crate::exit::Failure;

/// Expands a leading `~` to the home directory.
pub(crate) fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Reads a file as a part of a message.
pub(crate) fn attach(path: &Path) -> Result<Part, Failure> {
    let bytes = std::fs::read(path).map_err(Failure::machine(path.display().to_string()))?;
    let media_type = mime_guess::from_path(path).first_or_octet_stream();
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(Part {
        filename: name.map(str::to_owned),
        ..Part::bytes(bytes, media_type.essence_str())
    })
}

/// Saves the parts of an artifact in a directory and returns their paths.
pub(crate) fn save(artifact: &Artifact, directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |path: &Path| Failure::machine(path.display().to_string());
    std::fs::create_dir_all(directory).map_err(failed(directory))?;
    let name = artifact
        .name
        .as_deref()
        .unwrap_or(artifact.artifact_id.as_str());
    let is_text = |part: &Part| part.as_text().is_some() && part.filename.is_none();
    let mut saved = Vec::new();
    // Chunks of text become one file.
    let text: String = artifact
        .parts
        .iter()
        .filter(|part| is_text(part))
        .filter_map(Part::as_text)
        .collect();
    let mut files = Vec::new();
    if !text.is_empty() {
        let media_type = artifact.parts.iter().find(|part| is_text(part));
        let media_type = media_type.and_then(|part| part.media_type.as_deref());
        files.push((file_name(name, media_type, "txt"), text.into_bytes()));
    }
    for part in artifact.parts.iter().filter(|part| !is_text(part)) {
        let media_type = part.media_type.as_deref();
        let (bytes, usual) = match &part.content {
            Content::Text(text) => (text.clone().into_bytes(), "txt"),
            Content::Data(data) => (format!("{data:#}\n").into_bytes(), "json"),
            Content::Url(url) => (format!("{url}\n").into_bytes(), "url"),
            Content::Raw(raw) => match raw.decode() {
                Ok(bytes) => (bytes, "bin"),
                Err(error) => {
                    let problem = format!("the artifact `{name}` cannot be saved: {error}");
                    return Err(Failure::usage(problem));
                }
            },
        };
        let name = match &part.filename {
            Some(own) => safe(own),
            None => file_name(name, media_type, usual),
        };
        files.push((name, bytes));
    }
    for (name, bytes) in files {
        let path = vacant(directory, &name);
        std::fs::write(&path, bytes).map_err(failed(&path))?;
        saved.push(path);
    }
    Ok(saved)
}

fn file_name(name: &str, media_type: Option<&str>, usual: &str) -> String {
    let of_type = media_type.and_then(mime_guess::get_mime_extensions_str);
    let extension = of_type.and_then(|known| known.first()).unwrap_or(&usual);
    let extension = if media_type == Some("text/plain") {
        "txt"
    } else {
        extension
    };
    let name = safe(name);
    match Path::new(&name).extension().is_some() {
        true => name,
        false => format!("{name}.{extension}"),
    }
}

/// Sanitizes a file name chosen by an agent: no directories, visible characters, at most 100 of them.
fn safe(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let keep = |letter: char| match letter {
        letter if letter.is_alphanumeric() => letter,
        '.' | '-' | '_' | ' ' => letter,
        _ => '_',
    };
    let name: String = last.chars().map(keep).take(100).collect();
    let name = name.trim_matches(['.', ' ']);
    match name {
        "" => "artifact".to_owned(),
        // Many programs read a leading dash as an option.
        name if name.starts_with('-') => format!("_{name}"),
        name => name.to_owned(),
    }
}

/// Returns a path that does not exist yet, numbered if necessary, so that no file is overwritten.
fn vacant(directory: &Path, name: &str) -> PathBuf {
    let path = Path::new(name);
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let numbered = |number: u32| match (number, extension) {
        (1, _) => name.to_owned(),
        (_, Some(extension)) => format!("{stem}-{number}.{extension}"),
        (_, None) => format!("{stem}-{number}"),
    };
    let mut paths = (1..).map(|number| directory.join(numbered(number)));
    paths
        .find(|path| !path.exists())
        .unwrap_or_else(|| directory.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_agents_are_harmless() {
        for (name, expected) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("..\\x", "x"),
            ("a/b\0c", "b_c"),
            ("..", "artifact"),
            ("-rf", "_-rf"),
            (".-rf", "_-rf"),
            (".bashrc", "bashrc"),
            ("Grüße 1", "Grüße 1"),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
        assert_eq!(safe(&"x".repeat(1000)).len(), 100);
    }

    #[test]
    fn artifacts_are_saved_and_nothing_is_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let artifact = Artifact {
            artifact_id: "a".into(),
            name: Some("joke".to_owned()),
            parts: vec![
                Part::text("one "),
                Part::text("two"),
                Part::data(serde_json::json!({"answer": 42})),
                Part {
                    filename: Some("../../hello.txt".to_owned()),
                    ..Part::bytes("hello", "text/plain")
                },
                Part::bytes([0], "image/png"),
            ],
            ..Artifact::default()
        };
        let names = || -> Vec<String> {
            let saved = save(&artifact, directory.path()).unwrap();
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            saved.iter().map(name).collect()
        };
        assert_eq!(names(), ["joke.txt", "joke.json", "hello.txt", "joke.png"]);
        assert_eq!(
            names(),
            ["joke-2.txt", "joke-2.json", "hello-2.txt", "joke-2.png"]
        );
        let read = |name| std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(read("joke.txt"), "one two");
        assert_eq!(read("hello.txt"), "hello");
    }
}
