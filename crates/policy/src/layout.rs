// SPDX-License-Identifier: GPL-2.0-only
//! The structures of [`crate::abi`] field by field, as `policy/` has them.

use crate::abi::*;
use crate::mirror::{CType, Mirror, Structure};

crate::mirror! {
    Mask as "struct policy_mask" {
        w,
    }
    Pelt as "struct policy_pelt" {
        last_update_time, load_sum, runnable_sum, util_sum, period_contrib, load_avg, runnable_avg, util_avg, uclamp,
    }
    Pelt13 as "struct policy_pelt13" {
        last_runnable_update, runnable_avg_sum, runnable_avg_period,
    }
    Task as "struct policy_task" {
        pelt, pelt13, wakee_flip_decay_ts, wakee_flips, last_wakee, id, weight, util_est_enqueued, util_est_ewma, uclamp_min, uclamp_max, prev_cpu, recent_used_cpu, nr_cpus_allowed, class, flags, util_est_uclamp,
    }
    Cpu as "struct policy_cpu" {
        curr_is_idle, ttwu_pending, offline, uclamp_idle, nr_running, h_nr_running, h_nr_idle, weight, util_est_enqueued, capacity_orig, capacity, freq_scale, exit_latency, clock, clock_pelt, lost_idle_time, cfs, idle_stamp, avg_idle, avg_scan_cost, removed_util, removed_load, removed_runnable, runnable_load_avg, pelt13, rt_nr_running, h_nr_delayed, rt_util, dl_util, irq_util, dl_bandwidth, hw_pressure, hw_load_avg, cpufreq_pressure, uclamp_min, uclamp_max, removed_nr, buddy, max_uclamp_factor_owner, max_uclamp_factor, root_cfs_util_uclamp, root_cfs_util_uclamp_removed, util_est_uclamp, capacity_inverted, unused,
    }
    Domain as "struct policy_domain" {
        span, flags, weight, imbalance_pct, first_group, nr_groups, llc, imb_numa_nr, unused,
    }
    Group as "struct policy_group" {
        child, cpu, weight, capacity, min_capacity, max_capacity, imbalance, unused,
    }
    Place as "struct policy_place" {
        llc, llc_domain, asym_domain, smt_domain, shared, share, cluster_domain, node, nr_domains, domain, group,
    }
    Llc as "struct policy_llc" {
        has_idle_cores, nr_busy, nr_idle_scan, unused,
    }
    Topology as "struct policy_topology" {
        nr_cpus, nr_domains, nr_groups, max_capacity, asym, smt, cluster, unused,
    }
    PerfState as "struct policy_perf_state" {
        cost, performance, frequency, flags, unused,
    }
    PerfDomain as "struct policy_perf_domain" {
        span, nr_states, first_state, last_state, unused, state,
    }
    Root as "struct policy_root" {
        overutilized, uclamp_used,
    }
    Answer as "struct policy_answer" {
        cpu, target, step, affine, slow, found_idle, looked_near, looked_far, summed, cut, verdicts,
    }
    Note as "struct policy_note" {
        cpu, step, verdict, value,
    }
    Notes as "struct policy_notes" {
        note, nr, max,
    }
    Ctx as "struct policy_ctx" {
        k, topo, domain, place, group, llc, cpu, p, cur, allowed, all_allowed, perf, scratch, answer, notes, now, this_cpu, prev_cpu, kind, sync, flags, nr_perf, root,
    }
    Share as "struct policy_pack_share" {
        part, whole,
    }
    Table as "struct policy_table" {
        version, sizes, select, update_rq_clock, update_idle_rq_clock_pelt, enqueue_entity, dequeue_entity, set_next_entity, update_curr, detach_task, update_avg_idle, set_delayed, requeue_delayed_entity, dequeue_delayed, update_cfs_rq_load_avg, remove_entity_load_avg, attach_entity_load_avg, detach_entity_load_avg, reweight_entity, util_est_enqueue, util_est_dequeue, post_init_entity_util_avg, task_util_est, update_load_avg_blocked_se, clamped_task_joined, clamps_changed, cpu_util_cfs_uclamp, task_util_est_uclamp, nr_idle_scan, decay_load, pelt_update_sum, pelt_update_avg, compute_runnable_contrib, update_entity_runnable_avg, update_rq_runnable_avg, cpu_share,
    }
}

impl CType for Scratch {
    fn declare(inner: &str) -> String {
        format!("struct policy_scratch {inner}")
    }
}

/// Every structure that the core takes or returns.
pub(crate) fn structures() -> Vec<Structure> {
    macro_rules! of {
        ($($rust:ty)*) => { vec![$(<$rust>::structure()),*] };
    }
    of!(Params Mask Pelt Pelt13 Task Cpu Domain Group Place Llc Topology PerfState PerfDomain Root Answer Note Notes Ctx Share Table)
}

/// A hash of the names and offsets of all fields (FNV-1a).
pub(crate) fn fingerprint() -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for structure in structures() {
        add(structure.c_name.as_bytes());
        for field in &structure.fields {
            add(field.name.as_bytes());
            add(&(field.offset as u64).to_le_bytes());
        }
    }
    hash
}

#[cfg(test)]
mod tests;
