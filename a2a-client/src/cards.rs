//! Discovery and HTTP cache of agent cards.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

#[cfg(feature = "card-signature")]
use a2a_transport::card_signature::CardVerifier;
use a2a_transport::http::{DeviationObserver, FetchResponse, HttpClient};
use a2a_transport::{Credentials, Error, spans};
use a2a_types::reading::{Deviation, Mode, Quirk, WithRepairs};
use a2a_types::{AgentCard, ProtocolVersion};
use http::header::{AGE, HeaderMap, HeaderValue};
use http::{Request, Response, StatusCode};
use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};

use crate::card::read_card_in;
use crate::catalog::{Catalog, ListedCard};
use crate::client::FoundCard;
use crate::{Client, Interfaces, Origin};

/// Discovers agent cards and caches each for as long as its server allows.
///
/// A cached card is used without a request while it is fresh, and revalidated by its tag or time
/// afterwards (RFC 9111; specification 1.0 §8.6). Clones share the cache.
#[derive(Clone, Debug)]
pub struct Cards {
    http: HttpClient,
    settings: CardSettings,
    kept: Arc<Mutex<HashMap<String, CachedCard>>>,
}

/// Settings of requests for cards, and of their reading.
#[derive(Clone, Debug)]
pub(crate) struct CardSettings {
    pub(crate) headers: HeaderMap,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    #[cfg(feature = "card-signature")]
    pub(crate) verifier: Option<Arc<CardVerifier>>,
    pub(crate) mode: Mode,
    pub(crate) deviations: Option<DeviationObserver>,
}

impl Default for CardSettings {
    fn default() -> Self {
        Self {
            headers: HeaderMap::new(),
            credentials: None,
            #[cfg(feature = "card-signature")]
            verifier: None,
            mode: Mode::Tolerant,
            deviations: None,
        }
    }
}

/// A cached card and its cache policy.
#[derive(Clone, Debug)]
struct CachedCard {
    found: FoundCard,
    policy: CachePolicy,
}

/// An agent card as it came.
#[derive(Clone, Debug)]
pub struct CardDocument {
    /// The URL at which it was found.
    pub url: String,
    /// The card as it is read.
    pub card: Arc<AgentCard>,
    /// The document.
    pub text: String,
    /// The headers of its answer.
    pub headers: HeaderMap,
}

/// Notes why there is no card at one place. Errors: the host cannot be reached, so that other paths cannot help.
fn pass(error: Error, first_problem: &mut Option<Error>) -> Result<(), Error> {
    match error {
        Error::Unreachable(_)
        | Error::Connection(_)
        | Error::Timeout { .. }
        | Error::Address { .. } => return Err(error),
        Error::NotA2a {
            status: 404 | 405, ..
        } => {}
        error => drop(first_problem.get_or_insert(error)),
    }
    Ok(())
}

impl Default for Cards {
    fn default() -> Self {
        Self::new(HttpClient::default())
    }
}

impl Cards {
    /// Creates an empty cache that fetches with `http`.
    pub fn new(http: HttpClient) -> Self {
        Self::with(http, CardSettings::default())
    }

    pub(crate) fn with(http: HttpClient, settings: CardSettings) -> Self {
        Self {
            http,
            settings,
            kept: Arc::default(),
        }
    }

    /// Reads cards in a mode; by default everything that can be read is kept.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.mode = mode;
        self.kept = Arc::default();
        self
    }

    /// Reports the violations of a fetched card to an observer.
    pub fn deviations(mut self, observer: Option<DeviationObserver>) -> Self {
        self.settings.deviations = observer;
        self
    }

    /// Sends these headers with every request for a card.
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.settings.headers = headers;
        // Cached cards were fetched as another caller.
        self.kept = Arc::default();
        self
    }

    /// Authenticates requests for cards.
    pub fn credentials(mut self, credentials: Option<Arc<dyn Credentials>>) -> Self {
        self.settings.credentials = credentials;
        self.kept = Arc::default();
        self
    }

    /// Accepts only cards that one of these keys has signed (1.0 §8.4); others fail as
    /// [`Error::Unverified`]. Only what the signature covers is read.
    #[cfg(feature = "card-signature")]
    pub fn verify(mut self, verifier: impl Into<CardVerifier>) -> Self {
        self.settings.verifier = Some(Arc::new(verifier.into()));
        // Cached cards were not verified, or with other keys.
        self.kept = Arc::default();
        self
    }

    /// Returns the card of the agent at `url`: its origin, base or card.
    pub async fn find(&self, url: &str) -> Result<Arc<AgentCard>, Error> {
        Ok(self.discover(url).await?.card)
    }

    /// Finds the card of the agent at `url`, and also returns it as received, for programs that judge
    /// cards.
    pub async fn find_document(&self, url: &str) -> Result<CardDocument, Error> {
        let (url, identifier) = named(url);
        let mut first_problem = None;
        for place in card_places(url) {
            match self.document_at(&place, identifier).await {
                Ok(found) => return Ok(found),
                Err(error) => pass(error, &mut first_problem)?,
            }
        }
        Err(first_problem.unwrap_or_else(|| no_card(url, StatusCode::NOT_FOUND, b"")))
    }

    /// Reads the card at a place, or the one of this identifier in a catalog there.
    async fn document_at(
        &self,
        place: &str,
        identifier: Option<&str>,
    ) -> Result<CardDocument, Error> {
        let fetched = match identifier == LISTED {
            // Headers and credentials are for the place that the caller has named.
            true => self.http.get(place, &HeaderMap::new()).await?,
            false => {
                let credentials = self.settings.credentials.as_deref();
                let headers = &self.settings.headers;
                self.http.get_as(credentials, place, headers).await?
            }
        };
        if fetched.status != StatusCode::OK {
            return Err(no_card(place, fetched.status, &fetched.body));
        }
        let mut text = String::from_utf8_lossy(&fetched.body).into_owned();
        match listed(&text, identifier)? {
            None => {}
            Some(ListedCard::Document(card)) => text = card,
            Some(ListedCard::Url(url)) => return Box::pin(self.document_at(&url, LISTED)).await,
        }
        Ok(CardDocument {
            url: place.to_owned(),
            card: self.read(&text, place)?.card,
            text,
            headers: fetched.headers,
        })
    }

    pub(crate) async fn discover(&self, url: &str) -> Result<FoundCard, Error> {
        let (url, identifier) = named(url);
        let mut first_problem = None;
        for place in card_places(url) {
            match self.at(&place, identifier).await {
                Ok(found) => return Ok(found),
                Err(error) => pass(error, &mut first_problem)?,
            }
        }
        Err(first_problem.unwrap_or_else(|| no_card(url, StatusCode::NOT_FOUND, b"")))
    }

    /// Connects to the agent at `url`, by the first supported interface on its card.
    pub async fn connect(&self, url: &str) -> Result<Client, Error> {
        let found = self.discover(url).await?;
        let agent = Origin::of(url)?;
        let interfaces = Interfaces::of(&found.card, |interface, transport| {
            let is_own = Origin::of(&interface.url).is_ok_and(|origin| origin == agent);
            transport.http(self.http.clone()).call_credentials(is_own)
        })?;
        Ok(Client::with_found(interfaces, found))
    }

    async fn at(&self, place: &str, identifier: Option<&str>) -> Result<FoundCard, Error> {
        let request = || Request::get(place).body(());
        let mut asked = request().map_err(|error| bad_place(place, &error))?;
        let kept = self.kept().get(place).cloned();
        if let Some(kept) = &kept {
            match kept.policy.before_request(&asked, SystemTime::now()) {
                BeforeRequest::Fresh(_) => return Ok(kept.found.clone()),
                BeforeRequest::Stale { request, .. } => *asked.headers_mut() = request.headers,
            }
        }
        let mut headers = asked.headers().clone();
        // The policy adds a header that HTTP sends anyway.
        headers.remove(http::header::HOST);
        if let Some(trace) = spans::current_trace_context() {
            trace.write(&mut headers);
        }
        let mut credentials = None;
        // Headers and credentials are for the place that the caller has named, not for one that a catalog names.
        if identifier != LISTED {
            headers.extend(self.settings.headers.clone());
            credentials = self.settings.credentials.as_deref();
        }
        let fetched = self.http.get_as(credentials, place, &headers).await?;
        let now = SystemTime::now();
        if let Some(kept) = kept
            && fetched.status == StatusCode::NOT_MODIFIED
            && let AfterResponse::NotModified(policy, _) =
                kept.policy.after_response(&asked, &answer(&fetched), now)
        {
            let found = kept.found.clone();
            self.keep(place, CachedCard { policy, ..kept });
            return Ok(found);
        }
        if fetched.status != StatusCode::OK {
            self.kept().remove(place);
            return Err(no_card(place, fetched.status, &fetched.body));
        }
        let text = String::from_utf8_lossy(&fetched.body);
        // A catalog is not cached, unlike the card that it leads to.
        let found = match listed(&text, identifier)? {
            None => self.read(&text, place)?,
            Some(ListedCard::Document(card)) => return self.read(&card, place),
            Some(ListedCard::Url(url)) => return Box::pin(self.at(&url, LISTED)).await,
        };
        let asked = request().map_err(|error| bad_place(place, &error))?;
        let policy = CachePolicy::new_options(&asked, &answer(&fetched), now, PRIVATE);
        if policy.is_storable() {
            let found = found.clone();
            self.keep(place, CachedCard { found, policy });
        }
        Ok(found)
    }

    fn read(&self, text: &str, place: &str) -> Result<FoundCard, Error> {
        #[cfg(feature = "card-signature")]
        if let Some(verifier) = &self.settings.verifier {
            return self.verified(verifier, text);
        }
        let mut read = read_card_in(text, self.settings.mode).map_err(Error::Malformed)?;
        if self.settings.mode == Mode::Tolerant {
            let deviations = resolve_urls(&mut read.value, place);
            read.repairs.extend(deviations);
        }
        Ok(Arc::new(self.tell(read)).into())
    }

    /// Reports the deviations of a card to the observer, and returns the card.
    fn tell(&self, read: WithRepairs<AgentCard>) -> AgentCard {
        if let Some(observer) = &self.settings.deviations {
            read.repairs
                .iter()
                .for_each(|found| observer.observe(found));
        }
        read.value
    }

    /// Reads what a trusted signature covers of a card, and nothing else.
    #[cfg(feature = "card-signature")]
    fn verified(&self, verifier: &CardVerifier, text: &str) -> Result<FoundCard, Error> {
        // Malformed JSON becomes null, which has no signature.
        let json = serde_json::from_str(text).unwrap_or_default();
        let verification = verifier
            .verify(&json)
            .map_err(|problem| Error::Unverified(problem.to_string()))?;
        let read = read_card_in(&verification.card.to_string(), self.settings.mode);
        let card = self.tell(read.map_err(Error::Malformed)?);
        Ok(FoundCard {
            card: Arc::new(card),
            verification: Some(Arc::new(verification)),
        })
    }

    fn keep(&self, place: &str, card: CachedCard) {
        let mut kept = self.kept();
        if kept.len() >= CAPACITY && !kept.contains_key(place) {
            // Evicts any entry: it is fetched again on demand.
            if let Some(other) = kept.keys().next().cloned() {
                kept.remove(&other);
            }
        }
        kept.insert(place.to_owned(), card);
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<String, CachedCard>> {
        // Every change is one insertion or removal, so a panic elsewhere leaves the map whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Splits a URL at the identifier of an agent that it names in a catalog.
fn named(url: &str) -> (&str, Option<&str>) {
    match url.split_once('#') {
        Some((url, identifier)) => (url, Some(identifier).filter(|it| !it.is_empty())),
        None => (url, None),
    }
}

/// Returns the card of this identifier that a catalog lists; `None` for a document that is not a catalog.
fn listed(text: &str, identifier: Option<&str>) -> Result<Option<ListedCard>, Error> {
    match Catalog::read(text) {
        None if identifier.is_none() || identifier == LISTED => Ok(None),
        None => Err(Error::Address {
            url: format!("#{}", identifier.unwrap_or_default()),
            problem: "the document is not an AI Catalog, which could list several agents"
                .to_owned(),
        }),
        Some(_) if identifier == LISTED => Err(Error::NotA2a {
            status: 200,
            problem: "the catalog leads to another catalog: expected the URL of a card".to_owned(),
        }),
        Some(catalog) => Ok(Some(catalog.find(identifier)?.clone())),
    }
}

/// Replaces the identifier at a URL that a catalog names, so that catalogs cannot refer to each
/// other in circles.
const LISTED: Option<&str> = Some("");

/// Resolves URLs that are paths against that of the card.
fn resolve_urls(card: &mut AgentCard, place: &str) -> Vec<Deviation> {
    let mut deviations = Vec::new();
    for (index, interface) in card.supported_interfaces.iter_mut().enumerate() {
        if !interface.url.starts_with('/') || interface.url.starts_with("//") {
            continue;
        }
        let url = format!("{}{}", origin_of(place), interface.url);
        deviations.push(Deviation {
            found: "a path".to_owned(),
            read_as: url.clone(),
            ..Deviation::new(
                Quirk::RelativeUrl,
                format!("$.supportedInterfaces[{index}].url"),
            )
        });
        interface.url = url;
    }
    deviations
}

/// Returns a URL up to its path.
fn origin_of(url: &str) -> &str {
    let scheme = url.find("://").map_or(0, |end| end + 3);
    let path = url[scheme..].find(['/', '?', '#']);
    path.map_or(url, |path| &url[..scheme + path])
}

/// Number of cards that are cached.
const CAPACITY: usize = 1024;

/// Options of a private cache that obeys every directive.
const PRIVATE: CacheOptions = CacheOptions {
    shared: false,
    cache_heuristic: 0.1,
    immutable_min_time_to_live: std::time::Duration::from_secs(24 * 3600),
    ignore_cargo_cult: false,
};

fn answer(fetched: &FetchResponse) -> Response<()> {
    let mut answer = Response::new(());
    *answer.status_mut() = fetched.status;
    *answer.headers_mut() = fetched.headers.clone();
    if let Some(age) = answer.headers_mut().get_mut(AGE) {
        let seconds = age.to_str().ok().and_then(|age| age.parse::<u32>().ok());
        if seconds.is_none() {
            // The policy adds to it without a check for overflow.
            *age = HeaderValue::from_static(OLDEST);
        }
    }
    answer
}

/// Age in seconds used for an `Age` that is too large (RFC 9111 §1.2.2) or not a number.
const OLDEST: &str = "2147483648";

/// Returns the URLs to try: the URL itself if it names a document, else the well-known paths below the URL, the newest
/// first, the URL itself if it has a path, and the well-known paths below its origin. A query
/// is kept.
fn card_places(url: &str) -> Vec<String> {
    let (base, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let base = base.trim_end_matches('/');
    if base.ends_with(".json") {
        return vec![format!("{base}{query}")];
    }
    let origin = origin_of(base);
    let well_known =
        |base: &str| ProtocolVersion::CARD_PATHS.map(|path| format!("{base}{path}{query}"));
    let mut places = well_known(base).to_vec();
    if base != origin {
        places.push(url.to_owned());
        places.extend(well_known(origin));
    }
    places
}

/// Describes that there is no card at a place, with the reason that the server gives in a line of text.
fn no_card(place: &str, status: StatusCode, body: &[u8]) -> Error {
    let reason = std::str::from_utf8(body).unwrap_or_default().trim();
    let is_line = (1..=MAX_REASON).contains(&reason.len())
        && !reason.starts_with(['<', '{', '[', '"'])
        && !reason.contains('\n');
    let reason = match is_line {
        true => format!(": {reason}"),
        false => String::new(),
    };
    Error::NotA2a {
        status: status.as_u16(),
        problem: format!("no agent card at {place}{reason}"),
    }
}

/// Bytes of the reason for which there is no card.
const MAX_REASON: usize = 300;

fn bad_place(place: &str, error: &http::Error) -> Error {
    Error::Address {
        url: place.to_owned(),
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_places(url: &str, expected: &[&str]) {
        assert_eq!(card_places(url), expected, "{url}");
    }

    #[test]
    fn locations_of_a_card_follow_from_the_url() {
        let root = [
            "http://h/.well-known/agent-card.json",
            "http://h/.well-known/agent.json",
        ];
        check_places("http://h", &root);
        check_places("http://h/", &root);
        check_places("http://h/card.json", &["http://h/card.json"]);
        check_places("http://h/card.json?id=1", &["http://h/card.json?id=1"]);
        check_places(
            "http://h?id=1",
            &[
                "http://h/.well-known/agent-card.json?id=1",
                "http://h/.well-known/agent.json?id=1",
            ],
        );
        check_places(
            "http://h/a2a",
            &[
                "http://h/a2a/.well-known/agent-card.json",
                "http://h/a2a/.well-known/agent.json",
                "http://h/a2a",
                root[0],
                root[1],
            ],
        );
    }

    #[test]
    fn catalogs_do_not_lead_in_circles() {
        let catalog = r#"{"specVersion": "1.0", "entries": []}"#;
        let problem = listed(catalog, LISTED).unwrap_err();
        assert!(problem.to_string().contains("another catalog"), "{problem}");
        assert!(
            listed(catalog, None)
                .unwrap_err()
                .to_string()
                .contains("no agent card")
        );
        assert_eq!(
            listed(r#"{"name": "n", "entries": []}"#, LISTED).unwrap(),
            None
        );
    }

    #[test]
    fn an_age_that_no_document_has_makes_it_stale() {
        let asked = Request::get("http://h/card.json").body(()).unwrap();
        let now = SystemTime::now();
        let later = now + std::time::Duration::from_secs(300);
        for (age, is_fresh) in [
            ("1", true),
            ("1000", false),
            ("18446744073709551615", false),
            ("99999999999999999999999", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AGE, age.parse().unwrap());
            headers.insert(http::header::CACHE_CONTROL, "max-age=900".parse().unwrap());
            let fetched = FetchResponse {
                status: StatusCode::OK,
                headers,
                body: Default::default(),
            };
            let policy = CachePolicy::new_options(&asked, &answer(&fetched), now, PRIVATE);
            let found = matches!(
                policy.before_request(&asked, later),
                BeforeRequest::Fresh(_)
            );
            assert_eq!(found, is_fresh, "{age}");
        }
    }
}
