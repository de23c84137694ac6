//! Alternatives of security requirements, as cards state them.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a_transport::Principal;
use a2a_transport::http::{AuthError, Authenticator, ProtectedResource, Security};
use a2a_types::{SecurityRequirement, StringList};
use http::request::Parts;

use crate::scheme::{AuthOutcome, Scheme};

/// Authenticator that accepts a request if it meets any one of its requirements.
///
/// Credentials of one scheme are checked once for each request, whatever the number of requirements. A
/// requirement that is not met, because its credentials are absent or wrong, leaves the others to be tried.
pub struct AnyOf {
    schemes: Vec<(String, Arc<dyn Scheme>)>,
    requirements: Vec<Alternative>,
    admits_anonymous: bool,
}

/// Schemes that must all be met, each with the scopes that its credentials must grant.
pub struct Requirement {
    schemes: Vec<(String, Arc<dyn Scheme>, Vec<String>)>,
}

/// A requirement by indices of schemes.
type Alternative = Vec<(usize, Vec<String>)>;

impl Requirement {
    /// Requires a scheme, by the name that the card has for it.
    pub fn of(name: impl Into<String>, scheme: impl Scheme) -> Self {
        Self {
            schemes: vec![(name.into(), Arc::new(scheme), Vec::new())],
        }
    }

    /// Requires a further scheme. The first scheme determines the principal and its scopes.
    pub fn and(mut self, name: impl Into<String>, scheme: impl Scheme) -> Self {
        self.schemes
            .push((name.into(), Arc::new(scheme), Vec::new()));
        self
    }

    /// Requires that the credentials of the scheme that was named last grant these scopes.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Some((_, _, required)) = self.schemes.last_mut() {
            required.extend(scopes.into_iter().map(Into::into));
        }
        self
    }
}

impl<N: Into<String>, S: Scheme> From<(N, S)> for Requirement {
    /// Requires one scheme, by the name that the card has for it.
    fn from((name, scheme): (N, S)) -> Self {
        Self::of(name, scheme)
    }
}

impl AnyOf {
    /// Makes an authenticator with one requirement.
    pub fn new(requirement: impl Into<Requirement>) -> Self {
        let empty = Self {
            schemes: Vec::new(),
            requirements: Vec::new(),
            admits_anonymous: false,
        };
        empty.or(requirement)
    }

    /// Adds an alternative. A scheme with the name of an earlier scheme is taken for that scheme, which is
    /// checked instead.
    pub fn or(mut self, requirement: impl Into<Requirement>) -> Self {
        let mut alternative = Vec::new();
        for (name, scheme, scopes) in requirement.into().schemes {
            let known = self.schemes.iter().position(|(known, _)| *known == name);
            let index = known.unwrap_or(self.schemes.len());
            if known.is_none() {
                self.schemes.push((name, scheme));
            }
            alternative.push((index, scopes));
        }
        self.requirements.push(alternative);
        self
    }

    /// Admits callers without any credentials, too, as the anonymous principal: all of them share their tasks.
    pub fn or_anonymous(mut self) -> Self {
        self.admits_anonymous = true;
        self
    }

    async fn decide(&self, head: &Parts) -> Result<Principal, AuthError> {
        let mut verdicts: Vec<Option<AuthOutcome>> = vec![None; self.schemes.len()];
        let mut lacking: Option<&[String]> = None;
        for alternative in &self.requirements {
            let mut principal = None;
            let mut is_met = true;
            for (index, scopes) in alternative {
                if verdicts[*index].is_none() {
                    verdicts[*index] = Some(self.schemes[*index].1.check(head).await);
                }
                let Some(AuthOutcome::Valid(shown)) = &verdicts[*index] else {
                    is_met = false;
                    break;
                };
                if !scopes.iter().all(|scope| shown.has_scope(scope)) {
                    lacking.get_or_insert(scopes);
                    is_met = false;
                    break;
                }
                principal.get_or_insert_with(|| shown.clone());
            }
            if let Some(principal) = principal.filter(|_| is_met) {
                return Ok(principal);
            }
        }
        let is_any =
            |wanted: AuthOutcome| verdicts.iter().flatten().any(|verdict| *verdict == wanted);
        if is_any(AuthOutcome::Unavailable) {
            return Err(AuthError::Unavailable);
        }
        if is_any(AuthOutcome::Invalid) {
            return Err(self.invalid(&verdicts));
        }
        if let Some(scopes) = lacking {
            return Err(AuthError::insufficient_scope(scopes));
        }
        let is_absent =
            |verdict: &Option<AuthOutcome>| matches!(verdict, None | Some(AuthOutcome::Absent));
        match self.admits_anonymous && verdicts.iter().all(is_absent) {
            true => Ok(Principal::anonymous()),
            false => Err(AuthError::Unauthenticated {
                challenges: self.challenges(),
            }),
        }
    }

    /// Returns the refusal of wrong credentials. Only a bearer token has a code for it (RFC 6750 §3.1).
    fn invalid(&self, verdicts: &[Option<AuthOutcome>]) -> AuthError {
        let challenges = self.schemes.iter().zip(verdicts);
        let challenges = challenges.filter_map(|((_, scheme), verdict)| {
            let challenge = scheme.challenge()?;
            let is_shown = *verdict == Some(AuthOutcome::Invalid);
            match is_shown && challenge.scheme() == "Bearer" {
                true => Some(challenge.with("error", "invalid_token")),
                false => Some(challenge),
            }
        });
        AuthError::InvalidCredentials {
            challenges: challenges.collect(),
        }
    }

    fn challenges(&self) -> Vec<a2a_transport::http::AuthChallenge> {
        let schemes = self.schemes.iter();
        schemes
            .filter_map(|(_, scheme)| scheme.challenge())
            .collect()
    }

    /// Returns the authorization servers of all schemes, and every scope that a requirement names.
    fn protected_resource(&self) -> Option<ProtectedResource> {
        let resources = self.schemes.iter();
        let mut resources = resources.filter_map(|(_, scheme)| scheme.protected_resource());
        let mut all = resources.next()?;
        for further in resources {
            for server in further.authorization_servers {
                if !all.authorization_servers.contains(&server) {
                    all.authorization_servers.push(server);
                }
            }
            all.scopes.extend(further.scopes);
        }
        let required = self.requirements.iter().flatten();
        all.scopes
            .extend(required.flat_map(|(_, scopes)| scopes.iter().cloned()));
        all.scopes.sort();
        all.scopes.dedup();
        Some(all)
    }
}

impl Authenticator for AnyOf {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        self.decide(head).await
    }

    fn security(&self) -> Option<Security> {
        let named = |alternative: &Alternative| {
            let schemes = alternative.iter().map(|(index, scopes)| {
                let list = scopes.clone();
                (self.schemes[*index].0.clone(), StringList { list })
            });
            SecurityRequirement {
                schemes: schemes.collect(),
            }
        };
        let mut security = Security::default();
        let schemes = self.schemes.iter();
        let schemes: BTreeMap<_, _> = schemes
            .map(|(name, scheme)| (name.clone(), scheme.describe()))
            .collect();
        security.schemes = schemes;
        security.requirements = self.requirements.iter().map(named).collect();
        if self.admits_anonymous {
            security.requirements.push(SecurityRequirement::default());
        }
        security.challenges = self.challenges();
        security.protected_resource = self.protected_resource();
        Some(security)
    }
}
