//! One challenge of `WWW-Authenticate`.

use std::borrow::Cow;
use std::fmt;

/// A way to authenticate that is on offer, as `WWW-Authenticate` has it. RFC 9110 §11.6.1.
///
/// ```
/// use a2a_transport::http::AuthChallenge;
///
/// let challenge = AuthChallenge::new("Bearer").with("realm", "agents").with("error", "invalid_token");
/// assert_eq!(challenge.to_string(), r#"Bearer realm="agents", error="invalid_token""#);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthChallenge {
    scheme: Cow<'static, str>,
    parameters: Vec<(&'static str, String)>,
}

impl AuthChallenge {
    /// Makes a challenge of an authentication scheme, like `Bearer`, without parameters.
    pub fn new(scheme: impl Into<Cow<'static, str>>) -> Self {
        Self {
            scheme: scheme.into(),
            parameters: Vec::new(),
        }
    }

    /// Adds a parameter. Characters that no header can have are left out.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let mut value = value.into();
        value.retain(|char| char == ' ' || char.is_ascii_graphic());
        self.parameters.push((name, value));
        self
    }

    /// Returns the authentication scheme.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns a parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let (_, value) = self.parameters.iter().find(|(known, _)| *known == name)?;
        Some(value)
    }
}

impl From<&'static str> for AuthChallenge {
    fn from(scheme: &'static str) -> Self {
        Self::new(scheme)
    }
}

impl fmt::Display for AuthChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scheme)?;
        for (index, (name, value)) in self.parameters.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            write!(f, "{separator} {name}=\"{value}\"")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_quoted() {
        assert_eq!(AuthChallenge::new("Bearer").to_string(), "Bearer");
        let challenge = AuthChallenge::new("Basic").with("realm", "a \"b\"\\\r\nX: é");
        assert_eq!(challenge.to_string(), r#"Basic realm="a \"b\"\\X: ""#);
        assert_eq!(challenge.parameter("realm"), Some("a \"b\"\\X: "));
    }
}
