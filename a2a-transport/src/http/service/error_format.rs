//! Format of errors before a request is understood.

use a2a_jsonrpc::Id;
use a2a_types::{Error as A2aError, ProtocolVersion};
use http::{Response, StatusCode};
use tokio::time::Instant;

use crate::Binding;
use crate::binding::{CallRefusal, write_refusal};
use crate::http::message::answer::AnswerFormat;
use crate::http::message::body::Body;
use crate::http::message::server_span::ServerSpan;

/// Format of errors before the request is understood.
pub(super) struct ErrorFormat {
    pub(super) binding: Binding,
    pub(super) protocol_version: ProtocolVersion,
    pub(super) answer: AnswerFormat,
    /// Time at which the caller stops to wait.
    pub(super) deadline: Option<Instant>,
    pub(super) server_span: ServerSpan,
}

impl ErrorFormat {
    pub(super) fn refuse(&mut self, status: Option<StatusCode>, error: A2aError) -> Response<Body> {
        tracing::debug!(%error, "refused a request");
        self.server_span.refused(self.protocol_version, error.kind);
        let refused = CallRefusal {
            binding: self.binding,
            id: Id::Null,
            protocol_version: self.protocol_version,
            error,
            status,
        };
        self.answer.written(write_refusal(refused))
    }
}
