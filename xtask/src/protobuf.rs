//! Tables and descriptors of the messages of gRPC, from the `.proto` files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, FileDescriptor, Kind,
    MessageDescriptor,
};
use protox::Compiler;

use crate::workspace;

/// The `.proto` files, and the protocol versions whose methods they define.
const FILES: [(&str, Option<&str>); 6] = [
    ("a2a_v1.proto", Some("V1_0")),
    ("a2a_v0_3.proto", Some("V0_3")),
    ("google/rpc/status.proto", None),
    (ERROR_DETAILS, None),
    ("grpc/health/v1/health.proto", None),
    ("grpc/reflection/v1/reflection.proto", None),
];

/// The file whose messages an Any may have.
const ERROR_DETAILS: &str = "google/rpc/error_details.proto";

/// The types that are public: their names, and what their documentation says.
const PUBLIC: [(&str, &str, &str); 5] = [
    (
        "google.rpc.Status",
        "STATUS",
        "Error of a call, with its details: `google.rpc.Status`.",
    ),
    (
        "grpc.health.v1.HealthCheckRequest",
        "HEALTH_CHECK_REQUEST",
        "Request of both methods of `grpc.health.v1.Health`.",
    ),
    (
        "grpc.health.v1.HealthCheckResponse",
        "HEALTH_CHECK_RESPONSE",
        "Response of both methods of `grpc.health.v1.Health`.",
    ),
    (
        "grpc.reflection.v1.ServerReflectionRequest",
        "SERVER_REFLECTION_REQUEST",
        "Request of `grpc.reflection.v1.ServerReflection`.",
    ),
    (
        "grpc.reflection.v1.ServerReflectionResponse",
        "SERVER_REFLECTION_RESPONSE",
        "Response of `grpc.reflection.v1.ServerReflection`.",
    ),
];

/// Writes the tables and the descriptors.
///
/// Errors: a `.proto` file is malformed, or has types that the tables cannot have.
pub(crate) fn protobuf() -> Result<(), String> {
    let folder = workspace::root().join("a2a-transport/protobuf");
    let pool = compile(&folder.join("proto"))?;
    let mut tables =
        "//! Messages, methods and files of the `.proto` files. Written by `cargo xtask protobuf`.\n\n\
        use a2a_types::ProtocolVersion;\n\n\
        use crate::schema::{Field, FileDescriptor, Kind, MessageType, Method, Rule};\n"
            .to_owned();
    let mut methods = String::new();
    let mut any_types = String::new();
    for (name, version) in FILES {
        let file = pool.get_file_by_name(name).ok_or("a file is missing")?;
        let mut enums = BTreeSet::new();
        for message in pool.all_messages() {
            if message.parent_file() == file && !message.is_map_entry() {
                write_message(&message, &mut tables, &mut enums)?;
            }
        }
        for name in enums {
            let of = pool.get_enum_by_name(&name).ok_or("an enum is missing")?;
            write_enum(&of, &mut tables);
        }
        if name == ERROR_DETAILS {
            for message in file.messages() {
                let _ = write!(any_types, "&{}, ", constant(message.full_name()));
            }
        }
        if let Some(version) = version {
            write_methods(&file, version, &mut methods);
        }
    }
    let mut services: Vec<_> = pool.services().collect();
    // Those of A2A first.
    services.sort_by_key(|service| {
        let name = service.full_name().to_owned();
        (name.starts_with("grpc."), name)
    });
    let services: Vec<_> = services.iter().map(|it| it.full_name()).collect();
    let _ = writeln!(
        tables,
        "\nstatic GOOGLE_PROTOBUF_EMPTY: MessageType = MessageType {{ name: \"google.protobuf.Empty\", fields: &[] }};\n\n\
         /// Messages that an Any may have.\n\
         pub(crate) static ANY_TYPES: &[&MessageType] = &[{any_types}];\n\n\
         pub(crate) static METHODS: &[Method] = &[\n{methods}];\n\n\
         pub(crate) static SERVICES: &[&str] = &{services:?};"
    );
    tables.push_str("\npub(crate) static FILES: &[FileDescriptor] = &[\n");
    for file in pool.files() {
        write_file(&file, &folder.join("proto"), &mut tables)?;
    }
    tables.push_str("];\n");
    let path = folder.join("src/tables.rs");
    fs::write(&path, tables).map_err(|error| format!("{}: {error}", path.display()))?;
    let formatted = std::process::Command::new("rustfmt")
        .args(["--edition", "2024"])
        .arg(&path)
        .status();
    match formatted
        .map_err(|error| format!("rustfmt: {error}"))?
        .success()
    {
        true => Ok(()),
        false => Err("rustfmt failed".to_owned()),
    }
}

/// Compiles the files, without comments and places in the source.
fn compile(directory: &Path) -> Result<DescriptorPool, String> {
    let mut compiler = Compiler::new([directory]).map_err(|error| format!("{error:?}"))?;
    compiler.include_imports(true).include_source_info(false);
    for (file, _) in FILES {
        let opened = compiler.open_file(file);
        opened.map_err(|error| format!("{file}: {error:?}"))?;
    }
    let set = compiler.encode_file_descriptor_set();
    DescriptorPool::decode(&*set).map_err(|error| error.to_string())
}

/// Writes the descriptor beside the `.proto` file, and its row.
fn write_file(file: &FileDescriptor, directory: &Path, tables: &mut String) -> Result<(), String> {
    let binary = Path::new(file.name()).with_extension("bin");
    let path = directory.join(&binary);
    let written = fs::create_dir_all(path.parent().unwrap_or(directory))
        .and_then(|()| fs::write(&path, file.encode_to_vec()));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    let dependencies: Vec<_> = file.dependencies().collect();
    let dependencies: Vec<_> = dependencies.iter().map(FileDescriptor::name).collect();
    let _ = writeln!(
        tables,
        "FileDescriptor {{ name: \"{}\", package: \"{}\", bytes: include_bytes!(\"../proto/{}\"), dependencies: &{dependencies:?}, symbols: &{:?} }},",
        file.name(),
        file.package_name(),
        binary.display(),
        symbols(file),
    );
    Ok(())
}

/// Returns the names that a file defines, without that of the package, in alphabetical order.
fn symbols(file: &FileDescriptor) -> Vec<String> {
    let mut symbols = BTreeSet::new();
    let mut add = |name: &str| {
        let name = name.strip_prefix(file.package_name()).unwrap_or(name);
        symbols.insert(name.trim_start_matches('.').to_owned());
    };
    let pool = file.parent_pool();
    for message in pool.all_messages().filter(|it| it.parent_file() == *file) {
        add(message.full_name());
        message.fields().for_each(|field| add(field.full_name()));
        message.oneofs().for_each(|group| add(group.full_name()));
    }
    for of in pool.all_enums().filter(|it| it.parent_file() == *file) {
        add(of.full_name());
        of.values().for_each(|value| add(value.full_name()));
    }
    for service in file.services() {
        add(service.full_name());
        service.methods().for_each(|it| add(it.full_name()));
    }
    symbols.into_iter().collect()
}

fn write_methods(file: &FileDescriptor, version: &str, methods: &mut String) {
    for method in file
        .services()
        .flat_map(|service| service.methods().collect::<Vec<_>>())
    {
        let _ = writeln!(
            methods,
            "    Method {{ path: \"/{}/{}\", version: ProtocolVersion::{version}, request: &{}, response: &{}, is_stream: {} }},",
            method.parent_service().full_name(),
            method.name(),
            constant(method.input().full_name()),
            constant(method.output().full_name()),
            method.is_server_streaming(),
        );
    }
}

fn write_message(
    message: &MessageDescriptor,
    tables: &mut String,
    enums: &mut BTreeSet<String>,
) -> Result<(), String> {
    let name = message.full_name();
    let documentation = match PUBLIC.iter().find(|(of, ..)| *of == name) {
        Some((_, _, documentation)) => format!("/// {documentation}\npub "),
        None => String::new(),
    };
    let _ = writeln!(
        tables,
        "\n{documentation}static {}: MessageType = MessageType {{ name: \"{name}\", fields: &[",
        constant(name)
    );
    let mut fields: Vec<_> = message.fields().collect();
    fields.sort_by_key(FieldDescriptor::number);
    for field in fields {
        let value = match field.is_map() {
            true => match field.kind() {
                Kind::Message(entry) => entry.map_entry_value_field(),
                _ => return Err(format!("{}: a map without entries", field.full_name())),
            },
            false => field.clone(),
        };
        let group = field
            .containing_oneof()
            .filter(|group| !group.is_synthetic());
        let rule = match (field.is_map(), field.cardinality(), group) {
            (true, ..) => "Map".to_owned(),
            (_, Cardinality::Repeated, _) => "Repeated".to_owned(),
            (_, _, Some(group)) => {
                let place = message.oneofs().position(|other| other == group);
                format!("OneOf({})", place.unwrap_or_default())
            }
            _ if field.supports_presence() => "Explicit".to_owned(),
            _ => "Implicit".to_owned(),
        };
        let _ = writeln!(
            tables,
            "Field {{ number: {}, name: \"{}\", proto_name: \"{}\", kind: {}, rule: Rule::{rule} }},",
            field.number(),
            field.json_name(),
            field.name(),
            kind(&value, enums)?,
        );
    }
    tables.push_str("]};\n");
    Ok(())
}

fn kind(field: &FieldDescriptor, enums: &mut BTreeSet<String>) -> Result<String, String> {
    Ok(match field.kind() {
        Kind::Bool => "Kind::Bool".to_owned(),
        Kind::Int32 => "Kind::Int32".to_owned(),
        Kind::String => "Kind::Text".to_owned(),
        Kind::Bytes => "Kind::Bytes".to_owned(),
        Kind::Enum(of) => {
            enums.insert(of.full_name().to_owned());
            format!("Kind::Enum({})", constant(of.full_name()))
        }
        Kind::Message(message) => match message.full_name() {
            "google.protobuf.Any" => "Kind::Any".to_owned(),
            "google.protobuf.Duration" => "Kind::Duration".to_owned(),
            "google.protobuf.Timestamp" => "Kind::Timestamp".to_owned(),
            "google.protobuf.Struct" => "Kind::Struct".to_owned(),
            "google.protobuf.Value" => "Kind::Value".to_owned(),
            "google.protobuf.ListValue" => "Kind::List".to_owned(),
            name => format!("Kind::Message(&{})", constant(name)),
        },
        other => return Err(format!("{}: {other:?} is in no table", field.full_name())),
    })
}

fn write_enum(of: &EnumDescriptor, tables: &mut String) {
    let values = of
        .values()
        .map(|value| format!("({}, \"{}\")", value.number(), value.name()));
    let values: Vec<_> = values.collect();
    let _ = writeln!(
        tables,
        "\nconst {}: &[(i32, &str)] = &[{}];",
        constant(of.full_name()),
        values.join(", ")
    );
}

/// Returns the name of a constant: `LF_A2A_V1_TASK` for `lf.a2a.v1.Task`, and a short one for what is public.
fn constant(name: &str) -> String {
    if let Some((_, constant, _)) = PUBLIC.iter().find(|(of, ..)| *of == name) {
        return (*constant).to_owned();
    }
    let mut constant = String::new();
    let mut after_lower = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && after_lower {
            constant.push('_');
        }
        after_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        constant.push(if letter == '.' {
            '_'
        } else {
            letter.to_ascii_uppercase()
        });
    }
    constant
}
