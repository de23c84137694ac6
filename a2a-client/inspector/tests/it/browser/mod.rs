//! The page in Chromium.

mod connect;
mod hostile;
mod hostile_agent;
mod webdriver;
mod webhooks;
mod window;

use window::browse;
