//! The page in Chromium.

#[cfg(feature = "conformance")]
mod accessibility;
#[cfg(feature = "conformance")]
mod conformance;
mod connect;
#[cfg(feature = "conformance")]
mod faulty_agent;
mod hostile;
mod hostile_agent;
mod keyboard;
#[cfg(feature = "conformance")]
mod pictures;
#[cfg(feature = "conformance")]
mod scenario;
#[cfg(feature = "conformance")]
mod trip_agent;
mod webdriver;
mod webhooks;
mod window;
mod wire_list;

use window::{browse, browse_page};
