//! Challenges of a `WWW-Authenticate` header.

use a2a_transport::Error;

use super::scanner::Scanner;

/// One of the ways to authenticate that a `WWW-Authenticate` header names (RFC 9110 §11.6.1).
///
/// ```
/// use a2a_client::credentials::Challenge;
///
/// let header = r#"Bearer realm="agents", error="invalid_token", scope="read write", Basic"#;
/// let challenges = Challenge::parse(header);
/// assert_eq!(challenges[0].scheme(), "Bearer");
/// assert_eq!(challenges[0].error(), Some("invalid_token"));
/// assert_eq!(challenges[0].scope().collect::<Vec<_>>(), ["read", "write"]);
/// assert_eq!(challenges[1].scheme(), "Basic");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Challenge {
    scheme: String,
    token: Option<String>,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Returns the challenges of a header, in its order. Skips what cannot be parsed, and the rest of a
    /// header that is too long: 8 KiB, 16 challenges and 32 parameters of each are read.
    pub fn parse(header: &str) -> Vec<Self> {
        let mut scanner = Scanner::new(header);
        let mut challenges: Vec<Self> = Vec::new();
        while let Some(word) = scanner.word() {
            let value = scanner.value();
            if let Some(value) = value {
                // A parameter before any scheme is ignored.
                if let Some(challenge) = challenges.last_mut() {
                    challenge.add(word, value);
                }
                continue;
            }
            if challenges.len() == MAX_CHALLENGES {
                break;
            }
            challenges.push(Self {
                scheme: word.to_owned(),
                token: scanner.token68().map(str::to_owned),
                parameters: Vec::new(),
            });
        }
        challenges
    }

    /// Returns the challenges that an agent refused a call with; none if the error is another one.
    pub fn of(error: &Error) -> Vec<Self> {
        match error {
            Error::Refused {
                challenge: Some(header),
                ..
            } => Self::parse(header),
            _ => Vec::new(),
        }
    }

    fn add(&mut self, name: &str, value: String) {
        if self.parameters.len() < MAX_PARAMETERS {
            self.parameters.push((name.to_owned(), value));
        }
    }

    /// Returns the authentication scheme, like `Bearer`, as it was written; case does not matter.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns whether this is the scheme of the challenge, in any case.
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// Returns the `token68` that some schemes have in place of parameters.
    pub fn token68(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns a parameter; the first if there are several of that name.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.parameters
            .iter()
            .find(found)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the name of the protected area.
    pub fn realm(&self) -> Option<&str> {
        self.parameter("realm")
    }

    /// Returns the error code, like `invalid_token` or `insufficient_scope` (RFC 6750 §3.1).
    pub fn error(&self) -> Option<&str> {
        self.parameter("error")
    }

    /// Returns the description of the error, for people.
    pub fn error_description(&self) -> Option<&str> {
        self.parameter("error_description")
    }

    /// Returns the scopes that a token must have.
    pub fn scope(&self) -> impl Iterator<Item = &str> {
        self.parameter("scope")
            .unwrap_or_default()
            .split_whitespace()
    }

    /// Returns the URL of the metadata that names the authorization servers of the agent (RFC 9728
    /// §5.1).
    pub fn resource_metadata(&self) -> Option<&str> {
        self.parameter("resource_metadata")
    }
}

const MAX_CHALLENGES: usize = 16;
const MAX_PARAMETERS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks challenges, each as `scheme token68 name=value …`.
    #[track_caller]
    fn check(header: &str, expected: &[&str]) {
        let written = |challenge: Challenge| {
            let parameters = challenge.parameters.iter();
            let parameters = parameters.map(|(name, value)| format!("{name}={value}"));
            let token = challenge.token.clone();
            let words: Vec<_> = token.into_iter().chain(parameters).collect();
            format!("{} {}", challenge.scheme, words.join(" "))
        };
        let found: Vec<_> = Challenge::parse(header).into_iter().map(written).collect();
        let found: Vec<_> = found.iter().map(|challenge| challenge.trim()).collect();
        assert_eq!(found, expected, "{header}");
    }

    #[test]
    fn challenges_are_split_at_their_schemes() {
        check("", &[]);
        check("Bearer", &["Bearer"]);
        check("Basic realm=x", &["Basic realm=x"]);
        check(
            r#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            &[
                "Basic realm=simple",
                r#"Newauth realm=apps type=1 title=Login to "apps""#,
            ],
        );
        check("Negotiate YII=, Bearer", &["Negotiate YII=", "Bearer"]);
        check("Negotiate YIIabc/+==", &["Negotiate YIIabc/+=="]);
        check("Bearer a = b , c\t=\t\"d,e\"", &["Bearer a=b c=d,e"]);
        check(",, Bearer ,, Basic ,", &["Bearer", "Basic"]);
    }

    #[test]
    fn malformed_parts_of_challenges_are_skipped() {
        check("realm=x", &[]);
        check("Bearer realm=\"open", &["Bearer realm=open"]);
        check("Bearer realm=", &["Bearer realm="]);
        check("Bearer \"x\" error=e", &["Bearer error=e"]);
        check("é Bearer", &["Bearer"]);
        check(
            "Bearer error=invalid_token scope=a",
            &["Bearer error=invalid_token scope=a"],
        );
    }

    #[test]
    fn there_is_an_end() {
        assert_eq!(Challenge::parse(&"a,".repeat(100)).len(), MAX_CHALLENGES);
        let many = format!("Bearer {}", "a=1,".repeat(100));
        assert_eq!(Challenge::parse(&many)[0].parameters.len(), MAX_PARAMETERS);
        let long = format!("Bearer realm=\"{}", "x".repeat(1 << 20));
        let read = Challenge::parse(&long);
        assert!(read[0].realm().is_some_and(|realm| realm.len() < 8192));
        let wide = format!("{}é", "a".repeat(8191));
        assert_eq!(Challenge::parse(&wide)[0].scheme.len(), 8191);
    }
}
