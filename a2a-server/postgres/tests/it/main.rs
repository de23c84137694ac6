//! The store on a real Postgres: the suite, faults, servers that share it, and outages.

mod away;
mod connections;
mod database;
mod doubt;
mod failover;
mod faults;
mod followers;
mod leases;
mod migrations;
mod pooler;
mod proxy;
mod removal;
mod replicas;
mod sample;
mod suite;
mod tls;
mod worker;
