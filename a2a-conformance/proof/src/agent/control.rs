//! Control agents: unusual, but correct.

use a2a_server::demo::Reference;
use a2a_server::{Agent, Failure, Server, ServerBuilder, Turn};
use a2a_types::{
    AgentCard, HttpAuthSecurityScheme, Message, ProtocolVersion, SecurityRequirement,
    SecurityScheme, StringList,
};

use a2a_conformance::case::Profile;

controls! {
    "A control: an unusual but correct agent."
    UnknownMembers = "unknown-members": "tasks, messages and artifacts have unknown members";
    KeyOrder = "key-order": "members come in another order";
    Pretty = "pretty": "JSON is written over many lines";
    CarriageReturns = "crlf": "lines of streams end by CR and LF";
    Comments = "comments": "streams have comments, `retry:`, ids and names of events";
    ByteOrderMark = "bom": "streams begin with a byte order mark";
    Bytes = "one-byte-chunks": "every body comes byte by byte";
    Chunked = "chunked": "no answer has a `Content-Length`";
    Http2 = "http2": "it is called by HTTP/2";
    EmptyMetadata = "empty-metadata": "there is metadata, and nothing in it";
    Slow = "slow": "the first byte takes its time";
    Offsets = "offsets": "times have the offset +00:00";
    Nanoseconds = "nanoseconds": "times have nanoseconds";
    MessageOnly = "message-only": "every answer is a message";
    Rejecting = "rejecting": "every message is refused";
    Plain = "plain": "there are no streams, no webhooks and no extended card";
    MediaTypes = "media-types": "media types have parameters, and are written in other letters";
    Language = "language": "error messages are in Japanese";
    Headers = "headers": "answers have many headers that were not requested";
    LongIds = "long-ids": "ids of tasks are long";
    NullIds = "null-ids": "what cannot be read is answered with the id null";
    Created = "created": "by HTTP+JSON of 0.3 a message is answered by 201";
    Reasons = "reasons": "by HTTP+JSON params that are wrong are answered as a bad request, with status 422";
    Defaults = "defaults": "tasks are listed with the members that they do not have, empty";
    EmptyTenant = "empty-tenant": "the interfaces on the card have the tenant \"\"";
    Tokens = "tokens": "callers show JSON Web Tokens of an issuer, with scopes; push notifications are signed";
    Tls = "tls": "it is called by TLS";
    ProtoForms = "proto-forms": "by HTTP+JSON of 0.3 it knows the forms of the proto alone, where the text has others";
    OtherName = "other-name": "the extended card has a name of its own";
}

impl Control {
    /// Returns the profile that its agent keeps.
    pub fn profile(self) -> Profile {
        match self {
            Self::MessageOnly | Self::Rejecting => Profile::BlackBox,
            _ => Profile::Instrumented,
        }
    }

    /// Returns the versions in which it is correct.
    pub fn protocol_versions(self) -> &'static [ProtocolVersion] {
        match self {
            // 1.0 has times in UTC only, with a Z.
            Self::Offsets => &[
                ProtocolVersion::V0_1,
                ProtocolVersion::V0_2,
                ProtocolVersion::V0_3,
            ],
            // In 0.1 callers name tasks.
            Self::LongIds => &[
                ProtocolVersion::V0_2,
                ProtocolVersion::V0_3,
                ProtocolVersion::V1_0,
            ],
            // In 0.1 every answer is a task.
            Self::MessageOnly => &[
                ProtocolVersion::V0_2,
                ProtocolVersion::V0_3,
                ProtocolVersion::V1_0,
            ],
            Self::Created | Self::ProtoForms => &[ProtocolVersion::V0_3],
            Self::Reasons | Self::Defaults | Self::EmptyTenant => &[ProtocolVersion::V1_0],
            Self::OtherName => &[ProtocolVersion::V0_3, ProtocolVersion::V1_0],
            _ => ProtocolVersion::ALL,
        }
    }

    pub(super) fn card(self) -> AgentCard {
        let mut card = card();
        if self == Self::EmptyTenant {
            for interface in &mut card.supported_interfaces {
                interface.tenant = Some(String::new());
            }
        }
        let capabilities = &mut card.capabilities;
        match self {
            Self::Plain => {
                capabilities.streaming = None;
                capabilities.push_notifications = Some(false);
                capabilities.extended_agent_card = None;
            }
            // Webhooks receive the ids as they are.
            Self::LongIds => capabilities.push_notifications = None,
            _ => {}
        }
        card
    }

    pub(super) fn server(self, card: AgentCard) -> ServerBuilder {
        match self {
            Self::MessageOnly => Server::builder(card, Answering),
            Self::Rejecting => Server::builder(card, Rejecting),
            _ => Server::builder(card, Reference),
        }
    }
}

/// Agent that answers every request with a message.
struct Answering;

impl Agent for Answering {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        Ok(turn.reply(Message::agent("what do you mean?")).await?)
    }
}

/// Agent that rejects every request.
struct Rejecting;

impl Agent for Rejecting {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        Ok(turn.reject("not today").await?)
    }
}

/// Returns a card that offers everything.
pub(super) fn card() -> AgentCard {
    let mut card = Reference::card();
    card.capabilities.push_notifications = Some(true);
    card.capabilities.extended_agent_card = Some(true);
    let scheme = HttpAuthSecurityScheme {
        scheme: "bearer".to_owned(),
        ..HttpAuthSecurityScheme::default()
    };
    let scheme = SecurityScheme::HttpAuthSecurityScheme(scheme);
    card.security_schemes.insert("bearer".to_owned(), scheme);
    card.security_requirements = vec![SecurityRequirement {
        schemes: [("bearer".to_owned(), StringList::default())].into(),
    }];
    card
}
