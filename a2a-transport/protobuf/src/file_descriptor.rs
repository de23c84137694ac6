//! Descriptors of the `.proto` files, for the reflection service of gRPC.

/// Descriptor of a `.proto` file of a service, or of a file that one imports.
#[derive(Debug)]
pub struct FileDescriptor {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
    pub(crate) dependencies: &'static [&'static str],
    /// Full names of its messages, enums and services.
    pub(crate) symbols: &'static [&'static str],
}

impl FileDescriptor {
    /// Returns the file of a name, like `a2a_v1.proto`.
    pub fn named(name: &str) -> Option<&'static Self> {
        crate::descriptors::FILES
            .iter()
            .find(|file| file.name == name)
    }

    /// Returns the file that defines a symbol: a message, an enum, a service, or a member of one, like
    /// `lf.a2a.v1.Task.id`.
    pub fn defining(symbol: &str) -> Option<&'static Self> {
        let has = |symbol: &str| {
            crate::descriptors::FILES
                .iter()
                .find(|file| file.symbols.contains(&symbol))
        };
        has(symbol).or_else(|| has(symbol.rsplit_once('.')?.0))
    }

    /// Returns the name.
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
}
