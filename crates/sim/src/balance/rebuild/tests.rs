// SPDX-License-Identifier: GPL-2.0-only
//! Tests of what a look at the queues of a domain costs by their distance.

use crate::testbed::{MS, begin, machine, task, workload};
use alight_workload::program::Op;

/// Of four CPUs 0 and 1 share a cache, 2 and 3 another, of the same node or of another one.
#[test]
fn queues_beyond_the_own_cache_cost_their_lines() {
    for (node, line_ns, says) in [(0, 100, "the same node"), (1, 200, "another node")] {
        let mut machine = machine(4, 2);
        machine.cpus[2].node = node;
        machine.cpus[3].node = node;
        machine.memory.llc_line_ns = 10;
        machine.memory.cross_llc_line_ns = 100;
        machine.memory.cross_node_line_ns = 200;
        machine.memory.refill_mlp = 2;
        let sleeper = task(3000 * 1000 * MS, &[Op::Run { ns: MS }]);
        begin(&machine, &workload(&[sleeper]), |sim| {
            let place = &sim.core.places[0];
            let top = place.nr_domains as usize - 1;
            assert!(sim.domain(0, top).span.contains(3));
            let far_ns = |level: usize| sim.balance[0].levels[level].far_ns;
            assert_eq!(far_ns(top), 2 * 4 * (line_ns - 10) / 2, "{says}");
            for level in 0..top {
                assert_eq!(far_ns(level), 0, "{says}: the own cache");
            }
        });
    }
}
