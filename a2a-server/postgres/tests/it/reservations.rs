//! Reservations whose release fails.

use std::time::Duration;

use a2a_postgres::PostgresOptions;
use a2a_server::{IdempotencyKey, SharedStore, Store, StoreError};
use tokio::time::timeout;

use crate::database::{open, shared};
use crate::proxy::Proxy;
use crate::sample::{LONG, ada};

/// The server of its holder lives on, and renews the reservations that it has not released.
#[tokio::test(flavor = "multi_thread")]
async fn reservation_runs_out_though_its_release_failed() {
    let Some(database) = shared() else { return };
    let proxy = Proxy::start(database);
    let options = |url: &str| PostgresOptions::new(url).unwrap().schema("reservations");
    let there = open(&options(&database.url())).await;
    let here = open(&options(&proxy.url()).connections(1).listen(false)).await;
    let receipt = |id: &str| IdempotencyKey::new(id.into(), [1; 32], LONG);
    let term = Duration::from_millis(200);
    for message in ["released", "kept"] {
        let reserved = here
            .reserve(&ada(), &receipt(message), "h", term, None)
            .await;
        let number = reserved.unwrap();
        if message == "kept" {
            break;
        }
        proxy.refuse();
        let released = here.release(&ada(), &message.into(), number).await;
        assert!(
            matches!(released, Err(StoreError::Unavailable(_))),
            "{released:?}"
        );
        proxy.let_through();
        // Connections are opened again after a moment.
        while here.renew("h", term).await.is_err() {
            tokio::task::yield_now().await;
        }
    }
    here.renew("h", LONG).await.unwrap();
    let runs_out = async {
        let mut expired = None;
        let released = receipt("released");
        while let Err(error) = there.reserve(&ada(), &released, "i", LONG, expired).await {
            match error {
                StoreError::ReservationExpired(number) => expired = Some(number),
                error => assert!(matches!(error, StoreError::Leased), "{error:?}"),
            }
            here.renew("h", LONG).await.unwrap();
        }
    };
    let released = timeout(Duration::from_secs(30), runs_out).await;
    released.expect("it runs out");
    let kept = there
        .reserve(&ada(), &receipt("kept"), "i", LONG, None)
        .await;
    assert!(matches!(kept, Err(StoreError::Leased)), "{kept:?}");
}
