// SPDX-License-Identifier: GPL-2.0-only
//! Logs of decisions that are not what they seem: nothing panics, no number leads the core astray.
//!
//! The first byte chooses: the rest is a whole file (0), or changes to a machine and a decision
//! that were right before, as a container with right checksums could hold them. A change is which
//! of the two, where (u16), and a word to XOR there (u64).
#![no_main]

use alight_policy::scheduler::{BASES, Scheduler};
use alight_policy::topology::{CpuDescription, Description, Level, LevelKind, build};
use alight_policy::{Core, Cpu, Llc, Params, Task};
use alight_recording::Reader;
use alight_verify::live::{Decision, machine_record, replay_one, verify};
use libfuzzer_sys::fuzz_target;

/// Two big cores with two threads each and four little CPUs.
fn machine(params: &Params) -> Core {
    let cpu = |capacity| CpuDescription { capacity, node: 0 };
    let machine = Description {
        cpus: [1024, 1024, 1024, 1024, 446, 446, 446, 446]
            .map(cpu)
            .to_vec(),
        levels: vec![
            Level::by_key(LevelKind::Smt, &[0, 0, 1, 1, 2, 3, 4, 5]),
            Level::by_key(LevelKind::Cache, &[0, 0, 0, 0, 1, 1, 1, 1]),
            Level::by_key(LevelKind::Package, &[0; 8]),
        ],
    };
    build(&machine, params).expect("a machine")
}

/// A wakeup on CPU 0, all CPUs idle: bytes as the kernel side writes them.
fn decision(core: &Core) -> Vec<u8> {
    let (cpus, llcs) = (core.cpus.len(), core.llcs.len());
    let fixed = size_of::<Decision>();
    let words = (fixed + 2 * llcs * size_of::<Llc>() + cpus * size_of::<Cpu>()) / 8;
    let mut bytes = vec![0; words * 8];
    let task = Task {
        pelt: alight_policy::Pelt {
            last_update_time: 1,
            ..Default::default()
        },
        ..Task::default()
    };
    let mut all = alight_policy::Mask::EMPTY;
    (0..cpus as u32).for_each(|cpu| all.insert(cpu));
    // SAFETY: both are structures of integers without padding, and there is room for them.
    unsafe {
        let d = bytes.as_mut_ptr().cast::<Decision>();
        (*d).nr_llcs = llcs as u32;
        (*d).nr_cpus = cpus as u32;
        (*d).kind = alight_policy::abi::domain_flag::BALANCE_WAKE;
        (*d).root.uclamp_used = 1;
        (*d).allowed = all;
        (*d).wakee = task;
        (*d).waker = task;
        let views = bytes.as_mut_ptr().add(fixed + 2 * llcs * size_of::<Llc>());
        for (n, cpu) in core.cpus.iter().enumerate() {
            views.cast::<Cpu>().add(n).write_unaligned(*cpu);
        }
    }
    bytes
}

const FEATURES: [&str; 6] = [
    "",
    "+asym-capacity",
    "+bias-prev",
    "+pack",
    "+uclamp-sum",
    "+sched-idle",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else {
        return;
    };
    if which == 0 {
        if let Ok(mut reader) = Reader::new(rest) {
            let _ = verify(&mut reader);
        }
        return;
    }
    let base = BASES[which as usize % BASES.len()].name;
    let feature = FEATURES[which as usize / BASES.len() % FEATURES.len()];
    let Ok(scheduler) = Scheduler::parse(&format!("{base}{feature}")) else {
        return;
    };
    let core = machine(&scheduler.params);
    let mut records = [machine_record(&core), decision(&core)];
    for change in rest.chunks_exact(11) {
        let record = &mut records[usize::from(change[0] & 1)];
        let at = usize::from(u16::from_le_bytes([change[1], change[2]])) % (record.len() / 8) * 8;
        for (byte, xor) in record[at..at + 8].iter_mut().zip(&change[3..]) {
            *byte ^= xor;
        }
    }
    let [machine, decision] = records;
    let _ = replay_one(scheduler.params, &machine, &decision);
});
