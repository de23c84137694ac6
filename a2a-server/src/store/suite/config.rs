//! The webhooks of a task.

use a2a_types::{Dialect, TaskPushNotificationConfig};

use super::super::limits::{MAX_CONFIG_BYTES, MAX_CONFIGS};
use super::super::{NewTask, StoreError};
use super::bench::Bench;
use super::sample::{ada, config, new};
use super::saw::{Checked, refused, same};
use super::writer::Writer;

super::promises! {
    "config":
    in_order = "the webhooks of a task are told whole, in order of creation";
    replaced = "a webhook takes the place of one with the same id";
    deleted = "a webhook that is deleted is gone, and one that is not there already was";
    so_many = "a task has at most 16 webhooks, and those can still be replaced";
    so_large = "a webhook holds at most 64 KiB, and one that holds more is refused as a whole";
    of_a_task = "a webhook belongs to a task, and no other task has it";
}

async fn in_order(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let mut expected = Vec::new();
    for id in ["c", "a", "b", "A", "%"] {
        let config = config(&writer.task, id);
        bench
            .store
            .put_config(&ada(), config.clone(), Dialect::V1_0)
            .await?;
        expected.push(config);
        same(
            "the webhooks",
            writer.look().await?.configs,
            expected.clone(),
        )?;
    }
    let bare = TaskPushNotificationConfig {
        tenant: None,
        token: None,
        authentication: None,
        ..config(&writer.task, "bare")
    };
    bench
        .store
        .put_config(&ada(), bare.clone(), Dialect::V1_0)
        .await?;
    expected.push(bare);
    same("the webhooks", writer.look().await?.configs, expected)
}

async fn replaced(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let mut expected: Vec<_> = ["a", "b", "c"].map(|id| config(&writer.task, id)).into();
    for config in &expected {
        bench
            .store
            .put_config(&ada(), config.clone(), Dialect::V1_0)
            .await?;
    }
    for place in [1, 0, 1] {
        let url = format!("{}/moved", expected[place].url);
        expected[place].url = url;
        expected[place].token = None;
        let config = expected[place].clone();
        bench
            .store
            .put_config(&ada(), config, Dialect::V1_0)
            .await?;
        same(
            "the webhooks",
            writer.look().await?.configs,
            expected.clone(),
        )?;
    }
    Ok(())
}

async fn deleted(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    for id in ["a", "b", "c"] {
        let config = config(&writer.task, id);
        bench
            .store
            .put_config(&ada(), config, Dialect::V1_0)
            .await?;
    }
    for id in ["b", "b", "d"] {
        writer.delete_config(id).await?;
        let expected = ["a", "c"].map(|id| config(&writer.task, id));
        same(
            "the webhooks",
            writer.look().await?.configs,
            expected.into(),
        )?;
    }
    // It has lost its place.
    let again = config(&writer.task, "b");
    bench.store.put_config(&ada(), again, Dialect::V1_0).await?;
    let expected = ["a", "c", "b"].map(|id| config(&writer.task, id));
    same(
        "the webhooks",
        writer.look().await?.configs,
        expected.into(),
    )
}

async fn so_many(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let numbered = |number: usize| config(&writer.task, &number.to_string());
    for number in 0..MAX_CONFIGS {
        bench
            .store
            .put_config(&ada(), numbered(number), Dialect::V1_0)
            .await?;
    }
    for _ in 0..2 {
        refused!(
            bench
                .store
                .put_config(&ada(), numbered(MAX_CONFIGS), Dialect::V1_0)
                .await,
            StoreError::TooManyConfigs(_)
        );
        bench
            .store
            .put_config(&ada(), numbered(3), Dialect::V1_0)
            .await?;
    }
    let expected: Vec<_> = (0..MAX_CONFIGS).map(numbered).collect();
    same("the webhooks", writer.look().await?.configs, expected)?;
    writer.delete_config("7").await?;
    bench
        .store
        .put_config(&ada(), numbered(MAX_CONFIGS), Dialect::V1_0)
        .await?;
    // Another task has room of its own.
    let other = bench.begin("u").await?;
    let config = config(&other.task, "0");
    bench
        .store
        .put_config(&ada(), config.clone(), Dialect::V1_0)
        .await?;
    same("the webhooks", other.look().await?.configs, vec![config])
}

async fn so_large(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let sized = |task, bytes: usize| TaskPushNotificationConfig {
        token: Some("x".repeat(bytes)),
        ..config(task, "c")
    };
    let kept = sized(&writer.task, MAX_CONFIG_BYTES / 2);
    let store = &bench.store;
    store
        .put_config(&ada(), kept.clone(), Dialect::V1_0)
        .await?;
    let too_large = sized(&writer.task, MAX_CONFIG_BYTES);
    refused!(
        store.put_config(&ada(), too_large, Dialect::V1_0).await,
        StoreError::ConfigTooLong(_)
    );
    same("the webhooks", writer.look().await?.configs, vec![kept])?;
    let with_config = NewTask {
        config: Some(sized(&"u".into(), MAX_CONFIG_BYTES)),
        ..new("u")
    };
    refused!(
        store.create(&ada(), with_config).await,
        StoreError::ConfigTooLong(_)
    );
    let left = vec!["t".to_owned()];
    same("the tasks", bench.ids(&ada()).await?, left)
}

async fn of_a_task(bench: Bench) -> Checked {
    let one = bench.begin("one").await?;
    let two = bench.begin("two").await?;
    let none = "none".into();
    bench
        .store
        .put_config(&ada(), config(&one.task, "c"), Dialect::V1_0)
        .await?;
    bench
        .store
        .put_config(&ada(), config(&two.task, "c"), Dialect::V1_0)
        .await?;
    refused!(
        bench
            .store
            .put_config(&ada(), config(&none, "c"), Dialect::V1_0)
            .await,
        StoreError::NoTask
    );
    refused!(bench.store.configs(&ada(), &none).await, StoreError::NoTask);
    let nowhere = Writer {
        task: none,
        ..one.clone()
    };
    refused!(nowhere.delete_config("c").await, StoreError::NoTask);
    one.delete_config("c").await?;
    same("the webhooks", one.look().await?.configs, vec![])?;
    let left = vec![config(&two.task, "c")];
    same("the other's", two.look().await?.configs, left)
}
