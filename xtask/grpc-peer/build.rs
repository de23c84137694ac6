//! Generates messages, clients and servers from the checked-in descriptor sets, without protoc.

use std::error::Error;
use std::fs;

use prost::Message;
use prost_types::FileDescriptorSet;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../a2a-transport/protobuf/proto"
    );
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["a2a_v1.bin", "a2a_v0_3.bin"] {
        let path = format!("{folder}/{name}");
        println!("cargo::rerun-if-changed={path}");
        let descriptors = FileDescriptorSet::decode(fs::read(path)?.as_slice())?;
        tonic_prost_build::configure().compile_fds(descriptors)?;
    }
    Ok(())
}
