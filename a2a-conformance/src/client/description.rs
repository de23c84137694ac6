//! Descriptions of the cases against a client.

use super::case::{Case, Close, ScriptedAnswer, SignatureKind, Tls};
use super::instruction::{Instruction, InstructionKind};
use crate::case::one_after_another;

/// Describes a case, and the reason for it, in two or three sentences.
pub(crate) fn describe(case: &Case) -> String {
    let instructions = one_after_another(case.ask.iter().map(ask));
    let mut text = format!("The client is instructed to {instructions}.");
    let mut odd: Vec<_> = agent(case).into_iter().map(str::to_owned).collect();
    for answer in &case.serve {
        let answer = answered(answer);
        if !odd.contains(&answer) {
            odd.push(answer);
        }
    }
    if !odd.is_empty() {
        text += &format!(" The suite, as the agent, {}.", odd.join(", and "));
    }
    let reason = case.why.trim_end_matches('.');
    match case.control {
        true => format!("{text} That is unusual, but valid: {reason}."),
        false => format!("{text} Why: {reason}."),
    }
}

fn ask(ask: &Instruction) -> String {
    let text = match ask.op {
        InstructionKind::FetchCard => "fetch the card",
        InstructionKind::SendMessage => "send a message",
        InstructionKind::Stream => "send a message and follow what comes of it",
        InstructionKind::SendAndWait => "send a message and wait for its end",
        InstructionKind::Assemble => "send a message and assemble its task from the events",
        InstructionKind::GetTask => "read a task",
        InstructionKind::CancelTask => "cancel a task",
        InstructionKind::Subscribe => "follow a task",
        InstructionKind::ListTasks => "list tasks",
        InstructionKind::CreatePushConfig => "register a webhook",
        InstructionKind::GetPushConfig => "read a webhook",
        InstructionKind::ListPushConfigs => "list webhooks",
        InstructionKind::DeletePushConfig => "delete a webhook",
        InstructionKind::ExtendedCard => "fetch the extended card",
        InstructionKind::Receive => "receive push notifications",
    };
    text.to_owned()
}

fn agent(case: &Case) -> Vec<&'static str> {
    let mut odd = Vec::new();
    odd.extend(case.agent.tls.map(|tls| match tls {
        Tls::Trusted => "shows a certificate of an authority that the client trusts",
        Tls::Untrusted => "shows a certificate of an authority that the client does not know",
        Tls::OtherHost => "shows a certificate of another host",
        Tls::Expired => "shows a certificate that has expired",
    }));
    odd.extend(case.agent.signed.map(|signed| match signed {
        SignatureKind::Well => "signs its card",
        SignatureKind::Tampered => "changes its card after it was signed",
        SignatureKind::None => "signs its card by `alg: none`",
        SignatureKind::Hmac => "signs its card by HS256 with the public key as the secret",
        SignatureKind::ElsewhereKey => {
            "signs its card by a key that is found only where the card says"
        }
        SignatureKind::Critical => {
            "signs its card with an extension that must be understood and is unknown"
        }
        SignatureKind::Twice => {
            "signs its card twice, first by a key that the client does not know"
        }
    }));
    if !(case.agent.card.is_empty() && case.agent.written.is_empty()) {
        odd.push("has a card of its own");
    }
    if !case.notify.is_empty() {
        odd.push("sends push notifications");
    }
    odd
}

fn answered(answer: &ScriptedAnswer) -> String {
    let on = answer.on.as_deref().unwrap_or("every request");
    let ending = match answer {
        ScriptedAnswer {
            close: Close::Cut, ..
        } => "and cuts the connection",
        ScriptedAnswer {
            close: Close::Reset,
            ..
        } => "and resets the connection",
        ScriptedAnswer {
            close: Close::Open, ..
        } => "and leaves the connection open",
        ScriptedAnswer {
            status: Some(status),
            ..
        } => return format!("answers {on} with HTTP status {status}"),
        ScriptedAnswer {
            error: Some(error), ..
        } => return format!("answers {on} with {error}"),
        ScriptedAnswer { raw: Some(_), .. } => "with bytes of its own",
        _ => "in its own way",
    };
    format!("answers {on} {ending}")
}
