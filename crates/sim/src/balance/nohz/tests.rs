// SPDX-License-Identifier: GPL-2.0-only
//! Test of the order in which a round serves the idle CPUs.

use crate::balance::tests::under;
use crate::dispatch::Sim;

/// Idle CPUs in the order in which a round of `this` serves them.
fn order_of_round(sim: &Sim, this: usize) -> Vec<usize> {
    let (mut order, mut from) = (vec![], 0);
    while let Some((at, step)) = sim.next_of_round(this, from, sim.nohz.words) {
        from = step + 1;
        if at as usize != this || sim.is_ring() {
            order.push(at as usize);
        }
    }
    order
}

#[test]
fn rounds_go_around_the_ring() {
    for (base, expected) in [
        ("linux-5.5", vec![0, 1, 2, 4, 5, 6, 7]),
        ("linux-5.10", vec![4, 5, 6, 7, 0, 1, 2, 3]),
        ("linux-6.1", vec![4, 5, 6, 7, 0, 1, 2, 3]),
    ] {
        under(base, "hikey620", |sim| {
            for cpu in 0..8 {
                sim.nohz_enter_idle(cpu);
            }
            assert_eq!(order_of_round(sim, 3), expected, "{base}");
        });
    }
}
