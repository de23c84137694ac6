//! The installer for shells, and the manifests of Homebrew, Scoop and winget.

use std::fs;
use std::path::Path;

use super::archive::sha256;
use super::target::{Target, VERSION, packages, targets};
use crate::workspace::{Failure, at};

/// Templates, in the directory of the packages.
const TEMPLATES: [&str; 6] = [
    "install.sh",
    "homebrew/a2a.rb",
    "scoop/a2a.json",
    "winget/a2a-rust.a2a.yaml",
    "winget/a2a-rust.a2a.installer.yaml",
    "winget/a2a-rust.a2a.locale.en-US.yaml",
];

/// Writes them with the digests of the archives in `output`. Those of `missing` targets, which a dry run cannot build,
/// are zeros.
pub(super) fn write(output: &Path, missing: &[Target]) -> Result<(), Failure> {
    let mut archives = Vec::new();
    for target in targets()? {
        let (_, file_name) = target.archive();
        let path = output.join(&file_name);
        let digest = match fs::read(&path) {
            Ok(bytes) => sha256(&bytes),
            Err(_) if missing.iter().any(|it| it.target == target.target) => "0".repeat(64),
            Err(error) => return Err(at(&path, error)),
        };
        archives.push((target.target, file_name, digest));
    }
    for template in TEMPLATES {
        let path = packages().join(template);
        let text = fs::read_to_string(&path).map_err(|error| at(&path, error))?;
        let path = output.join(path.file_name().unwrap_or_default());
        let text = fill(&text, &archives);
        fs::write(&path, text).map_err(|error| at(&path, error))?;
    }
    Ok(())
}

/// Fills a template with targets, the names of their archives, and the digests.
fn fill(template: &str, archives: &[(String, String, String)]) -> String {
    let mut text = template.replace("@VERSION@", VERSION);
    for (target, file_name, digest) in archives {
        text = text.replace(&format!("@SHA256 {target}@"), digest);
        let url = format!("{DOWNLOADS}/v{VERSION}/{file_name}");
        text = text.replace(&format!("@URL {target}@"), &url);
    }
    let lines = archives
        .iter()
        .map(|(_, name, digest)| format!("{digest}  {name}"));
    let digests = lines.collect::<Vec<_>>().join("\n");
    text.replace("\nversion=\n", &format!("\nversion=v{VERSION}\n"))
        .replace("\ndigests=''\n", &format!("\ndigests='{digests}'\n"))
}

const DOWNLOADS: &str = "https://github.com/a2a-rust/a2a/releases/download";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_leave_no_placeholder_and_name_the_archives() {
        let archives: Vec<_> = targets()
            .unwrap()
            .into_iter()
            .map(|target| {
                let (_, file_name) = target.archive();
                let digest = sha256(target.target.as_bytes());
                (target.target, file_name, digest)
            })
            .collect();
        for template in TEMPLATES {
            let text = fs::read_to_string(packages().join(template)).unwrap();
            let filled = fill(&text, &archives);
            assert!(
                !filled.contains('@') || template == "install.sh",
                "{filled}"
            );
            assert!(filled.contains(VERSION), "{template}: {filled}");
            assert!(!filled.contains("digests=''"), "{filled}");
        }
    }
}
