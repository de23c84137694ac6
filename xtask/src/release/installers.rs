//! The installer for shells, and the manifests of Homebrew, Scoop and winget.

use std::fs;
use std::path::Path;

use super::archive::sha256;
use super::target::{PROGRAMS, Program, Target, packages, targets};
use crate::workspace::{Failure, VERSION, at};

/// Templates of a program's manifests, each with the suffix of the file that is made of it.
const TEMPLATES: [(&str, &str); 5] = [
    ("homebrew.rb", ".rb"),
    ("scoop.json", ".json"),
    ("winget/version.yaml", ".yaml"),
    ("winget/installer.yaml", ".installer.yaml"),
    ("winget/locale.yaml", ".locale.en-US.yaml"),
];

/// An archive and its digest.
struct Archive {
    program: &'static str,
    target: String,
    file_name: String,
    digest: String,
}

/// Writes the installer and the manifests with the SHA-256 of each archive in `output`: zeros for `missing` targets,
/// which a dry run cannot build.
pub(super) fn write(output: &Path, missing: &[Target]) -> Result<(), Failure> {
    let mut archives = Vec::new();
    for program in &PROGRAMS {
        for target in targets()? {
            let (_, file_name) = target.archive(program.name);
            let path = output.join(&file_name);
            let digest = match fs::read(&path) {
                Ok(bytes) => sha256(&bytes),
                Err(_) if missing.iter().any(|it| it.target == target.target) => "0".repeat(64),
                Err(error) => return Err(at(&path, error)),
            };
            archives.push(Archive {
                program: program.name,
                target: target.target,
                file_name,
                digest,
            });
        }
    }
    let read = |template: &str| {
        let path = packages().join(template);
        fs::read_to_string(&path).map_err(|error| at(&path, error))
    };
    let mut files = vec![(
        "install.sh".to_owned(),
        installer(&read("install.sh")?, &archives),
    )];
    for (template, end) in TEMPLATES {
        let text = read(template)?;
        for program in &PROGRAMS {
            let start = if template.starts_with("winget") {
                "a2a-rust."
            } else {
                ""
            };
            let name = format!("{start}{}{end}", program.name);
            files.push((name, manifest(&text, program, &archives)));
        }
    }
    for (name, text) in files {
        let path = output.join(name);
        fs::write(&path, text).map_err(|error| at(&path, error))?;
    }
    Ok(())
}

/// Fills the template of a program's manifest.
fn manifest(template: &str, program: &Program, archives: &[Archive]) -> String {
    let mut text = template
        .replace("@PROGRAM@", program.name)
        .replace("@CLASS@", program.class)
        .replace("@DESCRIPTION@", program.description)
        .replace("@VERSION@", VERSION);
    for archive in archives.iter().filter(|it| it.program == program.name) {
        let Archive {
            target,
            file_name,
            digest,
            ..
        } = archive;
        text = text.replace(&format!("@SHA256 {target}@"), digest);
        let url = format!("{DOWNLOADS}/v{VERSION}/{file_name}");
        text = text.replace(&format!("@URL {target}@"), &url);
    }
    text
}

/// Fills the installer with the version and the digests.
fn installer(template: &str, archives: &[Archive]) -> String {
    let lines = archives
        .iter()
        .map(|it| format!("{}  {}", it.digest, it.file_name));
    let digests = lines.collect::<Vec<_>>().join("\n");
    template
        .replace("\nversion=\n", &format!("\nversion=v{VERSION}\n"))
        .replace("\ndigests=''\n", &format!("\ndigests='{digests}'\n"))
}

const DOWNLOADS: &str = "https://github.com/a2a-rust/a2a/releases/download";

#[cfg(test)]
mod tests {
    use super::*;

    fn archives() -> Vec<Archive> {
        let of = |program: &Program| {
            let name = program.name;
            let targets = targets().unwrap();
            let archives = targets.into_iter().map(move |target| Archive {
                program: name,
                file_name: target.archive(name).1,
                digest: sha256(format!("{name} {}", target.target).as_bytes()),
                target: target.target,
            });
            archives.collect::<Vec<_>>()
        };
        PROGRAMS.iter().flat_map(of).collect()
    }

    #[test]
    fn manifests_name_the_archives_of_their_program_and_have_no_placeholder() {
        let archives = archives();
        for (template, _) in TEMPLATES {
            let text = fs::read_to_string(packages().join(template)).unwrap();
            for program in &PROGRAMS {
                let filled = manifest(&text, program, &archives);
                assert!(
                    !filled.contains('@') && filled.contains(VERSION),
                    "{filled}"
                );
                let foreign = archives.iter().filter(|it| it.program != program.name);
                for archive in foreign {
                    assert!(!filled.contains(&archive.digest), "{filled}");
                }
            }
        }
    }

    #[test]
    fn installer_has_the_version_and_every_digest() {
        let text = fs::read_to_string(packages().join("install.sh")).unwrap();
        let filled = installer(&text, &archives());
        assert!(
            filled.contains(&format!("\nversion=v{VERSION}\n")),
            "{filled}"
        );
        for archive in archives() {
            let line = format!("{}  {}", archive.digest, archive.file_name);
            assert!(filled.contains(&line), "{filled}");
        }
    }
}
