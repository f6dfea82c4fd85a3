// SPDX-License-Identifier: GPL-2.0-only
//! Removes the operations that this kernel does not know, or for which it lacks functions. The
//! kernel refuses a scheduler with operations that it does not know.

use crate::kernel;
use crate::skeleton::OpenAlightSkel;
use alight_policy::Core;
use alight_policy::abi::rule;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use std::collections::BTreeSet;
use std::ptr::null_mut;

/// Used to hand the tasks that wait on a CPU that goes offline to the kernel. Without it the kernel
/// ends the scheduler at each CPU that comes or goes, and asks for it again.
const MOVES_WAITING_TASKS: &str = "bpf_iter_scx_dsq_new";

/// Without these no idle CPU can be told to pull; a task whose turn ends is sent to it instead.
const TELLS_IDLE_CPUS: [&str; 2] = ["scx_bpf_create_dsq", "scx_bpf_kick_cpu"];

/// `enum scx_ops_flags` of the kernel.
const SCX_OPS_ENQ_LAST: u64 = 2;

/// Trims the operations to those that the kernel offers. `in_place`: if possible, CPUs that come
/// and go must not need another load.
pub(super) fn trim(open: &mut OpenAlightSkel<'_>, btf: &Btf<'_>, in_place: bool) {
    let known = members(btf);
    let ops = open.struct_ops.alight_ops_mut();
    // Without CONFIG_EXT_GROUP_SCHED there are none; the last came with 6.19.
    for (name, operation) in [
        ("cgroup_init", &mut ops.cgroup_init),
        ("cgroup_exit", &mut ops.cgroup_exit),
        ("cgroup_move", &mut ops.cgroup_move),
        ("cgroup_set_weight", &mut ops.cgroup_set_weight),
        ("cgroup_set_idle", &mut ops.cgroup_set_idle),
    ] {
        if !known.contains(name) {
            *operation = null_mut();
        }
    }
    if !in_place || !kernel::can_call(btf, MOVES_WAITING_TASKS) {
        ops.cpu_online = null_mut();
        ops.cpu_offline = null_mut();
    }
}

/// Clears `SCX_OPS_ENQ_LAST` if a task that runs alone is never sent elsewhere. The kernel then
/// lets such a task go on without a call, also on offline CPUs, where it makes no calls anyway.
/// Otherwise `enqueue()` of bpf/alight.bpf.c decides.
pub(super) fn keep_last(open: &mut OpenAlightSkel<'_>, btf: &Btf<'_>, core: &Core) {
    let sends = core.topology.asym != 0 || core.params.pack == rule::PACK_FULL;
    let told = (TELLS_IDLE_CPUS.iter()).all(|function| kernel::can_call(btf, function));
    if told && !sends {
        open.struct_ops.alight_ops_mut().flags &= !SCX_OPS_ENQ_LAST;
    }
}

/// Names of the kernel's operations.
fn members(btf: &Btf<'_>) -> BTreeSet<String> {
    let ops = btf.type_by_name::<Struct<'_>>("sched_ext_ops");
    (ops.iter().flat_map(|ops| ops.iter()))
        .filter_map(|member| Some(member.name?.to_str()?.to_string()))
        .collect()
}
