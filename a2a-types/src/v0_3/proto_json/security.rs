//! Security schemes, 0.3 §5.5.3: in ProtoJSON those of 1.0, without what 1.0 added.

use std::collections::{BTreeMap, BTreeSet};

use crate::{SecurityRequirement, SecurityScheme};

/// Returns the schemes of a card without the device code flow and PKCE, and the names of the dropped
/// schemes, which had nothing else.
pub(super) fn known(
    schemes: BTreeMap<String, SecurityScheme>,
) -> (BTreeMap<String, SecurityScheme>, BTreeSet<String>) {
    let (mut known, mut dropped) = (BTreeMap::new(), BTreeSet::new());
    for (name, scheme) in schemes {
        match downgrade(scheme) {
            Some(scheme) => drop(known.insert(name, scheme)),
            None => drop(dropped.insert(name)),
        }
    }
    (known, dropped)
}

/// Returns the requirements that need no dropped scheme. Without the scheme a requirement would
/// ask for less than it does, so it is dropped as a whole.
pub(super) fn satisfiable(
    mut requirements: Vec<SecurityRequirement>,
    dropped: &BTreeSet<String>,
) -> Vec<SecurityRequirement> {
    let needs = |one: &SecurityRequirement| one.schemes.keys().any(|name| dropped.contains(name));
    requirements.retain(|requirement| !needs(requirement));
    requirements
}

fn downgrade(mut scheme: SecurityScheme) -> Option<SecurityScheme> {
    if let SecurityScheme::OAuth2SecurityScheme(oauth2) = &mut scheme {
        let had_device_code = oauth2.flows.device_code.take().is_some();
        if had_device_code && oauth2.flows == crate::OAuthFlows::default() {
            return None;
        }
        if let Some(flow) = &mut oauth2.flows.authorization_code {
            flow.pkce_required = false;
        }
    }
    Some(scheme)
}
