//! Shape of a card in the proto of 1.0: its messages, their members, and what a member's default means.

use serde_json::{Map, Value, json};

use self::Kind::{Flag, List, ListOf, MapOf, One, Text};
use self::Presence::{Explicit, Implicit, Required};

/// A message of the proto, by its members.
pub(super) struct Shape(&'static [(&'static str, Presence, Kind)]);

/// Meaning of a member's default: the empty string, list or object, 0, or `false`.
#[derive(PartialEq)]
enum Presence {
    /// Marked as `REQUIRED`: always written.
    Required,
    /// Marked as `optional`, a message, or one of a choice: not the same as absent.
    Explicit,
    /// The same as absent.
    Implicit,
}

/// Type of a member.
enum Kind {
    Text,
    Flag,
    /// A list of strings.
    List,
    /// A map of strings, or any JSON object.
    Map,
    One(&'static Shape),
    ListOf(&'static Shape),
    MapOf(&'static Shape),
}

impl Shape {
    /// Removes the members that 1.0 does not have, at every depth except inside free JSON objects. Renames
    /// members from their proto names (`icon_url`) to their JSON names.
    pub(super) fn retain_known(&self, members: &mut Map<String, Value>) {
        let mut given = std::mem::take(members);
        for (name, ..) in self.0 {
            let value = given.remove(*name);
            if let Some(value) = value.or_else(|| given.remove(&proto_name(name))) {
                members.insert((*name).to_owned(), value);
            }
        }
        self.for_each_nested(members, Self::retain_known);
    }

    /// Removes what ProtoJSON does not write: members that are `null`, and members that have their default if
    /// the default means the same as absent. Unknown members stay.
    pub(super) fn remove_defaults(&self, members: &mut Map<String, Value>) {
        self.for_each_nested(members, Self::remove_defaults);
        for (name, presence, _) in self.0 {
            if *presence == Implicit && members.get(*name).is_some_and(is_default) {
                members.remove(*name);
            }
        }
        members.retain(|_, member| !member.is_null());
    }

    /// Adds the required members that are absent, at their defaults.
    pub(super) fn add_required(&self, members: &mut Map<String, Value>) {
        for (name, presence, kind) in self.0 {
            if *presence == Required && !members.contains_key(*name) {
                let default = match kind {
                    Text => json!(""),
                    Flag => json!(false),
                    List | ListOf(_) => json!([]),
                    Kind::Map | One(_) | MapOf(_) => json!({}),
                };
                members.insert((*name).to_owned(), default);
            }
        }
        self.for_each_nested(members, Self::add_required);
    }

    fn for_each_nested(
        &self,
        members: &mut Map<String, Value>,
        apply: fn(&Self, &mut Map<String, Value>),
    ) {
        for (name, _, kind) in self.0 {
            let Some(member) = members.get_mut(*name) else {
                continue;
            };
            match kind {
                One(shape) => member
                    .as_object_mut()
                    .into_iter()
                    .for_each(|one| apply(shape, one)),
                ListOf(shape) => {
                    let items = member.as_array_mut().into_iter().flatten();
                    items
                        .filter_map(Value::as_object_mut)
                        .for_each(|one| apply(shape, one));
                }
                MapOf(shape) => {
                    let values = member.as_object_mut().into_iter().flat_map(Map::values_mut);
                    values
                        .filter_map(Value::as_object_mut)
                        .for_each(|one| apply(shape, one));
                }
                Text | Flag | List | Kind::Map => {}
            }
        }
    }
}

/// Returns the name of a member in the proto: `iconUrl` is `icon_url`.
fn proto_name(name: &str) -> String {
    let letters = name.chars().flat_map(|letter| {
        let underscore = letter.is_ascii_uppercase().then_some('_');
        underscore.into_iter().chain([letter.to_ascii_lowercase()])
    });
    letters.collect()
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// The card without its signatures, which are not signed.
pub(super) const CARD: Shape = Shape(&[
    ("name", Required, Text),
    ("description", Required, Text),
    ("supportedInterfaces", Required, ListOf(&INTERFACE)),
    ("provider", Explicit, One(&PROVIDER)),
    ("version", Required, Text),
    ("documentationUrl", Explicit, Text),
    ("capabilities", Required, One(&CAPABILITIES)),
    ("securitySchemes", Implicit, MapOf(&SCHEME)),
    ("securityRequirements", Implicit, ListOf(&REQUIREMENT)),
    ("defaultInputModes", Required, List),
    ("defaultOutputModes", Required, List),
    ("skills", Required, ListOf(&SKILL)),
    ("iconUrl", Explicit, Text),
]);
const INTERFACE: Shape = Shape(&[
    ("url", Required, Text),
    ("protocolBinding", Required, Text),
    ("tenant", Implicit, Text),
    ("protocolVersion", Required, Text),
]);
const PROVIDER: Shape = Shape(&[("url", Required, Text), ("organization", Required, Text)]);
const CAPABILITIES: Shape = Shape(&[
    ("streaming", Explicit, Flag),
    ("pushNotifications", Explicit, Flag),
    ("extensions", Implicit, ListOf(&EXTENSION)),
    ("extendedAgentCard", Explicit, Flag),
]);
const EXTENSION: Shape = Shape(&[
    ("uri", Implicit, Text),
    ("description", Implicit, Text),
    ("required", Implicit, Flag),
    ("params", Explicit, Kind::Map),
]);
const SKILL: Shape = Shape(&[
    ("id", Required, Text),
    ("name", Required, Text),
    ("description", Required, Text),
    ("tags", Required, List),
    ("examples", Implicit, List),
    ("inputModes", Implicit, List),
    ("outputModes", Implicit, List),
    ("securityRequirements", Implicit, ListOf(&REQUIREMENT)),
]);
const REQUIREMENT: Shape = Shape(&[("schemes", Implicit, MapOf(&STRINGS))]);
const STRINGS: Shape = Shape(&[("list", Implicit, List)]);
const SCHEME: Shape = Shape(&[
    ("apiKeySecurityScheme", Explicit, One(&API_KEY)),
    ("httpAuthSecurityScheme", Explicit, One(&HTTP_AUTH)),
    ("oauth2SecurityScheme", Explicit, One(&OAUTH2)),
    (
        "openIdConnectSecurityScheme",
        Explicit,
        One(&OPEN_ID_CONNECT),
    ),
    ("mtlsSecurityScheme", Explicit, One(&MTLS)),
]);
const API_KEY: Shape = Shape(&[
    ("description", Implicit, Text),
    ("location", Required, Text),
    ("name", Required, Text),
]);
const HTTP_AUTH: Shape = Shape(&[
    ("description", Implicit, Text),
    ("scheme", Required, Text),
    ("bearerFormat", Implicit, Text),
]);
const OAUTH2: Shape = Shape(&[
    ("description", Implicit, Text),
    ("flows", Required, One(&FLOWS)),
    ("oauth2MetadataUrl", Implicit, Text),
]);
const OPEN_ID_CONNECT: Shape = Shape(&[
    ("description", Implicit, Text),
    ("openIdConnectUrl", Required, Text),
]);
const MTLS: Shape = Shape(&[("description", Implicit, Text)]);
const FLOWS: Shape = Shape(&[
    ("authorizationCode", Explicit, One(&AUTHORIZATION_CODE)),
    ("clientCredentials", Explicit, One(&CLIENT_CREDENTIALS)),
    ("implicit", Explicit, One(&IMPLICIT)),
    ("password", Explicit, One(&PASSWORD)),
    ("deviceCode", Explicit, One(&DEVICE_CODE)),
]);
const AUTHORIZATION_CODE: Shape = Shape(&[
    ("authorizationUrl", Required, Text),
    ("tokenUrl", Required, Text),
    ("refreshUrl", Implicit, Text),
    ("scopes", Required, Kind::Map),
    ("pkceRequired", Implicit, Flag),
]);
const CLIENT_CREDENTIALS: Shape = Shape(&[
    ("tokenUrl", Required, Text),
    ("refreshUrl", Implicit, Text),
    ("scopes", Required, Kind::Map),
]);
/// Deprecated, and so without required members.
const IMPLICIT: Shape = Shape(&[
    ("authorizationUrl", Implicit, Text),
    ("refreshUrl", Implicit, Text),
    ("scopes", Implicit, Kind::Map),
]);
/// Deprecated, and so without required members.
const PASSWORD: Shape = Shape(&[
    ("tokenUrl", Implicit, Text),
    ("refreshUrl", Implicit, Text),
    ("scopes", Implicit, Kind::Map),
]);
const DEVICE_CODE: Shape = Shape(&[
    ("deviceAuthorizationUrl", Required, Text),
    ("tokenUrl", Required, Text),
    ("refreshUrl", Implicit, Text),
    ("scopes", Required, Kind::Map),
]);
