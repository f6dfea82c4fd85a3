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
//! | [`Page`] | the shell: title, style for light, dark and print, order of the sections |
//! | [`Forest`] | differences with their intervals, drawn on one scale |
//! | [`Table`] | rows of text and numbers |
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

mod forest;
mod table;

pub use forest::{Forest, Mark, Row};
pub use table::Table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What a section can hold.
pub trait Part {
    /// Its HTML.
    fn markup(&self) -> Markup;
}

/// A page in the making.
#[derive(Debug)]
pub struct Page {
    title: String,
    sections: Vec<(String, Markup)>,
}

/// Style of all pages: no font, picture or script from elsewhere.
const STYLE: &str = include_str!("style.css");

impl Page {
    /// A page without sections.
    pub fn new(title: &str) -> Self {
        Page {
            title: title.to_owned(),
            sections: vec![],
        }
    }

    /// A section of paragraphs. One without any is left out.
    #[must_use]
    pub fn text<T: AsRef<str>>(
        mut self,
        title: &str,
        paragraphs: impl IntoIterator<Item = T>,
    ) -> Self {
        let mut paragraphs = paragraphs.into_iter().peekable();
        if paragraphs.peek().is_some() {
            let text = html! { @for text in paragraphs { p { (text.as_ref()) } } };
            self.sections.push((title.to_owned(), text));
        }
        self
    }

    /// A section of a command, to be copied.
    #[must_use]
    pub fn command(mut self, title: &str, command: &str) -> Self {
        let text = html! { pre tabindex="0" { (command) } };
        self.sections.push((title.to_owned(), text));
        self
    }

    /// A section with this part.
    #[must_use]
    pub fn part(mut self, title: &str, part: &impl Part) -> Self {
        self.sections.push((title.to_owned(), part.markup()));
        self
    }

    /// The whole file.
    pub fn render(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // No request leaves the page, whatever stands in it.
                    meta http-equiv="Content-Security-Policy"
                        content="default-src 'none'; style-src 'unsafe-inline'";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        h1 { (self.title) }
                        @for (title, content) in &self.sections {
                            section { h2 { (title) } (content) }
                        }
                    }
                }
            }
        };
        page.into_string() + "\n"
    }
}

#[cfg(test)]
mod tests;
