// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn work_is_counted_alone_and_beside_another_thread() {
    let cpu = crate::usable().unwrap()[0];
    assert!(alone(cpu).unwrap() >= u64::from(TURNS));
    // A thread that shares its CPU has all of its own time.
    assert!(beside(cpu, cpu).unwrap() >= u64::from(TURNS));
}

#[test]
fn a_cpu_that_is_not_there_is_an_error() {
    assert!(alone(1023).is_err());
    assert!(beside(crate::usable().unwrap()[0], 1023).is_err());
}
