//! Selection of the credentials that an agent's card asks for.

use std::sync::Arc;

use a2a_transport::Credentials;
use a2a_transport::Error;
use a2a_transport::http::HttpClient;
use a2a_types::{AgentCard, OAuth2SecurityScheme, SecurityRequirement, SecurityScheme, StringList};

use super::keyring::{Entry, Keyring, Kind, OAuth};
use super::placement::{CredentialSet, Placement};
use super::requirements;
use super::token_key::{Endpoints, ServerLocation, TokenKey};
use super::token_request::Flow;
use crate::Origin;

impl Keyring {
    /// Returns the credentials that an agent's card asks for, or `None` if there are none to send.
    /// `agent` is the origin that the caller wants to call, not one that the card names.
    ///
    /// Tokens are fetched with `http`, and not before a request needs them. A [`WireObserver`](crate::WireObserver) on
    /// that client sees secrets and tokens in the bodies, so it should have none.
    ///
    /// - The first requirement on the card counts of which every scheme can be satisfied
    ///   (specification 1.0 §4.4.1: the list offers alternatives, one entry wants all of its schemes).
    ///   Requirements of single skills are ignored here.
    /// - An empty requirement allows anonymous calls. It counts last: credentials are sent if there
    ///   are any.
    /// - A card with schemes and no requirements requires nothing, and gets the first scheme that can
    ///   be satisfied.
    /// - A card that asks for nothing in the keyring still gets what has a place of its own: a bearer
    ///   token, a name and password, tokens of an OAuth client with its own
    ///   [`token_url`](super::OAuthClient::token_url); the first of them that is bound to no scheme by
    ///   name. A key has no place unless a card names one.
    /// - Headers added by [`header`](Self::header) are always sent.
    ///
    /// Errors: [`Error::Credentials`] if none of the requirements can be satisfied (it names what the
    /// agent wants and what the keyring has), or if a credential cannot be sent.
    pub fn for_card(
        &self,
        card: &AgentCard,
        agent: &Origin,
        http: &HttpClient,
    ) -> Result<Option<Arc<dyn Credentials>>, Error> {
        let selection = Selection {
            keyring: self,
            card,
            agent,
            http,
        };
        let placements = selection.make().map_err(Error::Credentials)?;
        Ok((!placements.is_empty())
            .then(|| Arc::new(CredentialSet(placements)) as Arc<dyn Credentials>))
    }
}

struct Selection<'a> {
    keyring: &'a Keyring,
    card: &'a AgentCard,
    agent: &'a Origin,
    http: &'a HttpClient,
}

/// Reasons why credentials cannot be sent, for people.
type Reasons = Vec<String>;

impl Selection<'_> {
    fn make(&self) -> Result<Vec<Placement>, String> {
        let mut placements = match self.required()? {
            Some(placements) => placements,
            None => self.without_requirements()?,
        };
        for entry in &self.keyring.entries {
            let Kind::Header(name, value) = &entry.kind else {
                continue;
            };
            let header = Placement::header(name, value.expose())?;
            if entry.scheme.is_none()
                && !placements
                    .iter()
                    .any(|placement| placement.collides(&header))
            {
                placements.push(header);
            }
        }
        Ok(placements)
    }

    /// Returns the parts that satisfy a requirement, or `None` if none is required.
    fn required(&self) -> Result<Option<Vec<Placement>>, String> {
        let requirements = &self.card.security_requirements;
        let mut reasons = Vec::new();
        for requirement in requirements.iter().filter(|one| !is_open(self.card, one)) {
            match self.satisfy(requirement) {
                Ok(placements) => return Ok(Some(placements)),
                Err(why) => reasons.extend(why),
            }
        }
        if requirements.iter().all(|one| !is_open(self.card, one)) && !requirements.is_empty() {
            return Err(self.lack(reasons));
        }
        let offered = match requirements.is_empty() {
            true => self.card.security_schemes.keys(),
            false => Default::default(),
        };
        let satisfied = offered.filter_map(|name| {
            let requirement = SecurityRequirement {
                schemes: [(name.clone(), StringList::default())].into(),
            };
            self.satisfy(&requirement).ok()
        });
        let mut satisfied = satisfied.filter(|placements| !placements.is_empty());
        Ok(satisfied.next())
    }

    fn satisfy(&self, requirement: &SecurityRequirement) -> Result<Vec<Placement>, Reasons> {
        let mut shown: Vec<(&Entry, Placement)> = Vec::new();
        for (name, scopes) in &requirement.schemes {
            let Some(scheme) = self.card.security_schemes.get(name) else {
                let custom = self.bound(name).find_map(|entry| match &entry.kind {
                    Kind::Custom(credentials) => Some((entry, Arc::clone(credentials))),
                    _ => None,
                });
                let (entry, credentials) = custom.ok_or_else(Vec::new)?;
                shown.push((entry, Placement::Custom(credentials)));
                continue;
            };
            let (entry, placement) = self.for_scheme(name, scheme, &scopes.list)?;
            let Some(placement) = placement else { continue };
            match shown.iter().find(|(_, other)| other.collides(&placement)) {
                None => shown.push((entry, placement)),
                // One token for two schemes.
                Some((other, _)) if std::ptr::eq(*other, entry) => {}
                Some(_) => return Err(vec!["two of them want the same place".to_owned()]),
            }
        }
        Ok(shown.into_iter().map(|(_, placement)| placement).collect())
    }

    /// Returns the first entry that satisfies a scheme, and its part of the request; no part if TLS
    /// does it.
    fn for_scheme(
        &self,
        name: &str,
        scheme: &SecurityScheme,
        scopes: &[String],
    ) -> Result<(&Entry, Option<Placement>), Reasons> {
        let unbound = self.keyring.entries.iter();
        let unbound = unbound.filter(|entry| entry.scheme.is_none());
        let mut reasons = Vec::new();
        for entry in self.bound(name).chain(unbound) {
            match self.fit(&entry.kind, scheme, scopes) {
                None => {}
                Some(Ok(placement)) => return Ok((entry, placement)),
                Some(Err(reason)) => reasons.push(reason),
            }
        }
        Err(reasons)
    }

    fn bound(&self, name: &str) -> impl Iterator<Item = &Entry> {
        let entries = self.keyring.entries.iter();
        entries.filter(move |entry| entry.scheme.as_deref() == Some(name))
    }

    /// Returns the part that an entry adds for a scheme, or `None` if the entry is of another kind.
    fn fit(
        &self,
        kind: &Kind,
        scheme: &SecurityScheme,
        scopes: &[String],
    ) -> Option<Result<Option<Placement>, String>> {
        use SecurityScheme as Scheme;
        let placement = match (kind, scheme) {
            (Kind::Custom(credentials), _) => Ok(Placement::Custom(Arc::clone(credentials))),
            (Kind::MutualTls, Scheme::MtlsSecurityScheme(_)) => return Some(Ok(None)),
            (Kind::ApiKey(key), Scheme::ApiKeySecurityScheme(location)) => {
                Placement::api_key(location, key.expose())
            }
            (Kind::Header(name, value), Scheme::ApiKeySecurityScheme(location))
                if location.location.eq_ignore_ascii_case("header")
                    && location.name.eq_ignore_ascii_case(name) =>
            {
                Placement::header(name, value.expose())
            }
            (Kind::Basic(user, password), Scheme::HttpAuthSecurityScheme(http))
                if http.scheme.eq_ignore_ascii_case("basic") =>
            {
                Placement::basic(user, password.expose())
            }
            (Kind::Token(token), scheme) if takes_bearer(scheme) => {
                Placement::bearer(token.expose())
            }
            (Kind::Provider(tokens), scheme) if takes_bearer(scheme) => {
                Ok(Placement::Bearer(Arc::clone(tokens)))
            }
            (Kind::OAuth(oauth), scheme) if takes_bearer(scheme) => {
                let tokens = self.tokens(oauth, scheme, scopes).transpose();
                tokens.unwrap_or_else(|| Err(NOWHERE.to_owned()))
            }
            _ => return None,
        };
        Some(placement.map(Some))
    }

    /// Returns tokens of an OAuth client for a scheme, or `None` if the scheme names no endpoint for
    /// them.
    fn tokens(
        &self,
        oauth: &OAuth,
        scheme: &SecurityScheme,
        scopes: &[String],
    ) -> Result<Option<Placement>, String> {
        let policy = oauth.client.policy(self.agent)?;
        let location = match configured_endpoints(oauth, scheme) {
            Some(endpoints) => {
                policy.own(&endpoints.token)?;
                match (&oauth.client.device_url, &endpoints.device) {
                    (Some(own), _) => policy.own(own)?,
                    (None, Some(foreign)) => policy.foreign(foreign)?,
                    (None, None) => {}
                }
                ServerLocation::Known(endpoints)
            }
            None => match location(oauth, scheme) {
                None => return Ok(None),
                Some(location) => {
                    let named = match &location {
                        ServerLocation::Described(url) => vec![url],
                        ServerLocation::Known(endpoints) => {
                            [Some(&endpoints.token), endpoints.refresh.as_ref()]
                                .into_iter()
                                .chain([endpoints.device.as_ref()])
                                .flatten()
                                .collect()
                        }
                    };
                    named.into_iter().try_for_each(|url| policy.foreign(url))?;
                    location
                }
            },
        };
        let scopes = match oauth.client.scopes.is_empty() {
            true => scopes.join(" "),
            false => oauth.client.scopes.join(" "),
        };
        let token_key = TokenKey {
            policy,
            location,
            scopes,
        };
        Ok(Some(Placement::Bearer(oauth.tokens(token_key, self.http))))
    }

    /// Returns the parts sent to an agent whose card requires nothing.
    fn without_requirements(&self) -> Result<Vec<Placement>, String> {
        let entries = self.keyring.entries.iter();
        for entry in entries.filter(|entry| entry.scheme.is_none()) {
            let placement = match &entry.kind {
                Kind::Basic(user, password) => Placement::basic(user, password.expose())?,
                Kind::Token(token) => Placement::bearer(token.expose())?,
                Kind::Provider(tokens) => Placement::Bearer(Arc::clone(tokens)),
                Kind::OAuth(oauth) if oauth.client.token_url.is_some() => {
                    let bearer = SecurityScheme::HttpAuthSecurityScheme(Default::default());
                    match self.tokens(oauth, &bearer, &[])? {
                        Some(placement) => placement,
                        None => continue,
                    }
                }
                _ => continue,
            };
            return Ok(vec![placement]);
        }
        Ok(Vec::new())
    }

    fn lack(&self, mut reasons: Reasons) -> String {
        let has: Vec<_> = self.keyring.entries.iter().map(Entry::to_string).collect();
        let has = match has.is_empty() {
            true => "nothing".to_owned(),
            false => has.join(", "),
        };
        reasons.dedup();
        reasons.truncate(MAX_REASONS);
        let why: String = reasons.iter().map(|reason| format!("; {reason}")).collect();
        let wanted = requirements::describe(self.card);
        format!("the agent wants {wanted}; there is {has}{why}")
    }
}

const NOWHERE: &str = "the card does not say where this OAuth client has its tokens: expected a flow \
                       or metadata for it, or set `token_url` or `device_url`";

const MAX_REASONS: usize = 8;

/// Returns whether a requirement on a card allows anonymous calls. Agents of 0.1 write that as a scheme `public`
/// or `none`.
pub fn is_open(card: &AgentCard, requirement: &SecurityRequirement) -> bool {
    let is_open = |name| match card.security_schemes.get(name) {
        Some(SecurityScheme::HttpAuthSecurityScheme(http)) => {
            ["public", "none"].contains(&http.scheme.to_ascii_lowercase().as_str())
        }
        _ => false,
    };
    requirement.schemes.keys().all(is_open)
}

fn takes_bearer(scheme: &SecurityScheme) -> bool {
    match scheme {
        SecurityScheme::HttpAuthSecurityScheme(http) => http.scheme.eq_ignore_ascii_case("bearer"),
        SecurityScheme::OAuth2SecurityScheme(_)
        | SecurityScheme::OpenIdConnectSecurityScheme(_) => true,
        _ => false,
    }
}

/// Returns the endpoints that the caller named; the device endpoint may come from the card.
fn configured_endpoints(oauth: &OAuth, scheme: &SecurityScheme) -> Option<Endpoints> {
    let token = oauth.client.token_url.clone()?;
    let device = match (&oauth.flow, scheme) {
        (Flow::ClientCredentials, _) => None,
        (Flow::Device(_), scheme) => {
            let own = oauth.client.device_url.clone();
            Some(own.or_else(|| match scheme {
                SecurityScheme::OAuth2SecurityScheme(scheme) => {
                    let flow = scheme.flows.device_code.as_ref()?;
                    Some(flow.device_authorization_url.clone())
                }
                _ => None,
            })?)
        }
    };
    Some(Endpoints {
        token,
        refresh: None,
        device,
    })
}

/// Returns the endpoints, or the metadata document, that a card names.
fn location(oauth: &OAuth, scheme: &SecurityScheme) -> Option<ServerLocation> {
    match scheme {
        SecurityScheme::OAuth2SecurityScheme(scheme) => by_flow(oauth, scheme).or_else(|| {
            let described = scheme.oauth2_metadata_url.clone();
            described.map(ServerLocation::Described)
        }),
        SecurityScheme::OpenIdConnectSecurityScheme(scheme) => Some(ServerLocation::Described(
            scheme.open_id_connect_url.clone(),
        )),
        _ => None,
    }
}

fn by_flow(oauth: &OAuth, scheme: &OAuth2SecurityScheme) -> Option<ServerLocation> {
    Some(ServerLocation::Known(match oauth.flow {
        Flow::ClientCredentials => {
            let flow = scheme.flows.client_credentials.as_ref()?;
            Endpoints {
                token: flow.token_url.clone(),
                refresh: flow.refresh_url.clone(),
                device: None,
            }
        }
        Flow::Device(_) => {
            let flow = scheme.flows.device_code.as_ref()?;
            Endpoints {
                token: flow.token_url.clone(),
                refresh: flow.refresh_url.clone(),
                device: Some(flow.device_authorization_url.clone()),
            }
        }
    }))
}
