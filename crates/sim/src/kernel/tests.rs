// SPDX-License-Identifier: GPL-2.0-only
//! Rows of the base kernels: one for each base, independent of features.

use super::*;

#[test]
fn every_base_that_can_be_named_has_a_row() {
    for base in alight_policy::scheduler::BASES {
        let scheduler = Scheduler::parse(base.name).expect("a base");
        let row = Kernel::of(&scheduler).map(|kernel| kernel.name);
        assert_eq!(row, Some(base.name));
    }
}

#[test]
fn a_base_has_rules_for_energy_if_its_placement_has() {
    for base in alight_policy::scheduler::BASES {
        let scheduler = Scheduler::parse(base.name).expect("a base");
        let row = Kernel::of(&scheduler).expect("a row");
        let placed = scheduler.params.eas != alight_policy::abi::rule::EAS_NONE;
        assert_eq!(row.energy_aware.is_some(), placed, "{}", base.name);
    }
}

#[test]
fn features_do_not_change_the_row() {
    let scheduler = Scheduler::parse("linux-5.5+asym-capacity").expect("valid");
    let row = Kernel::of(&scheduler).map(|kernel| kernel.name);
    assert_eq!(row, Some("linux-5.5"));
}
