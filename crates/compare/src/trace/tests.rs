// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::fake;

#[test]
fn the_header_names_cpus_and_processes() {
    let (machine, schedulers) = (fake::machine(), fake::schedulers());
    let scenario = Scenario {
        seed: 9,
        ..Scenario::new(&machine, &[], &schedulers[0])
    };
    let tasks = [
        (10, "leader".to_owned(), 10),
        (11, "worker".to_owned(), 10),
        (12, "orphan".to_owned(), 99),
    ];
    let header = header(&scenario, "alight simulate", &tasks);
    assert_eq!(header.check(), Ok(()));
    assert_eq!((header.seed, header.cpus.len()), (9, machine.cpus.len()));
    assert!(header.cpus.iter().any(|cpu| cpu.capacity == 1024));
    let processes: Vec<&str> = header.tasks.iter().map(|t| t.process.as_str()).collect();
    assert_eq!(processes, ["leader", "leader", "orphan"]);
}
