//! Proxies that the environment names.

use serde_json::json;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, a2a, text};

#[test]
fn the_environment_names_proxies_but_not_for_this_machine() {
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = a2a();
        command.args(arguments).envs(variables.iter().copied());
        let output = command.output().unwrap();
        text(&output.stdout) + &text(&output.stderr)
    };
    let proxy = ScriptedAgent::new(|_, _| json!({}));
    let through = [("HTTPS_PROXY", &*proxy.url), ("HTTP_PROXY", &*proxy.url)];
    for (url, host) in [
        ("http://agent.invalid", "agent.invalid:80"),
        ("https://agent.invalid", "agent.invalid:443"),
    ] {
        run(&["card", "get", url], &through);
        let asked = &proxy.requests()[0].head;
        assert!(asked.starts_with(&format!("CONNECT {host} ")), "{asked}");
    }
    let without = [&through[..], &[("NO_PROXY", "agent.invalid")]].concat();
    run(&["card", "get", "http://agent.invalid"], &without);
    assert!(proxy.requests().is_empty());
    let agent = Agent::named("echo");
    let found = run(&["card", "get", &agent.url], &through);
    assert!(found.contains("Name: Echo"), "{found}");
    let dead = run(
        &["card", "get", "http://agent.invalid"],
        &[("HTTP_PROXY", "http://127.0.0.1:1")],
    );
    assert!(dead.contains("hint: check the proxy that"), "{dead}");
}
