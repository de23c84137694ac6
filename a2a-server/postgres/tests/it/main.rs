//! The store on a real Postgres: the suite, faults, servers that share it, and a database that is away.

mod database;
mod suite;
