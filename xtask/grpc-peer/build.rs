//! Generates messages, clients and servers from the checked-in descriptor sets, without protoc.

use std::error::Error;
use std::fs;

use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../a2a-transport/protobuf/proto"
    );
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["a2a_v1", "a2a_v0_3"] {
        let imports = ["empty", "struct", "timestamp"].map(|it| format!("google/protobuf/{it}"));
        let mut files = Vec::new();
        for name in imports.iter().map(String::as_str).chain([name]) {
            let path = format!("{folder}/{name}.bin");
            println!("cargo::rerun-if-changed={path}");
            files.push(FileDescriptorProto::decode(fs::read(path)?.as_slice())?);
        }
        let descriptors = FileDescriptorSet { file: files };
        tonic_prost_build::configure().compile_fds(descriptors)?;
    }
    Ok(())
}
