//! Messages and their JSON, by this crate and by prost-reflect.

mod golden;
mod oracle;
mod refused;
