// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn each_cost_is_the_median_of_its_own() {
    let run = |switch, wakeup| {
        let mut machine = Machine::load("juno-r0").expect("built in");
        let costs = &mut machine.core_types[0].costs;
        (costs.switch_ns, costs.wakeup_ns) = (switch, wakeup);
        machine
    };
    let runs = [run(1, 30), run(2, 10), run(3, 20)];
    let [first, second, third] = &runs;
    assert_eq!(costs(&[first, second, third]), costs_of(&run(2, 20)));
    assert_eq!(costs(&[]), []);
}
