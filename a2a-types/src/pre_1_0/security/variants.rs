//! Security schemes of several OAuth flows, of which 1.0 allows one: each flow becomes a scheme.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::{OAuth2SecurityScheme, OAuthFlows, SecurityRequirement, SecurityScheme};

/// Names that each scheme of a card was split into; any one of them satisfies its requirements.
#[derive(Debug, Default)]
pub(crate) struct Variants {
    names: BTreeMap<String, Vec<String>>,
    /// Number of alternatives made for this card beyond the number of its requirements.
    more: Cell<usize>,
}

impl Variants {
    /// Splits the schemes, and records the names of the results.
    pub(crate) fn of(
        schemes: BTreeMap<String, SecurityScheme>,
    ) -> (Self, BTreeMap<String, SecurityScheme>) {
        let (mut variants, mut definitions) = (Self::default(), BTreeMap::new());
        let taken: BTreeSet<_> = schemes.keys().cloned().collect();
        for (name, scheme) in schemes {
            let split = split(&name, scheme, &taken);
            let names = split.iter().map(|(name, _)| name.clone()).collect();
            variants.names.insert(name, names);
            definitions.extend(split);
        }
        (variants, definitions)
    }

    /// Returns the requirements in terms of the split schemes: all alternatives of each, within the limits
    /// of one card.
    pub(crate) fn apply(
        &self,
        requirements: impl IntoIterator<Item = SecurityRequirement>,
    ) -> Vec<SecurityRequirement> {
        let ways = requirements.into_iter().flat_map(|one| self.ways(one));
        ways.collect()
    }

    fn ways(&self, requirement: SecurityRequirement) -> Vec<SecurityRequirement> {
        let mut ways = vec![SecurityRequirement::default()];
        let most = MAX_WAYS.min(MAX_MORE - self.more.get() + 1);
        for (name, scopes) in requirement.schemes {
            let names = self.names.get(&name).cloned();
            let names = names.unwrap_or_else(|| vec![name]);
            let with = |base: &SecurityRequirement, name: &String| {
                let mut longer = base.clone();
                longer.schemes.insert(name.clone(), scopes.clone());
                longer
            };
            let longer = ways
                .iter()
                .flat_map(|base| names.iter().map(|name| with(base, name)));
            ways = longer.take(most).collect();
        }
        self.more.set(self.more.get() + ways.len() - 1);
        ways
    }
}

/// Limit on the alternatives of one requirement: schemes of several flows multiply.
const MAX_WAYS: usize = 64;

/// Limit on the alternatives of a card with its skills beyond its requirements: few bytes could fill memory.
const MAX_MORE: usize = 1024;

/// Splits a scheme. The first flow keeps the name, each other appends its own, and a suffix if another
/// scheme of the card has that name.
fn split(
    name: &str,
    scheme: SecurityScheme,
    taken: &BTreeSet<String>,
) -> Vec<(String, SecurityScheme)> {
    let oauth2 = match scheme {
        SecurityScheme::OAuth2SecurityScheme(oauth2) => oauth2,
        other => return vec![(name.to_owned(), other)],
    };
    let mut flows = flows(oauth2.flows);
    if flows.is_empty() {
        flows.push(("", OAuthFlows::default()));
    }
    let scheme = |(index, (flow, flows)): (usize, (&str, OAuthFlows))| {
        let mut name = match index {
            0 => name.to_owned(),
            _ => format!("{name}-{flow}"),
        };
        while index > 0 && taken.contains(&name) {
            name.push_str("-flow");
        }
        let scheme = SecurityScheme::OAuth2SecurityScheme(OAuth2SecurityScheme {
            description: oauth2.description.clone(),
            flows,
            oauth2_metadata_url: oauth2.oauth2_metadata_url.clone(),
        });
        (name, scheme)
    };
    flows.into_iter().enumerate().map(scheme).collect()
}

/// Returns each flow alone, with its name on the wire.
fn flows(all: OAuthFlows) -> Vec<(&'static str, OAuthFlows)> {
    let mut flows = Vec::new();
    macro_rules! alone {
        ($($flow:ident = $name:literal;)*) => {$(
            if let Some(flow) = all.$flow {
                let alone = OAuthFlows { $flow: Some(flow), ..OAuthFlows::default() };
                flows.push(($name, alone));
            }
        )*};
    }
    alone! {
        authorization_code = "authorizationCode";
        client_credentials = "clientCredentials";
        implicit = "implicit";
        password = "password";
        device_code = "deviceCode";
    }
    flows
}
