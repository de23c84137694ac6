//! Which parts may stand together without a client of the framework losing one of them.
//!
//! Those clients take a chunk for one thing: beside a tool's response they drop text, and of code,
//! its result and text they keep only one.

use super::Step;
use crate::Part;

/// The parts in order, cut into as few portions as keep all of them whole.
pub(super) fn portions(parts: Vec<Part>) -> Vec<Vec<Part>> {
    let mut portions: Vec<(Company, Vec<Part>)> = Vec::new();
    for part in parts {
        let company = Company::of(&part);
        match portions.last_mut() {
            Some((kept, portion)) if *kept == company && company != Company::None => {
                portion.push(part);
            }
            _ => portions.push((company, vec![part])),
        }
    }
    portions.into_iter().map(|(_, parts)| parts).collect()
}

/// What a part can stand beside.
#[derive(Clone, Copy, PartialEq)]
enum Company {
    /// Text, reasoning, tool calls, files, other data.
    Text,
    /// Responses of tools.
    Responses,
    /// Nothing.
    None,
}

impl Company {
    fn of(part: &Part) -> Self {
        match Step::of(part) {
            None | Some(Step::Reasoning(_) | Step::FunctionCall(_)) => Self::Text,
            Some(Step::FunctionResponse(_)) => Self::Responses,
            Some(Step::ExecutableCode(_) | Step::CodeExecutionResult(_)) => Self::None,
        }
    }
}
