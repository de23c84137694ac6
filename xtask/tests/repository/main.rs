//! Rules of the repository that no compiler checks: directions of imports, places of `impl`s, dependencies between
//! crates, links.

mod circles;
mod dependencies;
mod impls;
mod links;
mod modules;
mod sources;
mod tokens;
