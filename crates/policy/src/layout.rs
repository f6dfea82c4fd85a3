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
        curr_is_idle, ttwu_pending, offline, uclamp_idle, nr_running, h_nr_running, h_nr_idle, weight, util_est_enqueued, capacity_orig, capacity, freq_scale, exit_latency, clock, clock_pelt, lost_idle_time, cfs, idle_stamp, avg_idle, avg_scan_cost, removed_util, removed_load, removed_runnable, runnable_load_avg, pelt13, rt_nr_running, h_nr_delayed, rt_util, dl_util, irq_util, dl_bandwidth, hw_pressure, hw_load_avg, cpufreq_pressure, uclamp_min, uclamp_max, removed_nr, buddy, max_uclamp_factor_owner, max_uclamp_factor, root_cfs_util_uclamp, root_cfs_util_uclamp_removed, util_est_uclamp, unused,
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

/// Every structure that the core is given or gives.
pub(crate) fn structures() -> Vec<Structure> {
    macro_rules! of {
        ($($rust:ty)*) => { vec![$(<$rust>::structure()),*] };
    }
    of!(Params Mask Pelt Pelt13 Task Cpu Domain Group Place Llc Topology PerfState PerfDomain Root Answer Note Notes Ctx Share Table)
}

/// Names and offsets of all fields in a number (FNV-1a).
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
mod tests {
    use super::*;
    use crate::mirror::check;
    use crate::{AFFINE, STEPS, VERDICTS};
    use std::path::Path;

    /// What C calls the constants of a module here.
    macro_rules! constants {
        ($module:ident, $prefix:literal: $($name:ident)*) => {
            vec![$((format!("{}{}", $prefix, stringify!($name)), u64::from($module::$name))),*]
        };
    }

    /// Those of the core's enumerations whose names are tables here.
    fn named<'a>(
        prefix: &'a str,
        names: impl Iterator<Item = &'a str>,
    ) -> impl Iterator<Item = (String, u64)> {
        let c_name = move |name: &str| format!("{prefix}_{}", name.to_uppercase());
        names.map(c_name).zip(0..)
    }

    fn constants() -> Vec<(String, u64)> {
        let limits = [
            ("POLICY_NONE", u64::from(NONE)),
            ("POLICY_MAX_CPUS", MAX_CPUS as u64),
            ("POLICY_MAX_LEVELS", MAX_LEVELS as u64),
            ("POLICY_MAX_DOMAINS", MAX_DOMAINS as u64),
            ("POLICY_MAX_GROUPS", MAX_GROUPS as u64),
            ("POLICY_MAX_PERF_DOMAINS", MAX_PERF_DOMAINS as u64),
            ("POLICY_MAX_PERF_STATES", MAX_PERF_STATES as u64),
            ("POLICY_NR_STEPS", STEPS.len() as u64),
            ("POLICY_NR_AFFINE", AFFINE.len() as u64),
            ("POLICY_NR_VERDICTS", VERDICTS.len() as u64),
            ("sizeof(struct policy_scratch)", size_of::<Scratch>() as u64),
        ];
        let mut all: Vec<_> = limits.map(|(name, value)| (name.to_owned(), value)).into();
        all.extend([
        constants!(class, "POLICY_": NORMAL BATCH IDLE),
        constants!(task_flag, "TASK_": EXITING EST_UNCHANGED ON_RQ KTHREAD JUST_ATTACHED),
        constants!(domain_flag, "DOMAIN_": WAKE_AFFINE BALANCE_WAKE BALANCE_FORK BALANCE_EXEC NEWIDLE SHARE_LLC SMT ASYM PREFER_SIBLING NUMA CLUSTER ASYM_FULL SHARE_POWERDOMAIN),
        constants!(state_flag, "STATE_": INEFFICIENT),
        constants!(wake_flag, "WAKE_": INTERRUPT CURRENT_CPU),
        constants!(rule, "": LOAD_AVG LOAD_RUNNABLE LOAD_WEIGHT SCHED_IDLE_AVAIL SCHED_IDLE_LAST SCHED_IDLE_BUSY SCHED_IDLE_NORMAL SIBLING_SEPARATE SIBLING_GROUPS SIBLING_ONE_SCAN ASYM_IGNORED ASYM_FITS ASYM_CORES ASYM_FIRST PACK_NONE PACK_DEFAULT PACK_FULL ROOM_NONE ROOM_SPARE ROOM_ALMOST_IDLE ROOM_FITS FIT_CLAMPED FIT_PLAIN FIT_CLAMPS PRESSURE_NONE PRESSURE_THERMAL PRESSURE_AVERAGE EAS_NONE EAS_SIXTEENTH EAS_DELTA BOOST_NONE BOOST_QUEUE BOOST_TASK PERFORMANCE_FREQUENCY PERFORMANCE_UTIL PERFORMANCE_CLAMPED SUMS_BOUNDED SUMS_FREE SUMS_CUT SUMS_BOUNDED_JOIN AGGREGATE_MAX AGGREGATE_SUM AGGREGATE_SUM_AT_ONCE AGGREGATE_BIAS IDLEST_CLASS IDLEST_SPARE IDLEST_LOAD),
        ].concat());
        all.extend(named("STEP", STEPS.iter().map(|(name, _)| *name)));
        all.extend(named("AFFINE", AFFINE.iter().map(|(name, _)| *name)));
        all
    }

    fn held_against_c(structures: &[Structure], constants: &[(String, u64)]) -> Result<(), String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        // The table of entry points is the file's own.
        check(&root, &["policy/native.c"], structures, constants)
    }

    #[test]
    fn c_has_the_same_structures_and_constants() {
        held_against_c(&structures(), &constants()).unwrap();
    }

    /// What the check is for: nothing of this changes the size of a structure.
    #[test]
    fn a_difference_is_found_and_named() {
        type Change = fn(&mut Structure);
        let cpu = Cpu::structure();
        let cases: [(Change, &[&str]); 5] = [
            (
                |s| {
                    let (a, b) = (s.fields[4].offset, s.fields[5].offset);
                    (s.fields[4].offset, s.fields[5].offset) = (b, a);
                    s.fields.swap(4, 5);
                },
                &["nr_running is not at 8", "h_nr_running is not at 4"],
            ),
            (
                |s| s.fields[4].name = "nr_runing",
                &["no member named", "nr_runing"],
            ),
            (|s| _ = s.fields.remove(7), &["bytes of no field at [16]"]),
            (|s| _ = s.fields.pop(), &["bytes of no field at [220]"]),
            (
                |s| s.fields[4].c_type = "s32".into(),
                &["nr_running is no s32"],
            ),
        ];
        for (change, expected) in cases {
            let mut changed = cpu.clone();
            change(&mut changed);
            let error = held_against_c(&[changed], &[]).unwrap_err();
            for words in expected {
                assert!(error.contains(words), "{words:?} is not in {error}");
            }
        }
        let wrong = ("STEP_PINNED".to_owned(), 2);
        let error = held_against_c(&[], &[wrong]).unwrap_err();
        assert!(error.contains("STEP_PINNED is not 2"), "{error}");
    }
}
