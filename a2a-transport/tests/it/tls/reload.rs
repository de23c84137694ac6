//! Files of TLS that change while they are served.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use a2a_transport::http::{ClientAuth, HttpClient, Tls};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::tls::{Authority, Files, Identity, PATIENCE, VERSIONS, ask, connect, start};

/// Returns whether new connections get this certificate.
async fn is_served(address: SocketAddr, config: &Arc<ClientConfig>, (chain, _): &Identity) -> bool {
    let expected = CertificateDer::from_pem_slice(chain.as_bytes()).unwrap();
    let stream = connect(address, "localhost", config).await.unwrap();
    let certificates = stream.get_ref().1.peer_certificates();
    certificates.is_some_and(|certificates| certificates == [expected])
}

/// Writes a new certificate as `name`, in two files, one after the other.
fn renew(files: &Files, (chain, key): &Identity) {
    files.write("key.pem", key);
    files.write("chain.pem", chain);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_certificates_change() {
    const CHANGES: usize = 200;
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let interval = Duration::from_millis(10);
    let tls = files.tls().reload_interval(interval).build().unwrap();
    let address = start(&tls).await;
    let (done, answered) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let mut callers = Vec::new();
    for alpn in ["h2", "http/1.1"] {
        // A connection for each request, with and without a session to resume.
        let (done, answered) = (Arc::clone(&done), Arc::clone(&answered));
        let resuming = authority.config(&VERSIONS, &[alpn], None);
        let fresh = (*resuming).clone();
        callers.push(tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                let mut fresh = fresh.clone();
                fresh.resumption = rustls::client::Resumption::disabled();
                ask(address, &resuming).await.unwrap();
                ask(address, &Arc::new(fresh)).await.unwrap();
                answered.fetch_add(2, Ordering::Relaxed);
            }
        }));
    }
    // This client uses one connection for all requests.
    let trusting = Tls::default().trust(&authority.pem()).unwrap();
    let http = HttpClient::builder().tls(trusting).build();
    let url = format!("https://localhost:{}/", address.port());
    callers.push(tokio::spawn({
        let (done, answered) = (Arc::clone(&done), Arc::clone(&answered));
        async move {
            while !done.load(Ordering::Relaxed) {
                http.get(&url, &Default::default()).await.unwrap();
                answered.fetch_add(1, Ordering::Relaxed);
            }
        }
    }));
    let config = authority.config(&VERSIONS, &[], None);
    let begun = Instant::now();
    for _ in 0..CHANGES {
        let identity = authority.vouch_for("localhost");
        renew(&files, &identity);
        tls.reload().unwrap();
        assert!(is_served(address, &config, &identity).await);
    }
    done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    let answered = answered.load(Ordering::Relaxed);
    println!(
        "{answered} requests, {CHANGES} certificates, {:?}",
        begun.elapsed()
    );
    assert!(answered >= CHANGES, "{answered} requests is not a load");
}

/// Waits until a connection gets this certificate.
async fn becomes_served(address: SocketAddr, config: &Arc<ClientConfig>, identity: &Identity) {
    let waiting = async { while !is_served(address, config, identity).await {} };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

#[tokio::test]
async fn changed_files_are_found() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let interval = Duration::from_millis(10);
    let tls = files.tls().reload_interval(interval).build().unwrap();
    let address = start(&tls).await;
    let config = authority.config(&VERSIONS, &[], None);
    let identity = authority.vouch_for("localhost");
    renew(&files, &identity);
    becomes_served(address, &config, &identity).await;

    // By a symbolic link, with which orchestrators replace all files at once.
    #[cfg(unix)]
    {
        let identity = authority.vouch_for("localhost");
        for (name, content) in [("chain.pem", &identity.0), ("key.pem", &identity.1)] {
            let target = files.write(&format!("new-{name}"), content);
            let link = files.path(&format!("link-{name}"));
            std::os::unix::fs::symlink(target, &link).unwrap();
            std::fs::rename(link, files.path(name)).unwrap();
        }
        becomes_served(address, &config, &identity).await;
    }
}

#[tokio::test]
async fn files_that_cannot_be_used_change_nothing() {
    let recorder = DebuggingRecorder::new();
    let metrics = recorder.snapshotter();
    let _installed = metrics::set_default_local_recorder(&recorder);
    let authority = Authority::new();
    let first = authority.vouch_for("localhost");
    let files = Files::new(&first);
    let tls = files.tls().build().unwrap();
    let address = start(&tls).await;
    let config = authority.config(&VERSIONS, &[], None);
    let second = authority.vouch_for("localhost");
    let half = |text: &str| text[..text.len() / 2].to_owned();
    for (name, content, expected) in [
        (
            "chain.pem",
            second.0.clone(),
            "is not that of the first certificate",
        ),
        (
            "key.pem",
            second.1.clone(),
            "is not that of the first certificate",
        ),
        ("chain.pem", half(&first.0), "no certificate"),
        ("key.pem", half(&first.1), "no private key"),
        ("chain.pem", String::new(), "no certificate"),
        ("key.pem", String::new(), "no private key"),
    ] {
        files.write(name, content);
        let error = tls.reload().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(failing(&metrics), Some(1.0));
        assert!(is_served(address, &config, &first).await);
        renew(&files, &first);
        tls.reload().unwrap();
        assert_eq!(failing(&metrics), Some(0.0));
    }
    std::fs::remove_file(files.path("key.pem")).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(
        error.contains("key.pem") && error.contains("cannot be read"),
        "{error}"
    );
    assert!(is_served(address, &config, &first).await);
    renew(&files, &second);
    tls.reload().unwrap();
    assert!(is_served(address, &config, &second).await);
    assert_eq!(failing(&metrics), Some(0.0));
}

fn failing(metrics: &Snapshotter) -> Option<f64> {
    gauge(metrics, "a2a_server_tls_reload_failing")
}

/// Returns the value of a gauge.
fn gauge(metrics: &Snapshotter, name: &str) -> Option<f64> {
    let all = metrics.snapshot().into_vec().into_iter();
    let mut named = all.filter(|(key, ..)| key.key().name() == name);
    match named.next()?.3 {
        DebugValue::Gauge(value) => Some(value.into_inner()),
        _ => None,
    }
}

#[test]
fn the_first_of_the_certificates_to_expire_is_known() {
    let recorder = DebuggingRecorder::new();
    let metrics = recorder.snapshotter();
    let _installed = metrics::set_default_local_recorder(&recorder);
    let authority = Authority::new();
    let [late, soon] = [3_000_000_000, 2_000_000_000].map(Duration::from_secs);
    let files = Files::new(&authority.vouch_until(&["localhost"], UNIX_EPOCH + late));
    let (chain, key) = authority.vouch_until(&["b.example"], UNIX_EPOCH + soon);
    let tls = files
        .tls()
        .certificate(files.write("b.pem", chain), files.write("b-key.pem", key));
    let tls = tls.build().unwrap();
    assert_eq!(tls.not_after(), Some(UNIX_EPOCH + soon));
    tls.reload().unwrap();
    let expiry = gauge(&metrics, "a2a_server_tls_certificate_expiry_seconds");
    assert_eq!(expiry, Some(soon.as_secs_f64()));

    let expired = SystemTime::now() - Duration::from_secs(1);
    renew(&files, &authority.vouch_until(&["localhost"], expired));
    tls.reload().unwrap();
    assert!(
        tls.not_after()
            .is_some_and(|expiry| expiry < SystemTime::now())
    );
}

#[tokio::test]
async fn authorities_of_clients_are_reloaded_and_old_sessions_end() {
    let (authority, first, second) = (Authority::new(), Authority::new(), Authority::new());
    let files = Files::new(&authority.vouch_for("localhost"));
    let pem = files.write("clients.pem", first.pem());
    let tls = files.tls().client_authorities(&pem, ClientAuth::Required);
    let tls = tls.build().unwrap();
    let address = start(&tls).await;
    let [ada, bob] = [&first, &second].map(|issuer| issuer.vouch_for("client"));
    let [ada, bob] = [ada, bob].map(|it| authority.config(&VERSIONS, &["http/1.1"], Some(&it)));
    ask(address, &ada).await.unwrap();
    ask(address, &bob).await.unwrap_err();
    files.write("clients.pem", second.pem());
    tls.reload().unwrap();
    ask(address, &ada).await.unwrap_err();
    ask(address, &bob).await.unwrap();
}
