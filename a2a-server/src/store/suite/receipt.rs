//! Cases of messages that are sent twice.

use a2a_types::{Message, TaskState};

use super::super::{Append, NewTask, Outcome, Receipt, Received, StoreError};
use super::bench::{Bench, eventually};
use super::sample::{SHORT, ada, chunk, digest, new, receipt, receipt_for, said};
use super::saw::{Checked, refused, same};

super::promises! {
    "receipt":
    of_a_task = "what became of the message that began a task is known";
    of_an_append = "what became of a message that was appended is known, and it is not appended twice";
    of_an_answer = "an answer to a message is known, and the message is answered once";
    by_its_id = "a message is known by its id alone, whatever else is said of it";
    runs_out = "a message is forgotten after the term of its receipt, and can be sent again";
    outlives_its_task = "what became of a message is known though its task was swept, and the message is not taken again";
    unknown = "of a message that was never received nothing is known";
}

fn became(message: &str, task: &str) -> Option<Received> {
    Some(Received::new(digest(message), Outcome::Task(task.into())))
}

async fn of_a_task(bench: Bench) -> Checked {
    let new = NewTask {
        receipt: Some(receipt("m")),
        ..new("t")
    };
    let mut writer = bench.create(&ada(), new).await?;
    for state in [TaskState::Working, TaskState::Completed] {
        let found = bench.store.received(&ada(), &"m".into()).await?;
        same("what became of it", found, became("m", "t"))?;
        writer.become_(state).await?;
    }
    let answer = Message::agent("hello");
    refused!(
        bench.store.keep_answer(&ada(), receipt("m"), answer).await,
        StoreError::Received
    );
    Ok(())
}

async fn of_an_append(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let other = bench.begin("u").await?;
    let append = Append {
        receipt: Some(receipt("m")),
        ..writer.held(vec![said(&writer.task, "m")])
    };
    writer.write(append).await?;
    let found = bench.store.received(&ada(), &"m".into()).await?;
    same("what became of it", found, became("m", "t"))?;
    for writer in [&writer, &other] {
        let before = writer.look().await?;
        let again = Append {
            receipt: Some(receipt("m")),
            ..writer.held(vec![
                said(&writer.task, "m"),
                chunk(&writer.task, "a", "1", false),
            ])
        };
        refused!(writer.append(again).await, StoreError::Received);
        same("the task", writer.look().await?, before)?;
    }
    let task = NewTask {
        receipt: Some(receipt("m")),
        ..new("v")
    };
    refused!(bench.store.create(&ada(), task).await, StoreError::Received);
    // Without a receipt the message is not recognised.
    writer.add(vec![said(&writer.task, "m")]).await?;
    let found = bench.store.received(&ada(), &"m".into()).await?;
    same("what became of it", found, became("m", "t"))
}

async fn of_an_answer(bench: Bench) -> Checked {
    let answer = Message {
        message_id: "answer".into(),
        ..Message::agent("hello")
    };
    let keep = |answer: &Message| {
        let store = bench.store.clone();
        let answer = answer.clone();
        async move { store.keep_answer(&ada(), receipt("m"), answer).await }
    };
    keep(&answer).await?;
    refused!(keep(&Message::agent("other")).await, StoreError::Received);
    let task = NewTask {
        receipt: Some(receipt("m")),
        ..new("t")
    };
    refused!(bench.store.create(&ada(), task).await, StoreError::Received);
    same("the tasks", bench.ids(&ada()).await?, vec![])?;
    let found = bench.store.received(&ada(), &"m".into()).await?;
    let expected = Received::new(digest("m"), Outcome::Message(Box::new(answer)));
    same("what became of it", found, Some(expected))
}

async fn by_its_id(bench: Bench) -> Checked {
    let begin = |id: &str, receipt: Receipt| NewTask {
        receipt: Some(receipt),
        ..new(id)
    };
    bench.create(&ada(), begin("t", receipt("m"))).await?;
    let other_digest = Receipt {
        digest: digest("something else"),
        ..receipt("m")
    };
    refused!(
        bench.store.create(&ada(), begin("u", other_digest)).await,
        StoreError::Received
    );
    let found = bench.store.received(&ada(), &"m".into()).await?;
    same("what became of it", found, became("m", "t"))?;
    let other_ids = ["M", "m ", "", "%", "n"];
    for id in other_ids {
        let receipt = Receipt {
            digest: digest("m"),
            ..receipt(id)
        };
        bench
            .create(&ada(), begin(&format!("of {id}"), receipt))
            .await?;
    }
    Ok(())
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

async fn outlives_its_task(bench: Bench) -> Checked {
    let begin = |id: &str| NewTask {
        receipt: Some(receipt("begin")),
        ..new(id)
    };
    let mut writer = bench.create(&ada(), begin("t")).await?;
    let append = Append {
        receipt: Some(receipt("append")),
        ..writer.held(vec![said(&writer.task, "append")])
    };
    writer.write(append).await?;
    writer.become_(TaskState::Completed).await?;
    same("how many are swept", bench.sweep_all().await?, 1)?;
    for message in ["begin", "append"] {
        let found = bench.store.received(&ada(), &message.into()).await?;
        same("what became of it", found, became(message, "t"))?;
    }
    refused!(
        bench.store.create(&ada(), begin("u")).await,
        StoreError::Received
    );
    Ok(())
}

async fn unknown(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    writer.add(vec![said(&writer.task, "m")]).await?;
    for id in ["m", "begin", ""] {
        let found = bench.store.received(&ada(), &id.into()).await?;
        same("what became of it", found, None)?;
    }
    Ok(())
}
