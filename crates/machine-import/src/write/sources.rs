// SPDX-License-Identifier: GPL-2.0-only
//! The table `[sources]`: each place of the description by a short name, each assumption by another.

use std::fmt::Write;

use super::quoted;
use crate::format::Format;
use crate::platform::Place;

/// Sources that figures have cited so far.
pub(super) struct Sources {
    file: String,
    format: Format,
    /// Names, texts and confidences, in the order of the first citation.
    cited: Vec<(String, String, &'static str)>,
    notes: Vec<String>,
}

impl Sources {
    pub fn new(file: &str, format: Format) -> Self {
        Self {
            file: file.to_owned(),
            format,
            cited: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The name of a source.
    pub fn of(&mut self, place: &Place) -> String {
        match place {
            Place::File(place) => self.file(place),
            Place::Rule(rule) => self.rule(rule),
            Place::Assumed(sentence) => self.guessed(sentence),
        }
    }

    /// A place in the file.
    pub fn file(&mut self, place: &str) -> String {
        let text = format!("{}, {place}", self.file);
        self.cite(self.format.name(), text, self.format.confidence())
    }

    /// A rule that the figure follows by.
    pub fn rule(&mut self, rule: &str) -> String {
        self.cite("rule", rule.to_owned(), "derived")
    }

    /// Something that the file does not say, with what is assumed.
    pub fn assumed(&mut self, what: &str, assumed: &str) -> String {
        let sentence = self.lacking(what, assumed);
        self.guessed(&sentence)
    }

    /// The sentence for it.
    pub fn lacking(&self, what: &str, assumed: &str) -> String {
        format!("{} does not say {what}: assumed is {assumed}", self.file)
    }

    /// A note of it alone, where no figure of its own rests on it.
    pub fn tell(&mut self, what: &str, assumed: &str) {
        let sentence = self.lacking(what, assumed);
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    fn guessed(&mut self, sentence: &str) -> String {
        if !self.notes.iter().any(|note| note == sentence) {
            self.notes.push(sentence.to_owned());
        }
        self.cite("assumed", sentence.to_owned(), "assumed")
    }

    fn cite(&mut self, prefix: &str, text: String, confidence: &'static str) -> String {
        if let Some((name, ..)) = self.cited.iter().find(|(_, known, _)| *known == text) {
            return name.clone();
        }
        let begins = |name: &&(String, String, &str)| name.0.starts_with(prefix);
        let number = self.cited.iter().filter(begins).count() + 1;
        let name = format!("{prefix}{number}");
        self.cited.push((name.clone(), text, confidence));
        name
    }

    /// What was assumed.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The table.
    pub fn section(&self) -> String {
        let mut text = String::from("\n[sources]\n");
        for (name, source, confidence) in &self.cited {
            let _ = writeln!(
                text,
                "{name} = {{ text = {}, confidence = \"{confidence}\" }}",
                quoted(source)
            );
        }
        text
    }
}
