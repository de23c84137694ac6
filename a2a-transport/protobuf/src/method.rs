//! Methods of the services.

use a2a_types::ProtocolVersion;

use crate::schema::{MessageType, Method};
use crate::tables::METHODS;

impl Method {
    /// Returns the method whose requests have this path.
    pub fn at(path: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.path == path)
    }

    /// Returns the methods of the services of A2A.
    pub fn all() -> &'static [Self] {
        METHODS
    }

    /// Returns the path of its requests, like `/lf.a2a.v1.A2AService/GetTask`.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Returns the name without that of the service, like `GetTask`.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the protocol version of the service.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.version
    }

    /// Returns the type of its requests.
    pub fn request(&self) -> &'static MessageType {
        self.request
    }

    /// Returns the type of its responses.
    pub fn response(&self) -> &'static MessageType {
        self.response
    }

    /// Returns whether it answers with any number of responses.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }
}
