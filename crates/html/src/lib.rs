// SPDX-License-Identifier: GPL-2.0-only
//! Reports to look at: one file of HTML that opens from disk, without a network.
//!
//! A page is a head and sections. What a section holds is made by the parts of this crate, such as a
//! [`Forest`] of differences or a [`Table`], which know nothing of schedulers. Same content, same
//! bytes.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`Page`] | the shell: title, style for light, dark and print, order of the sections, scripts and the policy that allows only them |
//! | [`Text`] | paragraphs |
//! | [`Table`] | rows of text and numbers |
//! | [`Forest`] | differences with their intervals, drawn on one scale |
//! | [`Timeline`] | runs over simulated time, side by side, with zoom, pan and cursor locked together |
//! | [`Chart`] | lines: distributions with their tails, signals over time |
//! | [`Heat`] | counts from everything to everything, several maps on one scale |
//! | [`Bars`] | bars of parts, with their figures |
//!
//! # Who may use it
//!
//! The crates that write reports: `alight-compare`. It uses no other crate of the project.
//!
//! # Example
//!
//! ```
//! use alight_html::{Page, Table};
//!
//! let table = Table::new(["", "mean"]).row(["linux-6.1", "12.5"]);
//! let page = Page::new("A report").text("Question", ["Is it faster?"]).part("Numbers", &table);
//! let html = page.render();
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.contains("<h2>Question</h2>"));
//! ```

mod asset;
mod bars;
pub mod chart;
mod columns;
mod forest;
pub mod heat;
mod page;
mod table;
mod time;
pub mod timeline;

pub use asset::Asset;
pub use bars::{Bar, Bars, Segment};
pub use chart::Chart;
pub use forest::{Forest, Mark, Row};
pub use heat::Heat;
pub use page::{Page, Part, Text};
pub use table::Table;
pub use time::{MICROSECONDS, time, unit};
pub use timeline::Timeline;
