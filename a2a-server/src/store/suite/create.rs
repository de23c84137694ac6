//! Cases of new tasks.

use a2a_types::TaskState;

use super::super::Owner;
use super::bench::Bench;
use super::sample::{new, status};
use super::saw::{Checked, same};

super::promises! {
    "create":
    any_name = "an id is any text, and no two are the same";
}

async fn any_name(bench: Bench) -> Checked {
    let owner = Owner::from(a2a_transport::Principal::named("it's \"me\"; -- %_\\"));
    let long = "x".repeat(1000);
    let mut names = [
        "", " ", "t", "T", "t ", "1", "01", "it's", "\"; --", "%", "_", "ü", "u\u{308}", "😀",
        "a\nb", "a/b", "a\\b", "null", &long,
    ];
    for name in names {
        let mut writer = bench.create(&owner, new(name)).await?;
        writer
            .add(vec![status(&writer.task, TaskState::Working)])
            .await?;
    }
    for name in names {
        let found = bench.store.snapshot(&owner, &name.into()).await?;
        let found = found.map(|snapshot| (snapshot.task.id.clone(), snapshot.sequence));
        same("the task of a name", found, Some((name.into(), 2)))?;
    }
    names.sort_unstable();
    let found = bench.ids(&owner).await?;
    same("the names in order", found, names.map(str::to_owned).into())
}
