//! Security schemes, 0.3 §5.5.3: in ProtoJSON those of 1.0, without what 1.0 added.

use std::collections::BTreeMap;

use crate::{SecurityRequirement, SecurityScheme};

/// Schemes by name, and which of them are required.
pub(super) type Security = (BTreeMap<String, SecurityScheme>, Vec<SecurityRequirement>);

/// The schemes and requirements of a card as 0.3 says them: the device code flow and PKCE are
/// dropped, and a scheme that had nothing else is gone with what it was required for.
pub(super) fn known(
    schemes: BTreeMap<String, SecurityScheme>,
    requirements: Vec<SecurityRequirement>,
) -> Security {
    let schemes: BTreeMap<_, _> = schemes
        .into_iter()
        .filter_map(|(name, scheme)| Some((name, downgrade(scheme)?)))
        .collect();
    let requirements = requirements_of(&schemes, requirements);
    (schemes, requirements)
}

/// Those requirements that schemes of the card can satisfy, without the rest. One that asks for
/// nothing asks for nothing here too.
pub(super) fn requirements_of(
    schemes: &BTreeMap<String, SecurityScheme>,
    requirements: Vec<SecurityRequirement>,
) -> Vec<SecurityRequirement> {
    requirements
        .into_iter()
        .filter_map(|mut requirement| {
            let asked = !requirement.schemes.is_empty();
            requirement
                .schemes
                .retain(|name, _| schemes.contains_key(name));
            (!asked || !requirement.schemes.is_empty()).then_some(requirement)
        })
        .collect()
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
