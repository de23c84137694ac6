//! A request through a client, a gateway, a server and its agent, on to another agent and to a webhook
//! is one trace.

mod propagation;
mod span_export;
mod traced_agents;
