//! The store on a real Postgres: the suite, faults, servers that share it, and outages.

mod away;
mod commands;
mod connections;
mod database;
mod doubt;
mod failover;
mod faults;
mod followers;
mod leases;
mod limits;
mod listing;
mod migrations;
mod outbox;
mod pooler;
mod proxy;
mod removal;
mod replicas;
mod reservations;
mod sample;
mod sealed;
mod suite;
mod tls;
mod worker;
