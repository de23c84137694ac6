//! Test of the program: it runs as a process of its own.

mod program;

use agent2agent::{Client, SendMessageResponse};
use program::{LIMIT, Program, directory};

#[tokio::test]
async fn files_are_deleted_after_approve_only() {
    let directory = directory();
    let files = directory.join("files");
    std::fs::create_dir(&files).expect("a directory");
    std::fs::write(files.join("a.tmp"), "").expect("a file");
    std::fs::write(files.join("b.txt"), "").expect("a file");
    let agent = Program::start(&directory, &["127.0.0.1:0"]);
    let client = Client::connect(&agent.line_with("http")).await;
    let client = client.expect("the agent has a card");

    for (answer, is_kept) in [("decline", true), ("approve", false)] {
        let question = client.send("delete .tmp").deadline(LIMIT).await;
        let Ok(SendMessageResponse::Task(task)) = question else {
            panic!("no question: {question:?}");
        };
        assert_eq!(task.status.text(), "Delete 1 files? a.tmp");
        let done = client.send(answer).task(task.id).deadline(LIMIT).await;
        done.expect("an answer");
        assert_eq!(files.join("a.tmp").exists(), is_kept, "after {answer}");
    }
    assert!(files.join("b.txt").exists());
}
