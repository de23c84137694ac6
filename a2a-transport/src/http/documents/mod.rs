//! Documents and probes that anyone may read.

pub(super) mod card_document;
pub(super) mod origin;
pub(super) mod public_card;
pub(super) mod readiness;
pub(super) mod security;
