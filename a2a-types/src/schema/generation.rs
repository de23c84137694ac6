//! What one generation's schema is made of: tables, and how they become definitions.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::{plain, v0_1, v0_2};
use crate::{Dialect, ErrorKind, Operation};

/// One generation's tables.
pub(super) struct Generation {
    /// Which generation.
    pub(super) dialect: Dialect,
    /// What is said on JSON-RPC.
    pub(super) exchanges: &'static [Exchange],
    /// The errors that have a definition of their own.
    pub(super) errors: &'static [ErrorRow],
    /// What no exchange carries.
    pub(super) others: &'static [Shape],
    /// How JSON-RPC is wrapped around the rest.
    pub(super) envelopes: fn(&Self, &mut SchemaGenerator) -> Definitions,
}

/// An operation's request and response.
pub(super) struct Exchange {
    pub(super) operation: Operation,
    pub(super) request: &'static str,
    pub(super) params: Shape,
    pub(super) response: &'static str,
    pub(super) result: Shape,
}

/// An error, and what its `data` may be.
pub(super) struct ErrorRow {
    pub(super) kind: ErrorKind,
    pub(super) name: &'static str,
    pub(super) data: Shape,
}

/// The schema of a type; one that has a name is defined on the way, and referred to.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// Schemas by name.
pub(super) type Definitions = Map<String, Value>;

impl Generation {
    /// The tables of a generation, if it has wire types.
    pub(super) fn of(dialect: Dialect) -> Option<&'static Self> {
        GENERATIONS
            .iter()
            .copied()
            .find(|generation| generation.dialect == dialect)
    }

    /// The exchange of an operation, if the generation has it.
    pub(super) fn exchange(&self, operation: Operation) -> Option<&'static Exchange> {
        self.exchanges
            .iter()
            .find(|exchange| exchange.operation == operation)
    }

    /// Every definition.
    pub(super) fn definitions(&self) -> Definitions {
        // The contract for reading: what a type can do without is not required.
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
        definitions
    }
}

/// The generations that have wire types.
const GENERATIONS: &[&Generation] = &[&v0_1::GENERATION, &v0_2::GENERATION];

/// The schema of `T`.
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

/// Writes the exchanges of a generation as a table.
macro_rules! exchanges {
    ($($operation:ident: $request:literal($params:ty) -> $response:literal($result:ty);)*) => {
        &[$($crate::schema::generation::Exchange {
            operation: $crate::Operation::$operation,
            request: $request,
            params: $crate::schema::generation::of::<$params>,
            response: $response,
            result: $crate::schema::generation::of::<$result>,
        },)*]
    };
}
pub(super) use exchanges;

/// Writes the errors of a generation as a table.
macro_rules! errors {
    ($($kind:ident: $name:literal($data:ty);)*) => {
        &[$($crate::schema::generation::ErrorRow {
            kind: $crate::ErrorKind::$kind,
            name: $name,
            data: $crate::schema::generation::of::<$data>,
        },)*]
    };
}
pub(super) use errors;
