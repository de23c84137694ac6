//! Descriptors of the `.proto` files.

use crate::schema::FileDescriptor;
use crate::tables::{FILES, SERVICES};

/// Returns the descriptors of the files of A2A, health, reflection and errors, and of all files that they import.
///
/// A file comes after the files that it imports.
pub fn file_descriptors() -> &'static [FileDescriptor] {
    FILES
}

/// Returns the full names of the services: of each version of A2A, of health and of reflection.
pub fn services() -> &'static [&'static str] {
    SERVICES
}

impl FileDescriptor {
    /// Returns the name by which files import it, like `a2a_v1.proto`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the `google.protobuf.FileDescriptorProto`.
    pub fn bytes(&self) -> &'static [u8] {
        self.bytes
    }

    /// Returns the names of the files that it imports.
    pub fn dependencies(&self) -> &'static [&'static str] {
        self.dependencies
    }

    /// Returns whether it defines what has this full name: a message, a field, an enum, a value, a service or a method,
    /// like `lf.a2a.v1.A2AService.GetTask`.
    pub fn defines(&self, symbol: &str) -> bool {
        let name = symbol.strip_prefix(self.package);
        let name = name.and_then(|name| name.strip_prefix('.'));
        name.is_some_and(|name| self.symbols.binary_search(&name).is_ok())
    }
}
