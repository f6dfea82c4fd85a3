// SPDX-License-Identifier: GPL-2.0-only
//! Scripts and styles that parts bring to their page.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A script with its style. A page holds it once, however many of its parts need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    pub(crate) script: &'static str,
    pub(crate) style: &'static str,
}

/// What all scripts share: colours, units, unpacking.
pub(crate) const COMMON: Asset = Asset {
    script: include_str!("js/common.js"),
    style: "",
};

impl Asset {
    /// How a Content-Security-Policy names the script: by its hash. Empty without a script.
    pub(crate) fn source(&self) -> String {
        if self.script.is_empty() {
            return String::new();
        }
        let hash = STANDARD.encode(Sha256::digest(self.script));
        format!(" 'sha256-{hash}'")
    }
}

/// JSON as the text of an element that holds it: nothing in it ends the element.
pub(crate) fn embedded(json: &Value) -> String {
    json.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
