// SPDX-License-Identifier: GPL-2.0-only
//! Checks views that come from outside, such as from a file.
//!
//! The core uses indices without bounds checks and divides by capacities, so everything that it
//! relies on is checked here before its first decision.

use crate::abi::{
    Cpu, Domain, Group, Llc, MAX_CPUS, MAX_DOMAINS, MAX_GROUPS, MAX_LEVELS, MAX_PERF_DOMAINS,
    MAX_PERF_STATES, Mask, NONE, Params, PerfDomain, Place, Task, Topology, check,
};
use crate::core::Core;
use crate::shape::{Shape, Sound};
use std::ops::RangeInclusive;

/// Why views are refused: a number in them is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {found}, expected {expected}")]
pub struct Unsound {
    /// Which number, such as `domain 3: first_group`.
    pub what: String,
    /// Its value.
    pub found: u64,
    /// The valid values.
    pub expected: String,
}

/// All views of one machine, except those that change while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Views {
    /// Facts of the whole machine.
    pub topology: Topology,
    /// Number of [`Core::llcs`].
    pub nr_llcs: u32,
    /// All domains.
    pub domains: Vec<Domain>,
    /// All groups.
    pub groups: Vec<Group>,
    /// Where each CPU sits.
    pub places: Vec<Place>,
    /// Sets of CPUs that share a frequency.
    pub perf: Vec<PerfDomain>,
}

type Checked = Result<(), Unsound>;

fn within(what: impl Fn() -> String, found: u64, range: RangeInclusive<u64>) -> Checked {
    if range.contains(&found) {
        return Ok(());
    }
    Err(Unsound {
        what: what(),
        found,
        expected: format!("{} to {}", range.start(), range.end()),
    })
}

fn below(what: impl Fn() -> String, found: u32, limit: usize) -> Checked {
    if (found as usize) < limit {
        return Ok(());
    }
    Err(Unsound {
        what: what(),
        found: found.into(),
        expected: format!("less than {limit}"),
    })
}

fn none_or_below(what: impl Fn() -> String, found: u32, limit: usize) -> Checked {
    match found {
        NONE => Ok(()),
        found => below(what, found, limit),
    }
}

/// Checks that a mask has at least one CPU, and only CPUs that exist.
fn span(what: impl Fn() -> String, mask: &Mask, nr_cpus: usize) -> Checked {
    let members = mask.len();
    let existing = (0..nr_cpus as u32).filter(|&cpu| mask.contains(cpu));
    if members == 0 || existing.count() as u32 != members {
        return Err(Unsound {
            what: what() + ": number of CPUs",
            found: members.into(),
            expected: format!("some of the CPUs 0 to {}", nr_cpus.saturating_sub(1)),
        });
    }
    Ok(())
}

impl Views {
    fn check(&self) -> Checked {
        let limits = [
            ("CPUs", self.places.len(), 1, MAX_CPUS),
            ("caches", self.nr_llcs as usize, 1, MAX_CPUS),
            ("domains", self.domains.len(), 0, MAX_DOMAINS),
            ("groups", self.groups.len(), 0, MAX_GROUPS),
        ];
        for (what, found, least, most) in limits {
            let range = least as u64..=most as u64;
            within(|| format!("number of {what}"), found as u64, range)?;
        }
        let t = &self.topology;
        let counts = [
            ("CPUs", t.nr_cpus, self.places.len()),
            ("domains", t.nr_domains, self.domains.len()),
            ("groups", t.nr_groups, self.groups.len()),
        ];
        for (what, found, there) in counts {
            let range = there as u64..=there as u64;
            within(
                || format!("topology: number of {what}"),
                found.into(),
                range,
            )?;
        }
        within(
            || "topology: max_capacity".into(),
            t.max_capacity.into(),
            1..=1024,
        )?;
        for (n, domain) in self.domains.iter().enumerate() {
            self.check_domain(n, domain)?;
        }
        for (n, group) in self.groups.iter().enumerate() {
            self.check_group(n, group)?;
        }
        for (cpu, place) in self.places.iter().enumerate() {
            self.check_place(cpu, place)?;
        }
        check_perf(&self.perf, self.places.len())
    }

    fn check_domain(&self, n: usize, domain: &Domain) -> Checked {
        let of = |field: &str| format!("domain {n}: {field}");
        span(|| of("span"), &domain.span, self.places.len())?;
        within(
            || of("imbalance_pct"),
            domain.imbalance_pct.into(),
            100..=1000,
        )?;
        none_or_below(|| of("llc"), domain.llc, self.nr_llcs as usize)?;
        let end = u64::from(domain.first_group) + u64::from(domain.nr_groups);
        within(
            || of("first_group + nr_groups"),
            end,
            0..=self.groups.len() as u64,
        )
    }

    fn check_group(&self, n: usize, group: &Group) -> Checked {
        let of = |field: &str| format!("group {n}: {field}");
        none_or_below(|| of("child"), group.child, self.domains.len())?;
        below(|| of("cpu"), group.cpu, self.places.len())
    }

    fn check_place(&self, cpu: usize, place: &Place) -> Checked {
        let of = |field: &str| format!("place of CPU {cpu}: {field}");
        let domains = [
            ("llc_domain", place.llc_domain),
            ("asym_domain", place.asym_domain),
            ("smt_domain", place.smt_domain),
            ("cluster_domain", place.cluster_domain),
        ];
        for (field, domain) in domains {
            none_or_below(|| of(field), domain, self.domains.len())?;
        }
        if let Some(llc) = self.domains.get(place.llc_domain as usize) {
            let nr_llcs = self.nr_llcs as usize;
            below(|| of("llc of its llc_domain"), llc.llc, nr_llcs)?;
        }
        below(|| of("shared"), place.shared, self.nr_llcs as usize)?;
        let levels = place.nr_domains;
        within(|| of("nr_domains"), levels.into(), 0..=MAX_LEVELS as u64)?;
        for level in 0..levels as usize {
            let (domain, group) = (place.domain[level], place.group[level]);
            below(|| of("domain"), domain, self.domains.len())?;
            below(|| of("group"), group, self.groups.len())?;
        }
        Ok(())
    }
}

/// Checks the performance domains of a machine of `nr_cpus` CPUs.
pub(crate) fn check_perf(perf: &[PerfDomain], nr_cpus: usize) -> Checked {
    let range = 0..=MAX_PERF_DOMAINS as u64;
    let what = || "number of performance domains".into();
    within(what, perf.len() as u64, range)?;
    for (n, perf) in perf.iter().enumerate() {
        let of = |field: &str| format!("performance domain {n}: {field}");
        span(|| of("span"), &perf.span, nr_cpus)?;
        let states = perf.nr_states;
        within(
            || of("nr_states"),
            states.into(),
            1..=MAX_PERF_STATES as u64,
        )?;
        below(|| of("last_state"), perf.last_state, states as usize)?;
        let last = perf.last_state as usize;
        below(|| of("first_state"), perf.first_state, last + 1)?;
    }
    Ok(())
}

impl Core {
    /// A core of views that come from outside. Its CPUs are idle and its caches blank.
    ///
    /// # Errors
    /// The first number that is out of bounds.
    pub fn of_views(views: Views, params: Params) -> Result<Core, Unsound> {
        check();
        views.check()?;
        let cpus = vec![Cpu::default(); views.places.len()];
        let llcs = vec![Llc::default(); views.nr_llcs as usize];
        let shape = Shape {
            places: views.places.into(),
            domains: views.domains.into(),
            groups: views.groups.into(),
            nr_llcs: llcs.len(),
            topology: views.topology,
            perf: views.perf,
            sound: Sound,
        };
        Ok(Core::new(shape, cpus.into(), llcs.into(), params))
    }

    /// The views from which [`Core::of_views`] makes this core again.
    pub fn views(&self) -> Views {
        Views {
            topology: self.topology,
            nr_llcs: self.llcs.len() as u32,
            domains: self.domains.to_vec(),
            groups: self.groups.to_vec(),
            places: self.places.to_vec(),
            perf: self.perf.clone(),
        }
    }

    /// Checks views of CPUs for this core.
    ///
    /// # Errors
    /// The first number that is out of bounds.
    pub fn accepts_cpus(&self, cpus: &[Cpu]) -> Result<(), Unsound> {
        let nr_cpus = self.places.len();
        let number = cpus.len() as u64;
        let expected = nr_cpus as u64..=nr_cpus as u64;
        within(|| "number of CPUs".into(), number, expected)?;
        for (n, cpu) in cpus.iter().enumerate() {
            let of = |field: &str| format!("CPU {n}: {field}");
            let capacity_orig = cpu.capacity_orig.into();
            within(|| of("capacity_orig"), capacity_orig, 1..=1024)?;
            within(|| of("capacity"), cpu.capacity.into(), 1..=1024)?;
            within(|| of("avg_scan_cost"), cpu.avg_scan_cost, 0..=u64::MAX - 1)?;
            none_or_below(|| of("buddy"), cpu.buddy, nr_cpus)?;
        }
        Ok(())
    }

    /// Checks a task for this core, which may use the CPUs `allowed`.
    ///
    /// # Errors
    /// The first number that is out of bounds.
    pub fn accepts_task(&self, task: &Task, allowed: &Mask) -> Result<(), Unsound> {
        let nr_cpus = self.places.len();
        span(|| "allowed".into(), allowed, nr_cpus)?;
        below(|| "prev_cpu".into(), task.prev_cpu, nr_cpus)
    }
}

#[cfg(test)]
mod tests;
