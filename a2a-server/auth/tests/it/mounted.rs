//! Over a socket, where the server knows the address of its peer.

use std::time::Duration;

use a2a_auth::{AnyOf, ApiKey, ApiKeys, Rate, RateLimits};
use a2a_transport::http::HttpClient;
use http::HeaderMap;

use crate::credentials::KEY;
use crate::fixture::builder;

#[tokio::test]
async fn the_address_of_a_connection_is_that_of_its_requests() {
    let key = ApiKey::new(KEY, "ada").unwrap();
    let keys = ApiKeys::header("x-api-key").unwrap().key(key).unwrap();
    let limited = RateLimits::new(AnyOf::new(("key", keys)));
    let hour = Duration::from_secs(3600);
    let server = builder(limited.per_address(Rate::new(2, hour)))
        .build()
        .unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = format!("{}agent/authenticatedExtendedCard", bound.url());
    let running = tokio::spawn(bound.run(std::future::pending()));
    let client = HttpClient::default();
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", KEY.parse().unwrap());
    let mut statuses = Vec::new();
    for _ in 0..3 {
        let response = client.get(&url, &headers).await.unwrap();
        statuses.push(response.status.as_u16());
    }
    assert_eq!(statuses, [200, 200, 429]);
    running.abort();
}
