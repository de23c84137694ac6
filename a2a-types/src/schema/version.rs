//! Tables of one protocol version's schema, and their conversion to definitions.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::plain::{self, Definitions};
use crate::{ErrorKind, Operation, ProtocolVersion};

/// Tables of one protocol version.
pub(super) struct VersionSchema {
    /// The protocol version.
    pub(super) protocol_version: ProtocolVersion,
    /// Requests and responses on JSON-RPC.
    pub(super) exchanges: &'static [Exchange],
    /// Errors that have a definition of their own.
    pub(super) errors: &'static [ErrorRow],
    /// Types that no exchange carries.
    pub(super) others: &'static [Shape],
    /// Writer of the JSON-RPC envelopes.
    pub(super) envelopes: fn(&Self, &mut SchemaGenerator) -> Definitions,
    /// Parts of the types that the version lacks: `Definition` or `Definition.member`.
    pub(super) without: &'static [&'static str],
    /// Members that a sender must write and a reader can do without: `Definition.member`.
    pub(super) required: &'static [&'static str],
}

/// An operation's request and response.
pub(super) struct Exchange {
    pub(super) operation: Operation,
    pub(super) request: &'static str,
    pub(super) params: Option<Shape>,
    pub(super) response: &'static str,
    pub(super) result: Shape,
}

/// An error, and the type of its `data`.
pub(super) struct ErrorRow {
    pub(super) kind: ErrorKind,
    pub(super) name: &'static str,
    pub(super) data: Shape,
}

/// Returns the schema of a type; a named type is added to the definitions and referenced.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

impl VersionSchema {
    /// Returns the exchange of an operation, if the version has it.
    pub(super) fn exchange(&self, operation: Operation) -> Option<&'static Exchange> {
        self.exchanges
            .iter()
            .find(|exchange| exchange.operation == operation)
    }

    /// Returns every definition.
    pub(super) fn definitions(&self) -> Definitions {
        // The contract for reading: a member that the type can do without is not required.
        let mut generator = SchemaSettings::draft2020_12()
            .for_deserialize()
            .into_generator();
        for shape in self.others {
            shape(&mut generator);
        }
        let envelopes = (self.envelopes)(self, &mut generator);
        let mut definitions = generator.take_definitions(false);
        plain::simplify(&mut definitions);
        definitions.extend(envelopes);
        for path in self.without {
            remove(&mut definitions, path);
        }
        for path in self.required {
            require(&mut definitions, path);
        }
        definitions
    }
}

/// Returns the reference to a definition of the same bundle.
pub(super) fn reference(name: &str) -> String {
    format!("#/$defs/{name}")
}

/// Removes a definition, also from alternatives, or a member of a definition.
fn remove(definitions: &mut Definitions, path: &str) {
    if let Some((definition, member)) = path.split_once('.') {
        let members = definitions.get_mut(definition).and_then(|definition| {
            let members = definition.get_mut("properties");
            members.and_then(Value::as_object_mut)
        });
        members.and_then(|members| members.remove(member));
        return;
    }
    definitions.remove(path);
    let target = reference(path);
    for definition in definitions.values_mut() {
        if let Some(Value::Array(kinds)) = definition.get_mut("anyOf") {
            kinds.retain(|kind| kind["$ref"] != *target);
        }
    }
}

/// Makes a member required.
fn require(definitions: &mut Definitions, path: &str) {
    let Some((definition, member)) = path.split_once('.') else {
        return;
    };
    let Some(Value::Object(definition)) = definitions.get_mut(definition) else {
        return;
    };
    let required = definition
        .entry("required")
        .or_insert(Value::Array(Vec::new()));
    if let Value::Array(required) = required {
        required.push(member.into());
    }
    // A sender that has to write it has no default.
    if let Some(member) = definition["properties"].get_mut(member)
        && let Some(member) = member.as_object_mut()
    {
        member.remove("default");
    }
}

/// Returns the schema of `T`.
pub(super) fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// One of two types.
pub(super) struct Either<A, B>(PhantomData<(A, B)>);

impl<A: JsonSchema, B: JsonSchema> JsonSchema for Either<A, B> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Or{}", A::schema_name(), B::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let either = [of::<A>(generator), of::<B>(generator)];
        json_schema!({ "anyOf": either })
    }
}

/// Writes the exchanges of a protocol version as a table.
macro_rules! exchanges {
    (@params) => { None };
    (@params $params:ty) => { Some($crate::schema::version::of::<$params>) };
    ($($operation:ident: $request:literal($($params:ty)?) -> $response:literal($result:ty);)*) => {
        &[$($crate::schema::version::Exchange {
            operation: $crate::Operation::$operation,
            request: $request,
            params: $crate::schema::version::exchanges!(@params $($params)?),
            response: $response,
            result: $crate::schema::version::of::<$result>,
        },)*]
    };
}
pub(super) use exchanges;

/// Writes the errors of a protocol version as a table.
macro_rules! errors {
    ($($kind:ident: $name:literal($data:ty);)*) => {
        &[$($crate::schema::version::ErrorRow {
            kind: $crate::ErrorKind::$kind,
            name: $name,
            data: $crate::schema::version::of::<$data>,
        },)*]
    };
}
pub(super) use errors;
