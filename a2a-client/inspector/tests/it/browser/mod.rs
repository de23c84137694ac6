//! The page in Chromium.

#[cfg(feature = "conformance")]
mod conformance;
mod connect;
mod hostile;
mod hostile_agent;
mod webdriver;
mod webhooks;
mod window;

use window::browse;
