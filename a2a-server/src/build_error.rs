//! Errors of building a server.

/// The parts of a server contradict each other.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is an extended card, and the public card says that there is none, or is signed without it.
    #[error(
        "there is an extended card, but the card denies it: `capabilities.extended_agent_card` has to be true, or absent if the card is not signed"
    )]
    DeniedExtendedCard,
    /// There are settings of webhooks, and the card says that there are none, or is signed without them.
    #[error(
        "webhooks are set up, but the card denies them: `capabilities.push_notifications` has to be true, or absent if the card is not signed"
    )]
    DeniedWebhooks,
    /// The card promises push notifications, and the crate is built without them.
    #[error(
        "the card promises push notifications, but this program is built without them: enable the feature `webhooks`"
    )]
    WebhooksNotBuilt,
    /// The card requires credentials, and nothing checks them.
    #[error(
        "the card requires credentials, but nothing checks them: set an `authenticator`, or `AllowAnonymous` if the program around the server checks them"
    )]
    UncheckedSecurity,
    /// The card is signed, or to be signed, and its interfaces would be added behind the signature.
    #[error(
        "the card is signed without interfaces: set `supported_interfaces`, perhaps by `AgentCard::at`, before signing it"
    )]
    SignedWithoutInterfaces,
    /// A card could not be signed.
    #[error("the card cannot be signed: {0}")]
    Unsigned(String),
    /// The card is signed, and its security would be added behind the signature.
    #[error(
        "the card is signed without security: set `security_schemes` and `security_requirements` as the authenticator checks them before signing it"
    )]
    SignedWithoutSecurity,
    /// The card states other schemes or requirements than the authenticator checks.
    #[error(
        "the card states other security than the authenticator checks: checked are the schemes {checked}, the card has {stated}; leave schemes and requirements out of the card, and they are derived"
    )]
    OtherSecurity {
        /// Names of the schemes that are checked.
        checked: String,
        /// Names of the schemes that the card has.
        stated: String,
    },
    /// The card states other requirements of a skill than the authorizer checks.
    #[error(
        "the card states other security of the skill `{0}` than the authorizer checks: leave its requirements out of the card, and they are derived"
    )]
    OtherSkillSecurity(String),
    /// Scopes are set for a skill that the card does not have.
    #[error("the authorizer has scopes of the skill `{0}`, which the card does not have")]
    UnknownSkill(String),
    /// The card promises webhooks, but there are no trust anchors to verify `https` receivers.
    #[error(
        "the card promises push notifications, but this machine has no certificate authorities to verify receivers"
    )]
    NoAuthorities,
    /// Tasks could be removed before their senders have the answer: this member of
    /// [`Retention`](crate::Retention) is 0.
    #[error(
        "the retention keeps no task until its sender has the answer: `{0}` is 0, and has to be more"
    )]
    NoRetention(&'static str),
    /// The card has no name: no client would find the agent's name.
    #[error("the card has no name")]
    NamelessCard,
}
