//! Ctrl-C, while the standard input is read.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::a2a;

#[test]
fn who_waits_for_input_can_be_interrupted() {
    // It went wrong by chance.
    for _ in 0..8 {
        let mut process = a2a()
            .args(["send", "http://127.0.0.1:1", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = process.stdin.take().unwrap();
        // More than a pipe holds: it reads by now.
        input.write_all(&[b'x'; 256 << 10]).unwrap();
        let id = process.id().to_string();
        let told = Command::new("kill").args(["-INT", &id]).status();
        assert!(told.unwrap().success());
        let (sender, ended) = channel();
        std::thread::spawn(move || sender.send(process.wait()));
        let ended = ended.recv_timeout(Duration::from_secs(20));
        // Whoever still reads is let go.
        drop(input);
        let status = ended.expect("it ends").unwrap();
        assert_eq!(status.code(), Some(130), "{status}");
    }
}
