//! The page in Chromium.

mod card;
mod chat;
mod connect;
mod exchange;
mod paced;
mod proxy;
mod stream;
mod tasks;
mod webdriver;
mod window;

use window::{browse, browse_page};
