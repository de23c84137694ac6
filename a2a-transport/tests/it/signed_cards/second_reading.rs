//! A second reading of 1.0 §8.4, RFC 8785 and RFC 7515, which shares no code with the first.

use a2a_transport::webhook::Jwk;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// Places of the members that are neither `REQUIRED` nor `optional` in the proto, nor messages; `*` is any item
/// or name.
const LEFT_OUT: &[&str] = &[
    "/securitySchemes",
    "/securityRequirements",
    "/securityRequirements/*/schemes",
    "/securityRequirements/*/schemes/*/list",
    "/supportedInterfaces/*/tenant",
    "/capabilities/extensions",
    "/capabilities/extensions/*/uri",
    "/capabilities/extensions/*/description",
    "/capabilities/extensions/*/required",
    "/skills/*/examples",
    "/skills/*/inputModes",
    "/skills/*/outputModes",
    "/skills/*/securityRequirements",
    "/securitySchemes/*/*/description",
    "/securitySchemes/*/httpAuthSecurityScheme/bearerFormat",
];

/// Returns the signed form of a card by the text of §8.4.1: RFC 8785, without signatures and without members at
/// their default.
pub(super) fn by_the_text(card: &Value) -> String {
    let mut card = card.clone();
    card.as_object_mut().unwrap().remove("signatures");
    write(&card, "").unwrap_or_default()
}

/// Returns the JSON of a value, or `None` if it is left out.
fn write(value: &Value, place: &str) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => ecmascript(number.as_f64().unwrap()),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let place = format!("{place}/*");
            let items: Vec<_> = items
                .iter()
                .filter_map(|item| write(item, &place))
                .collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| name.encode_utf16().collect::<Vec<_>>());
            let members = members.into_iter().filter_map(|(name, member)| {
                let member = write(member, &format!("{place}/{name}"))?;
                Some(format!("{}:{member}", quoted(name)))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    };
    let is_default = ["\"\"", "[]", "{}", "false"].contains(&text.as_str());
    let is_left_out = LEFT_OUT.iter().any(|pattern| is_at(place, pattern));
    (!(is_default && is_left_out)).then_some(text)
}

fn is_at(place: &str, pattern: &str) -> bool {
    let (place, pattern): (Vec<_>, Vec<_>) =
        (place.split('/').collect(), pattern.split('/').collect());
    let fits = |(name, pattern): (&&str, &&str)| *pattern == "*" || name == pattern;
    place.len() == pattern.len() && place.iter().zip(&pattern).all(fits)
}

/// RFC 8785 §3.2.2.2.
fn quoted(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        letter if u32::from(letter) < 0x20 => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", letters.collect::<String>())
}

/// RFC 8785 §3.2.2.3, for numbers that are not negative.
fn ecmascript(number: f64) -> String {
    if (1e-6..1e21).contains(&number) || number == 0.0 {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once("e-") {
        Some(_) => text,
        None => text.replace('e', "e+"),
    }
}

/// Returns whether a signature is over a payload, by a key of P-256.
pub(super) fn verifies(signature: &Value, payload: &str, key: &Jwk) -> bool {
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let coordinates = [&key.x, &key.y].map(|part| decode(part.as_ref().unwrap()));
    let point = [vec![4], coordinates.concat()].concat();
    let input = format!(
        "{}.{}",
        signature["protected"].as_str().unwrap(),
        base64url(payload)
    );
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    let signature = decode(signature["signature"].as_str().unwrap());
    key.verify(input.as_bytes(), &signature).is_ok()
}

pub(super) fn base64url(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}
