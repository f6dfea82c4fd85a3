// SPDX-License-Identifier: GPL-2.0-only
//! Machines so simple that every time can be computed by hand.

use alight_machine::{
    Cluster, CoreType, Costs, Cpu, CpuSet, FreqDomain, Governor, IdleScope, IdleState, Machine,
    MachineLevel, MemoryCosts, Opp,
};

/// Ticks come every 4 ms.
const HZ: u32 = 250;

/// Equal CPUs of capacity 1024 with one operating point, `per_cache` to a last-level cache. All
/// costs are 0, and so are the latencies of idle states.
pub(crate) fn machine(cpus: usize, per_cache: usize) -> Machine {
    let span = |first: usize, nr: usize| -> CpuSet { (first..first + nr).collect() };
    let caches = (0..cpus).step_by(per_cache);
    let mut levels = vec![MachineLevel {
        name: "MC".into(),
        spans: caches.map(|first| span(first, per_cache)).collect(),
        power_gated: false,
    }];
    if per_cache < cpus {
        levels.push(MachineLevel {
            name: "PKG".into(),
            spans: vec![span(0, cpus)],
            power_gated: false,
        });
    }
    // The other fields are those of some machine without NUMA.
    let base = Machine::load("ca9x4").expect("built in");
    Machine {
        name: "plain".into(),
        hz: HZ,
        governor: Governor::Performance,
        cpus: (0..cpus)
            .map(|cpu| Cpu {
                core_type: 0,
                freq_domain: 0,
                cluster: 0,
                core: cpu,
                llc: cpu / per_cache,
                node: 0,
                capacity_orig: 1024,
                stated_speed: None,
            })
            .collect(),
        core_types: vec![CoreType {
            name: "plain".into(),
            idle_states: vec![IdleState {
                name: "WFI".into(),
                entry_ns: 0,
                exit_ns: 0,
                wakeup_ns: 0,
                residency_ns: 0,
                power_uw: 0,
                scope: IdleScope::Core,
                polling: false,
                timer_stops: false,
            }],
            costs: Costs::default(),
            l2_bytes: 1 << 20,
            smt_percent: 100,
        }],
        freq_domains: vec![FreqDomain {
            cpus: span(0, cpus),
            opps: vec![Opp {
                khz: 1_000_000,
                capacity: 1024,
                core_power_uw: 0,
                em_power_uw: 0,
                cluster_power_uw: 0,
            }],
            switch_ns: 0,
            fast_switch: true,
            rate_limit_ns: None,
        }],
        clusters: vec![Cluster {
            name: "plain".into(),
            cpus: span(0, cpus),
            idle_power_uw: 0,
            off_power_uw: 0,
        }],
        levels,
        memory: MemoryCosts::default(),
        ..base
    }
}

/// As [`machine`], with one cache. The first half of the CPUs has half the capacity of the others
/// and an eighth of their power.
pub(crate) fn big_little(cpus: usize) -> Machine {
    let mut machine = machine(cpus, cpus);
    let half = cpus / 2;
    let domain = |cpus: std::ops::Range<usize>, khz, capacity, core_power_uw| FreqDomain {
        cpus: cpus.collect(),
        opps: vec![Opp {
            khz,
            capacity,
            core_power_uw,
            em_power_uw: core_power_uw,
            cluster_power_uw: 0,
        }],
        ..machine.freq_domains[0].clone()
    };
    machine.freq_domains = vec![
        domain(0..half, 1_000_000, 512, 100_000),
        domain(half..cpus, 2_000_000, 1024, 800_000),
    ];
    for (index, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.freq_domain = usize::from(index >= half);
        cpu.capacity_orig = if index < half { 512 } else { 1024 };
    }
    machine
}
