//! Downgrade of security schemes to the schemes of the versions before 1.0.

use std::collections::BTreeSet;

use crate::{AgentCard, OAuthFlows, SecurityRequirement, SecurityScheme};

/// Removes what 1.0 added: the device code flow, PKCE, and schemes that have nothing else.
///
/// Without such a scheme a requirement would ask for less than it does, so it is dropped as a whole.
pub(crate) fn downgrade(card: &mut AgentCard) {
    let mut dropped = BTreeSet::new();
    card.security_schemes.retain(|name, scheme| {
        let remains = downgrade_scheme(scheme);
        if !remains {
            dropped.insert(name.clone());
        }
        remains
    });
    let needs = |one: &SecurityRequirement| one.schemes.keys().any(|name| dropped.contains(name));
    card.security_requirements.retain(|one| !needs(one));
    for skill in &mut card.skills {
        skill.security_requirements.retain(|one| !needs(one));
    }
}

/// Returns whether anything remains of the scheme.
fn downgrade_scheme(scheme: &mut SecurityScheme) -> bool {
    let SecurityScheme::OAuth2SecurityScheme(oauth2) = scheme else {
        return true;
    };
    let had_device_code = oauth2.flows.device_code.take().is_some();
    if let Some(flow) = &mut oauth2.flows.authorization_code {
        flow.pkce_required = false;
    }
    oauth2.flows != OAuthFlows::default() || !had_device_code
}
