//! Verdicts on the signatures of a card.

use a2a_client::webhook::{Jwks, JwksUrl, KeySource};
use a2a_client::{CardVerifier, HttpClient, HttpClientBuilder, Origin, causes};
use a2a_transport::card_signature::header;
use serde_json::{Value, json};

/// Returns a verdict on each signature: `valid`, `invalid`, or `unchecked` where there are no keys.
///
/// Keys come from `keys`. Without it, from where the signature says, if that is at the agent's own origin: the verdict is
/// then about this card, not about its signer.
pub(super) async fn signatures(mut key_sets: KeySets, raw: &str, keys: Option<&str>) -> Vec<Value> {
    let card: Value = serde_json::from_str(raw).unwrap_or_default();
    let signatures = card["signatures"].as_array().map_or(&[][..], Vec::as_slice);
    let mut verdicts = Vec::new();
    for signature in signatures.iter().take(MAX_SIGNATURES) {
        verdicts.push(verdict(&card, signature, keys, &mut key_sets).await);
    }
    verdicts
}

async fn verdict(
    card: &Value,
    signature: &Value,
    keys: Option<&str>,
    key_sets: &mut KeySets,
) -> Value {
    let header = match header(signature) {
        Ok(header) => header,
        Err(reason) => return json!({"verdict": "invalid", "message": reason.to_string()}),
    };
    let judge = |verdict: &str, form: Option<&str>, message: String| {
        json!({
            "keyId": header.kid,
            "algorithm": header.alg,
            "keysUrl": header.jku,
            "verdict": verdict,
            "form": form,
            "message": message,
        })
    };
    let own = header.jku.as_deref().filter(|url| key_sets.is_own(url));
    let Some(url) = keys.or(own) else {
        let message = match &header.jku {
            Some(url) => format!(
                "its keys are at {url}, which is not of the agent's origin: name the URL to trust it"
            ),
            None => "it does not say where its keys are: name their URL".to_owned(),
        };
        return judge("unchecked", None, message);
    };
    let key_set = match key_sets.at(url).await {
        Ok(key_set) => key_set,
        Err(problem) => return judge("unchecked", None, format!("{url}: {problem}")),
    };
    let mut alone = card.clone();
    alone["signatures"] = json!([signature]);
    match CardVerifier::new(key_set).verify(&alone) {
        Ok(verified) => {
            let form = verified.form;
            let message = match keys {
                Some(_) => format!("signed by a key that you trust: {form}"),
                None => format!("signed by a key that the agent itself publishes: {form}"),
            };
            judge("valid", Some(form.as_str()), message)
        }
        Err(error) => {
            let reasons: Vec<_> = error.reasons.iter().map(ToString::to_string).collect();
            judge("invalid", None, reasons.join("; "))
        }
    }
}

/// Key sets that are fetched for one card, by their URLs.
pub(super) struct KeySets {
    /// Origin of the agent.
    own: Option<Origin>,
    http: HttpClient,
    fetched: Vec<(String, Result<Jwks, String>)>,
}

impl KeySets {
    /// Creates the key sets for a card of the agent at `url`, if it is of one.
    pub(super) fn new(url: Option<&str>, http: HttpClientBuilder) -> Self {
        Self {
            own: url.and_then(|url| Origin::of(url).ok()),
            http: http.without_identity().limit(MAX_KEYS_BYTES).build(),
            fetched: Vec::new(),
        }
    }

    fn is_own(&self, url: &str) -> bool {
        self.own.is_some() && self.own == Origin::of(url).ok()
    }

    async fn at(&mut self, url: &str) -> Result<Jwks, String> {
        if let Some((_, keys)) = self.fetched.iter().find(|(known, _)| known == url) {
            return keys.clone();
        }
        let fetched = JwksUrl::new(url, self.http.clone()).fetch().await;
        let fetched = fetched.map_err(|error| causes(&*error));
        self.fetched.push((url.to_owned(), fetched.clone()));
        fetched
    }
}

/// Signatures that are judged.
const MAX_SIGNATURES: usize = 16;
/// Bytes of a key set.
const MAX_KEYS_BYTES: usize = 256 << 10;
