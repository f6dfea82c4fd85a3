// SPDX-License-Identifier: GPL-2.0-only
//! The shell of a page: head, sections in their order, and what their parts need.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::Asset;

/// What a section can hold.
pub trait Part {
    /// Its HTML.
    fn markup(&self) -> Markup;

    /// Scripts and styles that it needs, in the order in which they run.
    fn assets(&self) -> &'static [Asset] {
        &[]
    }
}

/// A page in the making.
#[derive(Debug)]
pub struct Page {
    title: String,
    sections: Vec<(String, Markup)>,
    assets: Vec<Asset>,
}

/// Style of all pages: no font, picture or script from elsewhere.
const STYLE: &str = include_str!("css/page.css");

impl Page {
    /// A page without sections.
    pub fn new(title: &str) -> Self {
        Page {
            title: title.to_owned(),
            sections: vec![],
            assets: vec![],
        }
    }

    /// A section of paragraphs. One without any is left out.
    #[must_use]
    pub fn text<T: AsRef<str>>(self, title: &str, paragraphs: impl IntoIterator<Item = T>) -> Self {
        let text = Text::new(paragraphs);
        if text.0.is_empty() {
            return self;
        }
        self.part(title, &text)
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
    pub fn part(self, title: &str, part: &impl Part) -> Self {
        self.parts(title, &[part])
    }

    /// A section with these parts, one below the other.
    #[must_use]
    pub fn parts(mut self, title: &str, parts: &[&dyn Part]) -> Self {
        for asset in parts.iter().flat_map(|part| part.assets()) {
            if !self.assets.contains(asset) {
                self.assets.push(*asset);
            }
        }
        let content = html! { @for part in parts { (part.markup()) } };
        self.sections.push((title.to_owned(), content));
        self
    }

    /// No request leaves the page, whatever stands in it, and no other script runs.
    fn policy(&self) -> String {
        let scripts: String = self.assets.iter().map(Asset::source).collect();
        let scripts = match scripts.as_str() {
            "" => String::new(),
            sources => format!("; script-src{sources}"),
        };
        format!(
            "default-src 'none'; base-uri 'none'; form-action 'none'; \
             style-src 'unsafe-inline'{scripts}"
        )
    }

    /// The whole file.
    pub fn render(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(self.policy());
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                    @for asset in self.assets.iter().filter(|asset| !asset.style.is_empty()) {
                        style { (PreEscaped(asset.style)) }
                    }
                }
                body {
                    main {
                        h1 { (self.title) }
                        @for (title, content) in &self.sections {
                            section { h2 { (title) } (content) }
                        }
                    }
                    @for asset in self.assets.iter().filter(|asset| !asset.script.is_empty()) {
                        script { (PreEscaped(asset.script)) }
                    }
                }
            }
        };
        page.into_string() + "\n"
    }
}

/// Paragraphs.
#[derive(Debug, Clone, Default)]
pub struct Text(Vec<String>);

impl Text {
    /// These paragraphs, in their order.
    pub fn new<T: AsRef<str>>(paragraphs: impl IntoIterator<Item = T>) -> Self {
        let own = |text: T| text.as_ref().to_owned();
        Text(paragraphs.into_iter().map(own).collect())
    }
}

impl Part for Text {
    fn markup(&self) -> Markup {
        html! { @for text in &self.0 { p { (text) } } }
    }
}

#[cfg(test)]
mod tests;
