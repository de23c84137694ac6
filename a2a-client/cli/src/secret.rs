//! Secrets given on the command line, in a file or in the environment.

use std::fmt;
use std::str::FromStr;

/// A secret: as it is, `@FILE` for the content of a file, `$NAME` for an environment variable.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Secret {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let secret = if let Some(path) = text.strip_prefix('@') {
            let path = crate::files::expand(path);
            let read = std::fs::read_to_string(&path);
            read.map_err(|error| format!("{}: {error}", path.display()))?
        } else if let Some(name) = text.strip_prefix('$') {
            std::env::var(name).map_err(|error| format!("${name}: {error}"))?
        } else {
            text.to_owned()
        };
        // Files end with a line break.
        let secret = secret.trim_end_matches(['\r', '\n']);
        match secret.is_empty() {
            true => Err("it is empty".to_owned()),
            false => Ok(Self(secret.to_owned())),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_from_text_file_or_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        std::fs::write(&file, "s3cret\n").unwrap();
        let read = |text: &str| text.parse::<Secret>();
        assert_eq!(read("abc").unwrap().reveal(), "abc");
        let of_file = format!("@{}", file.display());
        assert_eq!(read(&of_file).unwrap().reveal(), "s3cret");
        let path = std::env::var("PATH").unwrap();
        assert_eq!(read("$PATH").unwrap().reveal(), path);
        for bad in ["", "@/nowhere", "$A2A_NO_SUCH_VARIABLE"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(format!("{:?}", read("abc").unwrap()), "***");
    }
}
