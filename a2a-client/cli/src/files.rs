//! Files to attach and artifacts to save.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use a2a_client::terminal::is_unsafe;
use a2a_types::{Artifact, Base64, Content, Part};

use crate::failure::Failure;

/// Expands a leading `~` to the home directory.
pub(crate) fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Reads a file as a part of a message.
pub(crate) fn attach(path: &Path) -> Result<Part, Failure> {
    let name = path.display();
    let problem = |problem: String| Failure::usage(format!("--file {name}: {problem}"));
    let size = std::fs::metadata(path).map_err(|error| problem(error.to_string()))?;
    if size.len() > MAX_ATTACHED_BYTES {
        let limit = MAX_ATTACHED_BYTES >> 20;
        return Err(problem(format!(
            "the file is larger than {limit} MiB: pass its URL, which the agent fetches"
        )));
    }
    let bytes = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
    let media_type = mime_guess::from_path(path).first_or_octet_stream();
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(Part {
        filename: name.map(str::to_owned),
        ..Part::bytes(bytes, media_type.essence_str())
    })
}

/// Bytes of a file that is sent in a message; few agents take as many.
const MAX_ATTACHED_BYTES: u64 = 64 << 20;

/// A directory in which a command saves artifacts, that replaces no file and follows no link.
#[derive(Debug)]
pub(crate) struct OutDirectory {
    path: PathBuf,
    /// Number of the next file of each name.
    next: HashMap<String, u32>,
    files: usize,
}

impl OutDirectory {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            next: HashMap::new(),
            files: 0,
        }
    }

    /// Saves the parts of artifacts, and returns the paths.
    pub(crate) fn save_all(&mut self, artifacts: &[Artifact]) -> Result<Vec<PathBuf>, Failure> {
        let mut saved = Vec::new();
        for artifact in artifacts {
            saved.extend(self.save(artifact)?);
        }
        Ok(saved)
    }

    /// Saves the parts of an artifact and returns their paths.
    fn save(&mut self, artifact: &Artifact) -> Result<Vec<PathBuf>, Failure> {
        let failed = |path: &Path| Failure::machine(path.display().to_string());
        std::fs::create_dir_all(&self.path).map_err(failed(&self.path))?;
        let mut saved = Vec::new();
        for (name, bytes) in contents(artifact)? {
            if self.files == MAX_FILES {
                return Err(Failure::usage(format!(
                    "{}: {MAX_FILES} files are saved, and the task has more: -o json prints all of them",
                    self.path.display()
                )));
            }
            self.files += 1;
            let (path, mut file) = self.create(&name)?;
            file.write_all(&bytes).map_err(failed(&path))?;
            saved.push(path);
        }
        Ok(saved)
    }

    /// Creates a file of this name, numbered if there is one already.
    fn create(&mut self, name: &str) -> Result<(PathBuf, File), Failure> {
        let next = self.next.entry(name.to_owned()).or_insert(1);
        while *next <= MAX_NUMBER {
            let path = self.path.join(numbered(name, *next));
            *next += 1;
            // Follows no symbolic link, not even one that leads nowhere.
            match File::create_new(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::machine(path.display().to_string())(error)),
            }
        }
        Err(Failure::usage(format!(
            "{}: there are {MAX_NUMBER} files with the name {name} and a number: expected another directory",
            self.path.display()
        )))
    }
}

/// Files that one command saves.
const MAX_FILES: usize = 10_000;

/// Number that a file's name may get.
const MAX_NUMBER: u32 = 100_000;

/// Returns the names and contents of the files of an artifact.
fn contents(artifact: &Artifact) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let name = artifact
        .name
        .as_deref()
        .unwrap_or(artifact.artifact_id.as_str());
    let is_text = |part: &Part| part.as_text().is_some() && part.filename.is_none();
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
            Content::Url(url) => match data_url(url) {
                Some(bytes) => (bytes, "bin"),
                None => (format!("{url}\n").into_bytes(), "url"),
            },
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
    Ok(files)
}

/// Returns the bytes that a URL has itself (RFC 2397).
fn data_url(url: &str) -> Option<Vec<u8>> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let data = percent_encoding::percent_decode_str(data).collect::<Vec<u8>>();
    match head.ends_with(";base64") {
        true => Base64::from_text(String::from_utf8(data).ok()?)
            .decode()
            .ok(),
        false => Some(data),
    }
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

/// Sanitizes a file name chosen by an agent: no directories, visible characters, at most 100 of them and 200 bytes.
fn safe(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let keep = |letter: char| match letter {
        letter if is_unsafe(letter) => '_',
        letter if letter.is_alphanumeric() => letter,
        '.' | '-' | '_' | ' ' => letter,
        _ => '_',
    };
    // File systems limit the bytes of a name, most of them to 255.
    let mut bytes = 0;
    let fits = |letter: &char| {
        bytes += letter.len_utf8();
        bytes <= 200
    };
    let name: String = last.chars().map(keep).take(100).take_while(fits).collect();
    let name = name.trim_matches(['.', ' ']);
    match name {
        "" => "artifact".to_owned(),
        // Many programs read a leading dash as an option.
        name if name.starts_with('-') => format!("_{name}"),
        name => name.to_owned(),
    }
}

/// Returns a name with a number before its extension, for numbers from 2.
fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}-{number}.{extension}"),
        None => format!("{name}-{number}"),
    }
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
            ("a\u{202e}b\u{e0041}\u{3164}", "a_b__"),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
        assert_eq!(safe(&"x".repeat(1000)).len(), 100);
        assert_eq!(safe(&"字".repeat(1000)).len(), 198);
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
            let saved = OutDirectory::new(directory.path()).save(&artifact).unwrap();
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

    fn text(name: &str) -> Artifact {
        Artifact {
            artifact_id: "a".into(),
            name: Some(name.to_owned()),
            parts: vec![Part::text("x")],
            ..Artifact::default()
        }
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::os::unix::fs::symlink(path("elsewhere"), path("a.txt")).unwrap();
        std::os::unix::fs::symlink(path("a-2.txt"), path("a-2.txt")).unwrap();
        let saved = OutDirectory::new(directory.path()).save(&text("a"));
        assert_eq!(saved.unwrap(), [path("a-3.txt")]);
        assert!(!path("elsewhere").exists());
    }

    #[test]
    fn a_name_is_looked_for_once_per_number() {
        let directory = tempfile::tempdir().unwrap();
        let mut out = OutDirectory::new(directory.path());
        for number in 1..=100 {
            out.save(&text("a")).unwrap();
            assert_eq!(out.next["a.txt"], number + 1);
        }
        out.next.insert("a.txt".to_owned(), MAX_NUMBER + 1);
        let problem = out.save(&text("a")).unwrap_err().to_string();
        assert!(problem.contains("files with the name a.txt"), "{problem}");
    }

    #[test]
    fn the_files_of_a_command_are_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let mut out = OutDirectory::new(directory.path());
        out.files = MAX_FILES - 1;
        let problem = out.save_all(&[text("a"), text("b")]).unwrap_err();
        assert!(
            problem.to_string().contains("10000 files are saved"),
            "{problem}"
        );
        let saved = std::fs::read_dir(directory.path()).unwrap();
        assert_eq!(saved.count(), 1);
    }
}
