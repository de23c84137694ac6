//! Descriptions of the cases against a client.

use super::ask::{Ask, Op};
use super::case::{Answer, Case, Close, Signed, Tls};
use crate::explanation::one_after_another;

/// Describes a case, and the reason for it, in two or three sentences.
pub(crate) fn told(case: &Case) -> String {
    let asked = one_after_another(case.ask.iter().map(ask));
    let mut told = format!("The client is told to {asked}.");
    let mut odd: Vec<_> = agent(case).into_iter().map(str::to_owned).collect();
    for answer in &case.serve {
        let answer = answered(answer);
        if !odd.contains(&answer) {
            odd.push(answer);
        }
    }
    if !odd.is_empty() {
        told += &format!(" The suite, as the agent, {}.", odd.join(", and "));
    }
    let why = case.why.trim_end_matches('.');
    match case.control {
        true => format!("{told} That is odd, but legal: {why}."),
        false => format!("{told} Why: {why}."),
    }
}

fn ask(ask: &Ask) -> String {
    let told = match ask.op {
        Op::FetchCard => "fetch the card",
        Op::SendMessage => "send a message",
        Op::Stream => "send a message and follow what comes of it",
        Op::SendAndWait => "send a message and wait for its end",
        Op::Assemble => "send a message and put together what is told of its task",
        Op::GetTask => "read a task",
        Op::CancelTask => "cancel a task",
        Op::Subscribe => "follow a task",
        Op::ListTasks => "list tasks",
        Op::CreatePushConfig => "register a webhook",
        Op::GetPushConfig => "read a webhook",
        Op::ListPushConfigs => "list webhooks",
        Op::DeletePushConfig => "delete a webhook",
        Op::ExtendedCard => "fetch the extended card",
        Op::Receive => "receive push notifications",
    };
    told.to_owned()
}

fn agent(case: &Case) -> Vec<&'static str> {
    let mut odd = Vec::new();
    odd.extend(case.agent.tls.map(|tls| match tls {
        Tls::Trusted => "shows a certificate of an authority that the client is told to trust",
        Tls::Untrusted => "shows a certificate of an authority that the client does not know",
        Tls::OtherHost => "shows a certificate of another host",
        Tls::Expired => "shows a certificate that has expired",
    }));
    odd.extend(case.agent.signed.map(|signed| match signed {
        Signed::Well => "signs its card",
        Signed::Tampered => "changes its card after it was signed",
        Signed::None => "signs its card by `alg: none`",
        Signed::Hmac => "signs its card by HS256 with the public key as the secret",
        Signed::ElsewhereKey => "signs its card by a key that is found only where the card says",
        Signed::Critical => {
            "signs its card with an extension that must be understood and is unknown"
        }
        Signed::Twice => "signs its card twice, first by a key that the client does not know",
    }));
    if !(case.agent.card.is_empty() && case.agent.written.is_empty()) {
        odd.push("has a card of its own");
    }
    if !case.notify.is_empty() {
        odd.push("sends push notifications");
    }
    odd
}

fn answered(answer: &Answer) -> String {
    let on = answer.on.as_deref().unwrap_or("every request");
    let how = match answer {
        Answer {
            close: Close::Cut, ..
        } => "and cuts the connection",
        Answer {
            close: Close::Reset,
            ..
        } => "and resets the connection",
        Answer {
            close: Close::Open, ..
        } => "and leaves the connection open",
        Answer {
            status: Some(status),
            ..
        } => return format!("answers {on} with HTTP status {status}"),
        Answer {
            error: Some(error), ..
        } => return format!("answers {on} with {error}"),
        Answer { raw: Some(_), .. } => "with bytes of its own",
        _ => "in a way of its own",
    };
    format!("answers {on} {how}")
}
