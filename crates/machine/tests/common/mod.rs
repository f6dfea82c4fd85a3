// SPDX-License-Identifier: GPL-2.0-only
//! A small machine without fault, to be spoiled by the tests.

/// Four CPUs: two little in one node, two big in another.
pub const GOOD: &str = r#"schema = "alight.machine/1"
name = "good"
description = "a machine without fault"
source = "test"
hz = 250
governor = "schedutil"

[sources]
test = { text = "made for a test", confidence = "assumed" }

[topology]
cpus = "0-3"
core = ["0", "1", "2", "3"]
llc = ["0-1", "2-3"]
node = ["0-1", "2-3"]
numa_distance = [[10, 20], [20, 10]]

[core_type.small]
cpus = "0-1"
capacity_dmips_mhz = 500
capacity = 256
l2_kib = 128
costs = "little"

[[core_type.small.idle_state]]
name = "WFI"
exit_us = 1
residency_us = 1
power_mw = 5

[[core_type.small.idle_state]]
name = "cluster-sleep"
entry_us = 100
exit_us = 200
wakeup_us = 250
residency_us = 500
power_mw = 1
scope = "cluster"
timer_stops = true

[core_type.large]
cpus = "2-3"
capacity_dmips_mhz = 1000
l2_kib = 512
costs = "big"

[[core_type.large.idle_state]]
name = "WFI"
exit_us = 2
residency_us = 2
power_mw = 20

[freq_domain.small]
cpus = "0-1"
khz = [500_000, 1_000_000]
capacity = [128, 256]
core_power_mw = [50, 120]
cluster_power_mw = [10, 20]
switch_us = 100

[freq_domain.large]
cpus = "2-3"
khz = [1_000_000, 2_000_000]
microvolt = [700_000, 1_000_000]
dynamic_power_coefficient = 400
cluster_power_percent = 10
switch_us = 100
fast_switch = true
rate_limit_us = 2000

[cluster.small]
cpus = "0-1"
idle_power_mw = 8
off_power_mw = 1

[cluster.large]
cpus = "2-3"
idle_power_mw = 8
off_power_mw = 1

[memory]
llc_line_ns = 20
cross_llc_line_ns = 100
cross_node_line_ns = 200
dram_line_ns = 150
refill_mlp = 3
channel_lines = 4
working_set_kib = 32
"#;

/// [`GOOD`] with one piece of text replaced, which must be there.
#[allow(dead_code)] // not every test spoils it
pub fn spoiled(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "the machine lacks `{old}`");
    GOOD.replacen(old, new, 1)
}
