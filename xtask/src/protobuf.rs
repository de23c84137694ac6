//! Tables of the messages of gRPC, from the `.proto` files of the specification.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor,
};

use crate::workspace;

/// The `.proto` files, and the protocol versions that they are of.
const FILES: [(&str, &str); 2] = [("a2a_v1.proto", "V1_0"), ("a2a_v0_3.proto", "V0_3")];

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
    let mut methods = String::new();
    for (file, version) in FILES {
        let set = protox::compile([file], [folder.join("proto")]);
        let set = set.map_err(|error| format!("{file}: {error:?}"))?;
        let pool = DescriptorPool::from_file_descriptor_set(set);
        let pool = pool.map_err(|error| format!("{file}: {error}"))?;
        let descriptors: PathBuf =
            folder.join(format!("proto/{}.bin", file.trim_end_matches(".proto")));
        let written = fs::write(&descriptors, pool.encode_to_vec());
        written.map_err(|error| format!("{}: {error}", descriptors.display()))?;
        let mut enums = BTreeSet::new();
        for message in pool.all_messages() {
            if !message.full_name().starts_with("google.") && !message.is_map_entry() {
                write_message(&message, &mut tables, &mut enums)?;
            }
        }
        for name in enums {
            let of = pool.get_enum_by_name(&name).ok_or("an enum is missing")?;
            write_enum(&of, &mut tables);
        }
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
