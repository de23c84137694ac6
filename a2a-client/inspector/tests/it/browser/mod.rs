//! The page in Chromium.

mod connect;
mod webdriver;
mod window;

use window::browse;
