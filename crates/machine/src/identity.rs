// SPDX-License-Identifier: GPL-2.0-only
//! The hash of a machine: two machines with the same hash give the same
//! results, whatever they are called and whoever is cited for their figures.

use xxhash_rust::xxh3::xxh3_64;

use crate::model::Machine;

impl Machine {
    /// 64-bit hash (XXH3) of the canonical form: the JSON of all resolved
    /// figures, in the order of the model, without name and description. The
    /// same on every machine and for every build of one version of the model.
    pub fn hash(&self) -> u64 {
        let anonymous = Self {
            name: String::new(),
            description: String::new(),
            ..self.clone()
        };
        // Strings, numbers and lists of them: there is nothing that JSON refuses.
        let canonical = serde_json::to_vec(&anonymous).unwrap_or_default();
        xxh3_64(&canonical)
    }
}
