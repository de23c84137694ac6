//! Cases of messages that are sent twice.

use a2a_types::Message;

use super::super::{Append, NewTask, Outcome, Received};
use super::bench::{Bench, eventually};
use super::observation::{Checked, same};
use super::sample::{SHORT, ada, digest, new, receipt, receipt_for, said};

super::promises! {
    "receipt":
    runs_out = "a message is forgotten after the term of its receipt, and can be sent again";
}

fn became(message: &str, task: &str) -> Option<Received> {
    Some(Received::new(digest(message), Outcome::Task(task.into())))
}

async fn runs_out(bench: Bench) -> Checked {
    let begin = |id: &str| NewTask {
        receipt: Some(receipt_for("m", SHORT)),
        ..new(id)
    };
    let mut writer = bench.create(&ada(), begin("t")).await?;
    let forgotten = || {
        eventually("the receipt runs out", || async {
            let received = bench.store.received(&ada(), &"m".into()).await?;
            Ok(received.is_none().then_some(()))
        })
    };
    forgotten().await?;
    let append = Append {
        receipt: Some(receipt_for("m", SHORT)),
        ..writer.held(vec![said(&writer.task, "m")])
    };
    writer.write(append).await?;
    forgotten().await?;
    let answer = Message::agent("hello");
    let receipt_again = receipt_for("m", SHORT);
    bench
        .store
        .keep_answer(&ada(), receipt_again, answer)
        .await?;
    forgotten().await?;
    // A sweep clears away no more than what is forgotten.
    bench.create(&ada(), begin("u")).await?;
    forgotten().await?;
    let lasting = NewTask {
        receipt: Some(receipt("m")),
        ..new("v")
    };
    bench.create(&ada(), lasting).await?;
    bench.sweep_all().await?;
    let found = bench.store.received(&ada(), &"m".into()).await?;
    same("what became of it", found, became("m", "v"))
}
