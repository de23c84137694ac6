//! Tables of the messages of gRPC, from the `.proto` files of the specification.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, FileDescriptor, Kind,
    MessageDescriptor,
};

use crate::workspace;

/// The `.proto` files, and the protocol versions that they are of.
const FILES: [(&str, Option<&str>); 5] = [
    ("a2a_v1.proto", Some("V1_0")),
    ("a2a_v0_3.proto", Some("V0_3")),
    ("google_rpc.proto", None),
    ("grpc_health.proto", None),
    ("grpc_reflection.proto", None),
];

/// Messages that the binding needs by name.
const PUBLIC: [(&str, &str); 8] = [
    ("google.rpc.Status", "STATUS"),
    ("google.rpc.ErrorInfo", "ERROR_INFO"),
    ("google.rpc.RetryInfo", "RETRY_INFO"),
    ("google.rpc.BadRequest", "BAD_REQUEST"),
    ("grpc.health.v1.HealthCheckRequest", "HEALTH_CHECK_REQUEST"),
    (
        "grpc.health.v1.HealthCheckResponse",
        "HEALTH_CHECK_RESPONSE",
    ),
    (
        "grpc.reflection.v1.ServerReflectionRequest",
        "SERVER_REFLECTION_REQUEST",
    ),
    (
        "grpc.reflection.v1.ServerReflectionResponse",
        "SERVER_REFLECTION_RESPONSE",
    ),
];

/// Writes the tables and the descriptors.
///
/// Errors: a `.proto` file is malformed, or has types that the tables cannot have.
pub(crate) fn protobuf() -> Result<(), String> {
    let folder = workspace::root().join("a2a-transport/protobuf");
    let mut tables =
        "//! Messages and methods of the `.proto` files. Written by `cargo xtask protobuf`.\n\n\
        use a2a_types::ProtocolVersion;\n\n\
        use crate::schema::{Field, Kind, MessageType, Method, Rule};\n"
            .to_owned();
    let (mut methods, mut services) = (String::new(), BTreeSet::new());
    let mut descriptors = BTreeMap::new();
    for (file, version) in FILES {
        let set = protox::compile([file], [folder.join("proto")]);
        let set = set.map_err(|error| format!("{file}: {error:?}"))?;
        let pool = DescriptorPool::from_file_descriptor_set(set);
        let pool = pool.map_err(|error| format!("{file}: {error}"))?;
        if version.is_some() {
            let set = folder.join(format!("proto/{}.bin", file.trim_end_matches(".proto")));
            write(&set, pool.encode_to_vec())?;
        }
        if file != "google_rpc.proto" {
            let files = pool.files().map(|file| (file.name().to_owned(), file));
            descriptors.extend(files);
            services.extend(
                pool.services()
                    .map(|service| service.full_name().to_owned()),
            );
        }
        let mut enums = BTreeSet::new();
        for message in pool.all_messages() {
            let name = message.full_name();
            let is_known = name.starts_with("google.protobuf.") || name.starts_with("google.api.");
            if !is_known && !message.is_map_entry() {
                write_message(&message, &mut tables, &mut enums)?;
            }
        }
        for name in enums {
            let of = pool.get_enum_by_name(&name).ok_or("an enum is missing")?;
            write_enum(&of, &mut tables);
        }
        let Some(version) = version else { continue };
        for method in pool
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
    let _ = writeln!(
        tables,
        "\nstatic GOOGLE_PROTOBUF_EMPTY: MessageType = MessageType {{ name: \"google.protobuf.Empty\", fields: &[] }};\n\n\
         pub(crate) static METHODS: &[Method] = &[\n{methods}];"
    );
    for (name, public) in PUBLIC {
        let _ = writeln!(
            tables,
            "\n/// `{name}`\npub static {public}: &MessageType = &{};",
            constant(name)
        );
    }
    let path = folder.join("src/tables.rs");
    write(&path, tables)?;
    format(&path)?;
    write_descriptors(&folder, &services, descriptors)
}

/// Writes the descriptor of each file, and the list of them.
fn write_descriptors(
    folder: &Path,
    services: &BTreeSet<String>,
    descriptors: BTreeMap<String, FileDescriptor>,
) -> Result<(), String> {
    let mut list = format!(
        "//! Descriptors of the `.proto` files. Written by `cargo xtask protobuf`.\n\n\
         use crate::file_descriptor::FileDescriptor;\n\n\
         /// Full names of the services of gRPC.\n\
         pub static SERVICES: &[&str] = &{services:?};\n\n\
         pub(crate) static FILES: &[FileDescriptor] = &[\n"
    );
    for (name, file) in descriptors {
        let stored = format!("{}.bin", name.trim_end_matches(".proto").replace('/', "."));
        write(
            &folder.join("proto/descriptors").join(&stored),
            file.encode_to_vec(),
        )?;
        let dependencies: Vec<_> = file.dependencies().map(|it| it.name().to_owned()).collect();
        let mut symbols = BTreeSet::new();
        for message in file
            .parent_pool()
            .all_messages()
            .filter(|it| it.parent_file() == file)
        {
            symbols.insert(message.full_name().to_owned());
        }
        for of in file
            .parent_pool()
            .all_enums()
            .filter(|it| it.parent_file() == file)
        {
            symbols.insert(of.full_name().to_owned());
        }
        symbols.extend(
            file.services()
                .map(|service| service.full_name().to_owned()),
        );
        let _ = writeln!(
            list,
            "FileDescriptor {{ name: {name:?}, bytes: include_bytes!(\"../proto/descriptors/{stored}\"), \
             dependencies: &{dependencies:?}, symbols: &{symbols:?} }},",
        );
    }
    list.push_str("];\n");
    let path = folder.join("src/descriptors.rs");
    let list = list
        .replace("{\"", "[\"")
        .replace("\"}", "\"]")
        .replace("&{}", "&[]");
    write(&path, list)?;
    format(&path)
}

fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), String> {
    fs::write(path, contents).map_err(|error| format!("{}: {error}", path.display()))
}

fn format(path: &Path) -> Result<(), String> {
    let formatted = std::process::Command::new("rustfmt")
        .args(["--edition", "2024"])
        .arg(path)
        .status();
    match formatted
        .map_err(|error| format!("rustfmt: {error}"))?
        .success()
    {
        true => Ok(()),
        false => Err("rustfmt failed".to_owned()),
    }
}

fn write_message(
    message: &MessageDescriptor,
    tables: &mut String,
    enums: &mut BTreeSet<String>,
) -> Result<(), String> {
    let name = message.full_name();
    let _ = writeln!(
        tables,
        "\nstatic {}: MessageType = MessageType {{ name: \"{name}\", fields: &[",
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

/// Returns the name of a constant: `LF_A2A_V1_TASK` for `lf.a2a.v1.Task`.
fn constant(name: &str) -> String {
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
