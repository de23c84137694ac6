//! Methods of extensions: JSON-RPC methods that an agent answers besides the protocol's own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use a2a_jsonrpc::{Id, Limits, Response};
use a2a_types::{Error as A2aError, ErrorKind};
use serde_json::Value;

use crate::binding::CallRefusal;
use crate::{Binding, BoxFuture, Context};

/// Call of a method of an extension.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExtensionCall {
    /// Params as they were sent: an object or an array; an empty object if there are none.
    pub params: Value,
    /// The caller and the circumstances of the request.
    pub context: Context,
}

/// Methods of extensions, by their names. Specification 1.0 §4.6.
#[derive(Clone, Default)]
pub struct ExtensionMethods(BTreeMap<String, Handler>);

type Handler =
    Arc<dyn Fn(ExtensionCall) -> BoxFuture<'static, Result<Value, A2aError>> + Send + Sync>;

impl ExtensionMethods {
    /// Adds a method. The names of the protocol's own methods keep their meaning.
    pub fn with<F>(
        mut self,
        name: impl Into<String>,
        handler: impl Fn(ExtensionCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Value, A2aError>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |call| Box::pin(handler(call)));
        self.0.insert(name.into(), handler);
        self
    }

    /// Returns the call of one of the methods in a request that was refused as no method of the protocol.
    pub(super) fn find(
        &self,
        refused: &CallRefusal,
        body: &[u8],
        limits: &Limits,
    ) -> Option<FoundMethod> {
        let is_unknown = refused.error.kind == ErrorKind::MethodNotFound;
        if self.0.is_empty() || !is_unknown || refused.binding != Binding::JsonRpc {
            return None;
        }
        let request = a2a_jsonrpc::read_request(body, limits).ok()?;
        Some(FoundMethod {
            handler: Arc::clone(self.0.get(&*request.method)?),
            params: request.params.unwrap_or("{}").to_owned(),
            id: request.id,
        })
    }
}

impl fmt::Debug for ExtensionMethods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A method, and the request that calls it.
pub(super) struct FoundMethod {
    handler: Handler,
    params: String,
    /// Id to answer with; `None` if the request is a notification.
    pub(super) id: Option<Id>,
}

impl FoundMethod {
    /// Calls the method, and returns the body of the answer.
    pub(super) async fn call(self, context: Context) -> Result<Vec<u8>, CallRefusal> {
        let protocol_version = context.protocol_version;
        let id = self.id.unwrap_or(Id::Null);
        let outcome = match serde_json::from_str(&self.params) {
            Ok(params) => (self.handler)(ExtensionCall { params, context }).await,
            Err(error) => Err(A2aError::new(ErrorKind::InvalidParams, error.to_string())),
        };
        outcome
            .and_then(|result| {
                let response = Response {
                    id: id.clone(),
                    outcome: Ok(result),
                };
                serde_json::to_vec(&response)
                    .map_err(|error| A2aError::new(ErrorKind::Internal, error.to_string()))
            })
            .map_err(|error| CallRefusal {
                binding: Binding::JsonRpc,
                id,
                protocol_version,
                error,
                status: None,
            })
    }
}
