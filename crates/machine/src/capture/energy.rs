// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel's energy model says of a clock.

use super::facts::Gatherer;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kernel::{ENERGY_MODEL, PerfDomain, PerfState};
use crate::schema::{KHZ, POWER_UW};

/// Operating points of a clock, frequencies rising.
pub(super) struct Points {
    pub khz: Vec<u64>,
    /// They may fall: the kernel takes such a model as it is.
    pub power_uw: Vec<u64>,
    /// `None`: they follow from the frequencies.
    pub capacity: Option<Vec<u64>>,
}

/// Capacities that follow from the frequencies are truncated, here and in the kernel.
const ROUNDING: u64 = 1;

impl Gatherer<'_> {
    /// The operating points of `cpu`, which has this capacity at the last of them; `None`: no energy
    /// model states powers of it.
    pub(super) fn energy_model(
        &mut self,
        cpu: usize,
        capacity: u64,
    ) -> Result<Option<Points>, Error> {
        let Some(domain) = self.perf_domain(cpu).filter(|domain| domain.has_powers()) else {
            return Ok(None);
        };
        let mut domain = domain.clone();
        domain.states.dedup_by_key(|state| state.frequency);
        self.is_possible(&domain)?;
        if domain.artificial {
            self.note(
                "the energy model gives powers in an abstract unit: only their ratios have a \
                 meaning",
            );
        }
        let states = &domain.states;
        Ok(Some(Points {
            khz: states.iter().map(|state| state.frequency).collect(),
            power_uw: (states.iter().map(|state| domain.microwatts_of(state))).collect(),
            capacity: self.performances(&domain, capacity),
        }))
    }

    /// The column of capacities that ends with `capacity`, if the kernel states another one than
    /// follows from the frequencies. Its own does (7.2 `em_init_performance()`), but a driver may
    /// put a table in its place (`em_dev_update_perf_domain()`).
    fn performances(&mut self, domain: &PerfDomain, capacity: u64) -> Option<Vec<u64>> {
        let states = &domain.states;
        let stated: Vec<u64> = (states.iter())
            .map(|state| state.performance)
            .collect::<Option<_>>()?;
        let (top, top_khz) = (*stated.last()?, states.last()?.frequency);
        let by_frequency = |state: &PerfState| scaled(state.frequency, capacity, top_khz);
        let column: Vec<u64> = (stated.iter())
            .map(|&performance| scaled(performance, capacity, top))
            .collect();
        let follows = (column.iter().zip(states))
            .all(|(&stated, state)| stated.abs_diff(by_frequency(state)) <= ROUNDING);
        if follows {
            return None;
        }
        let rises = column.windows(2).all(|pair| pair[0] < pair[1]);
        if !rises || column[0] == 0 {
            self.note(&format!(
                "the energy model of the CPUs {} has the performance {stated:?}, which does not \
                 rise with the frequency: the capacities by frequency are assumed",
                domain.cpus
            ));
            return None;
        }
        Some(column)
    }

    fn perf_domain(&self, cpu: usize) -> Option<&PerfDomain> {
        let number = self.online[cpu];
        let holds = |domain: &&PerfDomain| domain.cpus.contains(number);
        self.energy_model.iter().find(holds)
    }

    fn is_possible(&self, domain: &PerfDomain) -> Result<(), Error> {
        let first = domain.cpus.first().unwrap_or(0);
        for state in &domain.states {
            let (khz, uw) = (state.frequency, domain.microwatts_of(state));
            if !KHZ.contains(&khz) || !POWER_UW.contains(&uw) {
                let file = format!("{ENERGY_MODEL}/cpu{first}/ps:{khz}");
                return Err(Error::Captured {
                    path: self.tree.path(&file),
                    found: format!("{uw} uW at {khz} kHz"),
                    expected: format!("up to {} uW at 1 to {} kHz", POWER_UW.end(), KHZ.end()),
                });
            }
        }
        Ok(())
    }

    /// Says why the powers of these clocks are not the kernel's.
    pub(super) fn note_unknown_powers(&mut self, clocks: &[CpuSet]) {
        let (mut without_model, mut without_powers) = (CpuSet::new(), CpuSet::new());
        for clock in clocks {
            let modelled = clock
                .first()
                .is_some_and(|cpu| self.perf_domain(cpu).is_some());
            let cpus = match modelled {
                true => &mut without_powers,
                false => &mut without_model,
            };
            *cpus = cpus.union(clock);
        }
        if !without_powers.is_empty() {
            self.note(&format!(
                "the energy model of the CPUs {} has costs but no powers, and steps of capacity in \
                 the place of frequencies (intel_pstate, `hybrid_active_power`): the clocks are \
                 those of cpufreq, the powers are assumed",
                self.theirs(&without_powers)
            ));
        }
        if !without_model.is_empty() {
            self.note("no energy model can be read: powers are assumed");
        }
    }
}

/// `part` of `whole` as a share of `capacity`.
fn scaled(part: u64, capacity: u64, whole: u64) -> u64 {
    let share = u128::from(part) * u128::from(capacity) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}
