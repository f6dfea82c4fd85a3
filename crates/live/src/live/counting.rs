// SPDX-License-Identifier: GPL-2.0-only
//! Reads the counters of the kernel side (`src/bpf/stats.h`) from shared memory, without a system
//! call.

use crate::skeleton::{AlightSkel, types};
use alight_stats::Counters;

/// A counter that is added to bpf/stats.h must be added here and in alight_stats.
const _: () = assert!(
    size_of::<types::cpu_stats>() == size_of::<Counters>(),
    "Counters of crates/stats must have every field of struct cpu_stats"
);

/// The counters of each CPU.
pub(super) fn counters(skel: &AlightSkel<'_>, nr_cpus: usize) -> Vec<Counters> {
    let bss = skel.maps.bss_data.as_deref();
    let cpus = bss.into_iter().flat_map(|bss| &bss.stats).take(nr_cpus);
    cpus.map(counters_of).collect()
}

fn counters_of(shared: &types::cpu_stats) -> Counters {
    // SAFETY: valid for reads; integers, which the kernel may change meanwhile: each is a value
    // that it had.
    let now = unsafe { std::ptr::read_volatile(shared) };
    Counters {
        decisions: now.decisions,
        lost: now.lost,
        found_idle: now.found_idle,
        scanned: now.scanned,
        runs: now.runs,
        delay_ns: now.delay_ns,
        direct: now.direct,
        queued: now.queued,
        patient: now.patient,
        preempted_idle: now.preempted_idle,
        preempted: now.preempted,
        pulled_idle: now.pulled_idle,
        pulled_balance: now.pulled_balance,
        misfit: now.misfit,
        spread: now.spread,
        packed: now.packed,
        yields: now.yields,
        timed: now.timed,
        reminded: now.reminded,
        delay_max_ns: now.delay_max_ns,
        steps: now.steps,
        scans: now.scans,
        delays: now.delays,
        moved: now.moved,
    }
}
