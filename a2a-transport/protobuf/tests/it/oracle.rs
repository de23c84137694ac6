//! The codec and prost-reflect agree on messages, JSON and refusals.

use a2a_protobuf::{
    HEALTH_CHECK_REQUEST, HEALTH_CHECK_RESPONSE, MessageType, Method, SERVER_REFLECTION_REQUEST,
    SERVER_REFLECTION_RESPONSE, STATUS, file_descriptors,
};
use a2a_types::Timestamp;
use prost_reflect::prost::Message;
use prost_reflect::prost::encoding::{self, DecodeContext, WireType};
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, FieldDescriptor, Kind, MapKey,
    MessageDescriptor, ReflectMessage, SerializeOptions, Value as Field,
};
use serde_json::Value;
use serde_json::value::Serializer;

/// Returns the types of the files, and of a BytesValue.
fn pool() -> DescriptorPool {
    let mut pool = DescriptorPool::new();
    for file in file_descriptors() {
        pool.decode_file_descriptor_proto(file.bytes()).unwrap();
    }
    let wrappers = DescriptorPool::global();
    let wrappers = wrappers.get_file_by_name("google/protobuf/wrappers.proto");
    let wrappers = wrappers.unwrap().file_descriptor_proto().clone();
    pool.add_file_descriptor_proto(wrappers).unwrap();
    pool
}

/// Returns every type that is a request, a response or an error, and its descriptor.
fn types() -> Vec<(&'static MessageType, MessageDescriptor)> {
    let pool = pool();
    let types = Method::all()
        .iter()
        .flat_map(|method| [method.request(), method.response()]);
    let types = types.chain([
        &STATUS,
        &HEALTH_CHECK_REQUEST,
        &HEALTH_CHECK_RESPONSE,
        &SERVER_REFLECTION_REQUEST,
        &SERVER_REFLECTION_RESPONSE,
    ]);
    let descriptor = |name| pool.get_message_by_name(name);
    types
        .map(|message_type| (message_type, descriptor(message_type.name()).unwrap()))
        .collect()
}

/// Converts a message to JSON as the oracle does.
fn oracle_json(descriptor: &MessageDescriptor, message: &[u8]) -> Option<Value> {
    let mut message = DynamicMessage::decode(descriptor.clone(), message).ok()?;
    let mut unknown = Vec::new();
    if descriptor.full_name() == STATUS.name()
        && let Some(Field::List(details)) = message.get_field_by_name_mut("details")
    {
        for (index, detail) in details.iter_mut().enumerate() {
            let any = detail.as_message_mut()?;
            let url = text_field(any, "type_url");
            let name = url.rsplit_once('/').map(|(_, name)| name.to_owned());
            match name.filter(|name| ANY_TYPES.contains(&&**name)) {
                Some(name) if name == "google.rpc.RetryInfo" && has_mixed_signs(any) => {
                    return None;
                }
                Some(_) => {}
                None => {
                    wrap(any);
                    unknown.push((index, url));
                }
            }
        }
    }
    let options = SerializeOptions::new().skip_default_fields(true);
    let mut json = message.serialize_with_options(Serializer, &options).ok()?;
    for (index, url) in unknown {
        let any = json["details"][index].as_object_mut()?;
        any.insert("@type".to_owned(), Value::String(url));
        any.retain(|_, value| value != "");
    }
    Some(json)
}

/// Types of Any that JSON spells as a message.
const ANY_TYPES: [&str; 4] = [
    "google.rpc.BadRequest",
    "google.rpc.ErrorInfo",
    "google.rpc.LocalizedMessage",
    "google.rpc.RetryInfo",
];

fn text_field(message: &DynamicMessage, name: &str) -> String {
    let text = message.get_field_by_name(name).unwrap();
    text.as_str().unwrap().to_owned()
}

/// Makes an Any one of a BytesValue: the oracle refuses unknown types, and spells that one as we spell them.
fn wrap(any: &mut DynamicMessage) {
    let pool = any.descriptor().parent_pool().clone();
    let value = any.get_field_by_name("value").unwrap().into_owned();
    let wrapper = pool.get_message_by_name("google.protobuf.BytesValue");
    let mut wrapper = DynamicMessage::new(wrapper.unwrap());
    wrapper.set_field_by_name("value", value);
    let url = "/google.protobuf.BytesValue".to_owned();
    any.set_field_by_name("type_url", Field::String(url));
    any.set_field_by_name("value", Field::Bytes(wrapper.encode_to_vec().into()));
}

/// Returns whether a RetryInfo has a Duration whose fields have different signs, which the oracle accepts.
fn has_mixed_signs(any: &DynamicMessage) -> bool {
    let pool = any.descriptor().parent_pool().clone();
    let retry = pool.get_message_by_name("google.rpc.RetryInfo").unwrap();
    let value = any.get_field_by_name("value").unwrap();
    let Ok(retry) = DynamicMessage::decode(retry, value.as_bytes().unwrap().clone()) else {
        return false;
    };
    let delay = retry.get_field_by_name("retry_delay").unwrap();
    let delay = delay.as_message().unwrap();
    let field = |name| delay.get_field_by_name(name).unwrap().into_owned();
    let seconds = field("seconds").as_i64().unwrap();
    let nanos = field("nanos").as_i32().unwrap();
    seconds.signum() * i64::from(nanos.signum()) < 0
}

/// Converts JSON to a message as the oracle does.
fn oracle_message(descriptor: &MessageDescriptor, json: &str) -> Option<DynamicMessage> {
    let options = DeserializeOptions::new().deny_unknown_fields(false);
    let mut deserializer = serde_json::Deserializer::from_str(json);
    DynamicMessage::deserialize_with_options(descriptor.clone(), &mut deserializer, &options).ok()
}

/// Returns the JSON with numbers as doubles, as messages have them, and times in milliseconds, as the model has them.
pub(crate) fn normalized(value: Value) -> Value {
    match value {
        Value::String(text) if text.ends_with('Z') => {
            let time = serde_json::from_value(Value::String(text.clone()));
            time.map_or(Value::String(text), |time: Timestamp| {
                Value::String(time.to_string())
            })
        }
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(items) => items.into_iter().map(normalized).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, value)| (name, normalized(value)))
                .collect()
        }
        other => other,
    }
}

/// Returns whether an entry of a map has another wire type than a message, which the oracle does not notice.
fn has_map_without_length(of: &MessageDescriptor, mut message: &[u8]) -> bool {
    while let Ok((number, wire_type)) = encoding::decode_key(&mut message) {
        let field = of.get_field(number);
        let has_length = wire_type == WireType::LengthDelimited;
        if !has_length && field.as_ref().is_some_and(FieldDescriptor::is_map) {
            return true;
        }
        if !has_length {
            let context = DecodeContext::default();
            if encoding::skip_field(wire_type, number, &mut message, context).is_err() {
                return false;
            }
            continue;
        }
        let length = encoding::decode_varint(&mut message).unwrap_or(u64::MAX);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some((content, rest)) = message.split_at_checked(length) else {
            return false;
        };
        message = rest;
        let inner = match field.map(|field| field.kind()) {
            Some(Kind::Message(inner)) => Some(inner),
            // The only message with a map that an Any may have.
            Some(Kind::Bytes) => of.parent_pool().get_message_by_name("google.rpc.ErrorInfo"),
            _ => None,
        };
        if inner.is_some_and(|inner| has_map_without_length(&inner, content)) {
            return true;
        }
    }
    false
}

/// Checks that both convert a message to the same JSON, or refuse it.
#[track_caller]
fn check(message_type: &'static MessageType, descriptor: &MessageDescriptor, message: &[u8]) {
    let name = message_type.name();
    let ours = message_type.to_json(message);
    let theirs = oracle_json(descriptor, message);
    match (ours, theirs) {
        (Ok(ours), Some(theirs)) => {
            let ours: Value = serde_json::from_slice(&ours).unwrap();
            assert_eq!(normalized(ours), normalized(theirs), "{name}: {message:?}");
        }
        (Err(_), None) => {}
        (Err(_), Some(_)) if has_map_without_length(descriptor, message) => {}
        (ours, theirs) => panic!("{name}: {message:?}: {ours:?} and {theirs:?}"),
    }
}

fn text(random: &mut fastrand::Rng) -> String {
    let length = random.usize(..12);
    let letters = std::iter::repeat_with(|| random.char(..));
    letters.take(length).collect()
}

/// Returns a random value of a field; none where messages would nest too deeply.
fn value(kind: Kind, random: &mut fastrand::Rng, depth: usize) -> Option<Field> {
    Some(match kind {
        Kind::Bool => Field::Bool(random.bool()),
        Kind::Int32 => Field::I32(random.i32(..)),
        Kind::String => Field::String(text(random)),
        Kind::Bytes => Field::Bytes(text(random).into_bytes().into()),
        Kind::Double => Field::F64(f64::from(random.i32(..)) / 8.0),
        Kind::Enum(of) => {
            let values: Vec<_> = of.values().map(|value| value.number()).collect();
            Field::EnumNumber(values[random.usize(..values.len())])
        }
        Kind::Message(of) if of.full_name() == "google.protobuf.Timestamp" => {
            let mut time = DynamicMessage::new(of);
            time.set_field_by_name("seconds", Field::I64(random.i64(0..4_000_000_000)));
            time.set_field_by_name("nanos", Field::I32(random.i32(1..1000) * 1_000_000));
            Field::Message(time)
        }
        Kind::Message(of) if of.full_name() == "google.protobuf.Duration" => {
            let mut delay = DynamicMessage::new(of);
            let sign = if random.bool() { 1 } else { -1 };
            let seconds = i64::from(sign) * random.i64(0..=315_576_000_000);
            let nanos = sign * random.i32(0..1000) * [1, 1000, 1_000_000][random.usize(..3)];
            delay.set_field_by_name("seconds", Field::I64(seconds));
            delay.set_field_by_name("nanos", Field::I32(nanos));
            Field::Message(delay)
        }
        Kind::Message(of) if of.full_name() == "google.protobuf.Any" => {
            Field::Message(any(of, random, depth))
        }
        Kind::Message(_) if depth > 5 => return None,
        Kind::Message(of) => Field::Message(message(&of, random, depth + 1)),
        other => panic!("no random {other:?}"),
    })
}

/// Returns an Any of a random type, or of one that is not known.
fn any(of: MessageDescriptor, random: &mut fastrand::Rng, depth: usize) -> DynamicMessage {
    let pool = of.parent_pool().clone();
    let mut any = DynamicMessage::new(of);
    let (url, content) = match ANY_TYPES.get(random.usize(..6)) {
        Some(name) => {
            let content = pool.get_message_by_name(name).unwrap();
            let content = message(&content, random, depth + 1).encode_to_vec();
            (format!("type.googleapis.com/{name}"), content)
        }
        None => (text(random), text(random).into_bytes()),
    };
    any.set_field_by_name("type_url", Field::String(url));
    any.set_field_by_name("value", Field::Bytes(content.into()));
    any
}

/// Returns a message with random fields.
fn message(of: &MessageDescriptor, random: &mut fastrand::Rng, depth: usize) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    for field in of.fields() {
        if random.u8(..4) == 0 {
            continue;
        }
        let count = random.usize(..3);
        if field.is_map() {
            let Kind::Message(entry) = field.kind() else {
                panic!("{} has no entries", field.full_name())
            };
            let kind = entry.map_entry_value_field().kind();
            let mut entry = || {
                let key = MapKey::String(text(random));
                Some((key, value(kind.clone(), random, depth)?))
            };
            let entries = (0..count).filter_map(|_| entry()).collect();
            message.set_field(&field, Field::Map(entries));
        } else if field.is_list() {
            let items = (0..count).filter_map(|_| value(field.kind(), random, depth));
            message.set_field(&field, Field::List(items.collect()));
        } else if let Some(value) = value(field.kind(), random, depth) {
            message.set_field(&field, value);
        }
    }
    if of.full_name() == "google.protobuf.Value" && message.fields().count() == 0 {
        message.set_field_by_name("bool_value", Field::Bool(true));
    }
    message
}

#[test]
fn random_messages_are_converted_as_by_the_oracle() {
    let mut random = fastrand::Rng::with_seed(13);
    for (message_type, descriptor) in types() {
        for _ in 0..200 {
            let encoded = message(&descriptor, &mut random, 0).encode_to_vec();
            check(message_type, &descriptor, &encoded);
            let json = String::from_utf8(message_type.to_json(&encoded).unwrap()).unwrap();
            let ours = message_type.to_protobuf(json.as_bytes()).unwrap();
            let ours = DynamicMessage::decode(descriptor.clone(), &*ours).unwrap();
            if message_type.name() == STATUS.name() {
                // The oracle has no unknown types, and an order of its own in the maps of an Any.
                let original = DynamicMessage::decode(descriptor.clone(), &*encoded).unwrap();
                assert_eq!(ours, original, "{json}");
                if let Some(theirs) = oracle_message(&descriptor, &json) {
                    check(message_type, &descriptor, &theirs.encode_to_vec());
                    let theirs = oracle_json(&descriptor, &theirs.encode_to_vec());
                    assert_eq!(theirs, oracle_json(&descriptor, &encoded), "{json}");
                }
                continue;
            }
            let theirs = oracle_message(&descriptor, &json).expect(&json);
            assert_eq!(ours, theirs, "{json}");
        }
    }
}

#[test]
fn damaged_messages_are_refused_as_by_the_oracle() {
    let mut random = fastrand::Rng::with_seed(13);
    let types = types();
    for round in 0..100_000 {
        let (message_type, descriptor) = &types[round % types.len()];
        let mut encoded = message(descriptor, &mut random, 4).encode_to_vec();
        for _ in 0..random.usize(1..4) {
            if encoded.is_empty() {
                break;
            }
            let place = random.usize(..encoded.len());
            match random.u8(..3) {
                0 => encoded[place] = random.u8(..),
                1 => encoded.truncate(place),
                _ => encoded.insert(place, random.u8(..)),
            }
        }
        check(message_type, descriptor, &encoded);
    }
}
