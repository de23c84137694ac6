//! Rules of the repository that no compiler checks: directions of imports, dependencies between crates, links, phrases.

mod circles;
mod dependencies;
mod links;
mod modules;
mod phrases;
mod sources;
mod tokens;
