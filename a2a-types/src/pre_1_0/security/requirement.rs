//! Security requirements, 0.2 §5.5.3: names of security schemes, and the scopes of each.

use std::collections::{BTreeMap, BTreeSet};

use super::Variants;
use crate::StringList;
use crate::pre_1_0::unless_empty;

/// Schemes that must all be satisfied, with their scopes; any one of a list of these suffices.
pub type SecurityRequirement = BTreeMap<String, Vec<String>>;

/// Converts requirements to 1.0 requirements, which name the schemes that the original schemes were split into.
pub(crate) fn to_canonical(
    requirements: Option<Vec<SecurityRequirement>>,
    variants: &Variants,
) -> Vec<crate::SecurityRequirement> {
    let requirements = requirements.into_iter().flatten();
    variants.apply(requirements.map(Into::into))
}

impl From<SecurityRequirement> for crate::SecurityRequirement {
    fn from(requirement: SecurityRequirement) -> Self {
        let schemes = requirement
            .into_iter()
            .map(|(name, list)| (name, StringList { list }));
        Self {
            schemes: schemes.collect(),
        }
    }
}

/// Converts downgraded requirements.
pub(crate) fn from_canonical(
    requirements: Vec<crate::SecurityRequirement>,
) -> Option<Vec<SecurityRequirement>> {
    let converted = requirements.into_iter().map(|requirement| {
        let schemes = requirement.schemes.into_iter();
        schemes.map(|(name, scopes)| (name, scopes.list)).collect()
    });
    unless_empty::write(converted.collect())
}

/// Returns the requirements that need no dropped scheme, or `None` if none are left.
pub(crate) fn satisfiable(
    mut requirements: Vec<SecurityRequirement>,
    dropped: &BTreeSet<String>,
) -> Option<Vec<SecurityRequirement>> {
    requirements.retain(|requirement| !requirement.keys().any(|name| dropped.contains(name)));
    (!requirements.is_empty()).then_some(requirements)
}
