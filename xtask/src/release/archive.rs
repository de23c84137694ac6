//! The archives of a target, one for each program: with manual pages, completions and licenses. The same files make the same bytes.

use std::fs;
use std::io::{self, Cursor, Write};
use std::path::Path;
use std::process::Command;

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use super::target::{PROGRAMS, Target};
use crate::workspace::{self, Failure, at, run};

/// Path within the archive, mode, content.
type Entry = (String, u32, Vec<u8>);

/// Writes the archive of each program that was built, and its SHA-256 beside it.
pub(super) fn write(target: &Target, built: &Path, output: &Path) -> Result<(), Failure> {
    PROGRAMS
        .iter()
        .try_for_each(|program| write_one(program.name, target, built, output))
}

fn write_one(name: &str, target: &Target, built: &Path, output: &Path) -> Result<(), Failure> {
    let (folder, file_name) = target.archive(name);
    let mut entries = Vec::new();
    let mut add = |path: &str, mode, content| {
        entries.push((format!("{folder}/{path}"), mode, content));
    };
    let read = |path: &Path| fs::read(path).map_err(|error| at(path, error));
    for text in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        add(text, 0o644, read(&workspace::root().join(text))?);
    }
    let program = built.join(target.file_name(name));
    add(&target.file_name(name), 0o755, read(&program)?);
    for (shell, file) in completions(name) {
        let mut completion = Command::new(&program);
        let printed = completion.args(["completion", shell]).output();
        let printed = printed.map_err(|error| at(&program, error))?;
        if !printed.status.success() {
            return Err(format!("{completion:?}: {}", printed.status));
        }
        add(&format!("completions/{file}"), 0o644, printed.stdout);
    }
    let pages = workspace::target().join("manual-pages");
    let _ = fs::remove_dir_all(&pages);
    run(Command::new(&program).arg("man").arg(&pages))?;
    for entry in fs::read_dir(&pages).map_err(|error| at(&pages, error))? {
        let path = entry.map_err(|error| at(&pages, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        add(&format!("man/{name}"), 0o644, read(&path)?);
    }
    entries.sort();

    let path = output.join(&file_name);
    let written = match target.is_windows() {
        true => zip(&entries),
        false => tar_gz(&entries),
    };
    let bytes = written.map_err(|error| at(&path, error))?;
    fs::write(&path, &bytes).map_err(|error| at(&path, error))?;
    let line = format!("{}  {file_name}\n", sha256(&bytes));
    let digest = output.join(format!("{file_name}.sha256"));
    fs::write(&digest, line).map_err(|error| at(&digest, error))
}

/// Shells, and the file that each reads the completions of a program from.
fn completions(program: &str) -> [(&'static str, String); 4] {
    [
        ("bash", format!("{program}.bash")),
        ("zsh", format!("_{program}")),
        ("fish", format!("{program}.fish")),
        ("powershell", format!("{program}.ps1")),
    ]
}

/// Returns SHA-256 in lower-case hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn tar_gz(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let gzip = GzBuilder::new().mtime(0);
    let mut archive = tar::Builder::new(gzip.write(Vec::new(), Compression::best()));
    for (path, mode, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(*mode);
        header.set_mtime(TIME);
        archive.append_data(&mut header, path, &**content)?;
    }
    archive.into_inner()?.finish()
}

fn zip(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, mode, content) in entries {
        let options = SimpleFileOptions::default().unix_permissions(*mode);
        archive.start_file(path, options)?;
        archive.write_all(content)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Time of all files, in seconds since 1970: 1980-01-01, the first that a zip file can have.
const TIME: u64 = 315_532_800;

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn entries() -> Vec<Entry> {
        let text = |path: &str, mode| (path.to_owned(), mode, path.as_bytes().to_vec());
        vec![text("a/program", 0o755), text("a/README.md", 0o644)]
    }

    #[test]
    fn a_tar_archive_has_the_files_with_their_modes_and_always_the_same_bytes() {
        let bytes = tar_gz(&entries()).unwrap();
        assert_eq!(bytes, tar_gz(&entries()).unwrap());
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&*bytes));
        let found = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            (path, entry.header().mode().unwrap(), content)
        });
        assert_eq!(found.collect::<Vec<_>>(), entries());
    }

    #[test]
    fn a_zip_archive_has_the_files_and_always_the_same_bytes() {
        let bytes = zip(&entries()).unwrap();
        assert_eq!(bytes, zip(&entries()).unwrap());
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        for (path, mode, content) in entries() {
            let mut file = archive.by_name(&path).unwrap();
            assert_eq!(file.unix_mode().unwrap() & 0o777, mode);
            let mut found = Vec::new();
            file.read_to_end(&mut found).unwrap();
            assert_eq!(found, content);
        }
    }

    #[test]
    fn sha256_is_written_as_sha256sum_writes_it() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
    }
}
