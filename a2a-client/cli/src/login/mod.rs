//! Login by OAuth 2.0, and the tokens that it yields.

mod callback;
mod endpoints;
mod stored;

pub(crate) use self::endpoints::Flow;
pub(crate) use self::stored::{StoredToken, StoredTokens};

use std::net::Ipv4Addr;
use std::time::Duration;

use a2a_client::{Error, HttpClient, Origin, causes};
use a2a_types::{AgentCard, Timestamp};
use http::header::CONTENT_TYPE;
use oauth2::basic::{BasicClient, BasicErrorResponseType, BasicTokenResponse};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken,
    DeviceAuthorizationUrl, EndpointNotSet, EndpointSet, ErrorResponseType, HttpRequest,
    HttpResponse, PkceCodeChallenge, RedirectUrl, RefreshToken, RequestTokenError, Scope,
    StandardDeviceAuthorizationResponse, StandardErrorResponse, TokenResponse, TokenUrl,
};
use tokio::net::TcpListener;

use self::endpoints::Place;
use crate::browser;
use crate::failure::Failure;
use crate::redaction::hide;
use crate::show::note;

/// A client of an authorization server, and what it wants.
pub(crate) struct Login {
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<String>,
    pub(crate) flow: Option<Flow>,
    pub(crate) issuer: Option<String>,
    pub(crate) scopes: Vec<String>,
}

type Client =
    BasicClient<EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

impl Login {
    /// Requests a token for an agent.
    pub(crate) async fn run(
        &self,
        card: &AgentCard,
        agent: &Origin,
        http: &HttpClient,
    ) -> Result<StoredToken, Failure> {
        let flows = match (self.flow, &self.client_secret) {
            (Some(flow), _) => vec![flow],
            (None, Some(_)) => vec![
                Flow::ClientCredentials,
                Flow::AuthorizationCode,
                Flow::DeviceCode,
            ],
            (None, None) => vec![Flow::DeviceCode, Flow::AuthorizationCode],
        };
        let mut place = match &self.issuer {
            Some(issuer) => endpoints::of_issuer(card, issuer, &flows, http).await?,
            None => endpoints::of_card(card, &flows, http).await?,
        };
        if !self.scopes.is_empty() {
            place.scopes = self.scopes.clone();
        }
        note(&format!(
            "logging in to {agent} at {}",
            Origin::of(&place.token)?
        ));
        let token = match place.flow {
            Flow::ClientCredentials => self.client_credentials(&place, http).await?,
            Flow::DeviceCode => self.device_code(&place, http).await?,
            Flow::AuthorizationCode => self.authorization_code(&place, http).await?,
        };
        let is_public = self.client_secret.is_none();
        Ok(store(&token, None, |token| StoredToken {
            // It could be used with the secret only, which is not stored.
            refresh_token: token.refresh_token.clone().filter(|_| is_public),
            agent: agent.to_string(),
            scheme: place.scheme,
            token_url: place.token,
            client_id: self.client_id.clone(),
            ..token
        }))
    }

    async fn client_credentials(
        &self,
        place: &Place,
        http: &HttpClient,
    ) -> Result<BasicTokenResponse, Failure> {
        if self.client_secret.is_none() {
            return Err(Failure::usage(
                "--flow client-credentials: expected --client-secret or A2ACLI_CLIENT_SECRET",
            ));
        }
        let client = self.client(place)?;
        let request = |auth_type| {
            let client = client.clone().set_auth_type(auth_type);
            async move {
                let request = client.exchange_client_credentials();
                request
                    .add_scopes(scopes(place))
                    .request_async(&|request| post(http, request))
                    .await
            }
        };
        let outcome = match request(AuthType::BasicAuth).await {
            // Few servers announce where they expect the secret.
            Err(RequestTokenError::ServerResponse(refusal))
                if *refusal.error() == BasicErrorResponseType::InvalidClient =>
            {
                request(AuthType::RequestBody).await
            }
            outcome => outcome,
        };
        outcome.map_err(|error| failed(&place.token, &error))
    }

    async fn device_code(
        &self,
        place: &Place,
        http: &HttpClient,
    ) -> Result<BasicTokenResponse, Failure> {
        let start = place.start.clone().unwrap_or_default();
        let url =
            DeviceAuthorizationUrl::new(start.clone()).map_err(|error| unusable(&start, error))?;
        let client = self.client(place)?.set_device_authorization_url(url);
        let send = |request| post(http, request);
        let codes: StandardDeviceAuthorizationResponse = client
            .exchange_device_code()
            .add_scopes(scopes(place))
            .request_async(&send)
            .await
            .map_err(|error| failed(&start, &error))?;
        if !(1..=MAX_INTERVAL).contains(&codes.interval().as_secs()) {
            return Err(Failure::login(format!(
                "{start} wants to be asked each {:?}: expected 1 to {MAX_INTERVAL} s",
                codes.interval()
            )));
        }
        let page = codes.verification_uri_complete();
        let page = page.map_or(codes.verification_uri().as_str(), |page| page.secret());
        note(&format!(
            "to log in, open {} and enter the code {}",
            codes.verification_uri().as_str(),
            codes.user_code().secret()
        ));
        if Origin::of(page).is_ok_and(|origin| origin.is_protected()) {
            browser::open(page.to_owned());
        }
        client
            .exchange_device_access_token(&codes)
            .request_async(
                &send,
                tokio::time::sleep,
                Some(codes.expires_in().min(MAX_CONSENT)),
            )
            .await
            .map_err(|error| failed(&place.token, &error))
    }

    async fn authorization_code(
        &self,
        place: &Place,
        http: &HttpClient,
    ) -> Result<BasicTokenResponse, Failure> {
        let start = place.start.clone().unwrap_or_default();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let here = format!("http://{}{}", listener.local_addr()?, callback::PATH);
        let here = RedirectUrl::new(here.clone()).map_err(|error| unusable(&here, error))?;
        let url = AuthUrl::new(start.clone()).map_err(|error| unusable(&start, error))?;
        let client = self.client(place)?.set_auth_uri(url).set_redirect_uri(here);
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let (page, state) = client
            .authorize_url(CsrfToken::new_random)
            .add_scopes(scopes(place))
            .set_pkce_challenge(challenge)
            .url();
        note(&format!("to log in, open {page}"));
        browser::open(page.into());
        let answer = callback::receive(&listener, state.secret());
        let code = tokio::time::timeout(MAX_CONSENT, answer).await;
        let code = code.unwrap_or_else(|_| {
            let minutes = MAX_CONSENT.as_secs() / 60;
            Err(Failure::login(format!(
                "the page in the browser was not completed within {minutes} minutes"
            )))
        })?;
        client
            .exchange_code(AuthorizationCode::new(code))
            .set_pkce_verifier(verifier)
            .request_async(&|request| post(http, request))
            .await
            .map_err(|error| failed(&place.token, &error))
    }

    fn client(&self, place: &Place) -> Result<Client, Failure> {
        let client = client(&self.client_id, &place.token)?;
        Ok(match &self.client_secret {
            Some(secret) => client.set_client_secret(ClientSecret::new(secret.clone())),
            None => client,
        })
    }
}

/// Returns the stored token for an agent that is called, renewed if it has to be; `None` if there is none.
pub(crate) async fn token_for(
    card: &AgentCard,
    agent: &Origin,
    http: &HttpClient,
) -> Option<String> {
    let stored = match StoredTokens::read() {
        Ok(stored) => stored,
        Err(failure) => {
            note(&format!(
                "the stored tokens cannot be read: {}",
                causes(&failure)
            ));
            return None;
        }
    };
    let token = stored.find(&agent.to_string())?;
    let is_wanted = |name: &String| card.security_schemes.contains_key(name);
    if !token.scheme.as_ref().is_none_or(is_wanted) {
        return None;
    }
    let token = match token.is_valid() {
        true => token.access_token.clone(),
        false => match renewed(agent, http).await {
            Ok(token) => token,
            Err(failure) => {
                note(&format!(
                    "the login for {agent} has expired: {}; `a2a auth login` renews it",
                    causes(&failure)
                ));
                return None;
            }
        },
    };
    hide(&token);
    Some(token)
}

/// Renews the stored token for an agent, unless another command does. A refresh token may count only once.
async fn renewed(agent: &Origin, http: &HttpClient) -> Result<String, Failure> {
    let locked = tokio::task::spawn_blocking(StoredTokens::lock).await;
    let locked = locked.map_err(Failure::machine("the stored tokens"))??;
    let Some(token) = locked.stored.find(&agent.to_string()) else {
        return Err(Failure::login("the token was removed"));
    };
    if token.is_valid() {
        return Ok(token.access_token.clone());
    }
    let renewed = renew(token, http).await?;
    let token = renewed.access_token.clone();
    if let Err(failure) = locked.put(renewed) {
        note(&format!(
            "the renewed token was not stored: {}",
            causes(&failure)
        ));
    }
    Ok(token)
}

async fn renew(token: &StoredToken, http: &HttpClient) -> Result<StoredToken, Failure> {
    let Some(refresh) = token.refresh_token.clone() else {
        return Err(Failure::login(
            "the authorization server gave no refresh token",
        ));
    };
    hide(&refresh);
    let renewed = client(&token.client_id, &token.token_url)?
        .exchange_refresh_token(&RefreshToken::new(refresh.clone()))
        .request_async(&|request| post(http, request))
        .await
        .map_err(|error| failed(&token.token_url, &error))?;
    Ok(store(&renewed, Some(refresh), |renewed| StoredToken {
        agent: token.agent.clone(),
        scheme: token.scheme.clone(),
        token_url: token.token_url.clone(),
        client_id: token.client_id.clone(),
        ..renewed
    }))
}

/// Returns the parts of an answer that are stored; a refresh token counts until another one replaces it.
fn store(
    token: &BasicTokenResponse,
    refresh: Option<String>,
    complete: impl FnOnce(StoredToken) -> StoredToken,
) -> StoredToken {
    let life = token
        .expires_in()
        .map(|life| i64::try_from(life.as_millis()).unwrap_or(i64::MAX));
    let end = life.map(|life| Timestamp::now().as_millis().saturating_add(life));
    let access_token = token.access_token().secret().clone();
    let refresh_token = token.refresh_token().map(|token| token.secret().clone());
    let refresh_token = refresh_token.or(refresh);
    hide(&access_token);
    refresh_token.iter().for_each(|token| hide(token));
    complete(StoredToken {
        agent: String::new(),
        scheme: None,
        access_token,
        refresh_token,
        expires_at: end.and_then(Timestamp::from_millis),
        token_url: String::new(),
        client_id: String::new(),
    })
}

fn client(id: &str, token_url: &str) -> Result<Client, Failure> {
    let url = TokenUrl::new(token_url.to_owned()).map_err(|error| unusable(token_url, error))?;
    Ok(BasicClient::new(ClientId::new(id.to_owned())).set_token_uri(url))
}

fn scopes(place: &Place) -> impl Iterator<Item = Scope> {
    place.scopes.iter().cloned().map(Scope::new)
}

/// Sends a form to an authorization server.
async fn post(http: &HttpClient, request: HttpRequest) -> Result<HttpResponse, Error> {
    let form: Vec<_> = form_urlencoded::parse(request.body()).collect();
    let form: Vec<_> = form
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let mut headers = request.headers().clone();
    headers.remove(CONTENT_TYPE);
    let fetched = http
        .post_form(&request.uri().to_string(), &headers, &form)
        .await?;
    let mut response = HttpResponse::new(fetched.body.to_vec());
    *response.status_mut() = fetched.status;
    *response.headers_mut() = fetched.headers;
    Ok(response)
}

fn failed<T>(url: &str, error: &RequestTokenError<Error, StandardErrorResponse<T>>) -> Failure
where
    T: ErrorResponseType + std::fmt::Display + 'static,
{
    let place = url.split(['?', '#']).next().unwrap_or_default();
    match error {
        RequestTokenError::Request(error) => {
            Failure::NoLoginServer(format!("{place}: {}", causes(error)))
        }
        RequestTokenError::ServerResponse(refusal) => {
            let description = refusal.error_description().map(|text| format!(": {text}"));
            let description = description.unwrap_or_default();
            let code = refusal.error().to_string();
            Failure::login(format!("{place} refused with `{code}`{description}"))
        }
        // Its text has nothing of the answer, which may have secrets.
        RequestTokenError::Parse(error, _) => {
            Failure::login(format!("{place} did not answer as OAuth 2.0 says: {error}"))
        }
        RequestTokenError::Other(problem) => Failure::login(format!("{place}: {problem}")),
    }
}

fn unusable(url: &str, error: impl std::fmt::Display) -> Failure {
    Failure::login(format!("{url} is not a URL that can be used: {error}"))
}

/// Seconds between two requests for the token of a user who enters a code.
const MAX_INTERVAL: u64 = 60;

/// Time for which a login waits for the user in the browser.
const MAX_CONSENT: Duration = Duration::from_secs(15 * 60);
