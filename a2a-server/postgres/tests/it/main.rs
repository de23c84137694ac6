//! The store on a real Postgres: the suite, faults, servers that share it, and a database that is away.

mod away;
mod database;
mod faults;
mod replicas;
mod suite;
mod worker;
