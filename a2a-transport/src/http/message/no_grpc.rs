//! In place of `grpc`, without the feature of that name: no answer has its format.

use http::HeaderMap;

use crate::Error;
use crate::binding::grpc::Status;

/// Format of an answer by gRPC. It has no values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GrpcFormat {}

impl GrpcFormat {
    pub(crate) fn message(self, _: &[u8], _: &mut Vec<u8>) -> Result<(), Status> {
        match self {}
    }

    pub(crate) fn end(self, _: &Status, _: &mut Vec<u8>) -> Option<HeaderMap> {
        match self {}
    }

    pub(crate) fn write_headers(self, _: &mut HeaderMap) {
        match self {}
    }
}

/// Decoder of the messages of an answer by gRPC. It has no values.
pub(crate) enum GrpcDecoder {}

impl GrpcDecoder {
    pub(crate) fn push(&mut self, _: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        match *self {}
    }

    pub(crate) fn trailers(&mut self, _: &HeaderMap) {
        match *self {}
    }

    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn buffered(&self) -> usize {
        match *self {}
    }
}

/// Writes a status into trailers, which nothing has.
pub(crate) fn write_status(_: &Status, _: &mut HeaderMap) {}
