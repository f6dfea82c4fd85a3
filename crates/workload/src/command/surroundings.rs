// SPDX-License-Identifier: GPL-2.0-only
//! What a tool finds when it begins: the line as typed, the machine, and the attributes that the
//! prefixes of the line gave it.

use super::prefix::Begin;
use crate::diagnostic::{Place, Refusal};
use crate::site::Site;

/// What a tool finds when it begins.
pub(super) struct Surroundings<'a> {
    /// The whole line, prefixes and all.
    pub line: &'a str,
    /// The machine, if it is known.
    pub site: Option<&'a Site>,
    /// What the prefixes say.
    pub begin: Begin,
}

impl<'a> Surroundings<'a> {
    pub fn new(line: &'a str, site: Option<&'a Site>) -> Self {
        Surroundings {
            line,
            site,
            begin: Begin::default(),
        }
    }

    /// CPUs that the tool may use (`sched_getaffinity(2)`), in rising order; `None`: nothing says.
    pub fn allowed(&self) -> Option<Vec<u32>> {
        let bound = self.begin.attributes.affinity.clone();
        bound.or_else(|| self.site.map(Site::cpus))
    }

    /// The machine, for a word that has no meaning without one. `meaning` says what the word asks for.
    pub fn known_site(&self, place: Place, meaning: &str) -> Result<&'a Site, Refusal> {
        self.site.ok_or_else(|| {
            Refusal::new(
                place,
                format!(
                    "{meaning}, and the machine is not known here; write CPUs as numbers instead"
                ),
            )
        })
    }
}
