//! URLs that are accepted, and reasons to refuse others.

use super::*;

#[track_caller]
fn check(policy: &WebhookPolicy, url: &str, expected: Option<Refusal>) {
    assert_eq!(policy.check(url).err(), expected, "{url}");
}

#[test]
#[rustfmt::skip]
fn urls_are_judged_by_what_would_be_called() {
    use Refusal::*;
    let policy = WebhookPolicy::default();
    let loopback = Some(Address("loopback"));
    let private = Some(Address("private"));
    let link_local = Some(Address("link-local"));
    let metadata = Some(Address("metadata"));
    let vectors: &[(&str, Option<Refusal>)] = &[
        // Public hosts.
        ("https://hooks.example.com", None),
        ("https://hooks.example.com/", None),
        ("https://hooks.example.com/a/b?c=d&e=%20f", None),
        ("https://hooks.example.com:443/", None),
        ("https://hooks.example.com:8443/", None),
        ("HTTPS://HOOKS.EXAMPLE.COM/", None),
        ("https://hooks.example.com/#fragment", None),
        ("https://hooks.example.com#@127.0.0.1/", None),
        ("https://hooks.example.com?@127.0.0.1/", None),
        ("https://hooks.example.com/@127.0.0.1/", None),
        ("https://hooks.example.com/http://127.0.0.1/", None),
        ("https://hooks.example.com/\u{e4}", None),
        ("https://b\u{fc}cher.example/", None),
        ("https://xn--bcher-kva.example/", None),
        ("https://a_b.example/", None),
        ("https://127.0.0.1.example.com/", None),
        ("https://localhost.example.com/", None),
        ("https://10.example/", None),
        ("https://8.8.8.8/", None),
        ("https://8.8.8.8:8443/", None),
        ("https://[2606:4700:4700::1111]/", None),
        ("https://[2606:4700:4700:0:0:0:0:1111]:8443/", None),
        ("https://[::ffff:8.8.8.8]/", None),
        ("https://[64:ff9b::8.8.8.8]/", None),
        // Names that contain an address are judged when they are resolved.
        ("https://127.0.0.1.nip.io/", None),
        ("https://169-254-169-254.sslip.io/", None),
        // Schemes.
        ("http://hooks.example.com/", Some(Scheme)),
        ("http://8.8.8.8/", Some(Scheme)),
        ("ftp://hooks.example.com/", Some(Scheme)),
        ("ws://hooks.example.com/", Some(Scheme)),
        ("wss://hooks.example.com/", Some(Scheme)),
        ("file:///etc/passwd", Some(Scheme)),
        ("gopher://hooks.example.com/_", Some(Scheme)),
        ("dict://hooks.example.com/", Some(Scheme)),
        ("ldap://hooks.example.com/", Some(Scheme)),
        ("unix:///run/docker.sock", Some(Scheme)),
        ("javascript:alert(1)", Some(Scheme)),
        ("data:text/plain,hello", Some(Scheme)),
        ("mailto:someone@example.com", Some(Scheme)),
        ("blob:https://hooks.example.com/", Some(Scheme)),
        ("view-source:https://hooks.example.com/", Some(Scheme)),
        // Texts that are not URLs, or are only after a repair.
        ("", Some(Malformed)),
        ("hooks.example.com", Some(Malformed)),
        ("/path", Some(Malformed)),
        ("//hooks.example.com/", Some(Malformed)),
        ("://hooks.example.com/", Some(Malformed)),
        ("https:hooks.example.com", Some(Malformed)),
        ("https:/hooks.example.com", Some(Malformed)),
        ("https:///hooks.example.com", Some(Malformed)),
        ("https:////127.0.0.1/", Some(Malformed)),
        ("https:\\\\hooks.example.com\\", Some(Malformed)),
        ("https://hooks.example.com\\@127.0.0.1/", Some(Malformed)),
        (" https://hooks.example.com/", Some(Malformed)),
        ("https://hooks.example.com/ ", Some(Malformed)),
        ("https://hooks.example.com/\r\nHost: other", Some(Malformed)),
        ("https://hooks.exa\tmple.com/", Some(Malformed)),
        ("ht\ntps://127.0.0.1/", Some(Malformed)),
        ("\0https://hooks.example.com/", Some(Malformed)),
        ("https://hooks.example.com:port/", Some(Malformed)),
        ("https://hooks.example.com:65536/", Some(Malformed)),
        ("https://hooks.example.com:-1/", Some(Malformed)),
        ("https://2606:4700:4700::1111/", Some(Malformed)),
        // User information.
        ("https://user@hooks.example.com/", Some(Credentials)),
        ("https://user:password@hooks.example.com/", Some(Credentials)),
        ("https://@hooks.example.com/", Some(Credentials)),
        ("https://:@hooks.example.com/", Some(Credentials)),
        ("https://hooks.example.com@127.0.0.1/", Some(Credentials)),
        ("https://127.0.0.1@hooks.example.com/", Some(Credentials)),
        ("https://hooks.example.com:443@127.0.0.1/", Some(Credentials)),
        ("https://hooks.example.com%40@127.0.0.1/", Some(Credentials)),
        ("https://a@b@127.0.0.1/", Some(Credentials)),
        ("https://hooks.example.com&@127.0.0.1#@8.8.8.8/", Some(Credentials)),
        // Ports.
        ("https://hooks.example.com:0/", Some(Port(0))),
        ("https://hooks.example.com:22/", Some(Port(22))),
        ("https://hooks.example.com:80/", Some(Port(80))),
        ("https://hooks.example.com:6379/", Some(Port(6379))),
        ("https://hooks.example.com:8080/", Some(Port(8080))),
        ("https://8.8.8.8:25/", Some(Port(25))),
        // Hosts.
        ("https://", Some(Host)),
        ("https://?query", Some(Host)),
        ("https://:443/", Some(Host)),
        ("https://a..example/", Some(Host)),
        ("https://.example.com/", Some(Host)),
        ("https://ex ample.com/", Some(Host)),
        ("https://exa\0mple.com/", Some(Host)),
        ("https://exa%00mple.com/", Some(Host)),
        ("https://exa<mple.com/", Some(Host)),
        ("https://exa%2fmple.com/", Some(Host)),
        ("https://hooks.example.com%23.example.org/", Some(Host)),
        ("https://256.1.1.1/", Some(Host)),
        ("https://1.2.3.4.5/", Some(Host)),
        ("https://0x100000000/", Some(Host)),
        ("https://4294967296/", Some(Host)),
        ("https://hooks.example.123/", Some(Host)),
        ("https://08.8.8.8/", Some(Host)),
        ("https://[::1/", Some(Host)),
        ("https://[::1%25eth0]/", Some(Host)),
        ("https://[fe80::1%eth0]/", Some(Host)),
        ("https://[127.0.0.1]/", Some(Host)),
        ("https://[localhost]/", Some(Host)),
        ("https://[::ffff:127.1]/", Some(Host)),
        ("https://hooks.example.com./", Some(TrailingDot)),
        ("https://localhost./", Some(TrailingDot)),
        ("https://hooks.example.com\u{3002}/", Some(TrailingDot)),
        ("https://%68ooks.example.com/", Some(Disguised)),
        ("https://hooks%2eexample.com/", Some(Disguised)),
        // Names that are local, however they are written.
        ("https://localhost/", Some(LocalName)),
        ("https://LOCALHOST/", Some(LocalName)),
        ("https://a.localhost/", Some(LocalName)),
        ("https://\u{ff4c}\u{ff4f}\u{ff43}\u{ff41}\u{ff4c}\u{ff48}\u{ff4f}\u{ff53}\u{ff54}/", Some(LocalName)),
        ("https://\u{24db}ocalhost/", Some(LocalName)),
        ("https://lo\u{ad}calhost/", Some(LocalName)),
        ("https://metadata/", Some(LocalName)),
        ("https://metadata.google.internal/", Some(LocalName)),
        ("https://printer.local/", Some(LocalName)),
        ("https://router.lan/", Some(LocalName)),
        ("https://nas.home.arpa/", Some(LocalName)),
        ("https://1.0.0.127.in-addr.arpa/", Some(LocalName)),
        ("https://kubernetes.default.svc.cluster.local/", Some(LocalName)),
        ("https://a.onion/", Some(LocalName)),
        // Addresses of IPv4, in all the forms that some program reads.
        ("https://127.0.0.1/", loopback),
        ("https://127.0.0.1:8443/", loopback),
        ("https://127.255.255.254/", loopback),
        ("https://127.0.0.1./", loopback),
        ("https://127.1/", loopback),
        ("https://127.0.1/", loopback),
        ("https://2130706433/", loopback),
        ("https://0x7f000001/", loopback),
        ("https://0X7F.0.0.1/", loopback),
        ("https://0x7f.1/", loopback),
        ("https://017700000001/", loopback),
        ("https://0177.0.0.01/", loopback),
        ("https://0177.0x0.1/", loopback),
        ("https://127.0.0.0x1/", loopback),
        ("https://%31%32%37.0.0.1/", loopback),
        ("https://127%2e0%2e0%2e1/", loopback),
        ("https://\u{ff11}\u{ff12}\u{ff17}.0.0.1/", loopback),
        ("https://\u{2460}\u{2461}\u{2466}.0.0.1/", loopback),
        ("https://127\u{3002}0\u{3002}0\u{3002}1/", loopback),
        ("https://127\u{ff0e}0\u{ff0e}0\u{ff0e}1/", loopback),
        ("https://127\u{ff61}0.0.1/", loopback),
        ("https://0x\u{ff17}f.1/", loopback),
        ("https://0/", Some(Address("unspecified"))),
        ("https://0.0.0.0/", Some(Address("unspecified"))),
        ("https://0x/", Some(Address("unspecified"))),
        ("https://10.0.0.1/", private),
        ("https://167772161/", private),
        ("https://10.1/", private),
        ("https://172.16.0.1/", private),
        ("https://172.31.255.255/", private),
        ("https://192.168.1.1/", private),
        ("https://0300.0250.1.1/", private),
        ("https://100.64.0.1/", Some(Address("carrier's"))),
        ("https://100.100.100.200/", Some(Address("carrier's"))),
        ("https://169.254.169.254/latest/meta-data/", link_local),
        ("https://2852039166/", link_local),
        ("https://0xa9fea9fe/", link_local),
        ("https://0xa9.0xfe.0xa9.0xfe/", link_local),
        ("https://0251.0376.0251.0376/", link_local),
        ("https://169.254.43518/", link_local),
        ("https://169.16689662/", link_local),
        ("https://168.63.129.16/", metadata),
        ("https://192.0.0.192/", Some(Address("reserved"))),
        ("https://192.0.2.1/", Some(Address("documentation"))),
        ("https://198.51.100.1/", Some(Address("documentation"))),
        ("https://203.0.113.1/", Some(Address("documentation"))),
        ("https://192.88.99.1/", Some(Address("6to4"))),
        ("https://198.18.0.1/", Some(Address("benchmarking"))),
        ("https://224.0.0.1/", Some(Address("multicast"))),
        ("https://239.255.255.250/", Some(Address("multicast"))),
        ("https://240.0.0.1/", Some(Address("reserved"))),
        ("https://255.255.255.255/", Some(Address("broadcast"))),
        ("https://4294967295/", Some(Address("broadcast"))),
        // Public addresses, but not as people write them.
        ("https://134744072/", Some(Disguised)),
        ("https://0x08080808/", Some(Disguised)),
        ("https://010.8.8.8/", Some(Disguised)),
        ("https://8.8.2056/", Some(Disguised)),
        ("https://8.8.8.8./", Some(Disguised)),
        ("https://8.8.8.%38/", Some(Disguised)),
        ("https://\u{ff18}.8.8.8/", Some(Disguised)),
        ("https://8\u{3002}8\u{3002}8\u{3002}8/", Some(Disguised)),
        ("https://8.8.8.8%2f8.8.4.4/", Some(Host)),
        // Addresses of IPv6, and of IPv4 in them.
        ("https://[::]/", Some(Address("unspecified"))),
        ("https://[::1]/", loopback),
        ("https://[0:0:0:0:0:0:0:1]/", loopback),
        ("https://[0000:0000:0000:0000:0000:0000:0000:0001]/", loopback),
        ("https://[::0.0.0.1]/", loopback),
        ("https://[::ffff:127.0.0.1]/", loopback),
        ("https://[::ffff:7f00:1]/", loopback),
        ("https://[::FFFF:7F00:1]/", loopback),
        ("https://[0:0:0:0:0:ffff:7f00:1]/", loopback),
        ("https://[::ffff:169.254.169.254]/", link_local),
        ("https://[::ffff:a9fe:a9fe]/", link_local),
        ("https://[::ffff:10.0.0.1]/", private),
        ("https://[::127.0.0.1]/", Some(Address("IPv4-compatible"))),
        ("https://[::a9fe:a9fe]/", Some(Address("IPv4-compatible"))),
        ("https://[::ffff:0:127.0.0.1]/", Some(Address("IPv4-translated"))),
        ("https://[64:ff9b::127.0.0.1]/", loopback),
        ("https://[64:ff9b::a9fe:a9fe]/", link_local),
        ("https://[64:ff9b:1::a9fe:a9fe]/", Some(Address("NAT64"))),
        ("https://[64:ff9b:1:a9fe:a9:fe00::]/", Some(Address("NAT64"))),
        ("https://[2002:7f00:1::]/", Some(Address("6to4"))),
        ("https://[2002:a9fe:a9fe::1]/", Some(Address("6to4"))),
        ("https://[2001:0:a9fe:a9fe::1]/", Some(Address("Teredo"))),
        ("https://[2001::5601:5601]/", Some(Address("Teredo"))),
        ("https://[2606:4700::5efe:127.0.0.1]/", loopback),
        ("https://[fc00::1]/", private),
        ("https://[fd00:ec2::254]/", private),
        ("https://[fe80::1]/", link_local),
        ("https://[fe80::a9fe:a9fe]/", link_local),
        ("https://[fec0::1]/", Some(Address("site-local"))),
        ("https://[ff02::1]/", Some(Address("multicast"))),
        ("https://[2001:db8::1]/", Some(Address("documentation"))),
        ("https://[3fff::1]/", Some(Address("documentation"))),
        ("https://[100::1]/", Some(Address("discard"))),
        ("https://[5f00::1]/", Some(Address("segment routing"))),
        ("https://[2001:2::1]/", Some(Address("benchmarking"))),
        ("https://[2001:10::1]/", Some(Address("reserved"))),
        ("https://[4000::1]/", Some(Address("reserved"))),
    ];
    assert!(vectors.len() >= 120, "{}", vectors.len());
    for (url, expected) in vectors {
        check(&policy, url, *expected);
    }
}

#[test]
#[rustfmt::skip]
fn hosts_of_the_list_are_trusted_and_no_others() {
    use Refusal::*;
    let policy = WebhookPolicy::default()
        .allow_hosts(["localhost", "127.0.0.1", "::1", "*.test", "Hooks.Example"])
        .allow_ports([9443]);
    for (url, expected) in [
        ("http://localhost:3000/hook", None),
        ("https://LOCALHOST/", None),
        ("http://127.0.0.1:8080/", None),
        ("http://[::1]:8080/", None),
        ("http://[0:0::1]/", None),
        ("http://a.test/", None),
        ("http://a.b.test:1/", None),
        ("http://hooks.example/", None),
        ("https://other.example:9443/", None),
        ("http://test/", Some(LocalName)),
        ("http://atest/", Some(LocalName)),
        ("http://a.test.example/", Some(Scheme)),
        ("http://a.hooks.example/", Some(Scheme)),
        ("http://localhost.example/", Some(Scheme)),
        ("http://127.0.0.2/", Some(Address("loopback"))),
        ("http://127.1/", Some(Disguised)),
        ("http://2130706433/", Some(Disguised)),
        ("http://[::ffff:127.0.0.1]/", Some(Address("loopback"))),
        ("http://localhost./", Some(TrailingDot)),
        ("http://a@localhost/", Some(Credentials)),
        ("ftp://localhost/", Some(Scheme)),
        ("https://other.example:8080/", Some(Port(8080))),
    ] {
        check(&policy, url, expected);
    }
}

#[test]
fn url_length_is_bounded() {
    let policy = WebhookPolicy::default();
    let url = |length: usize| format!("{:/<length$}", "https://hooks.example.com/");
    check(&policy, &url(4096), None);
    check(&policy, &url(4097), Some(Refusal::TooLong(4096)));
    let label = "a".repeat(64);
    check(
        &policy,
        &format!("https://{label}.example/"),
        Some(Refusal::Host),
    );
    let name = "a.".repeat(130);
    check(
        &policy,
        &format!("https://{name}example/"),
        Some(Refusal::Host),
    );
}

#[test]
fn refusals_do_not_reveal_the_url() {
    let policy = WebhookPolicy::default();
    for url in [
        "https://canary:canary@hooks.example.com/",
        "https://canary.example.com:22/canary",
        "http://canary.example.com/canary",
        "canary",
        "https://10.0.0.1/canary?canary",
    ] {
        let text = policy.check(url).unwrap_err().to_string();
        assert!(!text.contains("canary"), "{text}");
    }
}
