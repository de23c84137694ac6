//! The codec and prost-reflect agree on messages, JSON and refusals.

use a2a_protobuf::{MessageType, Method};
use a2a_types::Timestamp;
use prost_reflect::prost::Message;
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, Kind, MapKey, MessageDescriptor,
    SerializeOptions, Value as Field,
};
use serde_json::Value;
use serde_json::value::Serializer;

const V1_0: &[u8] = include_bytes!("../../proto/a2a_v1.bin");
const V0_3: &[u8] = include_bytes!("../../proto/a2a_v0_3.bin");

/// Returns every type that is a request or a response, and its descriptor.
fn types() -> Vec<(&'static MessageType, MessageDescriptor)> {
    let pools = [V1_0, V0_3].map(|set| DescriptorPool::decode(set).unwrap());
    let types = Method::all()
        .iter()
        .flat_map(|method| [method.request(), method.response()]);
    let descriptor = |name| pools.iter().find_map(|pool| pool.get_message_by_name(name));
    types
        .map(|message_type| (message_type, descriptor(message_type.name()).unwrap()))
        .collect()
}

/// Converts a message to JSON as the oracle does.
fn oracle_json(descriptor: &MessageDescriptor, message: &[u8]) -> Option<Value> {
    let message = DynamicMessage::decode(descriptor.clone(), message).ok()?;
    let options = SerializeOptions::new().skip_default_fields(true);
    message.serialize_with_options(Serializer, &options).ok()
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
        Kind::Message(_) if depth > 5 => return None,
        Kind::Message(of) => Field::Message(message(&of, random, depth + 1)),
        other => panic!("no random {other:?}"),
    })
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
