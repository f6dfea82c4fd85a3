// SPDX-License-Identifier: GPL-2.0-only
//! One decision as the kernel side writes it down (`crates/live/src/bpf/record.h`).

use super::plain::{read, read_many};
use alight_policy::sound::Unsound;
use alight_policy::{Answer, Cpu, Llc, MAX_CPUS, Mask, Root, Task};

/// The fixed part of a record.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Decision {
    /// Time, ns.
    pub now: u64,
    /// CPU on which the wakeup happened.
    pub this_cpu: u32,
    /// `enum policy_kind`.
    pub kind: u32,
    /// The waker says that it will sleep (0 or 1).
    pub sync: u32,
    /// Caches in the record, before and after each.
    pub nr_llcs: u32,
    /// CPU views in the record.
    pub nr_cpus: u32,
    #[doc(hidden)]
    pub unused: u32,
    /// What changes of the root domain, as it was.
    pub root: Root,
    /// CPUs that the wakee may use.
    pub allowed: Mask,
    /// The wakee before.
    pub wakee: Task,
    /// The waker before.
    pub waker: Task,
    /// What was decided, and why.
    pub answer: Answer,
    /// The wakee after.
    pub wakee_after: Task,
    /// The waker after.
    pub waker_after: Task,
    /// View of `this_cpu` after.
    pub here_after: Cpu,
}

/// A whole record.
#[derive(Debug, Clone)]
pub struct DecisionRecord {
    /// The fixed part.
    pub decision: Decision,
    /// Caches before.
    pub llcs: Vec<Llc>,
    /// Caches after.
    pub llcs_after: Vec<Llc>,
    /// CPU views before.
    pub cpus: Vec<Cpu>,
}

/// Why bytes are not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Length.
    #[error("a record has {found} bytes, expected {expected}")]
    Length {
        /// Bytes there.
        found: usize,
        /// Bytes needed.
        expected: usize,
    },
    /// A number that indexes what is not there.
    #[error("a record has {what} {found}, expected less than {limit}")]
    Range {
        /// Which.
        what: &'static str,
        /// Value.
        found: u32,
        /// Limit.
        limit: u32,
    },
    /// A number that would lead the core astray.
    #[error("a record is wrong: {0}")]
    Unsound(#[from] Unsound),
}

impl DecisionRecord {
    /// Reads a record.
    ///
    /// # Errors
    /// If the length is not what the counts say, or a number is out of range.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let fixed = size_of::<Decision>();
        if bytes.len() < fixed {
            expect_length(bytes.len(), fixed)?;
        }
        let decision: Decision = read(bytes);
        in_range("nr_cpus", decision.nr_cpus, MAX_CPUS as u32 + 1)?;
        in_range("nr_llcs", decision.nr_llcs, MAX_CPUS as u32 + 1)?;
        in_range("this_cpu", decision.this_cpu, decision.nr_cpus)?;
        let (nr_llcs, nr_cpus) = (decision.nr_llcs as usize, decision.nr_cpus as usize);
        let whole = fixed + 2 * nr_llcs * size_of::<Llc>() + nr_cpus * size_of::<Cpu>();
        expect_length(bytes.len(), whole)?;
        let (llcs, rest) = read_many(&bytes[fixed..], nr_llcs);
        let (llcs_after, rest) = read_many(rest, nr_llcs);
        let (cpus, _) = read_many(rest, nr_cpus);
        Ok(DecisionRecord {
            decision,
            llcs,
            llcs_after,
            cpus,
        })
    }
}

fn expect_length(found: usize, expected: usize) -> Result<(), Malformed> {
    if found != expected {
        return Err(Malformed::Length { found, expected });
    }
    Ok(())
}

fn in_range(what: &'static str, found: u32, limit: u32) -> Result<(), Malformed> {
    if found >= limit {
        return Err(Malformed::Range { what, found, limit });
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::plain::bytes_of;
    use super::*;
    use alight_policy::mirror::{Mirror, check};

    /// The bytes that the kernel side would write.
    pub(crate) fn written(record: &DecisionRecord) -> Vec<u8> {
        [
            bytes_of(&[record.decision]),
            bytes_of(&record.llcs),
            bytes_of(&record.llcs_after),
            bytes_of(&record.cpus),
        ]
        .concat()
    }

    /// A wakeup on CPU 0 of a machine of `nr_cpus` idle CPUs, not yet decided.
    pub(crate) fn idle_machine(nr_cpus: u32, nr_llcs: u32) -> DecisionRecord {
        let task = Task::default();
        let llcs = vec![Llc::default(); nr_llcs as usize];
        DecisionRecord {
            decision: Decision {
                now: 1_000_000,
                this_cpu: 0,
                kind: alight_policy::abi::domain_flag::BALANCE_WAKE,
                sync: 0,
                nr_llcs,
                nr_cpus,
                unused: 0,
                root: Root::default(),
                allowed: (0..nr_cpus).collect(),
                wakee: task,
                waker: task,
                answer: Answer::default(),
                wakee_after: task,
                waker_after: task,
                here_after: Cpu::default(),
            },
            llcs_after: llcs.clone(),
            llcs,
            cpus: vec![Cpu::default(); nr_cpus as usize],
        }
    }

    alight_policy::mirror! {
        Decision as "struct decision" {
            now, this_cpu, kind, sync, nr_llcs, nr_cpus, unused, root, allowed, wakee, waker,
            answer, wakee_after, waker_after, here_after,
        }
    }

    #[test]
    fn a_record_is_what_the_kernel_side_writes() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let includes = ["policy/abi.h", "crates/live/src/bpf/record.h"];
        check(&root, &includes, &[Decision::structure()], &[]).unwrap();
    }

    #[test]
    fn what_was_written_is_read() {
        let mut record = idle_machine(3, 2);
        record.cpus[2].nr_running = 7;
        record.llcs_after[1].has_idle_cores = 5;
        let read = DecisionRecord::parse(&written(&record)).unwrap();
        assert_eq!(read.cpus, record.cpus);
        assert_eq!(read.llcs_after, record.llcs_after);
        assert_eq!(read.decision.now, 1_000_000);
    }

    #[test]
    fn broken_records_are_refused() {
        let record = idle_machine(3, 2);
        let bytes = written(&record);
        for length in [0, 10, size_of::<Decision>(), bytes.len() - 1] {
            let error = DecisionRecord::parse(&bytes[..length]).unwrap_err();
            assert!(matches!(error, Malformed::Length { found, .. } if found == length));
        }
        let broken = |change: fn(&mut Decision)| {
            let mut record = record.clone();
            change(&mut record.decision);
            DecisionRecord::parse(&written(&record))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            broken(|d| d.this_cpu = 3),
            "a record has this_cpu 3, expected less than 3"
        );
        assert_eq!(
            broken(|d| d.nr_cpus = 5000),
            "a record has nr_cpus 5000, expected less than 1025"
        );
    }
}
