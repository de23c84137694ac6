//! Webhooks from end to end, through real sockets: this server delivers, and a receiver of a2a-client
//! takes what holds.

mod receiver;
mod rotation;
mod specification_example;
