//! Endpoints of the authorization server where a token for an agent is requested.

use a2a_client::{HttpClient, Origin, causes};
use a2a_types::{AgentCard, OAuth2SecurityScheme, SecurityScheme};
use clap::ValueEnum;
use http::HeaderMap;
use serde::Deserialize;

use crate::failure::Failure;

/// A flow of OAuth 2.0.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Flow {
    /// A user enters a code in any browser (RFC 8628).
    #[value(alias = "device")]
    DeviceCode,
    /// A user consents in the browser of this machine (RFC 8252, with PKCE).
    #[value(alias = "browser")]
    AuthorizationCode,
    /// A program logs in by its own secret.
    ClientCredentials,
}

impl Flow {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A way to a token for an agent.
pub(super) struct Place {
    pub(super) flow: Flow,
    /// Name of the scheme on the card that the token is for; `None` if the card has none that takes one.
    pub(super) scheme: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) token: String,
    /// Endpoint of the device flow, or the page where a user consents.
    pub(super) start: Option<String>,
}

/// Endpoints of an authorization server. OpenID Connect Discovery 1.0 §3, RFC 8414 §2.
#[derive(Deserialize)]
struct Metadata {
    issuer: Option<String>,
    token_endpoint: Option<String>,
    authorization_endpoint: Option<String>,
    device_authorization_endpoint: Option<String>,
}

/// Finds the first of the flows that a scheme of the card offers; schemes that the agent requires come first.
pub(super) async fn of_card(
    card: &AgentCard,
    flows: &[Flow],
    http: &HttpClient,
) -> Result<Place, Failure> {
    let required = card.security_requirements.iter();
    let required: Vec<_> = required.flat_map(|one| one.schemes.keys()).collect();
    let mut schemes: Vec<_> = card.security_schemes.iter().collect();
    schemes.sort_by_key(|(name, _)| !required.contains(name));
    let mut offered = Vec::new();
    for (name, scheme) in schemes {
        let (places, metadata) = match scheme {
            SecurityScheme::OAuth2SecurityScheme(scheme) => {
                (named(scheme), scheme.oauth2_metadata_url.as_deref())
            }
            SecurityScheme::OpenIdConnectSecurityScheme(scheme) => {
                (Vec::new(), Some(&*scheme.open_id_connect_url))
            }
            _ => continue,
        };
        let places = match metadata {
            Some(url) if places.is_empty() => described(&fetch(url, http).await?, url)?,
            _ => places,
        };
        offered.extend(places.into_iter().map(|place| Place {
            scheme: Some(name.clone()),
            scopes: scopes(card, name, scheme),
            ..place
        }));
    }
    choose(offered, flows, "the agent's card", false)
}

/// Finds the first of the flows that an issuer offers.
pub(super) async fn of_issuer(
    card: &AgentCard,
    issuer: &str,
    flows: &[Flow],
    http: &HttpClient,
) -> Result<Place, Failure> {
    let issuer = issuer.trim_end_matches('/');
    let url = format!("{issuer}/.well-known/openid-configuration");
    let metadata = match fetch(&url, http).await {
        Ok(metadata) => metadata,
        Err(problem) => {
            let origin = Origin::of(issuer)?.to_string();
            let path = issuer.get(origin.len()..).unwrap_or_default();
            let url = format!("{origin}/.well-known/oauth-authorization-server{path}");
            // The first problem is the better known one.
            fetch(&url, http).await.map_err(|_| problem)?
        }
    };
    let named = metadata.issuer.as_deref().unwrap_or_default();
    if named.trim_end_matches('/') != issuer {
        return Err(Failure::login(format!(
            "{url} is of the issuer `{named}`: expected `{issuer}`"
        )));
    }
    let mut places = described(&metadata, &url)?;
    let takes_token = |scheme: &SecurityScheme| match scheme {
        SecurityScheme::HttpAuthSecurityScheme(http) => http.scheme.eq_ignore_ascii_case("bearer"),
        SecurityScheme::OAuth2SecurityScheme(_)
        | SecurityScheme::OpenIdConnectSecurityScheme(_) => true,
        _ => false,
    };
    let mut schemes = card.security_schemes.iter();
    if let Some((name, scheme)) = schemes.find(|(_, scheme)| takes_token(scheme)) {
        for place in &mut places {
            place.scheme = Some(name.clone());
            place.scopes = scopes(card, name, scheme);
        }
    }
    choose(places, flows, issuer, true)
}

/// Chooses the first of the flows that are offered. An issuer that the user has named may have endpoints anywhere.
fn choose(
    mut places: Vec<Place>,
    flows: &[Flow],
    offerer: &str,
    is_named: bool,
) -> Result<Place, Failure> {
    let found = flows
        .iter()
        .find_map(|flow| places.iter().position(|place| place.flow == *flow));
    let Some(found) = found else {
        let names = |flows: &mut dyn Iterator<Item = Flow>| {
            let names: Vec<_> = flows.map(Flow::name).collect();
            names.join(", ")
        };
        let offered = match places.is_empty() {
            true => "no flow of OAuth 2.0 or OpenID Connect".to_owned(),
            false => names(&mut places.iter().map(|place| place.flow)),
        };
        let wanted = names(&mut flows.iter().copied());
        return Err(Failure::usage(format!(
            "{offerer} offers {offered}: expected {wanted}; client-credentials needs --client-secret, and --issuer names another authorization server"
        )));
    };
    let place = places.swap_remove(found);
    if let Some(start) = &place.start
        && Origin::of(start)? != Origin::of(&place.token)?
        && !is_named
    {
        return Err(Failure::login(format!(
            "{offerer} sends the user to {start}, and what comes of it to {}: expected one origin; if both are right, name the issuer by --issuer",
            place.token
        )));
    }
    for url in [Some(&place.token), place.start.as_ref()]
        .into_iter()
        .flatten()
    {
        if !Origin::of(url)?.is_protected() {
            return Err(Failure::login(format!(
                "{url} is named for logging in, and everyone on the way could read the secrets: expected https"
            )));
        }
    }
    Ok(place)
}

/// Returns the flows whose endpoints a scheme names.
fn named(scheme: &OAuth2SecurityScheme) -> Vec<Place> {
    let flows = &scheme.flows;
    let place = |flow, token: &str, start: Option<&str>| Place {
        flow,
        scheme: None,
        scopes: Vec::new(),
        token: token.to_owned(),
        start: start.map(str::to_owned),
    };
    let client = flows.client_credentials.as_ref();
    let device = flows.device_code.as_ref();
    let code = flows.authorization_code.as_ref();
    let found = [
        client.map(|flow| place(Flow::ClientCredentials, &flow.token_url, None)),
        device.map(|flow| {
            let start = Some(&*flow.device_authorization_url);
            place(Flow::DeviceCode, &flow.token_url, start)
        }),
        code.map(|flow| {
            let start = Some(&*flow.authorization_url);
            place(Flow::AuthorizationCode, &flow.token_url, start)
        }),
    ];
    found.into_iter().flatten().collect()
}

/// Returns the flows that metadata names endpoints for.
fn described(metadata: &Metadata, url: &str) -> Result<Vec<Place>, Failure> {
    let Some(token) = &metadata.token_endpoint else {
        return Err(Failure::login(format!(
            "{url} is not the metadata of an authorization server: it names no token_endpoint"
        )));
    };
    let place = |flow, start: &Option<String>| Place {
        flow,
        scheme: None,
        scopes: Vec::new(),
        token: token.clone(),
        start: start.clone(),
    };
    let mut places = vec![place(Flow::ClientCredentials, &None)];
    for (flow, start) in [
        (Flow::DeviceCode, &metadata.device_authorization_endpoint),
        (Flow::AuthorizationCode, &metadata.authorization_endpoint),
    ] {
        if start.is_some() {
            places.push(place(flow, start));
        }
    }
    Ok(places)
}

/// Returns the scopes that the card requires for a scheme. OpenID Connect always needs `openid`.
fn scopes(card: &AgentCard, name: &str, scheme: &SecurityScheme) -> Vec<String> {
    let mut requirements = card.security_requirements.iter();
    let required = requirements.find_map(|one| one.schemes.get(name));
    let mut scopes = required.map_or_else(Vec::new, |scopes| scopes.list.clone());
    let is_openid = matches!(scheme, SecurityScheme::OpenIdConnectSecurityScheme(_));
    if is_openid && !scopes.iter().any(|scope| scope == "openid") {
        scopes.insert(0, "openid".to_owned());
    }
    scopes
}

async fn fetch(url: &str, http: &HttpClient) -> Result<Metadata, Failure> {
    if !Origin::of(url)?.is_protected() {
        return Err(Failure::login(format!(
            "{url} could be replaced on the way: expected https"
        )));
    }
    let fetched = http.get(url, &HeaderMap::new()).await;
    let fetched =
        fetched.map_err(|error| Failure::NoLoginServer(format!("{url}: {}", causes(&error))))?;
    if !fetched.status.is_success() {
        return Err(Failure::NoLoginServer(format!(
            "{url} answered with HTTP status {}: expected the metadata of an authorization server",
            fetched.status.as_u16()
        )));
    }
    serde_json::from_slice(&fetched.body).map_err(|error| {
        Failure::login(format!(
            "{url} is not the metadata of an authorization server: {error}"
        ))
    })
}
