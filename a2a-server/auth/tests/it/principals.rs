//! Combinations of schemes, the hook, cards of principals.

use a2a_auth::{AnyOf, ApiKey, ApiKeys, BasicUsers, Requirement};
use a2a_server::AuthError;
use a2a_types::{Operation, TaskId};
use serde_json::json;

use crate::credentials::{HASH, KEY, PASSWORD};
use crate::fixture::{self, Credentials, Form, Service, extended_card};

fn keys() -> ApiKeys {
    let key = ApiKey::new(KEY, "key of ada").unwrap().scopes(["a"]);
    ApiKeys::header("x-api-key").unwrap().key(key).unwrap()
}

fn users() -> BasicUsers {
    BasicUsers::of([("ada", HASH)]).unwrap().scopes(["b"])
}

fn key() -> Credentials {
    Credentials::header("x-api-key", KEY)
}

fn password() -> Credentials {
    Credentials::basic("ada", PASSWORD)
}

/// Returns the status, and the name on the extended card.
async fn name(service: &Service, credentials: &Credentials) -> (u16, String) {
    let request = Form::LATEST.write(extended_card()).unwrap();
    let response = service.handle(credentials.attach(request)).await;
    let name = response.json()["result"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (response.status.as_u16(), name)
}

#[tokio::test]
async fn one_of_several_suffices_and_all_of_a_requirement_are_needed() {
    let either = Service::of(AnyOf::new(("key", keys())).or(("password", users())));
    let wrong_key = Credentials::header("x-api-key", "x");
    let wrong_password = Credentials::basic("ada", "x");
    let check = async |service: &Service, credentials: Credentials, status, expected: &str| {
        let (found, name) = name(service, &credentials).await;
        assert_eq!(
            (found, name.as_str()),
            (status, expected),
            "{credentials:?}"
        );
    };
    check(&either, key(), 200, "Asker of key of ada").await;
    check(&either, password(), 200, "Asker of ada").await;
    check(&either, key().and(&password()), 200, "Asker of key of ada").await;
    check(
        &either,
        wrong_key.clone().and(&password()),
        200,
        "Asker of ada",
    )
    .await;
    check(&either, wrong_key.clone(), 401, "").await;
    check(&either, Credentials::none(), 401, "").await;

    let both = Requirement::of("key", keys()).and("password", users());
    let both = Service::of(AnyOf::new(both));
    check(&both, key(), 401, "").await;
    check(&both, password(), 401, "").await;
    check(&both, key().and(&password()), 200, "Asker of key of ada").await;
    check(&both, key().and(&wrong_password), 401, "").await;
    check(&both, wrong_key.and(&password()), 401, "").await;

    let scoped = Requirement::of("key", keys())
        .scopes(["a"])
        .and("password", users());
    let scoped = Service::of(AnyOf::new(scoped.scopes(["c"])));
    check(&scoped, key().and(&password()), 403, "").await;
    let twice = key().and(&key());
    check(&either, twice, 401, "").await;
}

#[tokio::test]
async fn anonymous_callers_may_be_admitted_with_others() {
    let service = Service::of(AnyOf::new(("key", keys())).or_anonymous());
    assert_eq!(service.send(&Credentials::none()).await.status, 200);
    assert_eq!(service.send(&key()).await.status, 200);
    let wrong = Credentials::header("x-api-key", "x");
    assert_eq!(service.send(&wrong).await.status, 401);
    let card = service.get("/.well-known/agent-card.json").await.json();
    let expected = json!([{"schemes": {"key": {"list": []}}}, {"schemes": {}}]);
    assert_eq!(card["securityRequirements"], expected);
    // The extended card needs a principal, and its challenge is that of the scheme.
    let request = Form::LATEST.write(extended_card()).unwrap();
    let response = service.handle(request).await;
    assert_eq!(response.status, 401);
    assert_eq!(
        response.challenges(),
        ["ApiKey in=\"header\", name=\"x-api-key\""]
    );
}

#[tokio::test]
async fn the_hook_permits_or_refuses_calls_whether_or_not_their_task_exists() {
    let builder = fixture::builder(AnyOf::new(("key", keys())).or(("password", users())));
    let service = Service::new(builder.authorize(|principal, call| {
        let reads = call.request.operation() == Operation::GetTask;
        match reads && principal.name() != Some("ada") {
            true => Err(AuthError::forbidden()),
            false => Ok(()),
        }
    }));
    let sent = service.send(&key()).await;
    assert_eq!(sent.status, 200);
    let task: TaskId = sent.json()["result"]["task"]["id"].as_str().unwrap().into();
    let get = async |task: &TaskId, credentials: &Credentials| {
        let request = Form::LATEST.write(fixture::get(task)).unwrap();
        service.handle(credentials.attach(request)).await
    };
    let [own, absent] = [&task, &"nowhere".into()];
    let (own, absent) = (get(own, &key()).await, get(absent, &key()).await);
    assert_eq!(own.status, 403);
    assert_eq!((own.status, &own.body), (absent.status, &absent.body));
    assert_eq!(own.challenges(), [] as [&str; 0]);
    let other = get(&task, &password()).await;
    assert_eq!(
        (other.status.as_u16(), &other.json()["error"]["code"]),
        (200, &json!(-32001))
    );
}
