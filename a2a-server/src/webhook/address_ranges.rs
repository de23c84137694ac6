//! Address ranges that a webhook may have: the ranges of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the kind of an address, or `None` if it is a public one.
pub(super) fn forbidden(address: IpAddr) -> Option<&'static str> {
    match address.to_canonical() {
        IpAddr::V4(address) => forbidden_v4(address),
        IpAddr::V6(address) => forbidden_v6(address),
    }
}

fn forbidden_v4(address: Ipv4Addr) -> Option<&'static str> {
    let lies_in = |range: &&V4| {
        let differing = u32::from(address) ^ u32::from(Ipv4Addr::from(range.base));
        differing.leading_zeros() >= range.length
    };
    V4_RANGES.iter().find(lies_in).map(|range| range.kind)
}

fn forbidden_v6(address: Ipv6Addr) -> Option<&'static str> {
    let lies_in = |range: &&V6| {
        let differing = u128::from(address) ^ u128::from(Ipv6Addr::from(range.base));
        differing.leading_zeros() >= range.length
    };
    if let Some(range) = V6_RANGES.iter().find(lies_in) {
        return Some(range.kind);
    }
    let segments = address.segments();
    let last = Ipv4Addr::from(u128::from(address) as u32);
    match segments {
        // Where there is only IPv6, DNS64 writes every public IPv4 address like this.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => forbidden_v4(last),
        // The tunnels of ISATAP end at the IPv4 address after the mark.
        [.., 0 | 0x200, 0x5efe, _, _] => forbidden_v4(last),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

/// A range of IPv4 that webhooks must not lie in.
struct V4 {
    base: [u8; 4],
    length: u32,
    kind: &'static str,
}

/// The registry of special-purpose addresses (RFC 6890), and public addresses that clouds use
/// internally.
#[rustfmt::skip]
const V4_RANGES: &[V4] = &[
    V4 { base: [0, 0, 0, 0],       length: 8,  kind: "unspecified" },
    V4 { base: [10, 0, 0, 0],      length: 8,  kind: "private" },
    V4 { base: [100, 64, 0, 0],    length: 10, kind: "carrier's" },
    V4 { base: [127, 0, 0, 0],     length: 8,  kind: "loopback" },
    V4 { base: [168, 63, 129, 16], length: 32, kind: "metadata" },
    V4 { base: [169, 254, 0, 0],   length: 16, kind: "link-local" },
    V4 { base: [172, 16, 0, 0],    length: 12, kind: "private" },
    V4 { base: [192, 0, 0, 0],     length: 24, kind: "reserved" },
    V4 { base: [192, 0, 2, 0],     length: 24, kind: "documentation" },
    V4 { base: [192, 88, 99, 0],   length: 24, kind: "6to4" },
    V4 { base: [192, 168, 0, 0],   length: 16, kind: "private" },
    V4 { base: [198, 18, 0, 0],    length: 15, kind: "benchmarking" },
    V4 { base: [198, 51, 100, 0],  length: 24, kind: "documentation" },
    V4 { base: [203, 0, 113, 0],   length: 24, kind: "documentation" },
    V4 { base: [224, 0, 0, 0],     length: 4,  kind: "multicast" },
    V4 { base: [255, 255, 255, 255], length: 32, kind: "broadcast" },
    V4 { base: [240, 0, 0, 0],     length: 4,  kind: "reserved" },
];

/// A range of IPv6 that webhooks must not lie in.
struct V6 {
    base: [u16; 8],
    length: u32,
    kind: &'static str,
}

/// Special ranges within 2000::/3, which has all public addresses, and named ones outside of it. Addresses
/// that embed another address lead wherever a gateway translates them to.
#[rustfmt::skip]
const V6_RANGES: &[V6] = &[
    V6 { base: [0, 0, 0, 0, 0, 0, 0, 0],          length: 128, kind: "unspecified" },
    V6 { base: [0, 0, 0, 0, 0, 0, 0, 1],          length: 128, kind: "loopback" },
    V6 { base: [0, 0, 0, 0, 0, 0, 0, 0],          length: 96,  kind: "IPv4-compatible" },
    V6 { base: [0, 0, 0, 0, 0xffff, 0, 0, 0],     length: 96,  kind: "IPv4-translated" },
    V6 { base: [0x64, 0xff9b, 1, 0, 0, 0, 0, 0],  length: 48,  kind: "NAT64" },
    V6 { base: [0x100, 0, 0, 0, 0, 0, 0, 0],      length: 64,  kind: "discard" },
    V6 { base: [0x2001, 0, 0, 0, 0, 0, 0, 0],     length: 32,  kind: "Teredo" },
    V6 { base: [0x2001, 2, 0, 0, 0, 0, 0, 0],     length: 48,  kind: "benchmarking" },
    V6 { base: [0x2001, 0, 0, 0, 0, 0, 0, 0],     length: 23,  kind: "reserved" },
    V6 { base: [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], length: 32,  kind: "documentation" },
    V6 { base: [0x2002, 0, 0, 0, 0, 0, 0, 0],     length: 16,  kind: "6to4" },
    V6 { base: [0x3fff, 0, 0, 0, 0, 0, 0, 0],     length: 20,  kind: "documentation" },
    V6 { base: [0x5f00, 0, 0, 0, 0, 0, 0, 0],     length: 16,  kind: "segment routing" },
    V6 { base: [0xfc00, 0, 0, 0, 0, 0, 0, 0],     length: 7,   kind: "private" },
    V6 { base: [0xfe80, 0, 0, 0, 0, 0, 0, 0],     length: 10,  kind: "link-local" },
    V6 { base: [0xfec0, 0, 0, 0, 0, 0, 0, 0],     length: 10,  kind: "site-local" },
    V6 { base: [0xff00, 0, 0, 0, 0, 0, 0, 0],     length: 8,   kind: "multicast" },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Option<&str>) {
        assert_eq!(forbidden(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn ranges_begin_and_end_where_they_should() {
        for (before, first, last, after, kind) in [
            (
                "9.255.255.255",
                "10.0.0.0",
                "10.255.255.255",
                "11.0.0.0",
                "private",
            ),
            (
                "100.63.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "100.128.0.0",
                "carrier's",
            ),
            (
                "126.255.255.255",
                "127.0.0.0",
                "127.255.255.255",
                "128.0.0.0",
                "loopback",
            ),
            (
                "168.63.129.15",
                "168.63.129.16",
                "168.63.129.16",
                "168.63.129.17",
                "metadata",
            ),
            (
                "169.253.255.255",
                "169.254.0.0",
                "169.254.255.255",
                "169.255.0.0",
                "link-local",
            ),
            (
                "172.15.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "172.32.0.0",
                "private",
            ),
            (
                "191.255.255.255",
                "192.0.0.0",
                "192.0.0.255",
                "192.0.1.0",
                "reserved",
            ),
            (
                "192.0.1.255",
                "192.0.2.0",
                "192.0.2.255",
                "192.0.3.0",
                "documentation",
            ),
            (
                "192.88.98.255",
                "192.88.99.0",
                "192.88.99.255",
                "192.88.100.0",
                "6to4",
            ),
            (
                "192.167.255.255",
                "192.168.0.0",
                "192.168.255.255",
                "192.169.0.0",
                "private",
            ),
            (
                "198.17.255.255",
                "198.18.0.0",
                "198.19.255.255",
                "198.20.0.0",
                "benchmarking",
            ),
            (
                "198.51.99.255",
                "198.51.100.0",
                "198.51.100.255",
                "198.51.101.0",
                "documentation",
            ),
            (
                "203.0.112.255",
                "203.0.113.0",
                "203.0.113.255",
                "203.0.114.0",
                "documentation",
            ),
            (
                "2001:1ff:ffff::",
                "2001:db8::",
                "2001:db8:ffff::",
                "2001:db9::",
                "documentation",
            ),
            ("2001:db9::", "2002::", "2002:ffff::ffff", "2003::", "6to4"),
        ] {
            check(first, Some(kind));
            check(last, Some(kind));
            check(after, None);
            if before != "2001:1ff:ffff::" {
                check(before, None);
            }
        }
        check("0.0.0.0", Some("unspecified"));
        check("0.255.255.255", Some("unspecified"));
        check("1.0.0.0", None);
        check("223.255.255.255", None);
        check("224.0.0.0", Some("multicast"));
        check("239.255.255.255", Some("multicast"));
        check("240.0.0.0", Some("reserved"));
        check("255.255.255.254", Some("reserved"));
        check("255.255.255.255", Some("broadcast"));
    }

    #[test]
    fn only_public_ipv6_addresses_are_allowed() {
        for (address, kind) in [
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::7f00:1", "IPv4-compatible"),
            ("::808:808", "IPv4-compatible"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:169.254.169.254", "link-local"),
            ("::ffff:0:8.8.8.8", "IPv4-translated"),
            ("64:ff9b::10.0.0.1", "private"),
            ("64:ff9b::169.254.169.254", "link-local"),
            ("64:ff9b:1::808:808", "NAT64"),
            ("64:ff9b:2::1", "reserved"),
            ("100::1", "discard"),
            ("1fff:ffff::1", "reserved"),
            ("2001::808:808", "Teredo"),
            ("2001:2::1", "benchmarking"),
            ("2001:20::1", "reserved"),
            ("2001:1ff:ffff::", "reserved"),
            ("2002:808:808::1", "6to4"),
            ("2606:4700::5efe:10.0.0.1", "private"),
            ("2606:4700::200:5efe:127.0.0.1", "loopback"),
            ("3fff::1", "documentation"),
            ("4000::1", "reserved"),
            ("5f00::1", "segment routing"),
            ("fc00::1", "private"),
            ("fd00:ec2::254", "private"),
            ("fe00::1", "reserved"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
        ] {
            check(address, Some(kind));
        }
        for address in [
            "2000::1",
            "2001:200::1",
            "2606:4700:4700::1111",
            "2a00:1450:4001:80b::200e",
            "3ffe::1",
            "3fff:1000::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2606:4700::5efe:8.8.8.8",
        ] {
            check(address, None);
        }
    }
}
