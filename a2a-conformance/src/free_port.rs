//! Port for a program that starts.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

/// Returns a port of this machine that is free. The system does not assign it to programs that ask for any port, so it
/// is still free when the program listens.
///
/// Errors: no port can be had.
pub(crate) fn free_port() -> io::Result<u16> {
    let mut tries = 1;
    loop {
        let port = fastrand::u16(PORTS);
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(error) if tries == MAX_TRIES => return Err(error),
            Err(_) => tries += 1,
        }
    }
}

/// Ports above the ports of well-known services and below the ports that systems assign.
const PORTS: Range<u16> = 10_000..32_768;

/// Maximum number of ports to look at.
const MAX_TRIES: usize = 100;
