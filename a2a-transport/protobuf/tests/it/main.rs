//! Messages and their JSON, by this crate and by prost-reflect.

mod any;
mod duration;
mod files;
mod golden;
mod oracle;
mod refused;
