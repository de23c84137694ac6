//! Cards and their security requirements.

use std::collections::BTreeMap;

use a2a_types::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface,
    AgentProvider, AgentSkill, ApiKeySecurityScheme, AuthorizationCodeOAuthFlow,
    ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow, HttpAuthSecurityScheme, ImplicitOAuthFlow,
    MutualTlsSecurityScheme, OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme,
    PasswordOAuthFlow, ProtocolVersion, SecurityRequirement, SecurityScheme, StringList,
};
use proptest::prelude::*;

use super::values::{maybe_text, object, text, texts};

fn interface() -> BoxedStrategy<AgentInterface> {
    let binding = prop::sample::select(&["JSONRPC", "HTTP+JSON", "GRPC", "https://b.example"][..]);
    let version = prop::sample::select(ProtocolVersion::ALL).prop_map(ProtocolVersion::version);
    (text(), binding, maybe_text(), version)
        .prop_map(|(url, binding, tenant, version)| AgentInterface {
            url,
            protocol_binding: binding.to_owned(),
            tenant,
            protocol_version: version.to_owned(),
        })
        .boxed()
}

fn scopes() -> BoxedStrategy<BTreeMap<String, String>> {
    prop::collection::btree_map("[a-c]", text(), 0..3).boxed()
}

/// Returns one flow: 1.0 allows no more in a scheme.
fn flows() -> BoxedStrategy<OAuthFlows> {
    let code = (text(), text(), any::<bool>(), maybe_text(), scopes()).prop_map(
        |(authorization_url, token_url, pkce_required, refresh_url, scopes)| OAuthFlows {
            authorization_code: Some(AuthorizationCodeOAuthFlow {
                authorization_url,
                token_url,
                pkce_required,
                refresh_url,
                scopes,
            }),
            ..OAuthFlows::default()
        },
    );
    let one = || (text(), maybe_text(), scopes());
    let client = one().prop_map(|(token_url, refresh_url, scopes)| OAuthFlows {
        client_credentials: Some(ClientCredentialsOAuthFlow {
            token_url,
            refresh_url,
            scopes,
        }),
        ..OAuthFlows::default()
    });
    let implicit = one().prop_map(|(authorization_url, refresh_url, scopes)| OAuthFlows {
        implicit: Some(ImplicitOAuthFlow {
            authorization_url,
            refresh_url,
            scopes,
        }),
        ..OAuthFlows::default()
    });
    let password = one().prop_map(|(token_url, refresh_url, scopes)| OAuthFlows {
        password: Some(PasswordOAuthFlow {
            token_url,
            refresh_url,
            scopes,
        }),
        ..OAuthFlows::default()
    });
    let device = (text(), one()).prop_map(
        |(device_authorization_url, (token_url, refresh_url, scopes))| OAuthFlows {
            device_code: Some(DeviceCodeOAuthFlow {
                device_authorization_url,
                token_url,
                refresh_url,
                scopes,
            }),
            ..OAuthFlows::default()
        },
    );
    prop_oneof![code, client, implicit, password, device].boxed()
}

fn scheme() -> BoxedStrategy<SecurityScheme> {
    let location = prop::sample::select(&["header", "query", "cookie"][..]);
    prop_oneof![
        (maybe_text(), location, text()).prop_map(|(description, location, name)| {
            SecurityScheme::ApiKeySecurityScheme(ApiKeySecurityScheme {
                description,
                location: location.to_owned(),
                name,
            })
        }),
        (maybe_text(), text(), maybe_text()).prop_map(|(description, scheme, bearer_format)| {
            SecurityScheme::HttpAuthSecurityScheme(HttpAuthSecurityScheme {
                description,
                scheme,
                bearer_format,
            })
        }),
        (maybe_text(), flows(), maybe_text()).prop_map(|(description, flows, metadata_url)| {
            SecurityScheme::OAuth2SecurityScheme(OAuth2SecurityScheme {
                description,
                flows,
                oauth2_metadata_url: metadata_url,
            })
        }),
        (maybe_text(), text()).prop_map(|(description, open_id_connect_url)| {
            SecurityScheme::OpenIdConnectSecurityScheme(OpenIdConnectSecurityScheme {
                description,
                open_id_connect_url,
            })
        }),
        maybe_text().prop_map(|description| {
            SecurityScheme::MtlsSecurityScheme(MutualTlsSecurityScheme { description })
        }),
    ]
    .boxed()
}

/// Returns requirements, of which some name schemes that the card does not have.
fn requirements() -> BoxedStrategy<Vec<SecurityRequirement>> {
    let list = texts().prop_map(|list| StringList { list });
    let schemes = prop::collection::btree_map("[s-v]", list, 0..3);
    prop::collection::vec(
        schemes.prop_map(|schemes| SecurityRequirement { schemes }),
        0..3,
    )
    .boxed()
}

fn skill() -> BoxedStrategy<AgentSkill> {
    let names = (text(), text(), ".{0,4}");
    let lists = (texts(), texts(), texts(), texts());
    (names, lists, requirements())
        .prop_map(
            |(
                (id, name, description),
                (tags, examples, input_modes, output_modes),
                requirements,
            )| {
                AgentSkill {
                    id,
                    name,
                    description,
                    tags,
                    examples,
                    input_modes,
                    output_modes,
                    security_requirements: requirements,
                }
            },
        )
        .boxed()
}

fn capabilities() -> BoxedStrategy<AgentCapabilities> {
    let extension = (
        text(),
        maybe_text(),
        any::<bool>(),
        prop::option::of(object()),
    )
        .prop_map(|(uri, description, required, params)| AgentExtension {
            uri,
            description,
            required,
            params,
        });
    let flag = prop::option::of(any::<bool>());
    let extensions = prop::collection::vec(extension, 0..3);
    (flag.clone(), flag.clone(), extensions, flag)
        .prop_map(
            |(streaming, push_notifications, extensions, extended_agent_card)| AgentCapabilities {
                streaming,
                push_notifications,
                extensions,
                extended_agent_card,
            },
        )
        .boxed()
}

pub(crate) fn card() -> BoxedStrategy<AgentCard> {
    let signature =
        (text(), text(), prop::option::of(object())).prop_map(|(protected, signature, header)| {
            AgentCardSignature {
                protected,
                signature,
                header,
            }
        });
    let provider =
        (".{0,4}", text()).prop_map(|(url, organization)| AgentProvider { url, organization });
    let names = (text(), ".{0,4}", text(), maybe_text(), maybe_text());
    let security = (
        prop::collection::btree_map("[s-v]", scheme(), 0..4),
        requirements(),
        prop::collection::vec(signature, 0..2),
    );
    let offers = (
        prop::collection::vec(interface(), 1..4),
        prop::option::of(provider),
        capabilities(),
    );
    let content = (texts(), texts(), prop::collection::vec(skill(), 0..3));
    (names, offers, security, content)
        .prop_map(|(names, offers, security, content)| {
            let (name, description, version, documentation_url, icon_url) = names;
            let (supported_interfaces, provider, capabilities) = offers;
            let (security_schemes, security_requirements, signatures) = security;
            let (default_input_modes, default_output_modes, skills) = content;
            AgentCard {
                name,
                description,
                supported_interfaces,
                provider,
                version,
                documentation_url,
                capabilities,
                security_schemes,
                security_requirements,
                default_input_modes,
                default_output_modes,
                skills,
                signatures,
                icon_url,
            }
        })
        .boxed()
}
