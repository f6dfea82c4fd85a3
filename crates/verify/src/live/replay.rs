// SPDX-License-Identifier: GPL-2.0-only
//! Makes written decisions again with the host's build of the core, and demands
//! that CPU, reason, counts and everything written be equal.

use super::record::{DecisionRecord, Malformed};
use alight_policy::abi::domain_flag;
use alight_policy::{Answer, Core, STEPS};
use alight_policy::{Kind, Waker, Wakeup};
use std::fmt::{self, Debug, Write};

/// The native side of the comparison.
#[derive(Debug)]
pub struct Replay {
    core: Core,
    /// Decisions that were equal.
    pub equal: u64,
    /// How many each step answered, in the order of [`STEPS`].
    pub steps: [u64; STEPS.len()],
}

/// Why a replay is not equal.
#[derive(Debug, thiserror::Error)]
pub enum Difference {
    /// Not a record.
    #[error("decision {number}: {malformed}")]
    Malformed {
        /// Index of the decision.
        number: u64,
        /// What is wrong.
        malformed: Malformed,
    },
    /// The two builds disagree.
    #[error("decision {number}: kernel and host differ\n{sides}")]
    Unequal {
        /// Index of the decision.
        number: u64,
        /// Both sides, lines that differ only.
        sides: Sides,
        /// What both were given.
        input: Box<DecisionRecord>,
    },
}

/// Lines of two values that differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sides(String);

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Sides {
    /// Compares a part of the outcome; writes down the lines in which the sides differ.
    pub fn add<T: Debug + PartialEq + ?Sized>(&mut self, what: &str, kernel: &T, host: &T) {
        if kernel == host {
            return;
        }
        let (kernel, host) = (format!("{kernel:#?}"), format!("{host:#?}"));
        for (kernel, host) in kernel.lines().zip(host.lines()).filter(|(k, h)| k != h) {
            let (kernel, host) = (kernel.trim(), host.trim());
            let _ = writeln!(self.0, "  {what}: kernel {kernel} host {host}");
        }
    }

    /// Writes the answers in words too, as they say which way each side went.
    fn add_reasons(&mut self, kernel: &Answer, host: &Answer) {
        let step = |a: &Answer| STEPS.get(a.step as usize).map_or("?", |s| s.0);
        let _ = writeln!(
            self.0,
            "  kernel chose CPU {} by {}, host CPU {} by {}",
            kernel.cpu,
            step(kernel),
            host.cpu,
            step(host)
        );
    }
}

impl Replay {
    /// `core`: the views that the kernel side was given.
    pub fn new(core: Core) -> Self {
        Replay {
            core,
            equal: 0,
            steps: [0; STEPS.len()],
        }
    }

    /// The same, of another machine: the scheduler was loaded anew.
    pub fn goes_on_with(&mut self, core: Core) {
        self.core = core;
    }

    /// Makes one decision again.
    ///
    /// # Errors
    /// If the bytes are no record of this machine, or the two builds disagree.
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), Difference> {
        let number = self.equal;
        let record = DecisionRecord::parse(bytes)
            .and_then(|record| self.fits(record))
            .map_err(|malformed| Difference::Malformed { number, malformed })?;
        let sides = self.compare(&record);
        if sides != Sides::default() {
            return Err(Difference::Unequal {
                number,
                sides,
                input: Box::new(record),
            });
        }
        self.equal += 1;
        Ok(())
    }

    fn fits(&self, record: DecisionRecord) -> Result<DecisionRecord, Malformed> {
        let d = &record.decision;
        let counts = [
            ("nr_cpus", d.nr_cpus, self.core.cpus.len()),
            ("nr_llcs", d.nr_llcs, self.core.llcs.len()),
        ];
        for (what, found, expected) in counts {
            if found as usize != expected {
                let limit = expected as u32;
                return Err(Malformed::Range { what, found, limit });
            }
        }
        self.core.accepts_cpus(&record.cpus)?;
        self.core.accepts_task(&d.wakee, &d.allowed)?;
        Ok(record)
    }

    /// The machine as the record says that it was.
    pub(super) fn take_views(&mut self, record: &DecisionRecord) -> &mut Core {
        self.core.cpus.copy_from_slice(&record.cpus);
        self.core.llcs.copy_from_slice(&record.llcs);
        self.core.root = record.decision.root;
        &mut self.core
    }

    fn compare(&mut self, record: &DecisionRecord) -> Sides {
        let d = &record.decision;
        let core = self.take_views(record);
        let (mut wakee, mut waker) = (d.wakee, d.waker);
        let answer = core.select(Wakeup {
            task: &mut wakee,
            allowed: &d.allowed,
            waker: Waker {
                cpu: d.this_cpu,
                task: &mut waker,
                sync: d.sync != 0,
            },
            kind: kind_of(d.kind),
            flags: 0,
            now: d.now,
        });
        let mut expected = record.cpus.clone();
        expected[d.this_cpu as usize] = d.here_after;

        let mut sides = Sides::default();
        sides.add("answer", &d.answer, &answer);
        sides.add("wakee after", &d.wakee_after, &wakee);
        sides.add("waker after", &d.waker_after, &waker);
        sides.add("CPUs after", &expected[..], &*core.cpus);
        sides.add("caches after", &record.llcs_after[..], &*core.llcs);
        if sides != Sides::default() {
            sides.add_reasons(&d.answer, &answer);
        }
        if let Some(count) = self.steps.get_mut(answer.step as usize) {
            *count += 1;
        }
        sides
    }
}

/// Why a CPU was wanted, as `enum policy_kind` has it.
pub(super) fn kind_of(kind: u32) -> Kind {
    match kind {
        domain_flag::BALANCE_FORK => Kind::Fork,
        domain_flag::BALANCE_EXEC => Kind::Exec,
        _ => Kind::Wake,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::record::tests::{idle_machine, written};
    use super::*;
    use alight_policy::Scheduler;
    use alight_policy::topology::{CpuDescription, Description, Level, LevelKind, build};

    /// Two little CPUs and two big ones, a cache each pair.
    pub(crate) fn machine() -> Core {
        let capacities = [446, 446, 1024, 1024];
        let machine = Description {
            cpus: (capacities.iter())
                .map(|&capacity| CpuDescription { capacity, node: 0 })
                .collect(),
            levels: vec![
                Level::by_key(LevelKind::Cache, &[0, 0, 1, 1]),
                Level::by_key(LevelKind::Package, &[0; 4]),
            ],
        };
        let params = Scheduler::parse("linux-5.5+asym-capacity").unwrap().params;
        build(&machine, &params).unwrap()
    }

    /// A task of utilization 600 wakes on an idle machine: CPU 2, the first that is big enough.
    pub(crate) fn decided() -> DecisionRecord {
        let mut core = machine();
        let mut record = idle_machine(4, 2);
        record.cpus = core.cpus.to_vec();
        record.llcs = core.llcs.to_vec();
        let d = &mut record.decision;
        d.wakee.pelt.util_avg = 600;
        (d.wakee_after, d.waker_after) = (d.wakee, d.waker);
        d.answer = core.select(Wakeup {
            task: &mut d.wakee_after,
            allowed: &d.allowed,
            waker: Waker {
                cpu: 0,
                task: &mut d.waker_after,
                sync: false,
            },
            kind: Kind::Wake,
            flags: 0,
            now: d.now,
        });
        d.here_after = core.cpus[0];
        record.llcs_after = core.llcs.to_vec();
        record
    }

    #[test]
    fn a_decision_made_alike_is_equal() {
        let record = decided();
        assert_eq!(record.decision.answer.cpu, 2);
        let mut replay = Replay::new(machine());
        for _ in 0..3 {
            replay.check(&written(&record)).unwrap();
        }
        assert_eq!(replay.equal, 3);
        let fits = STEPS
            .iter()
            .position(|(name, _)| *name == "asym_fits")
            .unwrap();
        assert_eq!(replay.steps[fits], 3);
    }

    #[test]
    fn every_part_of_the_outcome_is_compared() {
        type Change = (fn(&mut DecisionRecord), &'static str);
        let changes: [Change; 6] = [
            (
                |r| r.decision.answer.cpu = 3,
                "answer: kernel cpu: 3, host cpu: 2,",
            ),
            (
                |r| r.decision.answer.looked_far += 1,
                "answer: kernel looked_far:",
            ),
            (
                |r| r.decision.wakee_after.recent_used_cpu = 1,
                "wakee after: kernel recent_used_cpu: 1,",
            ),
            (
                |r| r.decision.waker_after.wakee_flips += 1,
                "waker after: kernel wakee_flips:",
            ),
            (
                |r| r.decision.here_after.avg_scan_cost += 1,
                "CPUs after: kernel avg_scan_cost: 1, host avg_scan_cost: 0,",
            ),
            (
                |r| r.llcs_after[1].has_idle_cores ^= 1,
                "caches after: kernel has_idle_cores: 0, host has_idle_cores: 1,",
            ),
        ];
        for (change, expected) in changes {
            let mut record = decided();
            change(&mut record);
            let mut replay = Replay::new(machine());
            let text = replay.check(&written(&record)).unwrap_err().to_string();
            assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
            assert!(text.contains("host CPU 2 by asym_fits"), "{text}");
            assert_eq!(replay.equal, 0);
        }
    }

    #[test]
    fn the_input_decides() {
        let mut record = decided();
        record.cpus[2].curr_is_idle = 0;
        let text = Replay::new(machine())
            .check(&written(&record))
            .unwrap_err()
            .to_string();
        assert!(text.contains("kernel cpu: 2, host cpu: 3,"), "{text}");
    }

    #[test]
    fn a_record_of_another_machine_is_refused() {
        let record = idle_machine(6, 2);
        let text = Replay::new(machine())
            .check(&written(&record))
            .unwrap_err()
            .to_string();
        assert_eq!(
            text,
            "decision 0: a record has nr_cpus 6, expected less than 4"
        );
    }
}
