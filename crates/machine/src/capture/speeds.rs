// SPDX-License-Identifier: GPL-2.0-only
//! The speeds of CPUs where they are another figure than the capacities: as measured, or as the
//! firmware rates the CPUs.

use super::Measured;
use super::facts::{Capacity, Gatherer};
use crate::capacity::CAPACITY_SCALE;
use crate::error::Error;

/// A speed, the fastest CPU 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Speed {
    pub value: u64,
    pub from: SpeedFrom,
}

/// Where speeds come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpeedFrom {
    /// They were measured.
    Measured,
    /// The firmware rates the CPUs (`acpi_cppc/highest_perf`).
    Firmware,
    /// The cores are of one make: they differ by their top clock.
    Clock,
}

/// `highest_perf` of firmware that rates nothing: intel_pstate does not use it either
/// (7.3 drivers/cpufreq/intel_pstate.c, `intel_pstate_set_itmt_prio`).
pub(super) const NO_RATING: u64 = 255;

impl Gatherer<'_> {
    /// The speeds of all CPUs; `None`: nothing says that they differ from the capacities.
    pub(super) fn speeds(
        &mut self,
        capacities: &[Capacity],
        measured: &Measured,
    ) -> Result<Option<Vec<Speed>>, Error> {
        if let Some(speeds) = measured_speeds(capacities, measured) {
            return Ok(Some(speeds));
        }
        let alike = |(capacity, _): &Capacity| *capacity == CAPACITY_SCALE;
        if !self.x86()? || !capacities.iter().all(alike) {
            return Ok(None);
        }
        // AMD's highest_perf is a rank among cores, not a rating of their speed
        // (7.3 arch/x86/kernel/acpi/cppc.c, amd_get_boost_ratio_numerator).
        let (file, from) = match self.is_amd()? {
            true => ("cpufreq/cpuinfo_max_freq", SpeedFrom::Clock),
            false => ("acpi_cppc/highest_perf", SpeedFrom::Firmware),
        };
        let ratings = self.ratings(file)?;
        Ok(ratings.and_then(|ratings| relative(&ratings, from)))
    }

    /// The number that each CPU has in `file`, if each has one and it rates something.
    fn ratings(&mut self, file: &str) -> Result<Option<Vec<u64>>, Error> {
        let mut ratings = Vec::new();
        for cpu in 0..self.online.len() {
            let rating = self.tree.number(&self.cpu_file(cpu, file))?;
            match rating {
                None | Some(0 | NO_RATING) => return Ok(None),
                Some(rating) => ratings.push(rating),
            }
        }
        Ok(Some(ratings))
    }

    fn is_amd(&self) -> Result<bool, Error> {
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        let vendor = cpuinfo.lines().find(|line| line.starts_with("vendor_id"));
        Ok(vendor.is_some_and(|line| line.ends_with("AuthenticAMD")))
    }
}

/// What was measured, if some CPU's speed is not its capacity.
fn measured_speeds(capacities: &[Capacity], measured: &Measured) -> Option<Vec<Speed>> {
    let of = |cpu: usize| measured.core(cpu).and_then(|core| core.speed);
    let readings = (0..capacities.len()).map(of).collect::<Option<Vec<_>>>()?;
    let differs = readings
        .iter()
        .zip(capacities)
        .any(|(reading, (capacity, _))| {
            let [low, high] = reading.spread.map(u64::from);
            !(low..=high).contains(capacity)
        });
    let speed = |value: u32| Speed {
        value: value.into(),
        from: SpeedFrom::Measured,
    };
    differs.then(|| {
        readings
            .iter()
            .map(|reading| speed(reading.value))
            .collect()
    })
}

/// Ratings with the greatest at 1024, if they differ.
fn relative(ratings: &[u64], from: SpeedFrom) -> Option<Vec<Speed>> {
    let (least, most) = (ratings.iter().min()?, ratings.iter().max()?);
    let speed = |rating: &u64| Speed {
        value: (rating.saturating_mul(CAPACITY_SCALE) / most).max(1),
        from,
    };
    (least != most).then(|| ratings.iter().map(speed).collect())
}
