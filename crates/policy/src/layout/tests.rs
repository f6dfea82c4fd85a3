// SPDX-License-Identifier: GPL-2.0-only
//! Tests that C has the same structures and constants.

use super::*;
use crate::mirror::check;
use crate::{AFFINE, STEPS, VERDICTS};
use std::path::Path;

/// The constants of a module, by their names in C.
macro_rules! constants {
    ($module:ident, $prefix:literal: $($name:ident)*) => {
        vec![$((format!("{}{}", $prefix, stringify!($name)), u64::from($module::$name))),*]
    };
}

/// The constants of a C enumeration whose names are in a table here.
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
    constants!(domain_flag, "DOMAIN_": WAKE_AFFINE BALANCE_WAKE BALANCE_FORK BALANCE_EXEC NEWIDLE SHARE_LLC SMT ASYM PREFER_SIBLING NUMA CLUSTER ASYM_FULL SHARE_POWERDOMAIN ASYM_PACKING),
    constants!(state_flag, "STATE_": INEFFICIENT),
    constants!(wake_flag, "WAKE_": INTERRUPT CURRENT_CPU),
    constants!(rule, "": LOAD_AVG LOAD_RUNNABLE LOAD_WEIGHT SCHED_IDLE_AVAIL SCHED_IDLE_LAST SCHED_IDLE_BUSY SCHED_IDLE_NORMAL SIBLING_SEPARATE SIBLING_GROUPS SIBLING_ONE_SCAN ASYM_IGNORED ASYM_FITS ASYM_CORES ASYM_FIRST PACK_NONE PACK_DEFAULT PACK_FULL ROOM_NONE ROOM_SPARE ROOM_ALMOST_IDLE ROOM_FITS FIT_CLAMPED FIT_PLAIN FIT_CLAMPS FIT_CLAMPS_ALL PRESSURE_NONE PRESSURE_THERMAL PRESSURE_AVERAGE EAS_NONE EAS_SIXTEENTH EAS_DELTA EAS_SIXTEENTH_OF_SOME BOOST_NONE BOOST_QUEUE BOOST_TASK PERFORMANCE_FREQUENCY PERFORMANCE_UTIL PERFORMANCE_CLAMPED POWER_UW POWER_MW POWER_MW_SCALED SUMS_BOUNDED SUMS_FREE SUMS_CUT SUMS_BOUNDED_JOIN SUMS_AVERAGED SUMS_AVERAGED_BUT_LOAD NUMA_IDLE_CPU NUMA_IMB_NR NUMA_QUARTER AGGREGATE_MAX AGGREGATE_SUM AGGREGATE_SUM_AT_ONCE AGGREGATE_BIAS IDLEST_CLASS IDLEST_SPARE IDLEST_LOAD),
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

/// The check finds differences that do not change the size of a structure.
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
        (|s| _ = s.fields.pop(), &["bytes of no field at [222]"]),
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
