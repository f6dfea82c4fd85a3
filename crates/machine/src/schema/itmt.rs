// SPDX-License-Identifier: GPL-2.0-only
//! The section `itmt`: the order in which balancing fills the CPUs.

use super::one_span;
use crate::draft::{ItmtDraft, RankDraft};
use crate::model::ItmtDriver;
use crate::reader::Reader;
use std::ops::RangeInclusive;

/// CPPC has 8 bits for `highest_perf`.
const PRIORITY: RangeInclusive<u64> = 1..=255;

/// The driver and the tables `[itmt.rank.NAME]`.
pub(super) fn read_itmt(mut section: Reader) -> Option<ItmtDraft> {
    let place = section.place.clone();
    let driver = section.choice(
        "driver",
        &ItmtDriver::ALL.map(|driver| (driver.name(), driver)),
    );
    let driver = section.required("driver", driver);
    let named = section.named_sections("rank");
    let ranks: Vec<Option<RankDraft>> = (named.into_iter())
        .map(|(_, rank)| read_rank(rank))
        .collect();
    section.finish();
    Some(ItmtDraft {
        place,
        driver: driver?,
        ranks: ranks.into_iter().collect::<Option<_>>()?,
    })
}

fn read_rank(mut section: Reader) -> Option<RankDraft> {
    let cpus = section.partition("cpus");
    let cpus = section.required("cpus", cpus);
    let cpus = cpus.and_then(|spans| one_span(&section, "cpus", spans));
    let priority = section.whole("priority", PRIORITY);
    let priority = section.required("priority", priority);
    section.finish();
    Some(RankDraft {
        cpus: cpus?,
        priority: priority?,
    })
}
