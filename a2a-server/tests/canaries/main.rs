//! No secret of a webhook, of its owner, or of the agent is found where it does not belong: in a log
//! at any level and of any crate, in an answer to another caller, in `Debug` output, in the text of
//! an error.
//!
//! Every secret is a canary: a unique text. One subscriber records everything in this process, so these
//! tests are a separate program; each ends by searching for canaries in everything logged so far, by
//! itself and by the others.

mod agent;
mod debug_output;
mod failed_deliveries;
mod log;
mod receiver;
mod refused_requests;
mod sealed_webhooks;
mod secrets;
#[path = "../it/stores/mod.rs"]
mod stores;
#[path = "../it/waiting.rs"]
mod waiting;
mod webhook_registration;
mod wire;

use crate::log::CapturedLog;
use crate::secrets::{ALL, forms, found};

/// A canary is found, in whatever form it is logged.
#[test]
fn a_leak_is_found() {
    for (what, canary) in ALL {
        for form in forms(canary) {
            let log = Box::leak(Box::<CapturedLog>::default());
            tracing::subscriber::with_default(log::subscriber(log), || {
                let _span = tracing::trace_span!("a span", shown = form).entered();
            });
            assert_eq!(found(&log.text()), [canary].into(), "{what}: {form}");
        }
        let log = Box::leak(Box::<CapturedLog>::default());
        tracing::subscriber::with_default(log::subscriber(log), || {
            let error = std::io::Error::other(canary);
            let error = &error as &dyn std::error::Error;
            tracing::trace!(error, bytes = ?[canary.as_bytes()], "said");
        });
        assert_eq!(log.text().lines().count(), 1);
        assert_eq!(found(&log.text()), [canary].into(), "{what}");
    }
}
