//! Every rule of behaviour, as it is seen on the wire. A test bears the number of its rule in
//! `rules.yaml`, which also says why some rules have none.

mod recording_agent;
mod rule_coverage;
mod scripted_agent;
mod v0_1;
mod v0_2;
mod v0_3;
mod v1_0;
mod webhooks;
mod wire;
