//! Format of errors before a request is understood.

use a2a_jsonrpc::Id;
use a2a_types::{Error as A2aError, ProtocolVersion};
use http::{Response, StatusCode};

use crate::Binding;
use crate::binding::{CallRefusal, write_refusal};
use crate::http::message::answer::written;
use crate::http::message::body::Body;
use crate::http::message::server_span::ServerSpan;

/// Format of errors before the request is understood.
pub(super) struct ErrorFormat {
    pub(super) binding: Binding,
    pub(super) protocol_version: ProtocolVersion,
    pub(super) media_type: &'static str,
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
        written(write_refusal(refused), self.media_type)
    }
}
