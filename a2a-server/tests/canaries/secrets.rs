//! The canaries: a unique text for each kind of secret.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use a2a_types::Base64;

/// The token of a webhook.
pub(crate) const TOKEN: &str = "Qm7tPz3TokenVx91kLrWe5";
/// The credentials of a webhook, behind `Bearer`.
pub(crate) const BEARER: &str = "Hs4dBearerNf82yUcXj06Ga";
/// The password of a webhook, behind `Basic`.
pub(crate) const BASIC: &str = "Tk9wBasicMb35oZiDr71Ye";
/// A secret in the URL of a webhook.
pub(crate) const URL_KEY: &str = "Vy2nUrlKeyRg68sJpAq40C";
/// A caller's secret in `Authorization`.
pub(crate) const AUTHORIZATION: &str = "Lc8fCallerXw13hQoEt57Dm";
/// A caller's secret in a header of its own.
pub(crate) const API_KEY: &str = "Bj5kApiKeyUz92aFvNs36Lo";
/// A caller's secret in a cookie.
pub(crate) const COOKIE: &str = "Pe1xCookieGd74rKyWi08Qb";
/// The seed of the agent's signing key: 32 bytes.
pub(crate) const SIGNING: &str = "Wn6vSigningKeyCq50tHmZa29JpRfX3u";
/// The secret of Standard Webhooks that the agent signs with: 32 bytes.
pub(crate) const SECRET: &str = "Do3gStandardSecretEy81bVkTn64MwA";
/// A secret that a receiver asks for.
pub(crate) const RECEIVER: &str = "Zr9jReceiverIh27cSuFl53Kx";
/// Answer of a receiver that takes nothing.
pub(crate) const ANSWER: &str = "Xa4qAnswerOt60pGdBw85Vn";
/// Content of a message.
pub(crate) const CONTENT: &str = "Gu7mContentJs19eLxRc42Hy";

/// Every canary, and what it stands for.
pub(crate) const ALL: [(&str, &str); 12] = [
    ("a webhook's token", TOKEN),
    ("a webhook's credentials", BEARER),
    ("a webhook's password", BASIC),
    ("a secret in a webhook's URL", URL_KEY),
    ("a caller's Authorization", AUTHORIZATION),
    ("a caller's key", API_KEY),
    ("a caller's cookie", COOKIE),
    ("the agent's signing key", SIGNING),
    ("the agent's webhook secret", SECRET),
    ("a receiver's secret", RECEIVER),
    ("a receiver's answer", ANSWER),
    ("the content of a message", CONTENT),
];

/// The canaries that are found in a text, in whatever form.
pub(crate) fn found(text: &str) -> BTreeSet<&'static str> {
    let found = FORMS.iter().filter(|(_, form)| text.contains(form));
    found.map(|(canary, _)| *canary).collect()
}

/// Returns the bytes of the longest spelling.
pub(crate) fn longest() -> usize {
    let lengths = FORMS.iter().map(|(_, form)| form.len());
    lengths.max().unwrap_or_default()
}

/// Spellings of each canary.
static FORMS: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
    let forms = ALL.iter().flat_map(|(_, canary)| {
        let forms = forms(canary).into_iter();
        forms.map(move |form| (*canary, form))
    });
    forms.collect()
});

/// Forms of a canary: text, hexadecimal, bytes as `Debug` prints them, and Base64 at every offset.
pub(crate) fn forms(canary: &str) -> Vec<String> {
    let each = |write: fn(&u8) -> String| canary.as_bytes().iter().map(write);
    let mut forms = vec![
        canary.to_owned(),
        each(|byte| format!("{byte:02x}")).collect(),
        each(|byte| format!("{byte:02X}")).collect(),
        each(u8::to_string).collect::<Vec<_>>().join(", "),
        each(u8::to_string).collect::<Vec<_>>().join(","),
    ];
    for before in 0..3 {
        let bytes = [&b"..."[..before], canary.as_bytes()].concat();
        let whole = bytes.len() / 3 * 4;
        // Without the characters that also encode the neighbouring bytes.
        let inner = Base64::encode(&bytes).as_text()[(before * 8).div_ceil(6)..whole].to_owned();
        forms.push(inner.replace('+', "-").replace('/', "_"));
        forms.push(inner);
    }
    forms
}
