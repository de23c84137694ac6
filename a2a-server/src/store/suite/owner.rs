//! Cases of owners.

use a2a_transport::Principal;
use a2a_types::Dialect;

use super::super::Owner;
use super::bench::Bench;
use super::observation::{Checked, same};
use super::sample::{config, new, owner, within};

super::promises! {
    "owner":
    told_apart = "owners are distinguished exactly: the anonymous, the unnamed, none, empty, large and small";
}

async fn told_apart(bench: Bench) -> Checked {
    let anonymous = Owner::from(Principal::anonymous());
    let owners = [
        anonymous.clone(),
        within("", anonymous.clone()),
        within("a", anonymous),
        owner(""),
        within("", owner("")),
        within("a", owner("")),
        owner("a"),
        owner("A"),
        owner("a "),
        within("", owner("a")),
        within("b", owner("a")),
        within("a", owner("b")),
        owner("a/b"),
        owner("a\u{1f}b"),
        owner("(anonymous)"),
        owner("null"),
        within("%", owner("_")),
    ];
    for owner in &owners {
        let writer = bench.create(owner, new("t")).await?;
        let config = config(&writer.task, &format!("{owner:?}"));
        bench.store.put_config(owner, config, Dialect::V1_0).await?;
    }
    for owner in &owners {
        let found = bench.store.configs(owner, &"t".into()).await?;
        let found: Vec<String> = found.into_iter().map(|config| config.id.into()).collect();
        same("the webhooks", found, vec![format!("{owner:?}")])?;
        same("the tasks", bench.ids(owner).await?, vec!["t".to_owned()])?;
    }
    Ok(())
}
