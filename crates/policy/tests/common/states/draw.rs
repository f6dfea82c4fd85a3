// SPDX-License-Identifier: GPL-2.0-only
//! Draws machines, CPUs, tasks and affinities.

use super::{Numbers, Shape, Wanted};
use alight_policy::abi::{class, task_flag};
use alight_policy::energy::{OperatingPoint, perf_domain};
use alight_policy::topology::{CpuDescription, Description, Level, LevelKind};
use alight_policy::{Core, Cpu, Mask, NONE, Pelt, Pelt13, Task};

/// Small machines more often than large ones; threads, clusters, caches, nodes of any size.
pub fn machine(r: &mut Numbers, wanted: Wanted) -> Description {
    let nr = wanted.shape.map_or(r.cpus(wanted.cpus), |shape| shape.cpus);
    let has = |what: fn(&Shape) -> bool| wanted.shape.as_ref().is_none_or(what);
    let threads = match has(|shape| shape.smt) {
        true => r.among(&[1, 1, 2, 4]),
        false => 1,
    };
    let cores = nr.div_ceil(threads);
    let per_cluster = match has(|shape| shape.cluster) {
        true => 1 + r.below(4),
        false => 1,
    };
    let most_clusters = r.among(&[4, 4, 16]);
    let per_cache = per_cluster * (1 + r.below(most_clusters));
    let nodes = 1 + r.below(3);
    let distance = r.among(&[20, 40]);
    let kinds = r.among(&[1, 1, 2, 3, 4]);
    let capacities: Vec<u32> = (0..kinds)
        .map(|_| r.among(&[160, 446, 870, 1024]))
        .collect();
    let mixed_caches = r.one_in(2);

    let core = |cpu: u32| cpu % cores;
    let cache = |cpu: u32| core(cpu) / per_cache;
    let caches = cache(cores - 1) + 1;
    let node = |cpu: u32| cache(cpu) * nodes / caches;
    let capacity = |cpu: u32| {
        let kind = match mixed_caches {
            true => core(cpu) / per_cluster,
            false => cache(cpu),
        };
        match has(|shape| shape.asym) && !wanted.equal {
            true => capacities[kind as usize % capacities.len()],
            false => 1024,
        }
    };
    let cpus: Vec<CpuDescription> = (0..nr)
        .map(|cpu| CpuDescription {
            capacity: capacity(cpu),
            node: node(cpu),
        })
        .collect();
    let level =
        |kind, key: &dyn Fn(u32) -> u32| Level::by_key(kind, &(0..nr).map(key).collect::<Vec<_>>());
    let levels = vec![
        level(LevelKind::Smt, &core),
        level(LevelKind::Cluster, &|cpu| core(cpu) / per_cluster),
        level(LevelKind::Cache, &cache),
        level(LevelKind::Package, &node),
        level(LevelKind::Numa { distance }, &|_| 0),
    ];
    let gate = |level: Level| match wanted.gated && r.one_in(2) {
        true => level.gated(),
        false => level,
    };
    Description {
        cpus,
        levels: levels.into_iter().map(gate).collect(),
    }
}

/// All CPUs, or one time in four some fewer.
pub fn online(r: &mut Numbers, nr: u32) -> Mask {
    let mut online: Mask = (0..nr).collect();
    if r.one_in(4) {
        for _ in 0..1 + r.below(nr.div_ceil(3)) {
            online.remove(r.below(nr));
        }
    }
    if online.is_empty() {
        online.insert(r.below(nr));
    }
    online
}

/// A frequency domain for each run of CPUs of one capacity, as many as there may be.
pub fn add_energy_model(r: &mut Numbers, machine: &Description, core: &mut Core) {
    let mut spans: Vec<(u32, Mask)> = Vec::new();
    for (cpu, of) in (0..).zip(&machine.cpus) {
        match spans.last_mut() {
            Some((capacity, span)) if *capacity == of.capacity => span.insert(cpu),
            _ => spans.push((of.capacity, Mask::from_iter([cpu]))),
        }
    }
    if spans.len() > alight_policy::abi::MAX_PERF_DOMAINS {
        return;
    }
    let mut model = Vec::new();
    for (capacity, span) in spans.into_iter().rev() {
        let (mut frequency_khz, mut power_uw) = (0, 0);
        let points: Vec<OperatingPoint> = (0..1 + r.below(6))
            .map(|_| {
                frequency_khz += 100_000 + r.below(500_000);
                power_uw += 1000 + r.below(200 * capacity);
                OperatingPoint {
                    frequency_khz,
                    power_uw,
                }
            })
            .collect();
        let mut domain = perf_domain(&core.params, span, capacity, &points).expect("a model");
        domain.last_state -= r.below(domain.nr_states);
        model.push(domain);
    }
    core.set_perf(model).expect("of CPUs that there are");
}

/// A member of `of`, which has one below `nr`.
pub fn pick(r: &mut Numbers, of: &Mask, nr: u32) -> u32 {
    let from = r.below(nr);
    (from..nr)
        .chain(0..from)
        .find(|&cpu| of.contains(cpu))
        .expect("not empty")
}

/// A member of `of` that shares `cpu`'s cache, if there is one.
pub fn near(r: &mut Numbers, core: &Core, of: &Mask, cpu: u32) -> u32 {
    let llc = |cpu: u32| core.places[cpu as usize].llc;
    let near: Mask = of.iter().filter(|&other| llc(other) == llc(cpu)).collect();
    let from = if near.is_empty() { of } else { &near };
    pick(r, from, core.topology.nr_cpus)
}

/// CPUs that the wakee may use, all of them online.
pub fn affinity(r: &mut Numbers, core: &Core, online: &Mask) -> Mask {
    let nr = core.topology.nr_cpus;
    let wide = match r.below(16) {
        0 => Mask::from_iter([pick(r, online, nr)]),
        1 | 2 => online.iter().filter(|_| r.one_in(2)).collect(),
        3 => online.iter().filter(|_| r.one_in(6)).collect(),
        4 | 5 => {
            let near = core.places[pick(r, online, nr) as usize].llc;
            let shares = |cpu: &u32| core.places[*cpu as usize].llc == near;
            online.iter().filter(shares).collect()
        }
        _ => *online,
    };
    match wide.is_empty() {
        true => Mask::from_iter([pick(r, online, nr)]),
        false => wide,
    }
}

fn pelt(r: &mut Numbers, most_load: u32) -> Pelt {
    let last = match r.one_in(6) {
        true => 0,
        false => (1_000_000_000 + r.time()) & !1023,
    };
    let (util_avg, load_avg, runnable_avg) = (r.amount(1100), r.amount(most_load), r.amount(3000));
    let divider = 46_718 + r.below(1024);
    Pelt {
        last_update_time: last,
        load_sum: u64::from(load_avg) * u64::from(divider),
        runnable_sum: u64::from(runnable_avg) * u64::from(divider),
        util_sum: util_avg.min(1024) * divider,
        period_contrib: r.below(1024),
        load_avg,
        runnable_avg,
        util_avg,
        uclamp: r.amount(1024) as i32 - if r.one_in(4) { 512 } else { 0 },
    }
}

fn pelt13(r: &mut Numbers) -> Pelt13 {
    let period = r.amount(47_742);
    Pelt13 {
        last_runnable_update: r.time(),
        runnable_avg_sum: r.amount(period),
        runnable_avg_period: period,
    }
}

pub fn task(r: &mut Numbers, nr: u32, id: u32, now: u64) -> Task {
    let mut flags = 0;
    for flag in [
        task_flag::EXITING,
        task_flag::EST_UNCHANGED,
        task_flag::KTHREAD,
        task_flag::JUST_ATTACHED,
    ] {
        if r.one_in(6) {
            flags |= flag;
        }
    }
    let (a, b) = (r.amount(1024), r.amount(1024));
    Task {
        pelt: pelt(r, 4000),
        pelt13: pelt13(r),
        wakee_flip_decay_ts: now - r.time().min(now),
        wakee_flips: r.amount(60),
        last_wakee: r.among(&[2, 3, NONE]),
        id,
        weight: r.among(&[3, 15, 335, 1024, 1024, 3121, 88_761]),
        util_est_enqueued: r.amount(1100),
        util_est_ewma: r.amount(1100),
        uclamp_min: a.min(b),
        uclamp_max: a.max(b),
        prev_cpu: 0,
        recent_used_cpu: match r.below(6) {
            0 => NONE,
            1 => nr,
            _ => r.below(nr),
        },
        nr_cpus_allowed: nr,
        class: r.among(&[class::NORMAL, class::NORMAL, class::BATCH, class::IDLE]),
        flags,
        util_est_uclamp: r.amount(1024),
    }
}

/// A view of a CPU but for what runs there.
pub fn view_of(r: &mut Numbers, orig: u32) -> Cpu {
    let cfs = pelt(r, 9000);
    let (a, b) = (r.amount(1024) as u16, r.amount(1024) as u16);
    let left = match r.one_in(2) {
        true => orig,
        false => (orig * (1 + r.below(1024)) / 1024).max(1),
    };
    Cpu {
        weight: r.amount(20_000),
        util_est_enqueued: r.amount(2000),
        capacity: left,
        freq_scale: 1 + r.below(1024),
        exit_latency: r.among(&[NONE, 0, 1, 1000, 2000, 200_000]),
        clock: 1_000_000_000 + r.time(),
        clock_pelt: cfs.last_update_time + r.time(),
        lost_idle_time: r.time() >> 8,
        cfs,
        idle_stamp: r.time(),
        avg_idle: r.time(),
        avg_scan_cost: r.time() >> 12,
        removed_util: r.amount(1024),
        removed_load: r.amount(4000),
        removed_runnable: r.amount(2000),
        runnable_load_avg: r.amount(9000),
        pelt13: pelt13(r),
        rt_util: r.amount(orig) as u16 / 4,
        dl_util: r.amount(orig) as u16 / 8,
        irq_util: r.amount(orig) as u16 / 4,
        dl_bandwidth: r.amount(orig) as u16 / 8,
        hw_pressure: r.amount(orig) as u16 / 2,
        hw_load_avg: r.amount(orig) as u16 / 2,
        cpufreq_pressure: r.amount(orig) as u16 / 2,
        uclamp_min: a.min(b),
        uclamp_max: a.max(b),
        uclamp_idle: u8::from(r.one_in(3)),
        removed_nr: u16::from(r.one_in(4)),
        max_uclamp_factor_owner: r.among(&[NONE, NONE, 1, 2, 3]),
        max_uclamp_factor: r.time() << 8,
        root_cfs_util_uclamp: r.amount(2000),
        root_cfs_util_uclamp_removed: r.amount(1000),
        util_est_uclamp: r.amount(2000),
        capacity_inverted: if cfs.util_avg % 3 == 1 {
            orig as u16 - orig as u16 / 4
        } else {
            0
        },
        ..Cpu::default()
    }
}

/// Idle, or with tasks of some classes.
pub fn occupy(r: &mut Numbers, view: &mut Cpu, crowded: bool, sched_idle: bool) {
    let mut kind = r.below(10);
    if crowded && kind < 4 && !r.one_in(10) {
        kind = 4 + r.below(6);
    }
    let (normal, idle, real_time, delayed) = match kind {
        0..=3 => (0, 0, 0, 0),
        4 if sched_idle => (0, 1 + r.below(3), 0, 0),
        5 if sched_idle => (1, 1, 0, 0),
        6 => (r.below(2), 0, 1, 0),
        7 => (r.below(3), 0, 0, 1 + r.below(2)),
        _ => (1 + r.below(4), 0, 0, 0),
    };
    view.h_nr_running = normal + idle + delayed;
    view.h_nr_idle = idle;
    view.h_nr_delayed = delayed as u16;
    view.rt_nr_running = real_time as u16;
    view.nr_running = view.h_nr_running + real_time;
    // A CPU may have tasks and not run them yet, or be idle with one on its way.
    view.curr_is_idle = u8::from(view.nr_running == 0 || r.one_in(12));
    view.ttwu_pending = u8::from(r.one_in(12));
    if view.curr_is_idle == 0 {
        view.idle_stamp = 0;
    }
}
