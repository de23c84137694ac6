//! The page in Chromium.

#[cfg(feature = "conformance")]
mod accessibility;
mod card;
mod chat;
#[cfg(feature = "conformance")]
mod conformance;
mod connect;
mod exchange;
#[cfg(feature = "conformance")]
mod faulty_agent;
mod hostile;
mod hostile_agent;
mod keyboard;
mod paced;
#[cfg(feature = "conformance")]
mod pictures;
mod proxy;
#[cfg(feature = "conformance")]
mod scenario;
mod stream;
mod tasks;
#[cfg(feature = "conformance")]
mod trip_agent;
mod webdriver;
mod webhooks;
mod window;
mod wire_list;

use window::{browse, browse_page};
